"""The cache of clean and encoded text: each folder is made once, by one process, and known by key.

It may be deleted at any time. What is damaged is made anew.
"""

import os
import re
import shutil
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, TypeVar

from headway.disk import DiskError, alone, digest, disk_errors, sweep
from headway.errors import ConfigError, DataError, UserError

LIMIT_GB = 20.0
"""What HEADWAY_CACHE_LIMIT says otherwise, in GB; 0 for no limit."""
UNUSED_DAYS = 30
"""What was used since then stays, however large it is."""

_OURS = re.compile(r"\.?(cleaned|codes|subwords|encoded)-[0-9a-f]{24}(\.work)?")
"""What is finished, and what an ended process left and nobody went on with."""
_DAY_S = 24 * 3600.0
_WORK_IS_STALE_S = 7 * _DAY_S

T = TypeVar("T")
Say = Callable[[str], None]


def silent(_message: str) -> None:
    """Say nothing."""


def cache_root() -> Path:
    """Where it is: $HEADWAY_CACHE, else $XDG_CACHE_HOME/headway, else ~/.cache/headway."""
    if own := os.environ.get("HEADWAY_CACHE"):
        return Path(own)
    shared = os.environ.get("XDG_CACHE_HOME")
    return (Path(shared) if shared else Path.home() / ".cache") / "headway"


def key_of(description: dict[str, Any]) -> str:
    """A short name for everything that a result depends on."""
    return digest(description)[:24]


def reopened(folder: Path, open_it: Callable[[], T], say: Say = silent) -> T | None:
    """What `open_it` finds in a folder made earlier; None, said aloud, if it is damaged."""
    if not os.path.exists(folder):  # unlike Path.exists, False where looking is forbidden
        return None
    try:
        return open_it()
    except DataError as error:
        say(f"{error} That is done now.")
        return None


def made_once(
    directory: Path, open_it: Callable[[], T], make: Callable[[Path], None], say: Say
) -> T:
    """What `open_it` finds in `directory`, which `make` writes unless that was done before.

    `make` gets a folder for pieces. If the process is ended, however it comes, the next one that
    wants the same gets that folder as it was left; only an error of the user's removes it. Two
    that want the same at the same time: one waits.

    Raises:
        DiskError: the place cannot be written to.
    """
    found = reopened(directory, open_it, say)
    if found is not None:
        note_use(directory)
        return found
    work = directory.with_name(f".{directory.name}.work")
    with ExitStack() as stack:
        with disk_errors(directory.parent):
            directory.parent.mkdir(parents=True, exist_ok=True)
            stack.enter_context(alone(directory.with_name(f".{directory.name}.lock"), say))
            found = reopened(directory, open_it, say)
            if found is not None:
                return found
            work.mkdir(exist_ok=True)
        if any(work.iterdir()):
            say(f"going on with what an ended process left ({work})")
        try:
            make(work)
            found = open_it()
        except DiskError:
            raise
        except UserError:  # when that is put right, something else is wanted
            shutil.rmtree(work, ignore_errors=True)
            raise
        shutil.rmtree(work, ignore_errors=True)
    note_use(directory)
    sweep(directory.parent)
    sweep(directory.parent, ".*.work", unused_s=_WORK_IS_STALE_S)
    make_room(directory.parent, say)
    return found


def note_use(directory: Path) -> None:
    """Remember when a folder of the cache was used: it is the time of access of the folder."""
    with suppress(OSError):
        os.utime(directory, ns=(time.time_ns(), directory.stat().st_mtime_ns))


def make_room(root: Path, say: Say) -> None:
    """Remove what was not used for `UNUSED_DAYS`, the oldest first, until the cache fits its limit.

    Raises:
        ConfigError: HEADWAY_CACHE_LIMIT is no number.
    """
    limit_gb = _limit_gb()
    entries = []
    for folder in root.iterdir():
        with suppress(FileNotFoundError):  # another process makes room as well
            if _OURS.fullmatch(folder.name):
                status = folder.stat()
                last_used = max(status.st_atime, status.st_mtime)
                size_gb = sum(path.stat().st_size for path in folder.rglob("*")) / 1e9
                entries.append((last_used, size_gb, folder))
    entries.sort()
    total_gb = sum(size_gb for _, size_gb, _ in entries)
    for last_used, size_gb, folder in entries:
        days = (time.time() - last_used) / _DAY_S
        if not limit_gb or total_gb <= limit_gb or days < UNUSED_DAYS:
            return
        shutil.rmtree(folder, ignore_errors=True)
        total_gb -= size_gb
        say(
            f"removed {folder} ({size_gb:.1f} GB, not used for {days:.0f} days): the cache is to "
            f"stay below {limit_gb:g} GB (HEADWAY_CACHE_LIMIT)"
        )


def _limit_gb() -> float:
    given = os.environ.get("HEADWAY_CACHE_LIMIT", "")
    try:
        return max(0.0, float(given)) if given else LIMIT_GB
    except ValueError:
        raise ConfigError(
            f"HEADWAY_CACHE_LIMIT is a number of GB, or 0 for no limit; got {given!r}. Try 20."
        ) from None
