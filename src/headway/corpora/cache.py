"""The cache of clean and encoded text: each folder is made once, by one process, and known by key.

It may be deleted at any time. What is damaged is made anew.
"""

import json
import os
import re
import shutil
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from headway.core.disk import (
    DAY_S,
    DiskError,
    checksum,
    clear_asides,
    digest,
    disk_errors,
    whole_folder,
)
from headway.core.errors import DataError, UserError
from headway.corpora.cache_place import silent
from headway.operations.locks import Say, is_own
from headway.operations.turns import alone

UNUSED_DAYS = 90.0
_OURS = re.compile(
    r"\.?(cleaned|codes|subwords|encoded|vectors|memory|ctranslate2)-[0-9a-f]{24}(\.work)?"
)
"""What is finished, and what an ended process left and nobody went on with."""
_META = "meta.json"

T = TypeVar("T")


def reopened(folder: Path, open_it: Callable[[], T], say: Say = silent) -> T | None:
    """What `open_it` finds in a folder made earlier; None, said aloud, if it is damaged."""
    if not os.path.exists(folder):  # unlike Path.exists, False where looking is forbidden
        return None
    try:
        made = folder.lstat()
        if not is_own(made) or any(f.lstat().st_uid != made.st_uid for f in folder.iterdir()):
            raise DataError(f"{folder} is not this user's alone. It must be made anew.")
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
        with disk_errors(directory):
            directory.parent.mkdir(0o700, parents=True, exist_ok=True)
            stack.enter_context(alone(directory.with_name(f".{directory.name}.lock"), say))
            found = reopened(directory, open_it, say)
            if found is not None:
                return found
            work.mkdir(0o700, exist_ok=True)
        if any(work.iterdir()):
            say(f"going on with what an ended process left ({work})")
        try:
            make(work)
            directory.chmod(0o700)
            found = open_it()
        except DiskError:
            raise
        except UserError:  # when that is put right, something else is wanted
            shutil.rmtree(work, ignore_errors=True)
            raise
        shutil.rmtree(work, ignore_errors=True)
    note_use(directory)
    clear_asides(directory.parent, idle_s=DAY_S)
    remove_unused(directory.parent, say)
    return found


def note_use(directory: Path) -> None:
    """Remember when a folder of the cache was used: it is the time of access of the folder."""
    with suppress(OSError):
        os.utime(directory, ns=(time.time_ns(), directory.stat().st_mtime_ns))


def remove_unused(root: Path, say: Say) -> None:
    """Remove what nobody used for `UNUSED_DAYS`, finished or not."""
    for folder in root.iterdir():
        if _OURS.fullmatch(folder.name) and (days := days_unused(folder)) >= UNUSED_DAYS:
            shutil.rmtree(folder, ignore_errors=True)
            say(f"removed {folder} from the cache: not used for {days:.0f} days")


def days_unused(folder: Path) -> float:
    """How long nobody used a folder of the cache; not at all where somebody else removes it."""
    try:
        status = folder.stat()
    except FileNotFoundError:
        return 0.0
    return (time.time() - max(status.st_atime, status.st_mtime)) / DAY_S


@contextmanager
def sealed_folder(final: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    """A `whole_folder`, and a dict for what is to be known about it; `read_sealed` checks both."""
    with whole_folder(final) as part:
        content: dict[str, Any] = {}
        yield part, content
        files = {path.name: checksum(path) for path in sorted(part.iterdir())}
        meta: dict[str, Any] = {"content": content, "files": files}
        meta["sha256"] = digest(meta)
        (part / _META).write_text(json.dumps(meta), encoding="utf-8")
        part.chmod(part.stat().st_mode & ~0o022)  # see `is_own`


def read_sealed(folder: Path, only: Collection[str] | None = None) -> dict[str, Any]:
    """What is known about a folder that `sealed_folder` wrote, after checking every byte of it, or
    of `only` some of its files.

    Raises:
        DataError: the folder is missing, or a file in it is not as it was written.
    """
    try:
        meta = json.loads((folder / _META).read_text(encoding="utf-8"))
        sealed = meta.pop("sha256")
        intact = sealed == digest(meta) and all(
            checksum(folder / name) == expected
            for name, expected in meta["files"].items()
            if only is None or name in only
        )
    except FileNotFoundError as error:
        raise DataError(
            f"a sealed folder has a {_META}; {error.filename} is missing. It must be made anew."
        ) from None
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise DataError(f"{folder} cannot be read ({error}). It must be made anew.") from None
    if not intact:
        raise DataError(f"{folder} is damaged (checksums differ). It must be made anew.")
    content: dict[str, Any] = meta["content"]
    return content
