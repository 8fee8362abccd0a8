"""Sentences that are searched for in one way, whoever sent them: waiting, and in work."""

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from headway.core.hypothesis import Hypothesis, Ids, diverged
from headway.serving.fair_queue import FairQueue, Sentence, Submission

LONGEST_SOURCE = 160
"""Tokens that a lane has room for, the end marker included; longer ones are searched for alone."""
LOOK_S = 0.25
"""How often one that waits looks whether its client is still there."""
RATE_S = 1.0
"""For how long tokens are counted before it is said how many there are in a second."""


class LaneKind(NamedTuple):
    """What searches have in common that share a lane."""

    method: str
    rows: int
    n_best: int
    length_penalty: float
    max_extra_length: int
    want_scores: bool
    want_attention: bool


class SearchCounts:
    """What a service tells of its work: plain numbers, which only grow."""

    def __init__(self) -> None:
        self.sentences_done = self.tokens_read = self.tokens_written = 0
        self.rate = 0.0
        """Source tokens a second, when last measured under load."""
        self._since, self._read_then = time.monotonic(), 0

    def begin(self) -> None:
        """There is work again, after there was none."""
        self._since, self._read_then = time.monotonic(), self.tokens_read

    def add(self, n_read: int, hypotheses: Sequence[Hypothesis]) -> None:
        """One sentence is done."""
        self.sentences_done += 1
        self.tokens_read += n_read
        self.tokens_written += sum(len(one.ids) + 1 for one in hypotheses[:1])
        passed_s = time.monotonic() - self._since
        if passed_s > RATE_S:
            self.rate = (self.tokens_read - self._read_then) / passed_s
            self.begin()


class OpenJob(Protocol):
    """Takes sentences while others are in work, as `headway.engine.feeding.FedJob` does."""

    free: list[int]
    """Numbers that the next sentences may have."""
    n_slots: int
    """Sentences that may be in work at the same time."""

    @property
    def n_bytes(self) -> int:
        """Memory that it has set aside."""
        ...

    @property
    def n_filled(self) -> int:
        """Sentences that are in work."""
        ...

    def fits(self, n_read: int, limit: int) -> bool:
        """Whether there is room for a source of so many tokens, end marker included, and an output
        of `limit` without."""
        ...

    def put(self, ids: Sequence[int], limit: int) -> int:
        """Take a sentence; its number, which is told when it is done."""
        ...

    def wake(self, n: int) -> None:
        """So many were put."""
        ...

    def take(self, entry: int, *, want_attention: bool) -> list[Hypothesis]:
        """What was found, whose number is free from then on."""
        ...

    def close(self) -> None:
        """There will be no more."""
        ...


Hear = Callable[[list[int]], None]


class BatchedJob:
    """An `OpenJob` where there is no compiled engine: what waits is searched for in batches."""

    def __init__(
        self, search: Callable[[list[Ids]], list[list[Hypothesis]]], n_slots: int, hear: Hear
    ) -> None:
        """`search` is given sources without end markers, at most `n_slots`."""
        self.n_slots, self.search, self.hear, self.n_bytes = n_slots, search, hear, 0
        self.free, self.n_filled = list(range(2 * n_slots)), 0
        self._waiting = deque[tuple[int, Sequence[int]]]()
        self._found: dict[int, list[Hypothesis] | Exception] = {}
        self._change, self._is_closed = threading.Condition(), False
        threading.Thread(target=self._work, name="headway batches", daemon=True).start()

    def fits(self, n_read: int, limit: int) -> bool:
        """See `OpenJob`; memory grows with what is read."""
        return n_read + limit <= 3 * LONGEST_SOURCE

    def put(self, ids: Sequence[int], limit: int) -> int:
        """See `OpenJob`."""
        entry = self.free.pop()
        self._waiting.append((entry, ids[:-1]))
        return entry

    def wake(self, n: int) -> None:
        """See `OpenJob`."""
        with self._change:
            self._change.notify()

    def take(self, entry: int, *, want_attention: bool) -> list[Hypothesis]:
        """See `OpenJob`; its searches all want the same. Raises what the search raised."""
        self.free.append(entry)
        found = self._found.pop(entry)
        if isinstance(found, Exception):
            raise found
        return found

    def close(self) -> None:
        """See `OpenJob`."""
        with self._change:
            self._is_closed = True
            self._change.notify()

    def _work(self) -> None:
        while True:
            with self._change:
                while not self._waiting and not self._is_closed:
                    self._change.wait()
                if self._is_closed:
                    return
            n = self.n_filled = min(self.n_slots, len(self._waiting))
            batch = [self._waiting.popleft() for _ in range(n)]
            found: Sequence[list[Hypothesis] | Exception]
            try:
                found = self.search([ids for _, ids in batch])
            except Exception as error:
                found = [error] * n
            self._found |= {entry: one for (entry, _), one in zip(batch, found, strict=True)}
            self.n_filled = 0
            self.hear([entry for entry, _ in batch])


TOLD = ("sentences_done", "tokens_read", "tokens_written")
"""Of `SearchCounts`, in metrics."""


class Lane:
    """Sentences that are searched for in one way: those that wait, and those in work."""

    def __init__(
        self, counts: SearchCounts, lock: threading.Lock, open_job: Callable[[Hear], OpenJob]
    ):
        """`lock` is that of all lanes that count together."""
        self.queue, self.counts, self.lock = FairQueue(), counts, lock
        self.job, self._in_work = open_job(self._hear), dict[int, Sentence]()
        self.n_users = 0
        """Searches that wait for it."""

    def submit(self, submission: Submission) -> None:
        """Have its sentences searched for, when it is their turn."""
        with self.lock:
            if not self._in_work:
                self.counts.begin()
            self.queue.put(submission)
            self._begin()
        submission.caller.is_accepted = True

    def leave(self) -> None:
        """One search has what it waited for."""
        with self.lock:
            self.n_users -= 1

    def wait(self, submission: Submission) -> list[list[Hypothesis]]:
        """Until all are found. Raises RefusedError where its deadline or its client is gone."""
        while not submission.wait(LOOK_S):
            self.look(submission)
        return submission.result()

    async def wait_for(
        self, submission: Submission, over: "asyncio.Future[None]"
    ) -> list[list[Hypothesis]]:
        """The same in an event loop, which is told by `over`; who is cancelled there has left."""
        loop = asyncio.get_running_loop()
        timer: asyncio.TimerHandle

        def look() -> None:
            nonlocal timer
            self.look(submission)
            timer = loop.call_later(submission.patience_s(LOOK_S), look)

        look()
        try:
            await over
        except asyncio.CancelledError:
            submission.caller.gone.set()
            self.look(submission)
            raise
        finally:
            timer.cancel()
        return submission.result()

    def look(self, submission: Submission) -> None:
        """End it where its deadline or its client is gone."""
        with self.lock:
            refusal = submission.refusal(time.monotonic())
            if refusal and not submission.is_over:
                self.queue.drop(submission, refusal)

    def _begin(self) -> None:
        n = 0
        while self.job.free and (sentence := self.queue.take()):
            limit = sentence.submission.limits[sentence.place]
            self._in_work[self.job.put(sentence.ids, limit)] = sentence
            n += 1
        if n:
            self.job.wake(n)

    def _hear(self, entries: list[int]) -> None:
        with self.lock:
            for entry in entries:
                submission, i = sentence = self._in_work.pop(entry)
                try:
                    found = self.job.take(entry, want_attention=submission.want_attention)
                    if not found:
                        raise diverged()
                except Exception as error:
                    self.queue.drop(submission, error)
                else:
                    self.counts.add(len(sentence.ids), found)
                    submission.finish(i, found)
            self._begin()
