"""The one place that writes whole or not at all: aside, synced, renamed, checksummed."""

import errno
import hashlib
import json
import math
import os
import shutil
import stat
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from glob import escape
from gzip import GzipFile
from io import TextIOWrapper
from pathlib import Path
from typing import Any, TextIO

from headway.core.errors import DataError

DAY_S = 24 * 3600.0


class DiskError(DataError):
    """The disk is full, or the place cannot be written to."""

    def __init__(self, place: Path, error: OSError) -> None:
        super().__init__(place, error)
        self.place, self.error = place, error
        self.full = error.errno in (errno.ENOSPC, errno.EDQUOT)

    def __str__(self) -> str:
        why = "its disk is full" if self.full else f"that fails ({self.error.strerror})"
        remedy = "Free some space" if self.full else "Make it writable"
        return f"{self.place} is to be written, but {why}. {remedy}, or choose another place."


def checksum(path: Path) -> str:
    """SHA-256 of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def refuse_large(path: Path, limit_bytes: int) -> None:
    """Raise OSError where a file has more than it can have, or is a pipe or a device."""
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "it is no regular file", str(path))
    if status.st_size > limit_bytes:
        raise OSError(errno.EFBIG, f"it has over {limit_bytes:,} bytes", str(path))


def free_bytes(folder: Path) -> float:
    """What may still be written there; no end to it where the file system does not know."""
    usage = shutil.disk_usage(folder)
    return float(usage.free) if usage.total else math.inf


def refuse_full(folder: Path, n_bytes: int) -> None:
    """Raise DiskError where so many bytes have no room."""
    if free_bytes(folder) < n_bytes:
        raise DiskError(folder, OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))


def digest(value: Any) -> str:
    """SHA-256 of what JSON can hold; the order of keys does not matter."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode("utf-8")).hexdigest()


def sync(path: Path) -> None:
    """Have the disk keep what was written, and for a folder the names in it, where it can."""
    with suppress(OSError) if path.is_dir() else nullcontext():
        handle = os.open(path, os.O_RDWR if os.name == "nt" else os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def clear_asides(folder: Path, name: str = "", idle_s: float = 0.0) -> None:
    """Remove what killed writers left in a folder, of all or of `name`, untouched for so long."""
    for left in folder.glob(f".{escape(name) or '*'}.*.part"):
        with suppress(OSError):
            if not idle_s or time.time() - left.stat().st_mtime >= idle_s:
                shutil.rmtree(left) if left.is_dir() else left.unlink()


@contextmanager
def written_aside(final: Path) -> Iterator[Path]:
    """A path beside `final` to write a file to, which takes the place of `final` in one instant.

    The folder is made. When the block ends well, the file is synced and renamed; it has the mode of
    the one that it replaces, else that of any new file. When it does not, `final` is as it was. A
    link stays a link. A pipe or a device is written to as it is. What a killed process leaves, the
    next writer removes a day later. Raises DiskError: it cannot be written, or the disk is full.
    """
    if final.exists() and not final.is_file() and not final.is_dir():
        with disk_errors(final):
            yield final
        return
    final = final.resolve() if final.is_symlink() else final
    aside = final.with_name(f".{final.name}.{uuid.uuid4().hex[:8]}.part")
    with disk_errors(final):
        try:
            final.parent.mkdir(parents=True, exist_ok=True)
            clear_asides(final.parent, final.name, idle_s=DAY_S)
            aside.touch(exist_ok=False)  # never through a link
            mode = (final if final.exists() else aside).stat().st_mode
            yield aside
            sync(aside)
            aside.chmod(mode)
            os.replace(aside, final)
        finally:
            with suppress(OSError):
                aside.unlink(missing_ok=True)
        sync(final.parent)


@contextmanager
def whole_text(final: Path) -> Iterator[TextIO]:
    """A file of UTF-8 `written_aside`, packed if it ends in `.gz`; `\\n` ends a line everywhere."""
    with written_aside(final) as aside, aside.open("wb") as raw:
        file = GzipFile("", "wb", fileobj=raw, mtime=0) if final.suffix.lower() == ".gz" else raw
        with TextIOWrapper(file, "utf-8", newline="\n") as text:
            yield text


def write_bytes(final: Path, data: bytes) -> None:
    """Write a file in one instant."""
    with written_aside(final) as aside:
        aside.write_bytes(data)


def write_text(final: Path, text: str) -> None:
    """Write a file of UTF-8 in one instant."""
    with whole_text(final) as file:
        file.write(text)


@contextmanager
def whole_folder(final: Path) -> Iterator[Path]:
    """A fresh folder beside `final` to write files in, which takes its place in one instant.

    When the block ends well, all files are synced before. When it does not, nothing is left, and
    `final` is as it was. A killed process leaves `.NAME.*.part`. Raises DiskError, as above.
    """
    part = final.with_name(f".{final.name}.{uuid.uuid4().hex[:8]}.part")
    old = part.with_name(part.name + ".old.part")
    try:
        with disk_errors(final):
            part.mkdir(parents=True)
            yield part
            for path in (*part.rglob("*"), part):
                sync(path)
            if final.exists():
                final.rename(old)
            try:
                part.replace(final)
            except OSError:
                if not final.exists():  # else another process was as quick, with the same content
                    if old.exists():
                        old.rename(final)
                    raise
            sync(final.parent)
    finally:
        for left in (part, old) if final.exists() else (part,):
            shutil.rmtree(left, ignore_errors=True)


@contextmanager
def disk_errors(place: Path) -> Iterator[None]:
    """Say in words what the disk refuses while `place` is written, as a DiskError."""
    try:
        yield
    except BrokenPipeError:  # no disk: the reader of a pipe has seen enough
        raise
    except OSError as error:
        if error.filename and not Path(error.filename).is_relative_to(place.parent):
            raise  # about another file, that was read meanwhile
        raise DiskError(place, error) from error
