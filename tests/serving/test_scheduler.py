"""Who shares an engine gets what they would get alone, in their turn, in time, or a refusal."""

import asyncio
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextvars import copy_context
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from random_models import needs_engine, small, sources_for

from headway.core.errors import HeadwayError
from headway.core.hypothesis import DecodingSettings, Hypothesis, SearchRequest
from headway.core.subwords import SpecialIds
from headway.engine.engine import prepare
from headway.engine.feeding import EngineThreads
from headway.serving import scheduler
from headway.serving.fair_queue import QUANTUM, FairQueue, Submission
from headway.serving.lanes import Hear, Lane, SearchCounts
from headway.serving.metrics import Metrics
from headway.serving.requests import CALLER, Caller, RefusedError
from headway.serving.scheduler import SharedEngine, SharedEngines
from headway.translation.decoding import SamplingSettings, decode
from headway.translator import Translator

CPU = torch.device("cpu")
SEARCH = SearchRequest(
    SpecialIds(), DecodingSettings(beam=3, n_best=2, max_extra_length=5), CPU, want_attention=True
)


@pytest.fixture
def two_threads() -> Iterator[EngineThreads]:
    threads = EngineThreads(2)
    yield threads
    threads.close()


@pytest.fixture
def engines() -> Iterator[SharedEngines]:
    engines = SharedEngines(2)
    yield engines
    engines.close()


def plain(hypotheses: Sequence[Hypothesis]) -> list[Any]:
    """To be compared: attention as lists, over the source alone (torch's goes on over padding)."""
    return [
        (one.ids, one.token_log_probs, None if one.attention is None else one.attention.tolist())
        for one in hypotheses
    ]


def as_caller(caller: Caller, work: Callable[[], Any]) -> Any:
    """What `work` gives, or raises, on behalf of a caller."""

    def run() -> Any:
        CALLER.set(caller)
        return work()

    return copy_context().run(run)


def in_threads(works: Sequence[Callable[[], Any]]) -> list[Any]:
    """What each gives, all at the same time; an error in the place of what it raised."""
    results: list[Any] = [None] * len(works)

    def run(i: int) -> None:
        try:
            results[i] = works[i]()
        except HeadwayError as error:
            results[i] = error

    threads = [threading.Thread(target=run, args=(i,)) for i in range(len(works))]
    for one in threads:
        one.start()
    for one in threads:
        one.join(60)
        assert not one.is_alive()
    return results


@needs_engine
def test_eight_who_search_at_the_same_time_get_what_each_gets_alone(
    two_threads: EngineThreads,
) -> None:
    """Long sentences, which have no lane, and several ways of searching among them."""
    model = small(vocabulary_size=300)
    native = prepare(model, CPU)
    assert not isinstance(native, str)
    shared = SharedEngine(native, two_threads)
    ways = [
        SEARCH,
        SEARCH._replace(want_attention=False),
        SEARCH._replace(settings=DecodingSettings(method="greedy"), want_scores=False),
    ]
    sources = [sources_for(model, [1, 0, n * 13 % 29, 5, 170 if n == 3 else 9]) for n in range(8)]
    calls = [(some, ways[(n + k) % 3]) for n, some in enumerate(sources) for k in range(6)]

    def client(n: int) -> list[Any]:
        return [
            [plain(one) for one in shared.search(model, some, way)]
            for some, way in calls[6 * n : 6 * n + 6]
        ]

    found = in_threads([lambda n=n: client(n) for n in range(8)])
    expected = [[plain(one) for one in native.search(model, some, way)] for some, way in calls]
    assert [one for of_client in found for one in of_client] == expected
    assert shared.counts.sentences_done == 8 * 6 * 5
    assert (shared.n_waiting, shared.tokens_waiting, shared.slots[0]) == (0, 0, 0)


@needs_engine
def test_a_translator_says_the_same_shared_and_alone(
    everyday_run: Path, engines: SharedEngines
) -> None:
    alone, shared = Translator.load(everyday_run), Translator.load(everyday_run)
    engines.prepare(shared)
    texts = ["The dog runs.", "", "I see {name}. She has 3 apples! Where is the red car?", "cat"]
    how = {"want_alignment": True, "n_best": 2}
    for text in [*texts, texts]:
        assert shared.translate_fully(text, **how) == alone.translate_fully(text, **how)
    drawn = {"method": "sampling", "seed": 4, "prefixes": "我"}
    for translator in (alone, shared):
        drawn["generator"] = torch.Generator().manual_seed(4)
        assert translator.translate("The dog runs.", **drawn).startswith("我")


@needs_engine
def test_what_clients_ask_for_is_not_told_to_an_operator_who_cannot_change_it(
    everyday_run: Path, engines: SharedEngines
) -> None:
    said = list[str]()
    translator = Translator.load(everyday_run, precision="int8", say=said.append)
    engines.prepare(translator)
    del said[:]  # what holds for all requests
    translator.translate("The dog runs.", method="sampling", seed=4)
    assert said == []


def test_where_there_is_no_engine_batches_are_shared(two_threads: EngineThreads) -> None:
    """For a model that the engine does not know, several at a time."""
    model, batches = small(window=2), list[int]()
    start = model.start

    def counted(source: Any, prefix: Any = None) -> Any:
        batches.append(len(source))
        return start(source, prefix)

    model.start = counted
    shared = SharedEngine(None, two_threads)
    sources = sources_for(model, [3, 7, 1, 0, 12, 170, 5, 5])
    search = SEARCH._replace(want_attention=False)
    found = in_threads([lambda i=i: shared.search(model, [sources[i]], search) for i in range(8)])
    expected = decode(model, sources, search)
    for (ours,), theirs in zip(found, expected, strict=True):
        assert [one.ids for one in ours] == [one.ids for one in theirs]
        assert [one.score for one in ours] == pytest.approx([one.score for one in theirs])
    sampling = search._replace(
        settings=SamplingSettings(method="sampling", n_best=2, max_extra_length=2)
    )
    assert len(shared.search(model, sources[:1], sampling)[0]) == 2


@needs_engine
def test_a_model_that_gives_no_numbers_is_an_error_of_those_who_ask(
    two_threads: EngineThreads,
) -> None:
    model = small()
    with torch.no_grad():
        model.output_weight.fill_(torch.nan)
    native = prepare(model, CPU)
    assert not isinstance(native, str)
    shared = SharedEngine(native, two_threads)
    for _ in range(3):
        with pytest.raises(HeadwayError, match="damaged or its training diverged"):
            shared.search(model, [[5, 6], [7]], SEARCH)
    end = time.monotonic() + 10  # the error was told when the first of both was done
    while shared.slots[0] and time.monotonic() < end:
        time.sleep(0.005)
    assert shared.n_waiting == shared.slots[0] == 0


def test_lanes_are_few_and_the_one_that_rested_longest_goes(
    two_threads: EngineThreads, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scheduler, "MOST_LANES", 2)
    model, shared = small(), SharedEngine(None, two_threads)
    for beam in (1, 2, 1, 3):
        way = SEARCH._replace(settings=DecodingSettings(beam=beam, max_extra_length=3))
        assert len(shared.search(model, [[5]], way)[0]) == 1
    assert [kind.rows for kind in shared._lanes] == [1, 3]


def test_a_lane_that_is_used_without_a_thread_is_used(
    two_threads: EngineThreads, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scheduler, "MOST_LANES", 2)
    model, shared = small(), SharedEngine(None, two_threads)
    ways = [
        SEARCH._replace(settings=DecodingSettings(beam=beam, max_extra_length=3))
        for beam in (1, 2, 3)
    ]
    for way in ways[:2]:
        shared.search(model, [[5]], way)
    soon = asyncio.run(shared.search_soon(model, [[5]], ways[0], Caller()))
    assert soon is not None
    shared.search(model, [[5]], ways[2])
    assert [kind.rows for kind in shared._lanes] == [1, 3]


class ByHand:
    """A job of two places, of which one sentence after the other is done when the test says so."""

    def __init__(self, hear: Hear) -> None:
        self.hear, self.free, self.n_slots = hear, [0, 1], 2
        self.begun, self.places = list[int](), dict[int, int]()

    n_filled = 0

    def fits(self, n_read: int, limit: int) -> bool:
        return n_read + limit < 100

    def put(self, ids: Sequence[int], limit: int) -> int:
        assert limit == 1
        place = self.free.pop()
        self.begun.append(ids[0])
        self.places[ids[0]] = place
        return place

    def wake(self, n: int) -> None:
        assert n > 0

    def take(self, entry: int, *, want_attention: bool) -> list[Hypothesis]:
        assert not want_attention
        self.free.append(entry)
        return [Hypothesis([entry], -1.0, -1.0, [-1.0], None)]

    def finish(self, *ids: int) -> None:
        for one in ids:
            self.hear([self.places.pop(one)])


@pytest.fixture
def lane() -> Lane:
    return Lane(SearchCounts(), threading.Lock(), ByHand)


def submitted(lane: Lane, ids: Sequence[int], caller: Caller, n_tokens: int = 8) -> Submission:
    """Sentences of so many tokens, of which the first is their number."""
    found = Submission(caller, [[one] * n_tokens for one in ids], [1] * len(ids))
    lane.submit(found)
    return found


def finish_all(lane: Lane) -> list[int]:
    """Finish one after the other, the first that was begun first; how all were begun."""
    job: Any = lane.job
    while job.places:
        job.finish(next(iter(job.places)))
    return list(job.begun)


def test_one_with_a_thousand_sentences_hardly_delays_one_with_one(lane: Lane) -> None:
    many = submitted(lane, range(1000), Caller("many"))
    one = submitted(lane, [7000], Caller("one"))
    few = submitted(lane, range(8000, 8004), Caller("few"))
    begun = finish_all(lane)
    turn = QUANTUM // 8
    assert begun.index(7000) <= 2 + turn
    assert begun.index(8003) <= 2 + 2 * turn + 1
    assert all(one.found + few.found + many.found)
    assert sorted(begun) == [*range(1000), 7000, *range(8000, 8004)]
    assert lane.counts.tokens_read == 8 * 1005
    assert lane.counts.tokens_written == 2 * 1005


@given(st.lists(st.lists(st.integers(1, 100), min_size=1, max_size=30), min_size=2, max_size=5))
def test_as_long_as_two_wait_neither_is_given_much_more(lengths: list[list[int]]) -> None:
    """In source tokens: by no more than a turn and the longest sentence of each."""
    queue, clients = FairQueue(), [f"client {i}" for i in range(len(lengths))]
    for client, some in zip(clients, lengths, strict=True):
        queue.put(Submission(Caller(client), [[5] * n for n in some], [1] * len(some)))
    given_to, left = dict.fromkeys(clients, 0), dict(zip(clients, map(len, lengths), strict=True))
    longest = max(map(max, lengths))
    assert queue.n_tokens == sum(map(sum, lengths))
    while sentence := queue.take():
        client = sentence.submission.caller.client
        given_to[client] += len(sentence.ids)
        left[client] -= 1
        waiting = [given_to[one] for one, n in left.items() if n]
        assert not waiting or max(waiting) - min(waiting) <= QUANTUM + 2 * longest
    assert not any(left.values())
    assert (queue.n_sentences, queue.n_tokens, queue.n_clients) == (0, 0, 0)


def test_who_left_frees_the_place_of_what_was_not_begun(lane: Lane) -> None:
    left, stays = Caller("left"), Caller("stays")
    gone = submitted(lane, range(10), left)
    stayed = submitted(lane, [50], stays)
    left.gone.set()
    with pytest.raises(RefusedError, match="the client left"):  # it looks by itself
        lane.wait(gone)
    assert lane.queue.n_sentences == 1
    assert lane.queue.tokens_of("left") == 0
    assert finish_all(lane) == [0, 1, 50]  # what was in work ends
    assert lane.wait(stayed) == stayed.found
    assert len(stayed.found[0]) == 1


def test_what_is_too_late_is_not_begun_and_says_so_in_time(lane: Lane) -> None:
    first = submitted(lane, [0, 1], Caller("first"))
    late = submitted(lane, [2, 3], Caller("late", deadline=time.monotonic() + 0.05))
    begun = time.monotonic()
    with pytest.raises(RefusedError) as refused:
        lane.wait(late)
    assert refused.value.reason == "late"
    assert refused.value.retry_after_s
    assert time.monotonic() - begun < 10
    in_time = submitted(lane, [4], Caller("in time", deadline=time.monotonic() + 600))
    too_late = submitted(lane, [5], Caller("too late", deadline=time.monotonic() - 1))
    assert finish_all(lane) == [0, 1, 4]
    assert all(lane.wait(first) + lane.wait(in_time))
    with pytest.raises(RefusedError):
        lane.wait(too_late)


def test_what_was_begun_in_time_is_finished(lane: Lane) -> None:
    begun = submitted(lane, [0], Caller("a", deadline=time.monotonic() + 0.02))
    threading.Timer(0.1, lambda: lane.job.finish(0)).start()  # type: ignore[attr-defined]
    assert len(lane.wait(begun)[0]) == 1


def test_a_full_queue_refuses_those_who_have_their_share_of_it(
    monkeypatch: pytest.MonkeyPatch, two_threads: EngineThreads
) -> None:
    model, jobs = small(), list[ByHand]()
    shared = SharedEngine(None, two_threads, most_waiting=40)
    monkeypatch.setattr(
        shared, "_way", lambda *_: lambda hear: jobs.append(ByHand(hear)) or jobs[0]
    )
    monkeypatch.setattr(scheduler, "read_and_written", lambda _, some, __: (some, [1] * len(some)))
    search, others = SEARCH._replace(want_attention=False), list[threading.Thread]()
    number = iter(range(5, 100))

    def ask(caller: Caller, n: int) -> None:
        sources = [[next(number)] * 8 for _ in range(n)]
        work = threading.Thread(
            target=lambda: as_caller(caller, lambda: shared.search(model, sources, search)),
            daemon=True,
        )
        waiting = shared.n_waiting + n - (2 if not others else 0)
        work.start()
        others.append(work)
        until = time.monotonic() + 10
        while shared.n_waiting != waiting and time.monotonic() < until:
            time.sleep(0.001)
        assert shared.n_waiting == waiting

    monkeypatch.setattr(scheduler, "SHORT", 4)
    many = Caller("many")
    ask(many, 8)  # two in work, six of 48 tokens wait
    with pytest.raises(RefusedError) as refused:
        as_caller(Caller("many"), lambda: shared.search(model, [[5] * 8], search))
    assert refused.value.reason == "busy"
    assert refused.value.retry_after_s == 1.0  # nothing was measured yet
    shared.counts.rate = 24.0
    with pytest.raises(RefusedError) as refused:
        as_caller(Caller("many"), lambda: shared.search(model, [[5] * 8], search))
    assert refused.value.retry_after_s == 2.0
    ask(Caller("one"), 1)  # others have their share
    monkeypatch.setattr(scheduler, "SHORT", 8)
    ask(Caller("many"), 1)  # what is short has room
    monkeypatch.setattr(scheduler, "SHORT", 4)
    ask(many, 2)  # what was accepted goes on
    with pytest.raises(RefusedError, match="too much waits"):  # there is an end to all shares
        as_caller(Caller("another"), lambda: shared.search(model, [[5] * 8], search))
    while jobs[0].places:
        jobs[0].finish(next(iter(jobs[0].places)))
    for one in others:
        one.join(10)
        assert not one.is_alive()
    assert len(jobs[0].begun) == 12
    assert shared.tokens_waiting == 0


@needs_engine
def test_metrics_tell_what_all_translators_did_also_those_that_are_gone(
    everyday_run: Path, engines: SharedEngines
) -> None:
    metrics = Metrics()
    engines.tell(metrics)
    for n in (1, 2):
        translator = Translator.load(everyday_run)
        engines.prepare(translator)
        translator.translate(["The dog runs.", "cat"])
        assert f"headway_sentences_done_total {2 * n}\n" in metrics.text()
        assert "headway_slots_filled 0\n" in metrics.text()
        assert "headway_slots 0\n" not in metrics.text()
        engines.retire(translator)
    assert "headway_sentences_done_total 4\n" in metrics.text()
    assert "headway_slots 0\n" in metrics.text()
