"""Folders that are written whole or not at all, and are known to be what was written."""

import errno
import hashlib
import json
import os
import shutil
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from headway.errors import DataError

_META = "meta.json"
_BLOCK_BYTES = 1 << 20
_DAY_S = 24 * 3600
_STALE_S = {"part": _DAY_S, "work": 7 * _DAY_S}
"""After how long nobody will come back to what a killed process left."""

T = TypeVar("T")


class CacheError(DataError):
    """The disk is full, or the cache is in a place that cannot be written to."""


def cache_root() -> Path:
    """Where encoded corpora live: $HEADWAY_CACHE, else $XDG_CACHE_HOME/headway, else ~/.cache."""
    if own := os.environ.get("HEADWAY_CACHE"):
        return Path(own)
    shared = os.environ.get("XDG_CACHE_HOME")
    return (Path(shared) if shared else Path.home() / ".cache") / "headway"


def checksum(path: Path) -> str:
    """SHA-256 of a file, read in blocks."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK_BYTES):
            digest.update(block)
    return digest.hexdigest()


def key_of(description: dict[str, Any]) -> str:
    """A short name for everything that a result depends on."""
    return hashlib.sha256(_canonical(description)).hexdigest()[:24]


def reopened(folder: Path, open_it: Callable[[], T], say: Callable[[str], None]) -> T | None:
    """What `open_it` finds in a folder made earlier; None, said aloud, if it is damaged."""
    if not os.path.exists(folder):  # unlike Path.exists, False where looking is forbidden
        return None
    try:
        return open_it()
    except DataError as error:
        say(f"{error} That is done now.")
        return None


@contextmanager
def whole_folder(final: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    """A fresh folder to write in, and a dict for what is to be known about it.

    When the block ends well, everything is synced to disk, checksummed and renamed to `final` in
    one step; when it does not, nothing is left. A folder that is there already is replaced.

    Raises:
        CacheError: the disk is full or the place cannot be written to.
    """
    part = final.with_name(f".{final.name}.{uuid.uuid4().hex[:12]}.part")
    try:
        with disk_errors(final):
            part.mkdir(parents=True)
            _sweep(final.parent)
            content: dict[str, Any] = {}
            yield part, content
            _seal(part, content)
            _put_in_place(part, final)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def read_whole_folder(folder: Path) -> dict[str, Any]:
    """What is known about a folder that `whole_folder` wrote, after checking every byte of it.

    Raises:
        DataError: the folder is missing, or a file in it is not as it was written.
    """
    try:
        meta = json.loads((folder / _META).read_text(encoding="utf-8"))
        sealed = meta.pop("sha256")
        intact = sealed == hashlib.sha256(_canonical(meta)).hexdigest() and all(
            checksum(folder / name) == expected for name, expected in meta["files"].items()
        )
    except FileNotFoundError as error:
        raise DataError(
            f"encoded text is a folder with a {_META}; {error.filename} is missing. "
            "It must be made anew."
        ) from None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise DataError(f"{folder} cannot be read ({error}). It must be made anew.") from None
    if not intact:
        raise DataError(f"{folder} is damaged (checksums differ). It must be made anew.")
    content: dict[str, Any] = meta["content"]
    return content


def _seal(part: Path, content: dict[str, Any]) -> None:
    files = {path.name: checksum(path) for path in sorted(part.iterdir())}
    meta: dict[str, Any] = {"content": content, "files": files}
    meta["sha256"] = hashlib.sha256(_canonical(meta)).hexdigest()
    (part / _META).write_text(json.dumps(meta), encoding="utf-8")
    for path in (*part.iterdir(), part):
        _sync(path)


def _put_in_place(part: Path, final: Path) -> None:
    old = part.with_name(part.name + ".old.part")
    if final.exists():
        final.rename(old)
    try:
        part.replace(final)
    except OSError:
        if not final.exists():  # else another process was as quick, with the same content
            raise
    _sync(final.parent)
    shutil.rmtree(old, ignore_errors=True)


def _sync(path: Path) -> None:
    """Have the disk keep what was written, and for a folder the names in it."""
    if path.is_dir():
        if os.name == "nt":  # which has no handle for it
            return
        handle = os.open(path, os.O_RDONLY)
    else:
        handle = os.open(path, os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _sweep(root: Path) -> None:
    """Remove what killed processes left behind, and pieces that nobody goes on with."""
    for suffix, stale_s in _STALE_S.items():
        for remains in root.glob(f".*.{suffix}"):
            with suppress(OSError):
                if time.time() - remains.stat().st_mtime > stale_s:
                    shutil.rmtree(remains, ignore_errors=True)


@contextmanager
def disk_errors(place: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        raise CacheError(
            f"encoded text is written to {place.parent}, "
            f"which {'is full' if full else f'cannot be written ({error.strerror or error})'}. "
            f"{'Free some space' if full else 'Make it writable'}, or set HEADWAY_CACHE to a "
            "folder elsewhere."
        ) from error


def _canonical(value: dict[str, Any]) -> bytes:
    return json.dumps(value, sort_keys=True).encode("utf-8")
