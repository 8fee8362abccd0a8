"""A run folder that is served: its files, its languages, and its translator while it is loaded."""

import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

from torch import nn

from headway.core.errors import RunError
from headway.core.run_folder import CHECKS, CONFIG, CONSTANT, MODEL, TRANSLATION
from headway.operations.shipped import open_folder
from headway.runs.settings import task_of
from headway.serving.requests import ServedPair

if TYPE_CHECKING:
    from headway.translator import Translator

COPIES = 2
"""The weights, and the engine's copy of them."""
BESIDE = 12 << 20
"""Bytes that a run takes besides: sub-words, tables, room to search in."""

_FILES = (CONFIG, MODEL, CHECKS, *CONSTANT)

FileStates = tuple[tuple[int, int, int] | None, ...]


@dataclass(eq=False)
class LoadedTranslator:
    """A translator in memory, and who uses it."""

    translator: "Translator | None"
    """None once it was let go."""
    n_bytes: int
    files: FileStates
    """Its files as they were when it was loaded."""
    n_users: int = 0
    used_at: float = 0.0
    is_retired: bool = False
    """Another one serves in its place; it goes with its last user."""


class ServedRun:
    """A run folder, its pair of languages, and its translator while it is loaded."""

    def __init__(self, path: Path) -> None:
        """Raises RunError where there is no run, or it does not say its languages."""
        self.path = path
        self.pair = pair_of(path)
        self._tags: Sequence[str] = ()
        self.loaded: LoadedTranslator | None = None
        self.loading = threading.Lock()
        self.trouble = ""
        """Why its files as they are now are not served; empty where they are."""
        self.failed: FileStates = ()
        self.failed_at = 0.0

    def files(self) -> FileStates:
        """What tells whether the files of a run are others."""
        found, folder = list[tuple[int, int, int] | None](), self.folder
        for name in _FILES:
            try:
                status = (folder / name).stat()
                found.append((status.st_mtime_ns, status.st_size, status.st_ino))
            except OSError:
                found.append(None)
        return tuple(found)

    @property
    def tags(self) -> Sequence[str]:
        """Those of its training; an empty one is text without a tag."""
        with suppress(RunError):  # it is being replaced
            self._tags = tuple(open_folder(self.path).settings().get("data", {}).get("tags", ()))
        return self._tags

    @property
    def folder(self) -> Path:
        """Where it lies, which for the run that comes with the package is elsewhere."""
        try:
            return open_folder(self.path).path
        except RunError:  # it is being replaced
            return self.path

    def fail(self, files: FileStates, error: Exception) -> None:
        """Remember why these files cannot be served."""
        self.failed, self.failed_at, self.trouble = files, time.monotonic(), str(error)

    def estimate(self) -> int:
        """Bytes that it will take, by the size of its weights."""
        try:
            return BESIDE + COPIES * (self.folder / MODEL).stat().st_size
        except OSError:
            return 0


def pair_of(path: Path) -> ServedPair:
    """The languages of a run; raises RunError where there is none, or it does not say them."""
    settings = open_folder(path).settings()
    if (task := task_of(settings)) != TRANSLATION:
        raise RunError(
            f"a run that is served translates; {path} is one of {task}. Ask it by: headway predict "
            f"{path} FILE --json"
        )
    data = settings.get("data", {})
    source, target = data.get("source_language"), data.get("target_language")
    if not source or not target:
        raise RunError(
            f"a run that is served says its two languages; {path} does not. Name them in "
            "its config.toml: [data] source_language and target_language."
        )
    return ServedPair(source, target)


def bytes_of(translator: "Translator") -> int:
    """What a translator takes in memory, about."""
    model = cast(nn.Module, translator.model)
    held = (*model.parameters(), *model.buffers())
    return BESIDE + COPIES * sum(one.numel() * one.element_size() for one in held)
