"""Folders of the cache that are made once, by one process, and gone on with if it is ended."""

import shutil
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TypeVar

from headway.data.cache_limit import make_room, note_use
from headway.data.files import CacheError, disk_errors, reopened
from headway.data.locks import alone
from headway.errors import UserError

T = TypeVar("T")


def made_once(
    directory: Path,
    open_it: Callable[[], T],
    make: Callable[[Path], None],
    say: Callable[[str], None],
) -> T:
    """What `open_it` finds in `directory`, which `make` writes unless that was done before.

    `make` gets a folder for pieces. If the process is ended, however it comes, the next one that
    wants the same gets that folder as it was left; only an error of the user's removes it. Two
    that want the same at the same time: one waits.

    Raises:
        CacheError: the place cannot be written to.
    """
    found = reopened(directory, open_it, say)
    if found is not None:
        note_use(directory)
        return found
    work = directory.with_name(f".{directory.name}.work")
    with ExitStack() as stack:
        with disk_errors(directory):
            directory.parent.mkdir(parents=True, exist_ok=True)
            stack.enter_context(alone(directory.with_name(f".{directory.name}.lock"), say))
            found = reopened(directory, open_it, say)
            if found is not None:
                return found
            work.mkdir(exist_ok=True)
        if any(work.iterdir()):
            say(f"going on with what an ended process left ({work})")
        try:
            make(work)
            found = open_it()
        except CacheError:
            raise
        except UserError:  # when that is put right, something else is wanted
            shutil.rmtree(work, ignore_errors=True)
            raise
        shutil.rmtree(work, ignore_errors=True)
    note_use(directory)
    make_room(directory.parent, say)
    return found
