"""Waiting for a lock that another process holds: entered only where it is not free at once."""

import os
import time
from collections.abc import Callable
from pathlib import Path

_ASK_AGAIN_S = 0.2
_FAR = 1 << 30  # Windows lets nobody read the byte that is locked

if os.name == "nt":
    import msvcrt

    def _locked(handle: int) -> bool:
        os.lseek(handle, _FAR, os.SEEK_SET)
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        except PermissionError:
            return False
        return True

else:
    import fcntl

    def _locked(handle: int) -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


def waited_for(path: Path, say: Callable[[str], None]) -> int:
    """The handle of a file that is locked as soon as nobody else has it; `say` for whom we wait.

    Where the file system knows no locks, that is said, and nobody waits.
    """
    told = False
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            while not _locked(handle):
                if not told:
                    say(f"waiting for {_holder(handle)}, which is doing the same ({path})")
                    told = True
                time.sleep(_ASK_AGAIN_S)
        except OSError as error:
            say(f"{path} cannot be locked ({error.strerror}); start nothing else that needs it")
            return handle
        except BaseException:
            os.close(handle)
            raise
        if _still_there(handle, path):
            return handle
        os.close(handle)  # its holder removed it; the next one has another file


def _holder(handle: int) -> str:
    os.lseek(handle, 0, os.SEEK_SET)
    return os.read(handle, 200).decode("utf-8", "replace") or "another process"


def _still_there(handle: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), os.stat(path))
    except FileNotFoundError:
        return False
