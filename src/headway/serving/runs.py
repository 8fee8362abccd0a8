"""The runs that a service has: which pairs they translate; loaded when first asked for, unloaded
where memory is short, replaced while they serve."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, cast

from torch import nn

from headway.core.errors import ConfigError, RunError
from headway.core.run_folder import CHECKS, CONFIG, CONSTANT, MODEL
from headway.languages.codes import same_language
from headway.languages.detection import two_letters
from headway.operations.shipped import open_folder
from headway.serving.requests import CALLER, Pair, RefusedError

if TYPE_CHECKING:
    from headway.translator import Translator

LOOK_EVERY_S = 1.0
"""How often files are looked at for changes, at most."""
AGAIN_S = 5.0
"""A run that could not be loaded is tried again after so long."""
WAIT_S = 30.0
"""How long a request waits for memory that others use."""
COPIES = 2
"""The weights, and the engine's copy of them."""
BESIDE = 12 << 20
"""Bytes that a run takes besides: sub-words, tables, room to search in."""
TRIED = "1, 2, 3: this is a test."
"""What a run has to translate before it serves."""

_FILES = (CONFIG, MODEL, CHECKS, "precision.json", *CONSTANT)

FileStates = tuple[tuple[int, int, int] | None, ...]


@dataclass(eq=False)
class LoadedTranslator:
    """A translator in memory, and who uses it."""

    translator: "Translator"
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
        self.loaded: LoadedTranslator | None = None
        self.loading = threading.Lock()
        self.trouble = ""
        """Why its files as they are now are not served; empty where they are."""
        self.failed: FileStates = ()
        self.failed_at = 0.0

    def files(self) -> FileStates:
        """What tells whether the files of a run are others."""
        found = list[tuple[int, int, int] | None]()
        for name in _FILES:
            try:
                status = (self.folder / name).stat()
                found.append((status.st_mtime_ns, status.st_size, status.st_ino))
            except OSError:
                found.append(None)
        return tuple(found)

    @property
    def folder(self) -> Path:
        """Where it lies, which for the run that comes with the package is elsewhere."""
        try:
            return open_folder(self.path).path
        except RunError:  # it is being replaced
            return self.path

    def estimate(self) -> int:
        """Bytes that it will take, by the size of its weights."""
        try:
            return BESIDE + COPIES * (self.folder / MODEL).stat().st_size
        except OSError:
            return 0


def pair_of(path: Path) -> Pair:
    """The languages of a run; raises RunError where there is none, or it does not say them."""
    data = open_folder(path).settings().get("data", {})
    source, target = data.get("source_language"), data.get("target_language")
    if not source or not target:
        raise RunError(
            f"a run that is served says its two languages; {path} does not. Name them in "
            "its config.toml: [data] source_language and target_language."
        )
    return Pair(source, target)


class RunState(NamedTuple):
    """What is to be told of a run."""

    pair: Pair
    is_loaded: bool
    n_bytes: int
    """In memory, about."""
    n_users: int
    trouble: str


class ServedRuns:
    """All runs of a service, by pair."""

    def __init__(
        self,
        paths: Sequence[Path],
        load: "Callable[[Path], Translator]",
        *,
        prepare: "Callable[[Translator], None]" = lambda _: None,
        retire: "Callable[[Translator], None]" = lambda _: None,
        memory_limit: int | None = None,
        say: Callable[[str], None] = lambda _: None,
    ) -> None:
        """`prepare` is called of each translator before it serves, `retire` once nobody uses it
        any more. `memory_limit` is in bytes.

        Raises RunError: a folder is no run; ConfigError: there is no run, or one is larger than
        memory may be.
        """
        self.all = [ServedRun(path) for path in paths]
        self.load, self.prepare, self.retire, self.say = load, prepare, retire, say
        self.memory_limit = memory_limit
        self._room = threading.Condition()
        """Held while what is loaded, and by whom it is used, is looked at or changed."""
        self._reserved = 0
        self._reloading = threading.Lock()
        self._look_at = 0.0
        self._of: dict[tuple[str, str], ServedRun | None] = {}
        for run in self.all:
            if memory_limit is not None and run.estimate() > memory_limit:
                raise ConfigError(
                    f"each run must have room in memory; {run.path} takes about "
                    f"{run.estimate() >> 20:,} MiB, and {memory_limit >> 20:,} are allowed. "
                    "Raise --memory-limit."
                )

    # -- which run ----------------------------------------------------------------------------

    @property
    def pairs(self) -> list[Pair]:
        """In the order in which the runs were named."""
        return [run.pair for run in self.all]

    def of(self, source: str, target: str) -> ServedRun:
        """The best run of a pair, of equals the first.

        Codes match whatever their case; then where one only says more (`zh-Hans`, `zh`); then by
        the language alone (`EN-US`, `en-GB`, `eng`). Raises RefusedError where there is none.
        """
        if found := self.known(source, target):
            return found
        raise RefusedError("language", self.missing(source, target))

    def missing(self, source: str, target: str) -> str:
        """That no run has a pair, and which pairs there are, in words."""
        there = ", ".join(f"{pair.source} to {pair.target}" for pair in dict.fromkeys(self.pairs))
        missing = f"{source[:40]} is not translated into {target[:40]} here."
        return f"{missing} There are: {there}." if there else missing

    def known(self, source: str, target: str) -> ServedRun | None:
        """The same; None where there is none."""
        try:
            return self._of[source, target]
        except KeyError:
            pass
        ranked = sorted(self.all, key=lambda run: _distance(run.pair, source, target))  # stable
        found = ranked[0] if ranked else None
        if found is not None and _distance(found.pair, source, target) >= OTHERS:
            found = None
        if len(self._of) < 10_000 and max(len(source), len(target)) <= LONGEST_CODE:
            self._of[source, target] = found
        return found

    def into(self, target: str) -> list[ServedRun]:
        """The runs that translate into a language."""
        return [run for run in self.all if between(run.pair.target, target) < OTHERS]

    # -- in memory ----------------------------------------------------------------------------

    @contextmanager
    def using(self, run: ServedRun) -> "Iterator[Translator]":
        """The translator of a run, which stays in memory meanwhile; loaded by the first who asks,
        the others wait.

        Raises RefusedError where it cannot be loaded, or others use all memory.
        """
        self._look()
        loaded = self._taken(run)
        try:
            yield loaded.translator
        finally:
            with self._room:
                loaded.n_users -= 1
                last = loaded.is_retired and not loaded.n_users
                self._room.notify_all()
            if last:
                self.retire(loaded.translator)

    def load_all(self) -> None:
        """Load what is not, as far as memory allows.

        Raises RefusedError: a run cannot be loaded.
        """
        held = 0
        for run in self.all:
            held += run.estimate()
            if self.memory_limit is None or held <= self.memory_limit:
                with self.using(run):
                    pass

    def reload(self, *, again: bool = True) -> None:
        """Replace what was changed on disk since it was loaded: the new one is loaded beside the
        old, tried, and put in its place. Where that fails, the old one serves on, and it is said.

        `again`: also try what has failed already, and was not changed since.
        """
        with self._reloading:
            for run in self.all:
                now = run.files()
                loaded = run.loaded
                if loaded is None or now == loaded.files or (now == run.failed and not again):
                    continue
                with run.loading:
                    try:
                        self._replace(run)
                    except Exception as error:  # whatever is wrong with it, the old one serves
                        self._failed(run, now, error)
                        self.say(f"{run.path} was changed, and cannot be served: {error}")
                    else:
                        self.say(f"{run.path} was changed, and is served as it is now")

    def reload_soon(self, *, again: bool = True) -> None:
        """The same in a thread of its own: for who cannot wait, such as a signal's handler."""
        threading.Thread(target=self.reload, kwargs={"again": again}, daemon=True).start()

    def states(self) -> list[RunState]:
        """Of each run, in their order."""
        with self._room:
            return [
                RunState(
                    run.pair,
                    run.loaded is not None,
                    run.loaded.n_bytes if run.loaded else 0,
                    run.loaded.n_users if run.loaded else 0,
                    run.trouble,
                )
                for run in self.all
            ]

    def _look(self) -> None:
        """See whether files were changed, if nobody has looked within the last second."""
        now = time.monotonic()
        if now < self._look_at:
            return
        self._look_at = now + LOOK_EVERY_S
        if not self._reloading.locked() and any(
            run.loaded is not None and run.files() not in (run.loaded.files, run.failed)
            for run in self.all
        ):
            self.reload_soon(again=False)

    def _taken(self, run: ServedRun) -> LoadedTranslator:
        while True:
            with self._room:
                if (loaded := run.loaded) is not None:
                    loaded.n_users += 1
                    loaded.used_at = time.monotonic()
                    return loaded
            with run.loading:
                if run.loaded is None:
                    self._load_first(run)

    def _load_first(self, run: ServedRun) -> None:
        """Load a run that is not in memory; raises RefusedError where that fails."""
        now = run.files()
        if now != run.failed or time.monotonic() > run.failed_at + AGAIN_S:
            try:
                self._replace(run)
                return
            except RefusedError:
                raise
            except Exception as error:
                self._failed(run, now, error)
                self.say(f"{run.path} cannot be served: {error}")
        raise RefusedError(
            "busy",
            f"{run.pair.source} to {run.pair.target} cannot be translated just now: its run "
            "cannot be loaded",
            AGAIN_S,
        )

    def _failed(self, run: ServedRun, files: FileStates, error: Exception) -> None:
        run.failed, run.failed_at, run.trouble = files, time.monotonic(), str(error)

    def _replace(self, run: ServedRun) -> None:
        """Load what a run's folder holds, try it, and have it serve; `run.loading` is held."""
        files, needed = run.files(), run.estimate()
        self._make_room(run, needed)
        try:
            pair = pair_of(run.path)
            translator = self.load(run.path)
            self.prepare(translator)
            tags = translator.settings.data.tags
            translator.translate([TRIED], tag=tags[0] if tags and "" not in tags else None)
            new = LoadedTranslator(translator, _n_bytes(translator), files)
        finally:
            with self._room:
                self._reserved -= needed
                self._room.notify_all()
        with self._room:
            old, run.loaded, run.pair = run.loaded, new, pair
            new.used_at = time.monotonic()
            run.trouble, run.failed = "", ()
            self._of = {}
            unused = [old] if old is not None else []
            unused += self._evicted(run, 0)
            for one in unused:
                one.is_retired = True
            unused = [one for one in unused if not one.n_users]
        for one in unused:
            self.retire(one.translator)

    def _make_room(self, run: ServedRun, n_bytes: int) -> None:
        """Unload what was not used for longest until there is room; wait for those in use.

        A run that replaces another one does not wait: it may be beside it for a moment. Raises
        RefusedError where there is none in time.
        """
        until = min(CALLER.get().deadline or float("inf"), time.monotonic() + WAIT_S)
        unused = list[LoadedTranslator]()
        try:
            with self._room:
                while True:
                    unused += self._evicted(run, n_bytes)
                    if self._fits(n_bytes) or run.loaded is not None:
                        self._reserved += n_bytes
                        return
                    left = until - time.monotonic()
                    if left <= 0 or CALLER.get().gone.is_set():
                        raise RefusedError("busy", "other languages use all memory just now", 1.0)
                    self._room.wait(min(left, 0.5))
        finally:
            for one in unused:
                self.retire(one.translator)

    def _fits(self, n_bytes: int) -> bool:
        if self.memory_limit is None:
            return True
        held = sum(run.loaded.n_bytes for run in self.all if run.loaded is not None)
        return held + self._reserved + n_bytes <= self.memory_limit

    def _evicted(self, but: ServedRun, n_bytes: int) -> list[LoadedTranslator]:
        """What is unloaded so that there is room, as far as nobody uses it; `_room` is held."""
        found = list[LoadedTranslator]()
        while not self._fits(n_bytes):
            idle = [
                (run.loaded.used_at, n)
                for n, run in enumerate(self.all)
                if run is not but and run.loaded is not None and not run.loaded.n_users
            ]
            if not idle:
                break
            run = self.all[min(idle)[1]]
            assert run.loaded is not None, "it was looked at"
            found.append(run.loaded)
            run.loaded = None
            self.say(f"{run.path} was unloaded: others need the memory")
        return found


def _n_bytes(translator: "Translator") -> int:
    """What a translator takes in memory, about."""
    model = cast(nn.Module, translator.model)
    held = (*model.parameters(), *model.buffers())
    return BESIDE + COPIES * sum(one.numel() * one.element_size() for one in held)


OTHERS = 100
LONGEST_CODE = 100
"""No language has a longer one; what comes from outside is remembered up to this."""


def _distance(pair: Pair, source: str, target: str) -> int:
    return between(pair.source, source) + between(pair.target, target)


def between(code: str, wanted: str) -> int:
    """How far two codes are from each other: 0 for the same, `OTHERS` for other languages."""
    return OTHERS if len(wanted) > LONGEST_CODE else _between(code, wanted)


@lru_cache(4096)
def _between(code: str, wanted: str) -> int:
    one, other = (name.lower().replace("_", "-") for name in (code, wanted))
    if one == other:
        return 0
    if same_language(one, other):
        return 1
    return 2 if two_letters(one) == two_letters(other) else OTHERS
