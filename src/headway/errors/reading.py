"""A file of a run that cannot be read just now, which says nothing of what is in it."""

import errno
from pathlib import Path

from headway.errors import RunError
from headway.errors.reports import out_of_memory

_ANOTHER_KIND = (errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.ELOOP, errno.EINVAL, errno.EFBIG)
"""It is gone, or something else is in its place: that is damage."""


class OutOfReachError(RunError):
    """A file of a run may be whole, but cannot be read just now."""


def refuse_out_of_reach(path: Path, error: BaseException) -> None:
    """Raise OutOfReachError where an error while `path` was read is about permissions, a disk or
    memory."""
    refused = isinstance(error, OSError) and error.errno not in _ANOTHER_KIND
    if refused or out_of_memory(error):
        named = getattr(error, "filename", None) or path
        why = getattr(error, "strerror", None) or error
        raise OutOfReachError(
            f"what may be whole is not given up; {named} cannot be read just now ({why}). See to "
            "its permissions, its disk or the memory, then run the same command again."
        ) from error
