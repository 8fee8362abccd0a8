"""Arrays in a JSON document: flat, little-endian, in base64; `page/data.js` reads them again."""

import base64
from typing import Any

import numpy as np

KINDS = {"u8": "u1", "i32": "<i4", "f32": "<f4"}
"""Names of the types in a document, and numpy's."""


def packed(array: np.ndarray[Any, Any], kind: str = "f32") -> dict[str, Any]:
    """`{"shape": [..], "kind": .., "data": ..}`: exact but for the conversion to `kind`."""
    flat = np.ascontiguousarray(array, dtype=KINDS[kind])
    data = base64.b64encode(flat.tobytes()).decode("ascii")
    return {"shape": list(array.shape), "kind": kind, "data": data}


def unpacked(held: dict[str, Any]) -> np.ndarray[Any, Any]:
    """The array that `packed` was given."""
    flat = np.frombuffer(base64.b64decode(held["data"]), dtype=KINDS[held["kind"]])
    return flat.reshape(held["shape"])
