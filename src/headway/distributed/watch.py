"""Who is still there: each process of a training counts in the store, and looks at the others.

One whose count stands still is lost, one that all others wait for hangs, and the store itself may
be out of reach: then every process says so, names it and what it did last, and ends with a status
that has all of them started again. Counts are compared by the own clock alone.
"""

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from functools import wraps
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from torch.distributed import Store

from headway.core import checkpoint
from headway.core.errors import CONTROLS, ConfigError, HeadwayError, StoppedError
from headway.core.out_of_reach import out_of_memory
from headway.core.run_folder import RunFolder

Method = TypeVar("Method", bound=Callable[..., Any])

START_AGAIN = 75
"""Exit status where another process or the network is gone (EX_TEMPFAIL of sysexits.h)."""
EVERY_S = 1.0
"""Between two looks at the others."""
CLOSED_S = 4.0
"""How long a count may stand still once a collective has failed: somebody is gone."""
UNNAMED_S = 20.0
"""After a failed collective: when it is said that nobody is gone."""
RESTARTS = "RESTART_COUNT", "MAX_RESTARTS"
"""Of torchrun, made and allowed."""
DONE = -1
"""In place of an exit status: has nothing left to do."""


@dataclass
class Sign:
    """What a process says of itself every second."""

    count: int = 0
    doing: str = "starting"
    long: bool = False
    """It may take hours, while all others wait: a full disk."""
    turns: int = 0
    """Collectives that it has entered."""
    ended: int = 0
    """Its exit status, if it ends by itself."""
    words: str = ""
    """Why it ends."""


@dataclass
class OtherProcess:
    """A process as another one sees it."""

    sign: Sign
    still_s: float = 0.0
    """How long its count has not changed."""


class Watch:
    """This process among those of a training.

    `everyone` says of each process, by rank, its `host`, `pid` and `parent`. HEADWAY_LOST_AFTER
    (seconds, 30) is how long one may not be heard of, HEADWAY_HANGS_AFTER (300) how long others
    may wait for one in a collective, unless it said that it does something `long`.
    """

    def __init__(self, store: Store, rank: int, everyone: Sequence[Mapping[str, Any]]) -> None:
        self.lost_s = seconds_set("HEADWAY_LOST_AFTER", 30)
        self.hangs_s = seconds_set("HEADWAY_HANGS_AFTER", 300)
        self.store: Any = store.clone()  # type: ignore[attr-defined]  # a connection of its own
        self.rank, self.everyone = rank, everyone
        self.sign, self.folder = Sign(), RunFolder(Path())
        others = (other for other in range(len(everyone)) if other != rank)
        self.others = {other: OtherProcess(Sign()) for other in others}
        self.waits_since = 0.0  # in a collective; 0: in none
        self.failed_since, self.failure = 0.0, ""  # of a collective
        self.n_answers, self.silent_s, self.store_error = 0, 0.0, ""
        self.closed, self.ending = threading.Event(), threading.Lock()
        self.tell()
        for work in (self.exchange, self.look):
            threading.Thread(target=self.again_and_again, args=(work,), daemon=True).start()

    def at(self, doing: str, *, long: bool = False) -> None:
        """Say what this process does now."""
        self.sign.doing, self.sign.long = doing, long

    @contextmanager
    def in_collective(self) -> Iterator[None]:
        """What all processes do together; where it fails, this process ends and says why."""
        self.sign.turns += 1
        self.waits_since = time.monotonic()
        try:
            yield
        except RuntimeError as error:
            if out_of_memory(error):
                raise
            self.failure, self.failed_since = str(error), time.monotonic()
            threading.Event().wait()  # until `look` has found who is gone
        finally:
            self.waits_since = 0.0

    @contextmanager
    def until_the_end(self, folder: RunFolder) -> Iterator[None]:
        """The training in `folder`: the others are told how it ends here."""
        self.folder = folder
        try:
            yield
        except BaseException as error:
            status = error.exit_status if isinstance(error, HeadwayError) else 1
            known = isinstance(error, HeadwayError)
            self.sign.words = str(error) if known else f"{type(error).__name__}: {error}"
            self.sign.ended = 130 if isinstance(error, KeyboardInterrupt) else status
            if isinstance(error, StoppedError) and self.rank:  # process 0 may still be saving
                self.sign.ended = DONE
            raise
        else:
            self.sign.ended = DONE
        finally:
            self.closed.set()
            with suppress(RuntimeError):
                self.tell()

    # -- two threads: what passes through the store may take for ever ------------------------------

    def again_and_again(self, work: Callable[[], None]) -> None:
        """Every second, until it is over."""
        while not self.closed.wait(EVERY_S):
            work()

    def tell(self) -> None:
        """Leave the sign that this process is here."""
        self.sign.count += 1
        self.store.set(f"sign/{self.rank}", json.dumps(asdict(self.sign)))

    def exchange(self) -> None:
        """Leave a sign, and take those of the others."""
        try:
            self.tell()
            signs = self.store.multi_get([f"sign/{other}" for other in self.others])
        except RuntimeError as error:
            self.store_error = self.store_error or str(error)
            return
        for seen, sign in zip(self.others.values(), signs, strict=True):
            now = Sign(**json.loads(sign))
            seen.still_s = 0.0 if now.count != seen.sign.count else seen.still_s + EVERY_S
            seen.sign = now
        self.n_answers += 1
        self.silent_s = 0.0

    def look(self) -> None:
        """End this process where another one, or the store, is gone."""
        self.silent_s += EVERY_S  # by looks, not by the clock: this process may have been stopped
        now = time.monotonic()
        there = {rank: seen for rank, seen in self.others.items() if seen.sign.ended != DONE}
        for rank, seen in there.items():
            if seen.sign.ended:
                words = f"{self.name(rank)} has ended: {seen.sign.words}"
                self.end(words, rank, seen.sign.ended)
        limit = CLOSED_S if self.failure else self.lost_s
        for rank, seen in there.items():
            if seen.still_s >= limit:
                gone = "is gone" if self.failure else f"has not been heard of for {limit:.0f} s"
                self.end(f"{self.name(rank)} {gone}; last, it was at {seen.sign.doing}", rank)
        if self.store_error or self.silent_s >= self.lost_s:
            self.end(self.about_the_store(), 0)
        if self.failure and now - self.failed_since > UNNAMED_S:
            self.end(f"every process is there, but a collective failed ({first(self.failure)})")
        since = self.waits_since
        if since and now - since > self.hangs_s and not self.failure:
            behind = {r: s for r, s in there.items() if s.sign.turns < self.sign.turns}
            for rank, seen in behind.items():
                if not seen.sign.long:
                    words = f"{self.name(rank)} hangs at {seen.sign.doing}"
                    self.end(f"{words}: the others have waited {self.hangs_s:.0f} s for it", rank)
            if not behind:
                words = f"every process has waited {self.hangs_s:.0f} s for what the others send"
                self.end(f"{words}; see to the network between their machines")

    # -- the end ----------------------------------------------------------------------------------

    def name(self, rank: int) -> str:
        """A process, for people."""
        return f"process {rank} on {self.everyone[rank]['host']}"

    def about_the_store(self) -> str:
        """That it is out of reach."""
        where = f"{os.environ.get('MASTER_ADDR')}:{os.environ.get('MASTER_PORT')}"
        how = f"has not answered for {self.lost_s:.0f} s"
        if self.store_error:
            how = f"is gone ({first(self.store_error)})"
        was = f"; process 0 was at {self.others[0].sign.doing}" if self.rank else ""
        return f"the store at {where}, by which processes find each other, {how}{was}"

    def end(self, words: str, culprit: int = -1, status: int = START_AGAIN) -> NoReturn:
        """Say why all end, once on each machine, and end this process where it stands."""
        host, others = self.everyone[self.rank]["host"], self.others
        if not self.ending.acquire(blocking=False):
            threading.Event().wait()
        hurried = threading.Timer(5.0, os._exit, (status,))  # where the disk does not answer
        hurried.daemon = True
        hurried.start()
        here = [r for r in others if self.everyone[r]["host"] == host and r != culprit]
        if self.rank < min(here, default=self.rank + 1) and status == START_AGAIN:
            text = f"headway: {words}. This process stops. {self.what_is_saved()}"
            shown = "\r\x1b[K\x1b[?25h" if sys.stderr and os.isatty(2) else ""  # a bar goes
            with suppress(OSError):
                os.write(2, f"{shown}{text.translate(CONTROLS)}\n".encode())
        if culprit >= 0 and self.everyone[culprit]["host"] == host:
            kill_sibling(self.everyone[culprit]["pid"])
        os._exit(status)

    def what_is_saved(self) -> str:
        """And how it goes on."""
        steps = checkpoint.resumable(self.folder.checkpoints)
        known, there = "No checkpoint is written yet", ""
        if steps:
            known, there = f"The last checkpoint, step {steps[-1]:,}, is whole", " from there"
        tried, most = (int(os.environ.get(f"TORCHELASTIC_{n}", "0")) for n in RESTARTS)
        if tried < most:
            return f"{known}: torchrun starts all again{there}."
        return f"{known}: start the same command again with --resume."


def collective(method: Method) -> Method:
    """A method, of what has a `watch`, that all processes call together."""

    @wraps(method)
    def watched(self: Any, *given: Any) -> Any:
        with self.watch.in_collective():
            return method(self, *given)

    return watched  # type: ignore[return-value]


def kill_sibling(pid: int) -> None:
    """End a process that torchrun has started beside this one: stopped or hanging, it would not
    hear the SIGTERM, after which torchrun waits for half a minute."""
    with suppress(OSError, IndexError, ValueError):
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
        if int(stat.rpartition(")")[2].split()[1]) == os.getppid():
            os.kill(pid, signal.SIGKILL)


def first(error: str) -> str:
    """Of torch's words, what fits into a sentence."""
    return error.partition("\n")[0].partition(". This may indicate")[0][:200].rstrip(". ")


def seconds_set(name: str, usual: float) -> float:
    """A number of seconds in the environment. Raises ConfigError where it is none."""
    given = os.environ.get(name, str(usual))
    try:
        found = float(given)
    except ValueError:
        found = 0.0
    if not found >= 2 * EVERY_S:
        raise ConfigError(f"{name} must be a number of seconds, at least 2; got {given!r}.")
    return found
