"""What a JSON document is made of: arrays, and words for what a model has not got.

Arrays are flat, little-endian, in base64; `page/data.js` reads them again.
"""

import base64
import zlib
from typing import Any

import numpy as np

KINDS = {"u8": "u1", "i32": "<i4", "f32": "<f4"}
"""Names of the types in a document, and numpy's."""


def packed(array: np.ndarray, kind: str = "f32", *, deflate: bool = False) -> dict[str, Any]:
    """`{"shape": [..], "kind": .., "data": ..}`: exact but for the conversion to `kind`.

    With `deflate` the data are deflated (RFC 1951) and marked so; the page then reads them with
    `inflated`, which takes a moment: for large arrays of small steps, such as maps.
    """
    raw = np.ascontiguousarray(array, dtype=KINDS[kind]).tobytes()
    if deflate:
        deflater = zlib.compressobj(9, wbits=-zlib.MAX_WBITS)
        raw = deflater.compress(raw) + deflater.flush()
    held = {"shape": list(array.shape), "kind": kind, "data": base64.b64encode(raw).decode("ascii")}
    return held | {"deflated": True} if deflate else held


def unpacked(held: dict[str, Any]) -> np.ndarray:
    """The array that `packed` was given."""
    raw = base64.b64decode(held["data"])
    if held.get("deflated"):
        raw = zlib.decompress(raw, wbits=-zlib.MAX_WBITS)
    flat = np.frombuffer(raw, dtype=KINDS[held["kind"]])
    return flat.reshape(held["shape"])


def missing(english: str, chinese: str) -> dict[str, Any]:
    """In the place of a part: why a model has none."""
    return {"missing": {"en": english, "zh": chinese}}
