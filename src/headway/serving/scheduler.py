"""One search for all who translate at the same time: their sentences share the engine's slots.

Requests are worked on in threads of their own, as ever; the search of each hands its sentences over
here and waits for its own. What is searched for in the same way shares a lane.
"""

import asyncio
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from headway.core.hypothesis import Hypothesis, Ids, SearchRequest
from headway.core.interfaces import StepDecoder
from headway.core.search import METHODS
from headway.corpora.cache_place import silent
from headway.engine.engine import NativeEngine, beyond, unwrapped
from headway.engine.feeding import EngineThreads, FedJob
from headway.serving.fair_queue import Submission
from headway.serving.lanes import (
    LONGEST_SOURCE,
    LOOK_S,
    TOLD,
    BatchedJob,
    Hear,
    Lane,
    LaneKind,
    OpenJob,
    SearchCounts,
)
from headway.serving.metrics import Metrics
from headway.serving.requests import CALLER, NOBODY, Caller, RefusedError
from headway.translation.decoding import Engine, decode

if TYPE_CHECKING:
    from headway.translator import Translator

MOST_LANES = 6
MOST_WAITING = 1 << 16
"""Source tokens."""
MORE_TOKENS = 32
"""That a sentence has by what stands around it: markers, a tag, codes."""
SHORT = 256
"""Source tokens of a request that has room where longer ones have none: it is soon done."""
BATCH_ROWS = 128
"""Hypotheses that are searched for together where there is no engine."""


def read_and_written(
    decoder: StepDecoder, sources: Sequence[Ids], request: SearchRequest
) -> tuple[list[list[int]], list[int]]:
    """What is read of sources, their end markers included, and how many tokens each output may have
    before its own: see `headway.core.hypothesis.length_limits`."""
    rows = [[*map(int, ids), request.special.end] for ids in sources]
    extra, longest = request.settings.max_extra_length, decoder.longest
    limits = [len(row) + extra for row in rows]
    return rows, limits if longest is None else [min(n, longest - 1) for n in limits]


class SharedEngine:
    """A `headway.translation.decoding.Engine` for many threads at once, which never leaves anything
    to others."""

    def __init__(
        self,
        engine: Engine | None,
        threads: EngineThreads,
        most_waiting: int = MOST_WAITING,
        longest_source: int = LONGEST_SOURCE,
    ) -> None:
        """`engine` is what searches alone, None for torch. At `most_waiting` source tokens those
        are refused who have more than their share of them; a source of more than `longest_source`
        tokens is searched for alone."""
        self.engine, self.threads, self.most_waiting = engine, threads, most_waiting
        self.longest_source = longest_source
        self.counts = SearchCounts()
        self._lanes, self._lock = dict[LaneKind, Lane](), threading.Lock()
        self._alone = threading.Lock()

    @property
    def n_waiting(self) -> int:
        """Sentences that are not begun."""
        return sum(lane.queue.n_sentences for lane in self._all())

    @property
    def tokens_waiting(self) -> int:
        """Source tokens of these."""
        return sum(lane.queue.n_tokens for lane in self._all())

    @property
    def n_bytes(self) -> int:
        """Memory that its lanes have set aside."""
        return sum(lane.job.n_bytes for lane in self._all())

    @property
    def slots(self) -> tuple[int, int]:
        """Those with a sentence in them, and all."""
        jobs = [lane.job for lane in self._all()]
        return sum(job.n_filled for job in jobs), sum(job.n_slots for job in jobs)

    def refuse_full(self, caller: Caller, n_tokens: int) -> None:
        """Raise RefusedError where too much waits already: for a request of so many source tokens
        that is not short, of a client that has its share of what waits."""
        waiting = self.tokens_waiting
        if waiting < self.most_waiting or (caller.is_accepted and caller is not NOBODY):
            return
        queues = [lane.queue for lane in self._all()]
        own = sum(queue.tokens_of(caller.client) for queue in queues)
        n_clients = 1 + sum(queue.n_clients for queue in queues)
        has_room = n_tokens <= SHORT or own * n_clients < self.most_waiting
        if not has_room or waiting >= 2 * self.most_waiting:
            raise RefusedError("busy", "too much waits already; come again", self.wait_s)

    @property
    def wait_s(self) -> float:
        """How long what waits now will take, as far as is known."""
        return self.tokens_waiting / self.counts.rate if self.counts.rate else 1.0

    def search(
        self, decoder: StepDecoder, sources: Sequence[Ids], request: SearchRequest
    ) -> list[list[Hypothesis]]:
        """See `Engine`; of the sentences of `CALLER`.

        Raises:
            RefusedError: too much waits, it is too late, or the client left.
        """
        caller = CALLER.get()
        self.refuse_full(caller, sum(map(len, sources)))
        results: list[list[Hypothesis]] = [[] for _ in sources]
        rows, limits = read_and_written(decoder, sources, request)
        if (lane := self._lane(decoder, request)) is not None:
            try:
                fits = lane.job.fits
                some = [i for i, row in enumerate(rows) if fits(len(row), limits[i])]
                submission = Submission(
                    caller, [rows[i] for i in some], [limits[i] for i in some],
                    want_attention=request.want_attention,
                )  # fmt: skip
                lane.submit(submission)
                for i, found in zip(some, lane.wait(submission), strict=True):
                    results[i] = found
            finally:
                lane.leave()
            request.done(len(some))
        if left := [i for i, found in enumerate(results) if not found]:
            alone = self._search_alone(decoder, [sources[i] for i in left], request, caller)
            for i, found in zip(left, alone, strict=True):
                results[i] = found
        return results

    async def search_soon(
        self, decoder: StepDecoder, sources: Sequence[Ids], request: SearchRequest, caller: Caller
    ) -> list[list[Hypothesis]] | None:
        """The same in an event loop, without a thread; None where that takes one: there is no lane
        yet, or it has no room for a source. Raises as `search` does."""
        self.refuse_full(caller, sum(map(len, sources)))
        if (kind := self._kind(request)) not in self._lanes:
            return None
        rows, limits = read_and_written(decoder, sources, request)
        with self._lock:
            if (lane := self._lanes.pop(kind, None)) is None:
                return None
            self._lanes[kind] = lane  # the last used one is the last to go
            lane.n_users += 1
        try:
            if not all(lane.job.fits(len(row), n) for row, n in zip(rows, limits, strict=True)):
                return None
            loop = asyncio.get_running_loop()
            over: asyncio.Future[None] = loop.create_future()

            def end() -> None:
                if not over.done():
                    over.set_result(None)

            def tell() -> None:
                with suppress(RuntimeError):  # the loop is closed
                    loop.call_soon_threadsafe(end)

            look = request.want_attention
            submission = Submission(caller, rows, limits, want_attention=look, tell=tell)
            lane.submit(submission)
            return await lane.wait_for(submission, over)
        finally:
            lane.leave()

    def close(self) -> None:
        """Let the engine's threads forget it; nobody must search any more."""
        with self._lock:
            for lane in self._lanes.values():
                lane.job.close()
            self._lanes = {}

    def _all(self) -> list[Lane]:
        return list(self._lanes.values())

    def _lane(self, decoder: StepDecoder, request: SearchRequest) -> Lane | None:
        """The lane of a search, which has one more user then; None where it has none."""
        open_job = self._way(decoder, request)
        if open_job is None:
            return None
        kind = self._kind(request)
        with self._lock:
            lane = self._lanes.pop(kind, None)
            if lane is None:
                idle = [key for key, one in self._lanes.items() if not one.n_users]
                if len(self._lanes) >= MOST_LANES:
                    if not idle:
                        return None
                    self._lanes.pop(idle[0]).job.close()
                try:
                    lane = Lane(self.counts, self._lock, open_job)
                except (MemoryError, ValueError):
                    return None
            self._lanes[kind] = lane  # the last used one is the last to go
            lane.n_users += 1
        return lane

    def _kind(self, request: SearchRequest) -> LaneKind:
        how, is_native = request.settings, isinstance(self.engine, NativeEngine)
        return LaneKind(
            how.method, how.rows, how.n_best, how.length_penalty, how.max_extra_length,
            request.want_scores or how.method == "beam",
            request.want_attention or is_native,  # where it costs next to nothing
        )  # fmt: skip

    def _way(
        self, decoder: StepDecoder, request: SearchRequest
    ) -> Callable[[Hear], OpenJob] | None:
        """What opens a job for such searches; None where each is one of its own."""
        settings = request.settings
        if settings.method not in METHODS or request.generator is not None:
            return None
        if isinstance(self.engine, NativeEngine):
            plain, beginning, shortlist = unwrapped(decoder)
            if plain is not self.engine.model or beginning or shortlist or beyond(settings):
                return None
            packed = self.engine.packed
            source = min(self.longest_source, packed.longest)
            output = min(source + settings.max_extra_length + 1, packed.longest)
            return lambda hear: FedJob(packed, request, (source, output), self.threads, hear)
        request = request._replace(done=SearchRequest._field_defaults["done"])
        n_slots = max(1, BATCH_ROWS // settings.rows)
        return lambda hear: BatchedJob(
            lambda sources: decode(decoder, sources, request, self.engine), n_slots, hear
        )

    def _search_alone(
        self, decoder: StepDecoder, sources: Sequence[Ids], request: SearchRequest, caller: Caller
    ) -> list[list[Hypothesis]]:
        """What no lane has room for: one such search after the other."""
        own = Submission(caller, [[]] * len(sources), [])
        while not self._alone.acquire(timeout=LOOK_S):
            if refusal := own.refusal(time.monotonic()):
                raise refusal
        try:
            if refusal := own.refusal(time.monotonic()):
                raise refusal
            found = decode(decoder, sources, request, self.engine)
        finally:
            self._alone.release()
        with self._lock:
            for ids, hypotheses in zip(sources, found, strict=True):
                self.counts.add(len(ids), hypotheses)
        return found


class SharedEngines:
    """What all translators of a service share: the engine's threads, and what is told of them."""

    def __init__(self, n_threads: int, most_waiting: int = MOST_WAITING) -> None:
        """`most_waiting` source tokens of each translator: see `SharedEngine`."""
        self.threads, self.most_waiting = EngineThreads(n_threads), most_waiting
        self._all = list[SharedEngine]()
        self._gone = SearchCounts()

    def prepare(self, translator: "Translator") -> None:
        """Have a translator's searches be shared from now on."""
        search = translator.search
        if not search.is_prepared:
            search.use(search.choice.prepare(translator.model, translator.device))
        if isinstance(search.engine, NativeEngine):  # what clients ask for, no operator can change
            search.engine.leave = search.choice._replace(say=silent).leave
        at_once = (
            translator.at_once.subwords or LONGEST_SOURCE
        ) + MORE_TOKENS  # longer ones are cut
        longest = min(LONGEST_SOURCE, at_once)
        shared = SharedEngine(search.engine, self.threads, self.most_waiting, longest)
        search.use(shared)
        self._all.append(shared)

    def set_aside(self, translator: "Translator") -> int:
        """Bytes of memory that a translator's searches have, besides its weights."""
        shared = translator.search.engine
        return shared.n_bytes if isinstance(shared, SharedEngine) else 0

    def retire(self, translator: "Translator") -> None:
        """Nobody translates with this one any more."""
        shared = translator.search.engine
        if isinstance(shared, SharedEngine) and shared in self._all:
            self._all.remove(shared)
            shared.close()
            for name in TOLD:
                setattr(self._gone, name, getattr(self._gone, name) + getattr(shared.counts, name))

    def tell(self, metrics: Metrics) -> None:
        """Have metrics ask for what was done, what waits, and how full the slots are."""
        for name in TOLD:
            metrics.totals[name] = partial(self.total, name)
        metrics.gauges |= {
            "sentences_waiting": lambda: sum(one.n_waiting for one in list(self._all)),
            "tokens_waiting": lambda: sum(one.tokens_waiting for one in list(self._all)),
            "slots_filled": lambda: sum(one.slots[0] for one in list(self._all)),
            "slots": lambda: sum(one.slots[1] for one in list(self._all)),
        }

    def total(self, name: str) -> int:
        """One of `TOLD`, of all translators that there were."""
        every = [self._gone, *(one.counts for one in list(self._all))]
        return sum(getattr(one, name) for one in every)

    def close(self) -> None:
        """End the engine's threads."""
        self.threads.close()
