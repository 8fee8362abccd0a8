"""What nobody has used for long makes room where the cache is over its limit."""

import shutil
import time
from collections.abc import Callable, Iterable
from pathlib import Path

UNUSED_DAYS = 30
"""What was used since then stays, however large it is."""

_DAY_S = 24 * 3600


def make_room(
    entries: Iterable[tuple[float, float, Path]], limit_gb: float, say: Callable[[str], None]
) -> None:
    """Remove what was not used for `UNUSED_DAYS`, the oldest first, until the cache fits.

    An entry says when it was used, in seconds since 1970, how many GB it has, and its folder.
    """
    oldest_first = sorted(entries)
    total_gb = sum(size_gb for _, size_gb, _ in oldest_first)
    for last_used, size_gb, folder in oldest_first:
        days = (time.time() - last_used) / _DAY_S
        if total_gb <= limit_gb or days < UNUSED_DAYS:
            return
        shutil.rmtree(folder, ignore_errors=True)
        total_gb -= size_gb
        say(
            f"removed {folder} ({size_gb:.1f} GB, not used for {days:.0f} days): the cache is to "
            f"stay below {limit_gb:g} GB (HEADWAY_CACHE_LIMIT)"
        )
