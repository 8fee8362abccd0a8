"""Many texts: batches of any size and any number of processes give the same, in order."""

from functools import partial
from multiprocessing import active_children

import pytest
import torch

from headway.core.hypothesis import DecodingSettings, SearchRequest
from headway.core.search import decode_all, in_turn, like_lengths
from headway.core.subwords import SpecialIds
from headway.core.transformer import Transformer, TransformerConfig
from headway.decoding.shares import LEAST_SHARE, SHARES, even_batches
from headway.operations.processes import shared
from headway.translation.decoding import decode

CPU = torch.device("cpu")
SPECIAL = SpecialIds()
SOURCES = [torch.randint(4, 30, (1 + 7 * i % 11,)).tolist() for i in range(13)]


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
    for batch_tokens, processes in ((1, 1), (1, 2), (30, 1), (30, 3), (8192, 2)):
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
    request = SearchRequest(SPECIAL, settings, CPU, batch_tokens=30)
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
    found, usual = (decode(small(), SOURCES, request, engine) for engine in (Odd(), None))
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
