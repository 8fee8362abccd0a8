"""Many texts: batches of any size and any number of processes give the same, in order."""

import os
import signal
import subprocess
import sys
import time
from functools import partial
from multiprocessing import active_children

import pytest
import torch

from headway.decoding.processes import shared
from headway.decoding.search import (
    LEAST_SHARE,
    SHARES,
    SearchRequest,
    decode_all,
    even_batches,
    in_turn,
    like_lengths,
)
from headway.decoding.settings import DecodingSettings
from headway.errors import ConfigError, HeadwayError
from headway.models import Transformer, TransformerConfig
from headway.text.subwords import SpecialIds

CPU = torch.device("cpu")
SPECIAL = SpecialIds()
SOURCES = [torch.randint(4, 30, (1 + 7 * i % 11,)).tolist() for i in range(25)]


def small(**options):
    torch.manual_seed(1)
    sizes = {"encoder_layers": 1, "decoder_layers": 1, "d_model": 16, "d_ff": 16, "heads": 2}
    return Transformer(TransformerConfig(**sizes, **options), vocabulary_size=30).eval()


@pytest.mark.parametrize("method", ["greedy", "beam"])
def test_batches_of_any_size_and_any_number_of_processes_give_the_same_in_order(method):
    model, settings = small(), DecodingSettings(method=method, beam=3, max_extra_length=3)
    told = []
    request = SearchRequest(SPECIAL, settings, CPU)
    one_by_one = [decode_all(model, [ids], request)[0] for ids in SOURCES]
    for batch_tokens, processes in ((1, 1), (1, 2), (60, 1), (60, 3), (8192, 2)):
        request = SearchRequest(
            SPECIAL, settings, CPU, want_attention=True, done=told.append, batch_tokens=batch_tokens
        )
        share = in_turn if processes == 1 else partial(shared, n_processes=processes)
        found = decode_all(model, SOURCES, request, share=share)
        for hypotheses, expected, ids in zip(found, one_by_one, SOURCES, strict=True):
            assert [one.ids for one in hypotheses] == [one.ids for one in expected]
            assert hypotheses[0].score == pytest.approx(expected[0].score, abs=1e-5)
            attention = hypotheses[0].attention
            torch.testing.assert_close(attention.sum(1), torch.ones(len(attention)))
            assert not attention[:, len(ids) + 1 :].any()
    assert sum(told) == 5 * len(SOURCES)
    assert not active_children()


def test_any_number_of_processes_gives_bit_for_bit_the_same():
    model, settings = small(), DecodingSettings(max_extra_length=3)
    torch.set_num_threads(1)
    request = SearchRequest(SPECIAL, settings, CPU, batch_tokens=60)
    together = decode_all(model, SOURCES, request, share=partial(shared, n_processes=2))
    assert together == decode_all(model, SOURCES, request)


class Odd:
    """An engine for sources of an odd number of tokens."""

    def search(self, decoder, sources, request):
        asked = request._replace(done=lambda n: None)
        found = decode_all(decoder, sources, asked)
        return [one if len(ids) % 2 else [] for ids, one in zip(sources, found, strict=True)]


def test_what_an_engine_leaves_is_searched_for_here():
    told = []
    request = SearchRequest(SPECIAL, DecodingSettings(max_extra_length=3), CPU, done=told.append)
    found, usual = (decode_all(small(), SOURCES, request, engine) for engine in (Odd(), None))
    for one, other in zip(found, usual, strict=True):
        assert [each.ids for each in one] == [each.ids for each in other]
    assert sum(told) == len(SOURCES) + sum(len(ids) % 2 == 0 for ids in SOURCES)


def test_markers_and_unknowns_are_never_written():
    model = small()
    with torch.no_grad():
        model.output_weight[SPECIAL.begin] = 10 * model.output_weight.abs().max()
    settings = DecodingSettings(method="greedy", max_extra_length=2)
    found = decode_all(model, SOURCES, SearchRequest(SPECIAL, settings, CPU))
    written = {token for best in found for token in best[0].ids}
    assert not written & {SPECIAL.begin, SPECIAL.padding, SPECIAL.unknown, SPECIAL.end}


def test_nothing_to_do_is_no_error():
    assert decode_all(small(), [], SearchRequest(SPECIAL, DecodingSettings(), CPU)) == []


def test_the_output_ends_where_the_model_ends():
    model = small(positions="learned", max_length=8)
    greedy = DecodingSettings(method="greedy")
    found = decode_all(model, [[5] * 7], SearchRequest(SPECIAL, greedy, CPU))
    assert len(found[0][0].ids) <= 7


def test_a_batch_holds_like_lengths_and_as_many_rows_as_allowed():
    assert like_lengths([3, 9, 2, 9], 18) == [[1, 3], [0, 2]]
    assert like_lengths([50], 10) == [[0]]


@pytest.mark.parametrize("n", [1, 3, 100, 700, 1000, 1400, 4000])
def test_batches_can_be_shared_evenly(n):
    lengths = [3 + 7 * i % 31 for i in range(n)]
    batches = even_batches(lengths, 8192)
    assert sorted(row for batch in batches for row in batch) == list(range(n))
    padded = [len(batch) * lengths[batch[0]] for batch in batches]
    assert max(padded) <= 8192
    if sum(lengths) < SHARES * LEAST_SHARE:
        assert len(batches) <= max(1, sum(lengths) // LEAST_SHARE)  # little work stays together
    elif len(batches) > 1:
        assert len(batches) % SHARES == 0
        assert max(padded) < 1.2 * sum(padded) / len(padded)


# -- processes --------------------------------------------------------------------------------


def test_tasks_are_shared_and_each_is_done_once():
    found = list(shared(lambda task: (task * task, os.getpid()), range(20), 3))
    assert sorted(number for number, _ in found) == list(range(20))
    assert all(result[0] == number**2 for number, result in found)
    pids = {result[1] for _, result in found}
    assert len(pids) <= 3
    assert os.getpid() not in pids
    assert not active_children()


def test_each_process_computes_with_one_thread():
    assert {n for _, n in shared(lambda _: torch.get_num_threads(), range(4), 2)} == {1}


def test_an_error_in_a_process_is_raised_here_and_the_others_end():
    def work(task):
        if task == 3:
            raise ConfigError("three is one too many")
        return task

    with pytest.raises(ConfigError, match="three is one too many"):
        list(shared(work, range(20), 2))
    assert not active_children()


@pytest.mark.parametrize("fatal", [[3], list(range(20))])
def test_what_a_killed_process_had_to_do_is_done_by_the_others_or_here(fatal):
    here = os.getpid()

    def work(task):
        if task in fatal and os.getpid() != here:
            os.kill(os.getpid(), signal.SIGKILL)
        return task**2

    assert sorted(shared(work, range(20), 2)) == [(task, task**2) for task in range(20)]
    assert not active_children()


def test_a_signal_to_all_of_the_group_ends_no_search():
    """As `timeout`, a batch system and `systemctl stop` send it; the trainer saves, then stops."""
    script = """
import os, signal, time
from headway.decoding.processes import shared
signal.signal(signal.SIGTERM, lambda *_: print("asked to stop", flush=True))
def work(task):
    time.sleep(0.3)
    return task
results = shared(work, range(6), 2)
found = [next(results)]
os.killpg(0, signal.SIGTERM)
print(sorted([*found, *results]) == [(n, n) for n in range(6)])
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, start_new_session=True,
        check=False,
    )  # fmt: skip
    assert done.stdout.split("\n") == ["asked to stop", "True", ""], done.stderr


def test_an_error_that_cannot_travel_is_told_in_words():
    def work(task):
        class OwnError(Exception):
            pass

        raise OwnError("of my own")

    with pytest.raises(HeadwayError, match="OwnError: of my own"):
        list(shared(work, range(4), 2))


def test_whoever_stops_listening_leaves_no_process_behind():
    results = shared(lambda task: task, range(20), 2)
    next(results)
    results.close()
    assert not active_children()


SLEEPERS = r"""
import os, signal, time
from headway.decoding.processes import shared
signal.signal(signal.SIGINT, signal.default_int_handler)  # a suite in the background ignores it
def work(task):
    os.write(1, b"%d\n" % os.getpid())  # in one piece: others write too
    time.sleep(60)
try:
    list(shared(work, range(4), 2))
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


@pytest.mark.parametrize("killed_by", [signal.SIGINT, signal.SIGKILL])
def test_no_process_outlives_its_parent_for_long(killed_by):
    """After Ctrl-C none is left; after a kill each ends with its task."""
    script = SLEEPERS if killed_by == signal.SIGINT else SLEEPERS.replace("60", "1")
    parent = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    children = [int(parent.stdout.readline()) for _ in range(2)]
    parent.send_signal(killed_by)
    rest = parent.communicate(timeout=30)[0]
    assert ("interrupted" in rest) == (killed_by == signal.SIGINT)
    for _ in range(100):
        if not any(alive(child) for child in children):
            return
        time.sleep(0.1)
    pytest.fail(f"still alive: {children}")


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
