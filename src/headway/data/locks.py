"""One process at a time: a lock that the system takes back when its holder dies."""

import os
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
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


@contextmanager
def alone(path: Path, say: Callable[[str], None]) -> Iterator[None]:
    """Be the only process in this block for the file `path`; wait for another, and say so.

    A process that is killed leaves the file, but holds nothing. Where the file system knows no
    locks, that is said, and nobody waits.
    """
    handle = _acquired(path, say)
    try:
        yield
    finally:
        with suppress(OSError):  # Windows keeps a file that somebody waits for
            path.unlink()
        os.close(handle)


def _acquired(path: Path, say: Callable[[str], None]) -> int:
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
            os.ftruncate(handle, 0)
            os.lseek(handle, 0, os.SEEK_SET)
            os.write(handle, f"process {os.getpid()} on {socket.gethostname()}".encode())
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
