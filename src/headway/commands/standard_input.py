"""Standard input, line by line: at once where a person types, many at a time from a pipe."""

import queue
import sys
import threading
from collections.abc import Iterator
from io import BufferedIOBase
from typing import cast

from headway.errors import DataError
from headway.text.lines import MAX_LINE_BYTES, bounded_lines

LINES_AT_ONCE = 2000
"""Lines sorted by length together; more would hold back the first output for longer."""


def typed_lines() -> Iterator[list[str]]:
    """`waiting_lines` of standard input, where no other character than a line feed ends a line."""
    return waiting_lines(cast("BufferedIOBase", sys.stdin.buffer))


def waiting_lines(stream: BufferedIOBase) -> Iterator[list[str]]:
    """All lines that are there by now, as soon as there is one.

    A person who types gets each answer at once; a file that is piped in is translated in batches.
    A line of more than 1 MiB is never held: it counts as blank, which is said at the end.
    Raises DataError where the text is not UTF-8.
    """
    lines: queue.Queue[str | Exception | None] = queue.Queue(maxsize=LINES_AT_ONCE)
    too_long: list[int] = []
    threading.Thread(target=_read, args=(stream, lines, too_long), daemon=True).start()
    last: str | Exception | None = ""
    while isinstance(last, str):
        texts: list[str] = []
        last = lines.get()
        while isinstance(last, str):
            texts.append(last)
            if len(texts) == LINES_AT_ONCE or lines.empty():
                break
            last = lines.get()
        if texts:
            yield texts
    if too_long:
        print(
            f"{len(too_long)} of the lines had more than {MAX_LINE_BYTES:,} bytes and count as "
            f"blank (the first is line {too_long[0]:,})",
            file=sys.stderr,
        )
    if last is not None:
        raise last


def _read(
    stream: BufferedIOBase, lines: "queue.Queue[str | Exception | None]", too_long: list[int]
) -> None:
    try:
        for number, text in enumerate(decoded(stream), start=1):
            if text is None:
                too_long.append(number)
            lines.put(text or "")
        lines.put(None)
    except Exception as error:  # told where the lines are taken, or that would wait forever
        lines.put(error)


def decoded(stream: BufferedIOBase) -> Iterator[str | None]:
    """Each line of UTF-8; None for one of more than 1 MiB. Raises DataError where it is not."""
    for number, raw in enumerate(bounded_lines(stream), start=1):
        try:
            yield None if raw is None else raw.removesuffix(b"\r").decode("utf-8")
        except UnicodeDecodeError as error:
            raise DataError(
                f"text must be UTF-8; standard input is not (line {number:,}, byte "
                f"{error.start + 1}). Please convert it, for example: iconv -f LATIN1 -t UTF-8"
            ) from None
