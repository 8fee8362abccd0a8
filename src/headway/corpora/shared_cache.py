"""A cache folder that others can write to: which part of it is used, or why none is."""

import os
import stat
from pathlib import Path

from headway.core.disk import disk_errors
from headway.core.errors import ConfigError
from headway.operations.locks import is_own


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
