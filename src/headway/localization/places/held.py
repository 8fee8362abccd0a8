"""A unit as the bytes of its file, and what in them is text."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from headway.languages.codes import Languages

Mend = Callable[[str], str]
"""From a text to what it should be."""


class SideSpan(NamedTuple):
    """Where one side's text stands in a unit."""

    file: int
    """0, or 1 for the second of two text files."""
    start: int
    end: int


class LocatedUnit(NamedTuple):
    """One unit, in the order in which the reader of its file counts them."""

    line: int
    before: tuple[bytes, ...]
    """Of each file, what stands between the unit before and this one, and belongs to neither."""
    raw: tuple[bytes, ...]
    """Of each file, the unit; empty where it cannot be told where it stands."""
    source: SideSpan | None
    target: SideSpan | None

    def content(self, cell: SideSpan) -> bytes:
        return self.raw[cell.file][cell.start : cell.end]

    def with_content(self, cell: SideSpan, content: bytes) -> "LocatedUnit":
        """The same unit with other bytes in one of its cells."""
        raw = list(self.raw)
        whole = raw[cell.file]
        raw[cell.file] = whole[: cell.start] + content + whole[cell.end :]
        longer = len(content) - (cell.end - cell.start)

        def now(side: SideSpan | None) -> SideSpan | None:
            if side is None or side.file != cell.file or side.end < cell.end:
                return side
            start = side.start + (longer if side.start > cell.start else 0)
            return SideSpan(side.file, start, side.end + longer)

        return LocatedUnit(self.line, self.before, tuple(raw), now(self.source), now(self.target))


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


def mended_text(raw: bytes, mend: Mend) -> bytes:
    text = raw.decode()
    changed = mend(text)
    return raw if changed == text else changed.encode()


SIDE_BY_SIDE = re.compile(r"[\t\r\n]+")
"""What cannot stand in a cell of a table."""
