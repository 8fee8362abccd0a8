"""One process at a time: a locked file that names its holder; the system frees it at the end."""

import errno
import os
import socket
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path

from headway.core.disk import disk_errors
from headway.core.errors import ConfigError, UserError

Say = Callable[[str], None]

_TRIES = 100
_FAR = 1 << 30  # Windows lets nobody read the byte that is locked


class TakenError(UserError):
    """Another process is writing the same."""


def is_own(status: os.stat_result) -> bool:
    """Whether only this user and the system's own can have written it, or can write to it."""
    ours = not hasattr(os, "geteuid") or status.st_uid in (0, os.geteuid())
    return os.name == "nt" or (ours and not status.st_mode & 0o022)


def only_writer(what: Path, say: Say) -> AbstractContextManager[None]:
    """Be the only process in this block that writes the file or folder `what`; one that is killed
    holds nothing. Where the file system knows no locks, that is said, and nobody is kept out.

    Raises:
        TakenError: another process writes it.
    """
    path = what / ".lock" if what.is_dir() else what.with_name(f".{what.name}.lock")
    return locked(path, partial(_refuse, what), say)


def _refuse(what: Path, holder: str) -> None:
    raise TakenError(
        f"one process at a time may write {what}; {holder} is at it. "
        "Wait until it has ended, or give another place."
    )


@contextmanager
def only_writer_of_folder(folder: Path, say: Say) -> Iterator[None]:
    """`only_writer` of a folder, which is made; if nothing is in it at the end, it goes again.

    Raises:
        DiskError: it cannot be written to.
        TakenError: another process writes to it.
    """
    with ExitStack() as stack:
        stack.callback(_remove_empty, folder)
        with disk_errors(folder / ".lock"):
            for remaining in reversed(range(_TRIES)):
                try:
                    folder.mkdir(parents=True, exist_ok=True)
                    stack.enter_context(locked(folder / ".lock", partial(_refuse, folder), say))
                    break
                # Another process just ended, and removed it.
                except (FileNotFoundError, FileExistsError):
                    if not remaining:
                        raise
        yield


def _remove_empty(folder: Path) -> None:
    with suppress(OSError):
        folder.rmdir()


@contextmanager
def only_writer_of_file(out: Path | None, say: Say) -> Iterator[None]:
    """`only_writer` of a file that a command writes as a whole at its end; its folder is made.

    Behind a link, of what it names. A pipe, a device or standard output (None) is not locked.

    Raises:
        ConfigError: it is a folder.
        DiskError: it cannot be written.
        TakenError: another process writes it.
    """
    if out is None or (out.exists() and not out.is_file() and not out.is_dir()):
        yield
        return
    if out.is_dir():
        raise ConfigError(f"a file is to be written; {out} is a folder. Name a file inside it.")
    file = Path(os.path.realpath(out))
    with ExitStack() as stack:
        with disk_errors(file):
            file.parent.mkdir(parents=True, exist_ok=True)
            stack.enter_context(only_writer(file, say))
        yield


@contextmanager
def locked(path: Path, taken: Callable[[str], None], say: Say) -> Iterator[None]:
    """Hold the file; `taken` hears who has it, and returns to have it tried again."""
    while not _lock(handle := _opened(path), path, taken, say):
        os.close(handle)
    try:
        os.ftruncate(handle, 0)
        os.lseek(handle, 0, os.SEEK_SET)
        os.write(handle, f"process {os.getpid()} on {socket.gethostname()}".encode())
        yield
    finally:
        with suppress(OSError):  # Windows keeps a file that somebody waits for
            path.unlink()
        os.close(handle)


def _lock(handle: int, path: Path, taken: Callable[[str], None], say: Say) -> bool:
    try:
        if not _locks(handle):
            taken(_holder(handle))
        elif os.path.samestat(os.fstat(handle), os.stat(path)):
            return True  # else its holder removed it: the next has another one
    except FileNotFoundError:
        pass
    except OSError as error:
        say(f"{path} cannot be locked ({error.strerror}); start nothing else that needs it")
        return True
    except BaseException:
        os.close(handle)
        raise
    return False


def _opened(path: Path) -> int:
    """A lock is written to: what a link or a second name leads to is not opened for it."""
    extra = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    handle = os.open(path, os.O_RDWR | os.O_CREAT | extra, 0o666)
    status = os.fstat(handle)
    if status.st_nlink > 1 or not stat.S_ISREG(status.st_mode):
        os.close(handle)
        raise OSError(errno.EMLINK, "it is a link, or no file; remove it", str(path))
    return handle


def _holder(handle: int) -> str:
    for _ in range(20):  # it may have locked the file, and not yet said who it is
        os.lseek(handle, 0, os.SEEK_SET)
        if name := os.read(handle, 200).decode("ascii", "replace"):
            return "".join(filter(str.isprintable, name))
        time.sleep(0.01)
    return "another process"


def _locks(handle: int) -> bool:
    try:
        if os.name == "nt":
            import msvcrt

            os.lseek(handle, _FAR, os.SEEK_SET)
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        else:
            import fcntl

            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    return True
