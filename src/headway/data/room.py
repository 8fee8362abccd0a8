"""What nobody has used for long makes room where the cache is over its limit."""

import os
import re
import shutil
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

_OURS = re.compile(r"\.?(cleaned|codes|subwords|encoded)-[0-9a-f]{24}(\.work)?")
"""What is finished, and what an ended process left and nobody went on with."""


def make_room(
    unused: Mapping[Path, float], least_days: float, limit_gb: float, say: Callable[[str], None]
) -> None:
    """Remove what was not used for `least_days`, the oldest first, until the cache fits.

    `unused` says of everything in the cache for how many days nobody used it.
    """
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
