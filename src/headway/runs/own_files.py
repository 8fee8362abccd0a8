"""Which text files are read for a run that nobody named: those that it was made from, no others.

A run that was made elsewhere can name any file of this machine in its config.toml. Only one whose
bytes have the checksum in data.json is read: who wrote that down had those bytes already.
"""

from collections.abc import Iterable
from pathlib import Path

from headway.core.disk import checksum, refuse_large
from headway.core.errors import HeadwayError
from headway.core.run_folder import RunFolder

_MOST_BYTES = 1 << 40


def why_not_read(folder: RunFolder, files: Iterable[Path]) -> str:
    """Why the files that a run names are not read, in words; nothing if all are what they were."""
    try:
        stored = folder.record()["sha256"] if folder.data.exists() else {}
        for path in files:
            place = str(path.absolute())
            if not path.exists():
                return f"{place} is gone"
            if place not in stored:
                return f"{folder.data} has no checksum of {place}"
            refuse_large(path, _MOST_BYTES)
            if checksum(path) != stored[place]:
                return f"{place} has changed since"
    except (HeadwayError, OSError) as error:
        return str(error)
    return ""
