"""One process after the other: who comes second waits, and finds what the first has made."""

import time
from contextlib import AbstractContextManager
from pathlib import Path

from headway.operations.locks import Say, locked

_ASK_AGAIN_S = 0.2


def alone(path: Path, say: Say) -> AbstractContextManager[None]:
    """Be the only process in this block for the file `path`; wait for another, and say so.

    A process that is killed leaves the file, but holds nothing. Where the file system knows no
    locks, that is said, and nobody waits.
    """
    told: list[str] = []

    def wait(holder: str) -> None:
        if not told:
            say(f"waiting for {holder}, which is doing the same ({path})")
            told.append(holder)
        time.sleep(_ASK_AGAIN_S)

    return locked(path, wait, say)
