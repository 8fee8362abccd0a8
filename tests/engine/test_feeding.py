"""What is fed to a running job is found as if it had been alone, and nothing is forgotten."""

import gc
import threading
import time
import weakref
from collections.abc import Iterator
from itertools import cycle
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from random_models import needs_engine, small, sources_for

from headway.core.hypothesis import DecodingSettings, Hypothesis, SearchRequest
from headway.core.runtime import ProductPrecision
from headway.core.subwords import SpecialIds
from headway.core.transformer import Transformer
from headway.engine.building import engine_library
from headway.engine.feeding import EngineThreads, FedJob
from headway.engine.packing import Packed
from headway.engine.translating import ENDLESS, translate

pytestmark = needs_engine

CPU, LONGEST = torch.device("cpu"), (30, 36)
BEAM = SearchRequest(SpecialIds(), DecodingSettings(beam=4, n_best=3), CPU)
GREEDY = SearchRequest(SpecialIds(), DecodingSettings(method="greedy"), CPU, want_scores=False)


@pytest.fixture
def three_threads() -> Iterator[EngineThreads]:
    threads = EngineThreads(3)
    yield threads
    threads.close()


class Fed:
    """Sentences through a job, each put as soon as there is a place; `wait` for all."""

    def __init__(self, packed: Packed, search: SearchRequest, threads: EngineThreads) -> None:
        self.look, self.found = search.want_attention, dict[int, list[Hypothesis]]()
        self.change, self.numbers = threading.Condition(), dict[int, int]()
        self.job = FedJob(packed, search, LONGEST, threads, self.hear)

    def hear(self, entries: list[int]) -> None:
        with self.change:
            for entry in entries:
                found = self.job.take(entry, want_attention=self.look)
                self.found[self.numbers.pop(entry)] = found
            self.change.notify_all()

    def put(self, number: int, ids: list[int]) -> None:
        with self.change:
            assert self.change.wait_for(lambda: self.job.free, timeout=60)
            self.numbers[self.job.put(ids, len(ids) + 4)] = number
        self.job.wake(1)

    def wait(self, n: int) -> list[list[Hypothesis]]:
        with self.change:
            assert self.change.wait_for(lambda: len(self.found) == n, timeout=60)
        return [self.found[i] for i in range(n)]


def alike(ours: list[list[Hypothesis]], theirs: list[list[Hypothesis]]) -> bool:
    """To the last bit, attention too."""
    for some, others in zip(ours, theirs, strict=True):
        for one, other in zip(some, others, strict=True):
            if (one.ids, one.token_log_probs) != (other.ids, other.token_log_probs):
                return False
            if (one.attention is None) != (other.attention is None):
                return False
            if one.attention is not None and not torch.equal(one.attention, other.attention):
                return False
    return True


@pytest.mark.parametrize("precision", ["fp32", "bf16", "int8"])
@pytest.mark.parametrize("search", [BEAM, BEAM._replace(want_attention=True), GREEDY])
def test_it_is_found_as_if_all_had_come_at_once(
    precision: ProductPrecision, search: SearchRequest, three_threads: EngineThreads
) -> None:
    model = small(encoder_layers=2, decoder_layers=2, vocabulary_size=300)
    packed = Packed(model, engine_library(), precision)
    sources = [[*ids, 3] for ids in sources_for(model, [n * 7 % 29 for n in range(200)])]
    expected = translate(packed, sources, [len(ids) + 4 for ids in sources], search, threads=1)
    fed = Fed(packed, search, three_threads)
    for number, ids in enumerate(sources):
        fed.put(number, ids)
    assert alike(fed.wait(len(sources)), expected)


def test_no_single_sentence_is_forgotten(three_threads: EngineThreads) -> None:
    """Each is put when the one before is done, and most threads are going to rest."""
    packed = Packed(small(), engine_library())
    fed = Fed(packed, GREEDY, three_threads)
    for _ in range(10_000):
        fed.put(0, [5, 3])
        assert fed.wait(1)[0]
        fed.found.clear()


def test_one_thread_is_enough_for_several_jobs_that_never_end() -> None:
    threads, packed = EngineThreads(1), Packed(small(), engine_library())
    try:
        jobs = [Fed(packed, search, threads) for search in (BEAM, GREEDY, BEAM)]
        n = 300
        feeders = [
            threading.Thread(target=lambda one=one: [one.put(i, [7] * 20 + [3]) for i in range(n)])
            for one in jobs
        ]
        for one in feeders:
            one.start()
        found = [one.wait(n) for one in jobs]
        assert alike(found[0], found[2])
        for one in feeders:
            one.join()
    finally:
        threads.close()


class Endless:
    """In the place of a job: there is always more of it, and who is asked to leave it leaves."""

    class Room:
        def __init__(self, job: "Endless") -> None:
            self.job, self.is_live, self.turns = job, False, 0

        def work(self, steps: int) -> None:
            self.turns, self.is_live = self.turns + 1, True
            while steps == ENDLESS and not (self.job.job.leave or self.job.job.stop):
                time.sleep(0.001)
            self.job.job.leave = 0

    def __init__(self, threads: EngineThreads) -> None:
        self.job = SimpleNamespace(number=0, pipe=-1, leave=0, stop=0)
        self.rooms = every = [self.Room(self) for _ in range(threads.n)]
        self.every, self.has_work = [*every], True
        self.n_working = self.n_endless = 0
        threads.hire(self)  # type: ignore[arg-type]


def test_what_a_thread_left_in_work_goes_on_however_much_more_comes() -> None:
    threads = EngineThreads(2)
    try:
        jobs = [Endless(threads)]
        threads.wake(jobs[0], 2)  # type: ignore[arg-type]
        while not all(room.turns for room in jobs[0].every):
            time.sleep(0.001)
        jobs.append(Endless(threads))
        threads.wake(jobs[1])  # type: ignore[arg-type]
        until = time.monotonic() + 30
        while not all(room.turns > 3 for job in jobs for room in job.every if room.turns):
            assert time.monotonic() < until
            time.sleep(0.001)
        assert any(room.turns for room in jobs[1].every)
    finally:
        threads.close()


def test_what_is_done_is_told_while_a_thread_moves_its_job_in_the_line() -> None:
    threads, moves, heard = EngineThreads(1), threading.Event(), list[int]()

    class Line(dict[int, Any]):
        """A job that is moved is out of it for a while."""

        def pop(self, *given: Any) -> Any:
            found = super().pop(*given)
            moves.set()
            time.sleep(0.2)
            return found

    try:
        threads._jobs = Line()
        job = Endless(threads)
        job.hear = heard.extend  # type: ignore[attr-defined]
        threads.wake(job)  # type: ignore[arg-type]
        assert moves.wait(60)
        threads._tell(job.job.number, [7])
        assert heard == [7]
    finally:
        threads.close()


def test_what_there_is_no_room_for_is_refused(three_threads: EngineThreads) -> None:
    packed = Packed(small(), engine_library())
    job = Fed(packed, BEAM, three_threads).job
    for ids, limit in (([], 1), ([5] * 31, 1), ([5, 3], 36), ([5, 3], -1), ([-1, 3], 1), ([30], 1)):
        free = list(job.free)
        with pytest.raises(ValueError, match="longer than|ids must be"):
            job.put(ids, limit)
        assert job.free == free
    assert not job.has_work


def test_threads_that_are_closed_leave_what_is_in_work() -> None:
    model: Transformer = small(d_model=64, d_ff=64)
    threads = EngineThreads(2)
    fed = Fed(Packed(model, engine_library()), BEAM, threads)
    for number, length in zip(range(20), cycle([20, 1]), strict=False):
        fed.put(number, [*sources_for(model, [length])[0], 3])
    threads.close()
    threads.close()
    assert all(not one.is_alive() for one in threads._threads)


def test_what_is_closed_frees_its_memory_by_itself(three_threads: EngineThreads) -> None:
    """Without a look for garbage, which a service seldom takes."""
    packed = Packed(small(), engine_library())
    gc.disable()
    try:
        fed = Fed(packed, BEAM, three_threads)
        fed.put(0, [5, 6, 3])
        fed.wait(1)
        held = [weakref.ref(fed.job), *map(weakref.ref, fed.job.rooms)]
        fed.job.close()
        del fed
        until = time.monotonic() + 20
        while any(one() is not None for one in held) and time.monotonic() < until:
            time.sleep(0.001)  # the last thread may be about to leave
        assert [one() for one in held] == [None] * len(held)
    finally:
        gc.enable()
