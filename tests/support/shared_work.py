"""Work for other processes, which must find it by importing it."""

import os
import signal
import sys
import time
from pathlib import Path

from headway.errors import DataError


def who(_task: int) -> int:
    """The process that does it."""
    return os.getpid()


def slow_first(task: int) -> int:
    """Later tasks are over before the first."""
    time.sleep(1.0 if task == 0 else 0.0)
    return task


def shout(task: int) -> int:
    """Something that prints."""
    print("noise")
    sys.stdout.flush()
    os.write(1, b"noise")
    return task


def refuse_five(task: int) -> int:
    """An error that a user sees, for one of the tasks."""
    if task == 5:
        raise DataError("no fives; got 5. Try 6.")
    return task


def die_once(mark: Path) -> int:
    """The first process that does this is killed; the next one succeeds."""
    try:
        mark.touch(exist_ok=False)
    except FileExistsError:
        return os.getpid()
    os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))
    raise AssertionError("killed")
