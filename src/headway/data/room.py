"""What nobody has used for long makes room where the cache is over its limit."""

import os
import re
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from headway.data.cache import UNUSED_DAYS, days_unused

_OURS = re.compile(r"\.?(cleaned|codes|subwords|encoded)-[0-9a-f]{24}(\.work)?")
"""What is finished, and what an ended process left and nobody went on with."""


def make_room(root: Path, limit_gb: float, say: Callable[[str], None]) -> None:
    """Remove what was not used for `UNUSED_DAYS`, the oldest first, until the cache fits."""
    days = {path: days_unused(path) for path in root.iterdir() if _OURS.fullmatch(path.name)}
    sizes_gb = {path: _size_gb(path) for path in days}
    total_gb = sum(sizes_gb.values())
    for folder in sorted(days, key=lambda path: -days[path]):
        if total_gb <= limit_gb or days[folder] < UNUSED_DAYS:
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
