"""Units of TMX and XLIFF: elements with the inside of their two sides."""

import re
from collections.abc import Callable, Iterator
from html import unescape
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import escape

from headway.languages.codes import Languages
from headway.localization.formats.inline import START_TAG, element_end
from headway.localization.formats.tmx import TmxSides, TmxUnits, tmx_languages
from headway.localization.formats.xliff import is_turned, xliff_languages
from headway.localization.formats.xliff_units import Element, XliffUnits
from headway.localization.formats.xml_edits import tag_name
from headway.localization.formats.xml_encoding import read_contents
from headway.localization.places.held import LocatedUnit, Mend, SideSpan

_SPACE_BYTES = 200
_PIECE = re.compile(rb"<!--.*?-->|<!\[CDATA\[.*?\]\]>|<[^>]*+>?|[^<]+", re.DOTALL)
_CODES = re.compile(rb"<(?:\w+:)?(?:ph|bpt|ept|it|ut)[\s>]")
_CODES_END = re.compile(rb"</(?:\w+:)?(?:ph|bpt|ept|it|ut)\s*>")


class _Found(NamedTuple):
    """Bytes of a unit, and of the inside of its two sides."""

    line: int
    start: int
    end: int
    source: tuple[int, int] | None
    target: tuple[int, int] | None


def tmx_units(files: tuple[Path, ...], languages: Languages) -> Iterator[LocatedUnit]:
    """Every `tu`."""
    return _held(files[0], lambda path, data: _in_tmx(path, data, languages))


def xliff_units(files: tuple[Path, ...], languages: Languages) -> Iterator[LocatedUnit]:
    """Every `trans-unit`, or `segment` from version 2 on."""
    return _held(files[0], lambda path, data: _in_xliff(path, data, languages))


def restored(path: Path, data: bytes) -> bytes:
    """In the encoding of the file."""
    return read_contents(path).restored(data)


def mended_xml(raw: bytes, mend: Mend, _encoding: str) -> bytes:
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


def _held(path: Path, find: Callable[[Path, bytes], Iterator[_Found]]) -> Iterator[LocatedUnit]:
    """With the white space in front of it, so that nothing is left of a unit that is left out."""
    data = read_contents(path).data
    done = 0
    for unit in find(path, data):
        if unit.end <= unit.start or unit.start < done:
            yield LocatedUnit(unit.line, (b"",), (b"",), None, None)
            continue
        near = data[max(done, unit.start - _SPACE_BYTES) : unit.start]
        start = unit.start - len(near) + len(near.rstrip(b" \t\r\n"))
        cells = [side and SideSpan(0, *(place - start for place in side)) for side in unit[3:]]
        yield LocatedUnit(unit.line, (data[done:start],), (data[start : unit.end],), *cells)
        done = unit.end
    yield LocatedUnit(0, (data[done:],), (b"",), None, None)


def _in_tmx(path: Path, data: bytes, languages: Languages) -> Iterator[_Found]:
    sides = TmxSides(*tmx_languages(path, languages))
    done = 0
    for unit in TmxUnits(path, data).read([data]):
        start = end = 0
        inside: list[tuple[int, int] | None] = []
        if unit.variants:
            begins = list(_TU.finditer(data, done, unit.variants[0].start))
            start = begins[-1].start() if begins else 0
            last = _TU_END.search(data, unit.variants[-1].end)
            end = last.end() if begins and last else 0
        for variant in sides.of(unit):
            known = variant and variant.seg_start >= 0
            inside.append(_inside(data, variant.seg_start, variant.seg_end) if known else None)  # type: ignore[union-attr]
        yield _Found(unit.line, start, end, inside[0], inside[1])
        done = max(done, end)


_TU = re.compile(rb"<tu[\s>]")
_TU_END = re.compile(rb"</tu\s*>")


def _in_xliff(path: Path, data: bytes, languages: Languages) -> Iterator[_Found]:
    wanted = xliff_languages(path, languages)
    units = XliffUnits(path, data)
    for unit in units.read([data]):
        start, end = _whole(data, unit.start)
        if units.second:
            start, end = _around(data, start, end)
        sides = unit.source, unit.target
        if is_turned(unit.languages, wanted):
            sides = sides[::-1]
        inside = [_inside(data, side.start, side.end) if _written(side) else None for side in sides]  # type: ignore[union-attr]
        yield _Found(unit.line, start, end, inside[0], inside[1])


def _written(element: Element | None) -> bool:
    return element is not None and element.content.written


def _whole(data: bytes, start: int) -> tuple[int, int]:
    """From its start tag to behind its end tag."""
    tag = START_TAG.match(data, start)
    if tag is None or tag[0].endswith(b"/>"):
        return start, tag.end() if tag else start
    end = re.compile(rb"</%b\s*>" % re.escape(tag_name(tag[0]))).search(data, tag.end())
    return start, end.end() if end else start


def _around(data: bytes, start: int, end: int) -> tuple[int, int]:
    """The `unit` that a segment stands in, if it is the only one there; else the segment."""
    begins = data.rfind(b"<unit", 0, start)
    ends = data.find(b"</unit", end)
    inside = data[begins:ends]
    if begins < 0 or ends < 0 or inside.count(b"<segment") > 1:
        return start, end
    return _whole(data, begins)


def _inside(data: bytes, start: int, end_event: int) -> tuple[int, int]:
    """Between the tags of an element; of an empty tag nothing, in front of it."""
    tag = START_TAG.match(data, start)
    if tag is None or tag[0].endswith(b"/>"):
        return element_end(data, start, end_event), element_end(data, start, end_event)
    return tag.end(), end_event
