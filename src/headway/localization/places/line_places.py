"""Units that are lines: two text files, TSV, JSON lines; never more than a line in memory."""

import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

from headway.core.lines import open_bytes, read_lines
from headway.languages.codes import Languages
from headway.localization.formats.tables import (
    first_line,
    header_of,
    json_object,
    json_spans,
    keys_of,
    turned_round,
)
from headway.localization.places.held import SIDE_BY_SIDE, LocatedUnit, Mend, SideSpan, mended_text

_MARK = b"\xef\xbb\xbf"


def parallel_units(files: tuple[Path, ...], _languages: Languages) -> Iterator[LocatedUnit]:
    with ExitStack() as opened:
        lines = [opened.enter_context(open_bytes(path)) for path in files]
        for number, (source, target) in enumerate(zip(*lines, strict=True), start=1):
            raw = source, target
            marks = tuple(_mark(one, number) for one in raw)
            raw = tuple(one[len(mark) :] for one, mark in zip(raw, marks, strict=True))
            cells = [SideSpan(n, 0, _length(one)) for n, one in enumerate(raw)]
            yield LocatedUnit(number, marks, raw, cells[0], cells[1])
    yield LocatedUnit(0, (b"", b""), (b"", b""), None, None)


def tsv_units(files: tuple[Path, ...], languages: Languages) -> Iterator[LocatedUnit]:
    """Rows with their first two cells."""
    first_is_source = _tsv_columns(files[0], languages) == (0, 1)
    for number, mark, raw in _lines(files[0]):
        end = _length(raw)
        tab = raw.find(b"\t", 0, end)
        if tab < 0:
            yield LocatedUnit(number, (mark,), (raw,), None, None)
            continue
        second_end = raw.find(b"\t", tab + 1, end)
        cells = SideSpan(0, 0, tab), SideSpan(0, tab + 1, end if second_end < 0 else second_end)
        source, target = cells if first_is_source else cells[::-1]
        yield LocatedUnit(number, (mark,), (raw,), source, target)
    yield LocatedUnit(0, (b"",), (b"",), None, None)


def jsonl_units(files: tuple[Path, ...], languages: Languages) -> Iterator[LocatedUnit]:
    """Objects with the strings of two of their keys."""
    keys = _jsonl_columns(files[0], languages)
    for number, mark, raw in _lines(files[0]):
        text = raw[: _length(raw)].decode("utf-8", "surrogateescape")
        entry = json_object(text)
        cells: list[SideSpan | None] = [None, None]
        if entry and all(isinstance(entry.get(key), str) for key in keys):
            spans = json_spans(text)
            for n, key in enumerate(keys):
                start, end = (len(text[:place].encode("utf-8")) for place in spans[key])
                cells[n] = SideSpan(0, start, end)
        yield LocatedUnit(number, (mark,), (raw,), cells[0], cells[1])
    yield LocatedUnit(0, (b"",), (b"",), None, None)


def mended_row(raw: bytes, mend: Mend) -> bytes:
    """A cell of a table, which stays one."""
    return mended_text(raw, lambda text: SIDE_BY_SIDE.sub(" ", mend(text)))


def mended_json(raw: bytes, mend: Mend) -> bytes:
    """A JSON string, in ASCII if it was."""
    text = json.loads(raw)
    changed = mend(text)
    if changed == text:
        return raw
    return json.dumps(changed, ensure_ascii=raw.isascii() and b"\\u" in raw).encode()


def _tsv_columns(path: Path, languages: Languages) -> tuple[int, int]:
    names = header_of(first_line(path))
    return (1, 0) if names and turned_round(*names, languages) else (0, 1)


def _jsonl_columns(path: Path, languages: Languages) -> tuple[str, str]:
    for line, text in enumerate(read_lines(path), start=1):
        if text and (entry := json_object(text)):
            return keys_of(entry, path, line, languages)
    return "source", "target"


def _lines(path: Path) -> Iterator[tuple[int, bytes, bytes]]:
    with open_bytes(path) as file:
        for number, raw in enumerate(file, start=1):
            mark = _mark(raw, number)
            yield number, mark, raw[len(mark) :]


def _mark(raw: bytes, number: int) -> bytes:
    return _MARK if number == 1 and raw.startswith(_MARK) else b""


def _length(raw: bytes) -> int:
    return len(raw) - (1 if raw.endswith(b"\n") else 0) - (1 if raw.endswith(b"\r\n") else 0)
