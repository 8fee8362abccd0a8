"""The runs that a service has: which pairs they translate; loaded when first asked for."""

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from headway.core.errors import RunError
from headway.languages.codes import base
from headway.operations.shipped import open_folder
from headway.serving.requests import Pair, RefusedError

if TYPE_CHECKING:
    from headway.translator import Translator


class ServedRun:
    """A run folder, its pair of languages, and its translator once somebody needed it."""

    def __init__(self, path: Path, load: "Callable[[Path], Translator]") -> None:
        """Raises RunError where there is no translator, or it does not say its languages."""
        folder = open_folder(path)
        data = folder.settings().get("data", {})
        source, target = data.get("source_language"), data.get("target_language")
        if not source or not target:
            raise RunError(
                f"a run that is served says its two languages; {path} does not. Name them in "
                "its config.toml: [data] source_language and target_language."
            )
        self.path, self.pair, self.load = path, Pair(source, target), load
        self._loaded: Translator | None = None
        self._loading = threading.Lock()

    @property
    def translator(self) -> "Translator":
        """Loaded by the first who asks; the others wait."""
        with self._loading:
            if self._loaded is None:
                self._loaded = self.load(self.path)
            return self._loaded


class ServedRuns:
    """All runs of a service, by pair."""

    def __init__(self, paths: Sequence[Path], load: "Callable[[Path], Translator]") -> None:
        self.all = [ServedRun(path, load) for path in paths]

    @property
    def pairs(self) -> list[Pair]:
        """In the order in which the runs were named."""
        return [run.pair for run in self.all]

    def of(self, source: str, target: str) -> ServedRun:
        """The first run of a pair; codes match whatever their case, then by what is before "-".

        Raises RefusedError where there is none.
        """
        for alike in (str.lower, base):
            for run in self.all:
                if (alike(run.pair.source), alike(run.pair.target)) == (
                    alike(source),
                    alike(target),
                ):
                    return run
        raise RefusedError("language", f"{source} is not translated into {target} here")
