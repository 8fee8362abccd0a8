"""The units of a corpus file as bytes: to be written again with some left out or mended.

Two text files and TSV are never held but for the line at hand; a TMX is held whole.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from html import unescape
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import escape

from headway.core.errors import DataError
from headway.core.lines import open_bytes
from headway.languages.codes import Languages, suffix_of
from headway.localization.formats.file_kinds import keyed
from headway.localization.formats.inline import START_TAG, element_end
from headway.localization.formats.tables import first_line, header_of, turned_round
from headway.localization.formats.tmx import TmxSides, TmxUnit, TmxUnits, Variant, tmx_languages
from headway.localization.formats.xml_encoding import read_contents

Mend = Callable[[str], str]
"""From a text to what it should be."""
Span = tuple[int, int]
Cell = tuple[int, int]
"""Which file (1 is the second of two text files), and which piece of the unit there."""

_MARK = b"\xef\xbb\xbf"
_SPACE_BYTES = 200
_PIECE = re.compile(rb"<!--.*?-->|<!\[CDATA\[.*?\]\]>|<[^>]*+>?|[^<]+", re.DOTALL)
_CODES = re.compile(rb"<(?:\w+:)?(?:ph|bpt|ept|it|ut)[\s>]")
_CODES_END = re.compile(rb"</(?:\w+:)?(?:ph|bpt|ept|it|ut)\s*>")
_TU = re.compile(rb"<tu[\s>]")
_TU_END = re.compile(rb"</tu\s*>")


class LocatedUnit(NamedTuple):
    """One unit, in the order in which the reader of its file counts them."""

    line: int
    before: tuple[bytes, ...]
    """Of each file, what stands between the unit before and this one, and belongs to neither."""
    pieces: tuple[tuple[bytes, ...], ...]
    """Of each file, the unit, its cells by themselves; nothing where nobody can tell its place."""
    source: Cell | None
    target: Cell | None

    @property
    def raw(self) -> tuple[bytes, ...]:
        return tuple(map(b"".join, self.pieces))

    def content(self, cell: Cell) -> bytes:
        return self.pieces[cell[0]][cell[1]]

    def with_content(self, cell: Cell, content: bytes) -> "LocatedUnit":
        """The same unit with other bytes in one of its cells."""
        pieces = [list(of_file) for of_file in self.pieces]
        pieces[cell[0]][cell[1]] = content
        return self._replace(pieces=tuple(map(tuple, pieces)))


class Places(NamedTuple):
    """How one kind of file is taken apart and put together."""

    units: Callable[[tuple[Path, ...], Languages], Iterator[LocatedUnit]]
    """All units; the last one has line 0 and is what stands behind them."""
    mended: Callable[[bytes, Mend], bytes]
    """The content of a cell with its texts mended."""
    whole: bool = True
    """Whether a cell is one text, of which the ends can be mended too."""
    restored: Callable[[Path, bytes], bytes] | None = None
    """What makes the bytes of a file, if units are not those bytes already."""


def places_of(files: tuple[Path, ...]) -> Places:
    """How a part of a corpus is taken apart; raises DataError for a kind that is only read."""
    suffix = suffix_of(files[0])
    if len(files) == 2 and suffix not in keyed():
        return TWO_FILES
    if len(files) == 2 or suffix not in PLACES:
        raise DataError(
            f"--drop and --fix write two text files or one of {', '.join(PLACES)}; got "
            f"{files[0]}. Convert it to one of these, or leave them out."
        )
    return PLACES[suffix]


def _located(
    line: int, before: bytes, raw: bytes, source: Span | None = None, target: Span | None = None
) -> LocatedUnit:
    """A unit of one file, in which its sides stand from here to there."""
    pieces, cells, done = list[bytes](), dict[int, Cell](), 0
    for span, side in sorted((s, n) for n, s in enumerate((source, target)) if s):
        pieces += [raw[done : span[0]], raw[slice(*span)]]
        cells[side], done = (0, len(pieces) - 1), span[1]
    return LocatedUnit(line, (before,), ((*pieces, raw[done:]),), cells.get(0), cells.get(1))


# -- lines -------------------------------------------------------------------------------------


def _parallel_units(files: tuple[Path, ...], _languages: Languages) -> Iterator[LocatedUnit]:
    with ExitStack() as opened:
        lines = [opened.enter_context(open_bytes(path)) for path in files]
        for number, both in enumerate(zip(*lines, strict=True), start=1):
            marks = tuple(_MARK * (number == 1 and raw.startswith(_MARK)) for raw in both)
            bare = [raw[len(mark) :] for raw, mark in zip(both, marks, strict=True)]
            cut = tuple((raw[: _length(raw)], raw[_length(raw) :]) for raw in bare)
            yield LocatedUnit(number, marks, cut, (0, 0), (1, 0))
    yield LocatedUnit(0, (b"", b""), ((), ()), None, None)


def _tsv_units(files: tuple[Path, ...], languages: Languages) -> Iterator[LocatedUnit]:
    """Rows with their first two cells."""
    names = header_of(first_line(files[0]))
    turned = names is not None and turned_round(*names, languages)
    for number, mark, raw in _lines(files[0]):
        cells: list[Span] = []
        start, end = 0, _length(raw)
        for content in raw[:end].split(b"\t", 2)[:2]:
            cells.append((start, start + len(content)))
            start += len(content) + 1
        both = cells if len(cells) == 2 else []
        yield _located(number, mark, raw, *(both[::-1] if turned else both))
    yield _located(0, b"", b"")


def _lines(path: Path) -> Iterator[tuple[int, bytes, bytes]]:
    """Number, byte order mark, and the line without it."""
    with open_bytes(path) as file:
        for number, raw in enumerate(file, start=1):
            mark = _MARK * (number == 1 and raw.startswith(_MARK))
            yield number, mark, raw[len(mark) :]


def _length(raw: bytes) -> int:
    return len(raw) - raw.endswith(b"\n") - raw.endswith(b"\r\n")


def _mended_text(raw: bytes, mend: Mend) -> bytes:
    text = raw.decode()
    changed = mend(text)
    return raw if changed == text else changed.encode()


def _mended_row(raw: bytes, mend: Mend) -> bytes:
    """A cell of a table, which stays one."""
    return _mended_text(raw, lambda text: re.sub(r"[\t\r\n]+", " ", mend(text)))


# -- TMX ---------------------------------------------------------------------------------------


def _tmx_units(files: tuple[Path, ...], languages: Languages) -> Iterator[LocatedUnit]:
    """Every `tu`, with the white space in front of it, so that nothing is left of one that is left
    out."""
    (path,) = files
    data = read_contents(path).data
    sides, done = TmxSides(*tmx_languages(path, languages)), 0
    for unit in TmxUnits(path, data).read([data]):
        start, end = _extent(data, unit, done)
        if end <= start:
            yield _located(unit.line, b"", b"")
            continue
        near = data[max(done, start - _SPACE_BYTES) : start]
        start -= len(near) - len(near.rstrip(b" \t\r\n"))
        cells = (_inside(data, variant, start) for variant in sides.of(unit))
        yield _located(unit.line, data[done:start], data[start:end], *cells)
        done = end
    yield _located(0, data[done:], b"")


def _extent(data: bytes, unit: TmxUnit, done: int) -> Span:
    """Where a unit begins and ends; nothing where that cannot be told."""
    if not unit.variants:
        return 0, 0
    begins = list(_TU.finditer(data, done, unit.variants[0].start))
    last = _TU_END.search(data, unit.variants[-1].end)
    return (begins[-1].start(), last.end()) if begins and last else (0, 0)


def _inside(data: bytes, variant: Variant | None, start: int) -> Span | None:
    """Between the tags of a `seg`; of an empty tag nothing, in front of it."""
    if variant is None or variant.seg.start < 0:
        return None
    tag = START_TAG.match(data, variant.seg.start)
    if tag is None or tag[0].endswith(b"/>"):
        end = element_end(data, variant.seg.start, variant.seg.end)
        return end - start, end - start
    return tag.end() - start, variant.seg.end - start


def _mended_xml(raw: bytes, mend: Mend) -> bytes:
    """Every text between tags by itself; what stands in an element of code stays."""
    pieces, depth = list[bytes](), 0
    for found in _PIECE.finditer(raw):
        piece = found[0]
        if piece.startswith(b"<"):
            depth += bool(_CODES.match(piece)) and not piece.endswith(b"/>")
            depth -= bool(_CODES_END.match(piece))
        elif not depth:
            text = unescape(piece.decode())
            changed = mend(text)
            piece = piece if changed == text else escape(changed).encode()
        pieces.append(piece)
    return b"".join(pieces)


TWO_FILES = Places(_parallel_units, _mended_text)
PLACES = {
    ".tsv": Places(_tsv_units, _mended_row),
    ".tmx": Places(
        _tmx_units, _mended_xml, False, lambda path, data: read_contents(path).restored(data)
    ),
}
"""By suffix; each may also end in `.gz`."""
