"""The cache does not grow for ever: what nobody has used for long makes room."""

import os
import re
import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from headway.errors import ConfigError

LIMIT_GB = 20.0
"""What HEADWAY_CACHE_LIMIT says otherwise, in GB; 0 for no limit."""
UNUSED_DAYS = 30
"""What was used since then stays, however large it is."""

_OURS = re.compile(r"\.?(cleaned|codes|subwords|encoded)-[0-9a-f]{24}(\.work)?")
"""What is finished, and what an ended process left and nobody went on with."""
_DAY_S = 24 * 3600


def note_use(directory: Path) -> None:
    """Remember when a folder of the cache was used: it is the time of access of the folder."""
    with suppress(OSError):
        os.utime(directory, ns=(time.time_ns(), directory.stat().st_mtime_ns))


def make_room(root: Path, say: Callable[[str], None]) -> None:
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
                entries.append((last_used, _size_gb(folder), folder))
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


def _size_gb(folder: Path) -> float:
    return sum(path.stat().st_size for path in folder.rglob("*")) / 1e9
