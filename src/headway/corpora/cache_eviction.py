"""The cache where it is too large, or open to others: what makes room, and what is used of it."""

import os
import re
import shutil
import stat
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from headway.core.disk import disk_errors
from headway.core.errors import ConfigError
from headway.operations.locks import is_own

LIMIT_GB = 20.0
"""What HEADWAY_CACHE_LIMIT says otherwise, in GB; 0 for no limit."""

_OURS = re.compile(r"\.?(cleaned|codes|subwords|encoded)-[0-9a-f]{24}(\.work)?")
"""What is finished, and what an ended process left and nobody went on with."""


def own_part(root: Path) -> Path:
    """What is used of a cache folder that is not this user's alone, as is said in `is_own`.

    Where anybody may add something and nobody may move another's (/tmp), that is a folder of the
    user's own in it. One of the user's that only a group can write to, as umask 002 makes them, is
    taken from the group: each entry of it is looked at before it is used.

    Raises:
        ConfigError: others can put there what would be run here.
    """
    status, user = root.stat(), os.geteuid()
    if status.st_uid == user and not status.st_mode & stat.S_IWOTH:
        root.chmod(status.st_mode & ~0o022)
        return root
    if status.st_mode & stat.S_ISVTX and status.st_uid in (0, user):
        own = root / f"headway-{user}"
        with disk_errors(own):
            own.mkdir(0o700, exist_ok=True)
        if stat.S_ISDIR(own.lstat().st_mode) and is_own(own.lstat()):
            return own
        root = own
    whose = f"user {root.lstat().st_uid}'s"
    open_to = "can be written to by others" if root.lstat().st_uid in (0, user) else f"is {whose}"
    raise ConfigError(
        f"what lies in a cache is run later, so only this user may write to it; {root} {open_to}. "
        "Set HEADWAY_CACHE (HEADWAY_ENGINE_CACHE) to a folder of your own, or take the writing "
        f"from others and empty it: chmod go-w {root}"
    )


def _limit_gb() -> float:
    given = os.environ.get("HEADWAY_CACHE_LIMIT", "")
    try:
        return float(given) if given else LIMIT_GB
    except ValueError:
        raise ConfigError(
            f"HEADWAY_CACHE_LIMIT is a number of GB, or 0 for no limit; got {given!r}. Try 20."
        ) from None


def make_room(unused: Mapping[Path, float], least_days: float, say: Callable[[str], None]) -> None:
    """Remove what was not used for `least_days`, the oldest first, until the cache fits.

    `unused` says of everything in the cache for how many days nobody used it.
    """
    limit_gb = _limit_gb()
    if limit_gb <= 0:
        return
    days = {path: n for path, n in unused.items() if _OURS.fullmatch(path.name)}
    sizes_gb = {path: _size_gb(path) for path in days}
    total_gb = sum(sizes_gb.values())
    for folder in sorted(days, key=lambda path: -days[path]):
        if total_gb <= limit_gb or days[folder] < least_days:
            return
        shutil.rmtree(folder, ignore_errors=True)
        total_gb -= sizes_gb[folder]
        say(
            f"removed {folder} ({sizes_gb[folder]:.1f} GB, not used for {days[folder]:.0f} days): "
            f"the cache is to stay below {limit_gb:g} GB (HEADWAY_CACHE_LIMIT)"
        )


def _size_gb(folder: Path) -> float:
    """Looking at it is no use of it; another process may be removing it."""
    with suppress(FileNotFoundError):
        status = folder.stat()
        n_bytes = sum(path.stat().st_size for path in folder.rglob("*"))
        os.utime(folder, ns=(status.st_atime_ns, status.st_mtime_ns))
        return n_bytes / 1e9
    return 0.0
