"""Standard input, line by line: at once where a person types, many at a time from a pipe."""

import queue
import sys
import threading
from collections.abc import Iterator
from io import BufferedIOBase, BufferedReader
from typing import cast

from headway.commands.arguments import CHARACTERS_AT_ONCE, LINES_AT_ONCE, tell_too_long
from headway.core.errors import DataError
from headway.core.lines import bounded_lines


def typed_lines() -> Iterator[list[str]]:
    """`waiting_lines` of standard input, where no other character than a line feed ends a line."""
    given = cast("BufferedIOBase", sys.stdin.buffer)
    # A reader of its own: Python closes stdin's when it ends, and dies where a thread waits in it.
    return waiting_lines(BufferedReader(given.raw) if hasattr(given, "raw") else given)


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
        n_characters = 0
        last = _taken(lines)
        while isinstance(last, str):
            texts.append(last)
            n_characters += len(last)
            full = len(texts) == LINES_AT_ONCE or n_characters >= CHARACTERS_AT_ONCE
            if full or lines.empty():
                break
            last = _taken(lines)
        if texts:
            yield texts
    tell_too_long(too_long)
    if last is not None:
        raise last


def _taken(lines: "queue.Queue[str | Exception | None]") -> str | Exception | None:
    """The next one, as soon as it is there."""
    line = lines.get()
    lines.task_done()
    return line


def _read(
    stream: BufferedIOBase, lines: "queue.Queue[str | Exception | None]", too_long: list[int]
) -> None:
    n_characters = 0
    try:
        for number, text in enumerate(decoded(stream), start=1):
            if text is None:
                too_long.append(number)
            lines.put(text or "")
            n_characters += len(text or "")
            if n_characters >= CHARACTERS_AT_ONCE:
                lines.join()  # until all are taken
                n_characters = 0
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
