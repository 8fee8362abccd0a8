"""Standard streams that were closed before the command began (`headway .. >&-`, some daemons), or
that nobody is at the other end of any more (`headway .. 2>&1 | tee log`, after Ctrl-C)."""

import errno
import io
import os
import sys
from contextlib import suppress
from typing import TextIO

from headway.core.errors import UserError

GONE = (errno.EPIPE, errno.EIO, errno.ECONNRESET)
"""What a pipe, a terminal or a connection answers whose other end is closed."""


class ClosedStream(io.TextIOBase):
    """Stands where there is no stream: whoever wants to read or write hears of it."""

    encoding = "utf-8"

    def __init__(self, name: str, remedy: str) -> None:
        self._message = f"{name} is closed. {remedy}"

    @property
    def buffer(self) -> io.BufferedIOBase:
        """Its bytes; raises UserError."""
        raise UserError(self._message)

    def readline(self, _size: int | None = -1, /) -> str:  # type: ignore[override]
        """Raise UserError."""
        raise UserError(self._message)

    def write(self, _text: str, /) -> int:
        """Raise UserError."""
        raise UserError(self._message)


def replace_closed() -> None:
    """Put something in the place of each stream that is not there, and of its number.

    Else the next file that is opened gets that number, and what others print goes into it.
    """
    while True:
        handle = os.open(os.devnull, os.O_RDWR)
        if handle > 2:
            os.close(handle)
            break
    if sys.stdin is None:
        sys.stdin = ClosedStream("standard input", "Name a file.")
    if sys.stdout is None:
        sys.stdout = ClosedStream("standard output", "Give --out, or open it: > FILE")
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115  # as long as we live


def let_go(stream: TextIO, error: OSError) -> None:
    """Have a stream lead nowhere whose other end is closed: no later write fails, nor its end.

    Any other stays as it is; where its disk is full, there may be room again.
    """
    if error.errno in GONE:
        lead_nowhere(stream)


def lead_nowhere(stream: TextIO) -> None:
    """Have what a stream still holds, and whatever is written to it, go nowhere."""
    with suppress(OSError), open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), stream.fileno())
