"""Units of TMX: elements with the inside of their two sides."""

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from xml.sax.saxutils import escape

from headway.languages.codes import Languages
from headway.localization.formats.inline import START_TAG, element_end
from headway.localization.formats.tmx import TmxSides, TmxUnit, TmxUnits, Variant, tmx_languages
from headway.localization.formats.xml_encoding import read_contents
from headway.localization.places.held import LocatedUnit, Mend, SideSpan

_SPACE_BYTES = 200
_PIECE = re.compile(rb"<!--.*?-->|<!\[CDATA\[.*?\]\]>|<[^>]*+>?|[^<]+", re.DOTALL)
_CODES = re.compile(rb"<(?:\w+:)?(?:ph|bpt|ept|it|ut)[\s>]")
_TU = re.compile(rb"<tu[\s>]")
_TU_END = re.compile(rb"</tu\s*>")
_CODES_END = re.compile(rb"</(?:\w+:)?(?:ph|bpt|ept|it|ut)\s*>")


def tmx_units(files: tuple[Path, ...], languages: Languages) -> Iterator[LocatedUnit]:
    """Every `tu`, with the white space in front of it, so that nothing is left of one that is left
    out."""
    (path,) = files
    data = read_contents(path).data
    sides, done = TmxSides(*tmx_languages(path, languages)), 0
    for unit in TmxUnits(path, data).read([data]):
        start, end = _extent(data, unit, done)
        if end <= start:
            yield LocatedUnit(unit.line, (b"",), (b"",), None, None)
            continue
        near = data[max(done, start - _SPACE_BYTES) : start]
        start -= len(near) - len(near.rstrip(b" \t\r\n"))
        cells = [_inside(data, variant, start) for variant in sides.of(unit)]
        yield LocatedUnit(unit.line, (data[done:start],), (data[start:end],), *cells)
        done = end
    yield LocatedUnit(0, (data[done:],), (b"",), None, None)


def _extent(data: bytes, unit: TmxUnit, done: int) -> tuple[int, int]:
    """Where a unit begins and ends; nothing where that cannot be told."""
    if not unit.variants:
        return 0, 0
    begins = list(_TU.finditer(data, done, unit.variants[0].start))
    last = _TU_END.search(data, unit.variants[-1].end)
    return (begins[-1].start(), last.end()) if begins and last else (0, 0)


def _inside(data: bytes, variant: Variant | None, start: int) -> SideSpan | None:
    """Between the tags of a `seg`; of an empty tag nothing, in front of it."""
    if variant is None or variant.seg_start < 0:
        return None
    tag = START_TAG.match(data, variant.seg_start)
    if tag is None or tag[0].endswith(b"/>"):
        end = element_end(data, variant.seg_start, variant.seg_end)
        return SideSpan(0, end - start, end - start)
    return SideSpan(0, tag.end() - start, variant.seg_end - start)


def restored(path: Path, data: bytes) -> bytes:
    return read_contents(path).restored(data)


def mended_xml(raw: bytes, mend: Mend) -> bytes:
    """Every text between tags by itself; what stands in an element of code stays."""
    pieces, depth = list[bytes](), 0
    for found in _PIECE.finditer(raw):
        piece = found[0]
        if piece.startswith(b"<"):
            if _CODES.match(piece) and not piece.endswith(b"/>"):
                depth += 1
            depth -= bool(_CODES_END.match(piece))
        elif not depth:
            text = unescape(piece.decode())
            changed = mend(text)
            piece = piece if changed == text else escape(changed).encode()
        pieces.append(piece)
    return b"".join(pieces)
