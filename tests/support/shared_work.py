"""Work for other processes."""

import os
import sys
import time


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
