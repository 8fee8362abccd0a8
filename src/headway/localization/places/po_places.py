"""Units of a PO catalogue: entries with their comments."""

import re
from collections.abc import Iterator
from pathlib import Path

from headway.core.lines import damage_told, open_bytes
from headway.languages.codes import Languages
from headway.localization.formats.po_entries import PoEntry, read_entries, read_header
from headway.localization.formats.po_text import escape, unescape
from headway.localization.places.held import LocatedUnit, Mend, SideSpan

_LINE = re.compile(rb"[^\n]*\n|[^\n]+")
_PIECE = re.compile(rb'"((?:[^"\\]|\\.)*)"', re.DOTALL)


def po_units(files: tuple[Path, ...], _languages: Languages) -> Iterator[LocatedUnit]:
    """Every entry but the header and obsolete ones; what parts entries goes with the one before."""
    (path,) = files
    with damage_told(path), open_bytes(path) as file:
        lines: list[bytes] = _LINE.findall(file.read())
    done = 0
    for entry in read_entries(path, read_header(path).encoding):
        if entry.obsolete or entry.header:
            continue
        start, end = _extent(entry, lines)
        if start < done:  # two entries on a line
            yield LocatedUnit(entry.line, (b"",), (b"",), None, None)
            continue
        raw = b"".join(lines[start:end])
        target = [number for text in entry.forms.values() for number in text.lines]
        first, last = (len(b"".join(lines[start:n])) for n in (min(target) - 1, max(target)))
        before = b"".join(lines[done:start])
        yield LocatedUnit(entry.line, (before,), (raw,), None, SideSpan(0, first, last))
        done = end
    yield LocatedUnit(0, (b"".join(lines[done:]),), (b"",), None, None)


def _extent(entry: PoEntry, lines: list[bytes]) -> tuple[int, int]:
    """The lines of an entry from its first comment on, and one empty line behind it."""
    start = entry.line - 1
    while start and lines[start - 1].startswith(b"#") and not lines[start - 1].startswith(b"#~"):
        start -= 1
    end = max(number for text in entry.texts.values() for number in text.lines)
    if end < len(lines) and not lines[end].strip():
        end += 1
    return start, end


def mended_po(raw: bytes, mend: Mend, encoding: str) -> bytes:
    """Every text in quotes by itself, so that lines stay as they are."""

    def piece(found: re.Match[bytes]) -> bytes:
        text = unescape(found[1].decode(encoding), encoding)
        changed = mend(text)
        return found[0] if changed == text else b'"' + escape(changed).encode(encoding) + b'"'

    return _PIECE.sub(piece, raw)


def po_encoding(path: Path) -> str:
    """As the header says."""
    return read_header(path).encoding
