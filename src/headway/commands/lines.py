"""Lines of text, many at a time: of a file, or of standard input."""

import sys
from collections.abc import Iterable, Iterator
from io import BufferedIOBase
from pathlib import Path
from typing import cast

from headway.commands.standard_input import (
    CHARACTERS_AT_ONCE,
    LINES_AT_ONCE,
    tell_too_long,
    waiting_lines,
)
from headway.core.lines import read_lines


def chunks_of(file: Path | None) -> Iterator[list[str]]:
    """The lines of a file, or of standard input, many at a time."""
    if file is not None:
        return in_chunks(read_lines(file))
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
    if too_long:
        tell_too_long(too_long)
