"""The page as one HTML file: modules joined, policy set, data put in as text that cannot run.

Arrays in it are flat, little-endian, in base64; `page/data.js` reads them again."""

import base64
import hashlib
import json
import re
import zlib
from collections.abc import Mapping
from functools import cache
from html import escape
from pathlib import Path
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


FOLDER = Path(__file__).with_name("page")
_FIRST = "main"
_IMPORT = re.compile(r'^import (\* as \w+|\{[^}]*\}) from "\./(\w+)\.js";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|const|class) (\w+))", re.MULTILINE)


def html(document: Mapping[str, Any], *, live: bool = False) -> str:
    """The whole page for a document with `run` and `sentences`.

    A browser runs the page's own script and style, known by their checksums, and nothing else; the
    live page may also ask the server that it came from.
    """
    script, style = joined(), (FOLDER / "style.css").read_text(encoding="utf-8")
    policy = "; ".join(
        (
            "default-src 'none'",
            f"script-src {_checksum(script)}",
            f"style-src {_checksum(style)}",
            *(["connect-src 'self'"] if live else []),
            "base-uri 'none'",
            "form-action 'none'",
        )
    )
    title = escape(f"headway: {document['run']['name']}")
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="referrer" content="no-referrer">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<noscript>This page is drawn by its own script, which this browser does not run.</noscript>
<script type="application/json" id="document">{_as_text(document)}</script>
<script type="module">{script}</script>
</body>
</html>
"""


@cache
def joined() -> str:
    """All modules as one script: each a function that gives what it exports, in an order in which
    every module comes behind those that it imports."""
    order: list[str] = []
    _visit(_FIRST, order, ())
    return "\n".join(_wrapped(name) for name in order)


def _visit(name: str, order: list[str], above: tuple[str, ...]) -> None:
    if name in above:
        raise AssertionError(f"modules import each other in a circle: {above}, {name}")
    for match in _IMPORT.finditer(_source(name)):
        if match[2] not in order:
            _visit(match[2], order, (*above, name))
    if name not in order:
        order.append(name)


def _wrapped(name: str) -> str:
    source = _source(name)
    exported = ", ".join(match[1] for match in _EXPORT.finditer(source))
    body = _EXPORT.sub("", _IMPORT.sub(_binding, source))
    return f"const module_{name} = (() => {{\n{body}return {{ {exported} }};\n}})();\n"


def _binding(match: re.Match[str]) -> str:
    names = match[1].removeprefix("* as ")
    return f"const {names.replace(' as ', ': ')} = module_{match[2]};\n"


def _source(name: str) -> str:
    return (FOLDER / f"{name}.js").read_text(encoding="utf-8")


def _as_text(document: Mapping[str, Any]) -> str:
    """JSON in which nothing can end the element that holds it."""
    text = json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _checksum(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"
