"""What of some runs is in memory, within a limit: what was not used for longest goes first, and
never what is in use."""

import ctypes
import gc
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from headway.serving.requests import CALLER, RefusedError
from headway.serving.served_run import LoadedTranslator, ServedRun

if TYPE_CHECKING:
    from headway.translator import Translator

WAIT_S = 30.0
"""How long a request waits for memory that others use."""


class RunMemory:
    """Keeps count of translators and of who uses them; safe to be used by many threads."""

    def __init__(
        self,
        runs: Sequence[ServedRun],
        limit: int | None,
        retire: "Callable[[Translator], None]",
        say: Callable[[str], None],
        set_aside: "Callable[[Translator], int]",
    ) -> None:
        """`limit` is in bytes; `retire` is called of each translator that nobody uses any more;
        `set_aside` tells what one has in memory now, besides its weights."""
        self.runs, self.limit, self.retire, self.say = runs, limit, retire, say
        self.set_aside = set_aside
        self.room = threading.Condition()
        """Held while what is loaded, and by whom it is used, is looked at or changed."""
        self._reserved = 0

    def take(self, run: ServedRun) -> LoadedTranslator | None:
        """The translator of a run, which has one more user then; None where it is not loaded."""
        with self.room:
            if (loaded := run.loaded) is not None:
                loaded.n_users += 1
                loaded.used_at = time.monotonic()
            return loaded

    def give_back(self, loaded: LoadedTranslator) -> None:
        """It has one user less; where it has taken more memory meanwhile, others may have to go."""
        with self.room:
            loaded.n_users -= 1
            unused = [loaded] if loaded.is_retired and not loaded.n_users else []
            unused += self._evicted(loaded, 0)
            self.room.notify_all()
        self._let_go(unused)

    def reserve(self, run: ServedRun, n_bytes: int) -> None:
        """Unload others until there is room for a run; wait for those in use.

        A run that replaces another one does not wait: it may be beside it for a moment. Raises
        RefusedError where there is none in time.
        """
        until = min(CALLER.get().deadline or float("inf"), time.monotonic() + WAIT_S)
        unused = list[LoadedTranslator]()
        try:
            with self.room:
                while True:
                    unused += self._evicted(run.loaded, n_bytes)
                    if self._fits(n_bytes) or run.loaded is not None:
                        self._reserved += n_bytes
                        return
                    left = until - time.monotonic()
                    if left <= 0 or CALLER.get().gone.is_set():
                        raise RefusedError("busy", "other languages use all memory just now", 1.0)
                    self.room.wait(min(left, 0.5))
        finally:
            self._let_go(unused)

    def free(self, n_bytes: int) -> None:
        """Give up what was reserved."""
        with self.room:
            self._reserved -= n_bytes
            self.room.notify_all()

    def put(self, run: ServedRun, new: LoadedTranslator, reserved: int) -> None:
        """Have a translator serve from now on, in the place of what was reserved for it, and of
        what served so far, which goes with its last user."""
        with self.room:
            self._reserved -= reserved
            old, run.loaded = run.loaded, new
            new.used_at = time.monotonic()
            unused = [old] if old is not None else []
            unused += self._evicted(new, 0)
            for one in unused:
                one.is_retired = True
            unused = [one for one in unused if not one.n_users]
            self.room.notify_all()
        old = None
        self._let_go(unused)

    def _let_go(self, unused: Sequence[LoadedTranslator]) -> None:
        """Retire what nobody uses, and give its memory back to the system."""
        for one in unused:
            translator, one.translator = one.translator, None
            assert translator is not None, "it is let go once"
            self.retire(translator)
            del translator
        if unused:
            gc.collect()  # what refers to itself, such as a search's jobs
            with suppress(OSError, AttributeError, TypeError):  # another C library
                ctypes.CDLL(None).malloc_trim(0)

    def bytes_of(self, loaded: LoadedTranslator) -> int:
        """What it takes just now, about."""
        aside = self.set_aside(loaded.translator) if loaded.translator is not None else 0
        return loaded.n_bytes + aside

    def _fits(self, n_bytes: int) -> bool:
        if self.limit is None:
            return True
        held = sum(self.bytes_of(run.loaded) for run in self.runs if run.loaded is not None)
        return held + self._reserved + n_bytes <= self.limit

    def _evicted(self, but: LoadedTranslator | None, n_bytes: int) -> list[LoadedTranslator]:
        """What is unloaded so that there is room, as far as nobody uses it; `room` is held."""
        found = list[LoadedTranslator]()
        while not self._fits(n_bytes):
            idle = [
                (run.loaded.used_at, n)
                for n, run in enumerate(self.runs)
                if run.loaded is not None and run.loaded is not but and not run.loaded.n_users
            ]
            if not idle:
                break
            run = self.runs[min(idle)[1]]
            assert run.loaded is not None, "it was looked at"
            found.append(run.loaded)
            run.loaded = None
            self.say(f"{run.path} was unloaded: others need the memory")
        return found
