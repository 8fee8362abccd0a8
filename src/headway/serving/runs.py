"""The runs that a service has: which pairs they translate; loaded when first asked for, unloaded
where memory is short, replaced while they serve."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from headway.core.errors import ConfigError
from headway.languages.codes import same_language
from headway.languages.detection import two_letters
from headway.serving.requests import RefusedError, ServedPair
from headway.serving.run_memory import RunMemory
from headway.serving.served_run import LoadedTranslator, ServedRun, bytes_of, pair_of

if TYPE_CHECKING:
    from headway.translator import Translator

LOOK_EVERY_S = 1.0
"""How often files are looked at for changes, at most."""
AGAIN_S = 5.0
"""A run that could not be loaded is tried again after so long."""
TRIED = "1, 2, 3: this is a test."
"""What a run has to translate before it serves."""


class RunState(NamedTuple):
    """What is to be told of a run."""

    pair: ServedPair
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
        set_aside: "Callable[[Translator], int]" = lambda _: 0,
        memory_limit: int | None = None,
        say: Callable[[str], None] = lambda _: None,
    ) -> None:
        """`prepare` is called of each translator before it serves, `retire` once nobody uses it
        any more; `set_aside` tells what one has in memory besides its weights. `memory_limit` is in
        bytes.

        Raises RunError: a folder is no run; ConfigError: there is no run, or one is larger than
        memory may be.
        """
        self.all = [ServedRun(path) for path in paths]
        self.load, self.prepare, self.retire, self.say = load, prepare, retire, say
        self.memory = RunMemory(self.all, memory_limit, retire, say, set_aside)
        self._reloading = threading.Lock()
        self._look_at = 0.0
        self._of: dict[tuple[str, str], ServedRun | None] = {}
        first = dict[ServedPair, ServedRun]()
        for run in self.all:
            if (before := first.setdefault(run.pair, run)) is not run:
                say(f"{run.path} is not served: {before.path} has its languages, and comes first")
            if memory_limit is not None and run.estimate() > memory_limit:
                raise ConfigError(
                    f"each run must have room in memory; {run.path} takes about "
                    f"{run.estimate() >> 20:,} MiB, and {memory_limit >> 20:,} are allowed. "
                    "Raise --memory-limit."
                )

    # -- which run ----------------------------------------------------------------------------

    @property
    def pairs(self) -> list[ServedPair]:
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
        while (loaded := self.memory.take(run)) is None:
            with run.loading:
                if run.loaded is None:
                    self._load_first(run)
        with self._in_use(loaded) as translator:
            yield translator

    @contextmanager
    def using_loaded(self, run: ServedRun) -> "Iterator[Translator | None]":
        """The same for who cannot wait, such as an event loop; None where it is not in memory."""
        self._look()
        if (loaded := self.memory.take(run)) is None:
            yield None
        else:
            with self._in_use(loaded) as translator:
                yield translator

    @contextmanager
    def _in_use(self, loaded: LoadedTranslator) -> "Iterator[Translator]":
        try:
            assert loaded.translator is not None, "what has a user is not let go"
            yield loaded.translator
        finally:
            self.memory.give_back(loaded)

    def load_all(self) -> None:
        """Load what is not, as far as memory allows.

        Raises RefusedError: a run cannot be loaded.
        """
        held = 0
        for run in self.all:
            held += run.estimate()
            if self.memory.limit is None or held <= self.memory.limit:
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
                        run.fail(now, error)
                        self.say(f"{run.path} was changed, and cannot be served: {error}")
                    else:
                        self.say(f"{run.path} was changed, and is served as it is now")

    def reload_soon(self, *, again: bool = True) -> None:
        """The same in a thread of its own: for who cannot wait, such as a signal's handler."""
        threading.Thread(target=self.reload, kwargs={"again": again}, daemon=True).start()

    def states(self) -> list[RunState]:
        """Of each run, in their order."""
        with self.memory.room:
            return [
                RunState(
                    run.pair,
                    run.loaded is not None,
                    self.memory.bytes_of(run.loaded) if run.loaded else 0,
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
            loaded is not None and run.files() not in (loaded.files, run.failed)
            for run, loaded in [(run, run.loaded) for run in self.all]
        ):
            self.reload_soon(again=False)

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
                run.fail(now, error)
                self.say(f"{run.path} cannot be served: {error}")
        raise RefusedError(
            "busy",
            f"{run.pair.source} to {run.pair.target} cannot be translated just now: its run "
            "cannot be loaded",
            AGAIN_S,
        )

    def _replace(self, run: ServedRun) -> None:
        """Load what a run's folder holds, try it, and have it serve; `run.loading` is held."""
        files, needed = run.files(), run.estimate()
        self.memory.reserve(run, needed)
        try:
            pair = pair_of(run.path)
            translator = self._tried(run.path)
            new = LoadedTranslator(translator, bytes_of(translator), files)
        except BaseException:
            self.memory.free(needed)
            raise
        del translator
        self.memory.put(run, new, needed)
        run.pair, run.trouble, run.failed = pair, "", ()
        self._of = {}

    def _tried(self, path: Path) -> "Translator":
        """A run's translator, prepared, that has translated something."""
        translator = self.load(path)
        self.prepare(translator)
        try:
            tags = translator.settings.data.tags
            translator.translate([TRIED], tag=tags[0] if tags and "" not in tags else None)
        except BaseException:
            self.retire(translator)
            raise
        return translator


OTHERS = 100
LONGEST_CODE = 100
"""No language has a longer one; what comes from outside is remembered up to this."""


def _distance(pair: ServedPair, source: str, target: str) -> int:
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
