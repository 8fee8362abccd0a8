"""Standard input, line by line: at once where a person types, many at a time from a pipe."""

import io
import queue
import sys
import threading
from collections.abc import Iterable, Iterator

from headway.errors import DataError

LINES_AT_ONCE = 2000
"""Lines sorted by length together; more would hold back the first output for longer."""


def typed_lines() -> Iterator[list[str]]:
    """`waiting_lines` of standard input, where no other character than a line feed ends a line."""
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(newline="\n")
    return waiting_lines(sys.stdin)


def waiting_lines(stream: Iterable[str]) -> Iterator[list[str]]:
    """All lines that are there by now, as soon as there is one.

    A person who types gets each answer at once; a file that is piped in is translated in batches.
    Raises DataError where the text is not UTF-8.
    """
    lines: queue.Queue[str | Exception | None] = queue.Queue(maxsize=LINES_AT_ONCE)

    def read() -> None:
        try:
            for line in stream:
                lines.put(line.removesuffix("\n").removesuffix("\r"))
            lines.put(None)
        except Exception as error:  # told where the lines are taken, or that would wait forever
            lines.put(error)

    threading.Thread(target=read, daemon=True).start()
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
    if isinstance(last, UnicodeDecodeError):
        raise DataError(
            "text must be UTF-8; standard input is not. "
            "Please convert it, for example: iconv -f LATIN1 -t UTF-8"
        ) from None
    if last is not None:
        raise last
