"""CSV (RFC 4180): rows of cells, some between quotes, parted by commas, semicolons or tabs."""

import re
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from headway.core.cleaning import Pair, Report
from headway.core.errors import DataError
from headway.core.lines import shown
from headway.languages.codes import LanguagePair, Languages, is_language, same_language
from headway.languages.path_languages import is_code
from headway.localization.formats.documents import Document
from headway.localization.formats.spans import Decoded, Entry, Lines, of_entries, read_decoded
from headway.localization.formats.tables import names_language
from headway.localization.formats.units import Width
from headway.localization.placeholders.segments import Segment

_SIGNS = ",;\t|"
_LOOKED_AT = 50
"""Rows that are looked at for the sign between cells."""
_REMARKS = frozenset(("note", "notes", "comment", "comments", "status", "state", "review"))
_KEYS = frozenset(("key", "id", "identifier", "context"))
_WIDTHS = frozenset(("maxlength", "max_length", "maxwidth", "max_width", "limit"))


class _Cell(NamedTuple):
    text: str
    start: int
    end: int


class _Row(NamedTuple):
    line: int
    cells: list[_Cell]


class _Columns(NamedTuple):
    source: int = 0
    target: int = 1
    header: int = -1
    """Its row, from 0."""
    languages: tuple[str | None, str | None] = (None, None)
    remarks: tuple[tuple[int, str], ...] = ()
    keys: tuple[int, ...] = ()
    width: int = -1


def read_csv(path: Path, languages: Languages, report: Report) -> Iterator[Pair]:
    """Rows of a source and a target, in the columns that a header names or else the first two.

    Columns named `notes`, `comment`, `status` and the like come with the pair. Raises DataError: it
    is neither UTF-8 nor UTF-16, or a quote is never closed.
    """
    decoded = read_decoded(path)
    rows, columns = _table(decoded, languages)
    file = shown(path)
    for number, row in enumerate(rows):
        report.read += 1
        shortened = " ".join(cell.text for cell in row.cells)[:200]
        if number == columns.header:
            report.drop("header", file, row.line, shortened)
        elif max(columns.source, columns.target) >= len(row.cells):
            reason = "one_column" if shortened.strip() else "blank_side"
            report.drop(reason, file, row.line, shortened)
        else:
            source, target = (row.cells[n].text for n in (columns.source, columns.target))
            if source.strip() and not target.strip():
                report.drop("untranslated", file, row.line, source)
            else:
                yield Pair(source, target, file, row.line, _remarks(row, columns))


def csv_languages(path: Path, languages: Languages) -> tuple[str | None, str | None]:
    return _table(read_decoded(path), languages)[1].languages


def open_document(
    path: Path,
    source_language: str | None,
    target_language: str | None,
    overwrite: bool,
    *,
    sign: str = "",
) -> Document:
    """A table whose target column is to be filled in; raises DataError as `read_csv`.

    `sign` is given where it always stands between cells, and nothing is quoted.
    """
    decoded = read_decoded(path)
    given = LanguagePair(source_language, target_language)
    rows, columns = _table(decoded, given, sign)
    quotes, sign = not sign, sign or _sign(decoded.text)

    def entries() -> Iterator[Entry | str]:
        for number, row in enumerate(rows):
            if number == columns.header:
                yield "header"
            elif columns.source >= len(row.cells):
                yield "blank_side"
            else:
                yield _entry(decoded.text, row, columns, sign, quotes=quotes)

    return of_entries(decoded, entries(), columns.languages, overwrite=overwrite)


open_tsv = partial(open_document, sign="\t")


def _entry(text: str, row: _Row, columns: _Columns, sign: str, *, quotes: bool) -> Entry:
    source = row.cells[columns.source]
    quoted = text[source.start : source.start + 1] == '"'
    missing = columns.target - len(row.cells) + 1
    last = row.cells[-1]
    there = _Cell("", last.end, last.end) if missing > 0 else row.cells[columns.target]
    before = sign * max(0, missing)

    def write(new: Segment) -> str:
        if not quotes:
            return before + _BREAKS.sub(" ", new.text)
        return before + _written(new.text, sign, quoted=quoted)

    key = "/".join(row.cells[n].text for n in columns.keys if n < len(row.cells))
    most = row.cells[columns.width].text.strip() if 0 <= columns.width < len(row.cells) else ""
    width = Width(int(most)) if re.fullmatch("[0-9]{1,9}", most) else None
    return Entry(
        source.text, row.line, there.start, there.end, write, key, there.text,
        _remarks(row, columns), width=width, beside=True,
    )  # fmt: skip


def _remarks(row: _Row, columns: _Columns) -> tuple[str, ...]:
    found = ((name, row.cells[n].text.strip()) for n, name in columns.remarks if n < len(row.cells))
    states = ("status", "state", "review")
    return tuple(f"state: {text}" if name in states else text for name, text in found if text)


def _written(text: str, sign: str, *, quoted: bool) -> str:
    special = any(c in text for c in (sign, '"', "\r", "\n")) or text != text.strip()
    if not (quoted or special):
        return text
    return '"' + text.replace('"', '""') + '"'


def _sign(text: str) -> str:
    """What stands between cells: what parts the first rows into the most cells, equally many."""
    scores = []
    for sign in _SIGNS:
        rows = (row.cells for row in _rows(text, sign) if len(row.cells) > 1 or row.cells[0].text)
        try:
            counts = [len(cells) for cells in islice(rows, _LOOKED_AT)]
        except _OpenQuoteError:
            continue
        if counts and counts[0] > 1:
            equal = counts.count(counts[0]) * 100 // len(counts)
            scores.append((equal, counts[0], -_SIGNS.index(sign)))
    return _SIGNS[-max(scores)[2]] if scores else ","


class _OtherLanguagesError(ValueError):
    """A language that no column has, and those that there are."""


class _OpenQuoteError(ValueError):
    pass


_QUOTED = re.compile(r'"((?:[^"]|"")*)"')
_LINE_END = re.compile(r"\r\n|\r|\n")
_BREAKS = re.compile(r"[\t\r\n]+")


def _rows(text: str, sign: str, *, quotes: bool = True) -> Iterator[_Row]:
    """Rows with the places of their cells; a cell between quotes may hold line ends."""
    position, lines = 0, Lines(text)
    other = r"|\r(?!\n)" * (not quotes)  # of unquoted lines only LF is an end
    plain = re.compile(rf"(?:[^{re.escape(sign)}\r\n]++{other})*+")
    while position < len(text):
        line, cells = lines.at(position), list[_Cell]()
        while True:
            start = position
            quoted = _QUOTED.match(text, position) if quotes else None
            if quoted:
                position = quoted.end()
            elif quotes and text.startswith('"', position):
                raise _OpenQuoteError(str(line))
            rest = plain.match(text, position)
            assert rest, "it matches the empty string"
            inside = quoted[1].replace('""', '"') if quoted else ""
            cells.append(_Cell(inside + rest[0], start, rest.end()))
            position = rest.end()
            if not text.startswith(sign, position):
                break
            position += 1
        yield _Row(line, cells)
        end = _LINE_END.match(text, position)
        position = end.end() if end else position


def _table(decoded: Decoded, languages: Languages, sign: str = "") -> tuple[list[_Row], _Columns]:
    try:
        rows = list(_rows(decoded.text, sign or _sign(decoded.text), quotes=not sign))
    except _OpenQuoteError as error:
        raise DataError(
            f"a quote at the beginning of a cell is closed again; {decoded.path}:{error} has one "
            'that is not. Close it, or write two ("") for one that belongs to the text.'
        ) from None
    try:
        return rows, _columns(rows, languages)
    except _OtherLanguagesError as error:
        wanted, known = error.args
        raise DataError(
            f"the columns of {decoded.path} are in {', '.join(known)}; {wanted} was asked for. "
            "Name one of them with --source-language or --target-language."
        ) from None


def _columns(rows: Sequence[_Row], languages: Languages) -> _Columns:
    """What the first row that is not blank says, if it names the columns."""
    cells_of = ([cell.text.strip() for cell in row.cells] for row in rows)
    header, first = next((row for row in enumerate(cells_of) if any(row[1])), (-1, []))
    names = [name.lower() for name in first]
    codes = [n for n, name in enumerate(first) if is_language(name)]
    if "source" in names and "target" in names:
        source, target = names.index("source"), names.index("target")
        said: tuple[str | None, str | None] = (None, None)
    else:
        wanted = languages.source_language, languages.target_language
        sides = [next((n for n in codes if same_language(first[n], w)), -1) for w in wanted]
        known = _REMARKS | _KEYS | _WIDTHS
        codes = [n for n in codes if names[n] not in known and names_language(first[n])]
        others = [n for n in codes if n not in sides]
        if len(codes) > 2 and all(is_code(first[n]) for n in codes):
            lacking = [w for w, n in zip(wanted, sides, strict=True) if w and n < 0]
            if lacking:
                raise _OtherLanguagesError(lacking[0], [first[n] for n in codes])
        elif -1 in sides and len(codes) != 2:
            return _Columns()
        if len(others) < sides.count(-1):
            return _Columns()
        source, target = (n if n >= 0 else others.pop(0) for n in sides)
        said = first[source], first[target]
        if names[source] == names[target]:
            return _Columns()

    def named(some: frozenset[str]) -> Iterator[int]:
        return (n for n, name in enumerate(names) if name in some)

    remarks = tuple((n, names[n]) for n in named(_REMARKS))
    width = next(named(_WIDTHS), -1)
    return _Columns(source, target, header, said, remarks, tuple(named(_KEYS)), width)
