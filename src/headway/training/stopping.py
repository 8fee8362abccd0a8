"""Ctrl-C and SIGTERM ask training to stop at the next safe point, with a checkpoint."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from headway.errors import HeadwayError


class StoppedError(HeadwayError):
    """Training was asked to stop, and has saved what it had."""

    exit_status = 130


@contextmanager
def stop_on_signal(say: Callable[[str], None]) -> Iterator[Callable[[], bool]]:
    """Inside, a first signal sets a flag that the yielded function reads; a second one kills."""
    asked = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield asked.is_set  # only the main thread may set handlers
        return

    def handle(number: int, _frame: FrameType | None) -> None:
        if asked.is_set():
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)
        asked.set()
        say(f"{signal.Signals(number).name}: saving, then stopping (again: stop without saving)")

    signals = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.signal(number, handle) for number in signals}
    try:
        yield asked.is_set
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
