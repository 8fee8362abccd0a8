"""Lines of text, many at a time: of a file, or of standard input."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from io import BufferedIOBase
from pathlib import Path
from typing import cast

from headway.core.lines import MAX_LINE_BYTES, read_lines

LINES_AT_ONCE = 2000
"""Lines sorted by length together; more would hold back the first output for longer."""
CHARACTERS_AT_ONCE = 1 << 18
"""About how many of them are held at once: sub-words take a hundred times as much memory."""


def chunks_of(file: Path | None) -> Iterator[list[str]]:
    """The lines of a file, or of standard input, many at a time."""
    if file is not None:
        return in_chunks(read_lines(file))
    from headway.commands.standard_input import waiting_lines

    return waiting_lines(cast("BufferedIOBase", sys.stdin.buffer))


def in_chunks(lines: Iterable[str | None]) -> Iterator[list[str]]:
    """Lines, many at a time; those that are too long to be held count as blank."""
    texts: list[str] = []
    n_characters, too_long = 0, []
    for number, line in enumerate(lines, start=1):
        if line is None:
            too_long.append(number)
        texts.append(line or "")
        n_characters += len(texts[-1])
        if len(texts) == LINES_AT_ONCE or n_characters >= CHARACTERS_AT_ONCE:
            yield texts
            texts, n_characters = [], 0
    if texts:
        yield texts
    tell_too_long(too_long)


def tell_too_long(lines: Sequence[int]) -> None:
    """Say which lines, by number, were never held; nothing where there are none."""
    if lines:
        print(
            f"{len(lines)} of the lines had more than {MAX_LINE_BYTES:,} bytes and count as "
            f"blank (the first is line {lines[0]:,})",
            file=sys.stderr,
        )
