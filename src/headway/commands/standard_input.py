"""Lines of standard input, many at a time, as they come."""

import sys
from collections.abc import Iterator, Sequence
from io import BufferedIOBase

from headway.core.errors import DataError
from headway.core.lines import MAX_LINE_BYTES

LINES_AT_ONCE = 2000
"""Lines sorted by length together; more would hold back the first output for longer."""
CHARACTERS_AT_ONCE = 1 << 18
"""About how many of them are held at once: sub-words take a hundred times as much memory."""


def waiting_lines(stream: BufferedIOBase) -> Iterator[list[str]]:
    """All lines that are there by now, as soon as there is one; only a line feed ends a line.

    A person who types gets each answer at once; a file that is piped in is translated in batches.
    A line of more than 1 MiB is never held: it counts as blank, which is said at the end.
    Raises DataError where the text is not UTF-8.
    """
    if stream.isatty():
        print("headway: reads what you type, line by line; Ctrl-D ends", file=sys.stderr)
    begun, number = b"", 0
    too_long: list[int] = []
    data = b"\n"
    while data:
        data = stream.read1(CHARACTERS_AT_ONCE)
        *whole, begun = (begun + data).split(b"\n")
        if not data and begun:  # the last line has no line end
            whole = [begun]
        elif len(begun) > MAX_LINE_BYTES:
            begun = begun[: MAX_LINE_BYTES + 1]
        texts = []
        for raw in whole:
            number += 1
            if len(raw) > MAX_LINE_BYTES:
                too_long.append(number)
            held = raw.removesuffix(b"\r") if len(raw) <= MAX_LINE_BYTES else b""
            try:
                texts.append(held.decode("utf-8"))
            except UnicodeDecodeError as error:
                raise DataError(
                    f"text must be UTF-8; standard input is not (line {number:,}, byte "
                    f"{error.start + 1}). Please convert it: iconv -f ENCODING -t UTF-8"
                ) from None
        for first in range(0, len(texts), LINES_AT_ONCE):
            yield texts[first : first + LINES_AT_ONCE]
    if too_long:
        tell_too_long(too_long)


def tell_too_long(lines: Sequence[int]) -> None:
    """Say which lines, by number, were never held."""
    print(
        f"{len(lines)} of the lines had more than {MAX_LINE_BYTES:,} bytes and count as "
        f"blank (the first is line {lines[0]:,})",
        file=sys.stderr,
    )
