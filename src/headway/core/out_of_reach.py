"""What goes wrong outside of headway: a disk, permissions, memory. A file may be whole then."""

import errno
from pathlib import Path

from headway.core.errors import OutOfReachError

_ANOTHER_KIND = (errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.ELOOP, errno.EINVAL, errno.EFBIG)
"""It is gone, or something else is in its place: that is damage."""
NO_MEMORY = (
    "can't allocate memory", "not enough memory", "out of memory", "CUBLAS_STATUS_ALLOC_FAILED"
)  # fmt: skip
"""In the words of torch's allocators, which raise a RuntimeError."""


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


def out_of_memory(error: BaseException) -> bool:
    """Whether Python, torch or a GPU had no memory left for what was asked."""
    if isinstance(error, RuntimeError) and any(words in str(error) for words in NO_MEMORY):
        return True
    return isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError"
