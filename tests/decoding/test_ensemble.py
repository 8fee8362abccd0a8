"""Laws of an ensemble: its probabilities are the members' mean, computed here without a search."""

import itertools

import pytest
import torch

from headway.core.beam import beam_search
from headway.core.hypothesis import DecodingSettings, SearchRequest
from headway.core.interfaces import State, StepDecoder
from headway.core.search import decode_all
from headway.core.subwords import SpecialIds
from headway.core.transformer import Transformer, TransformerConfig
from headway.decoding.ensemble import EnsembleDecoder, ensemble_log_probs_over, members_of
from headway.models import MODELS

CPU, SPECIAL, N_WORDS = torch.device("cpu"), SpecialIds(), 12
SOURCES = [[4, 5, 6], [7], [8, 9, 10, 11, 4, 5], [6, 6], [11, 4, 4, 9]]


def model(seed, **options):
    torch.manual_seed(seed)
    sizes = {"encoder_layers": 1, "decoder_layers": 2, "d_model": 16, "d_ff": 16, "heads": 2}
    made = Transformer(TransformerConfig(**sizes | options), vocabulary_size=N_WORDS).eval()
    with torch.no_grad():
        made.output_weight.mul_(3)
    return made


def recurrent(seed):
    torch.manual_seed(seed)
    config, kind = MODELS["recurrent"]
    return kind(
        config(d_model=8, encoder_layers=1, decoder_layers=1), vocabulary_size=N_WORDS
    ).eval()


def searched(decoder, sources=SOURCES, **settings):
    request = SearchRequest(SPECIAL, DecodingSettings(max_extra_length=3, **settings), CPU)
    return decode_all(decoder, sources, request._replace(want_attention=True))


@torch.no_grad()
def mean_probabilities(models, source, written):
    """Of the next token, by whole forward passes of each: no cache, no batch, no search."""
    read = torch.tensor([[*source, SPECIAL.end]])
    fed = torch.tensor([[SPECIAL.begin, *written]])
    return sum(one(read, fed)[0, -1].softmax(-1) for one in models) / len(models)


def by_hand(models, source):
    """The likeliest token each time, and its log-probability; the end marker's at the limit."""
    written, log_probs = [], []
    while True:
        probabilities = mean_probabilities(models, source, written)
        probabilities[list(SPECIAL.unwritten)] = 0
        at_limit = len(written) == len(source) + 1 + 3
        token = SPECIAL.end if at_limit else int(probabilities.argmax())
        log_probs.append(float(probabilities[token].log()))
        if token == SPECIAL.end:
            return written, log_probs
        written.append(token)


@pytest.mark.parametrize("method", ["greedy", "beam"])
def test_one_model_twice_is_that_model(method):
    one = model(1)
    twice, alone = (searched(it, method=method) for it in (EnsembleDecoder([one, one]), one))
    for found, expected in zip(twice, alone, strict=True):
        assert [each.ids for each in found] == [each.ids for each in expected]
        assert found[0].score == pytest.approx(expected[0].score, abs=1e-5)
        torch.testing.assert_close(found[0].attention, expected[0].attention)


@pytest.mark.parametrize("models", [
    [model(1), model(2)],
    [model(3), model(4, d_model=32, heads=4, decoder_layers=1, norm="post"), recurrent(5)],
])  # fmt: skip
def test_greedy_search_takes_the_likeliest_token_of_the_mean(models):
    for source, found in zip(
        SOURCES, searched(EnsembleDecoder(models), method="greedy"), strict=True
    ):
        written, log_probs = by_hand(models, source)
        assert found[0].ids == written
        assert found[0].token_log_probs == pytest.approx(log_probs, abs=1e-4)


def test_every_hypothesis_of_a_beam_has_the_probability_of_the_mean():
    models = [model(1), model(2), model(6)]
    for source, found in zip(
        SOURCES, searched(EnsembleDecoder(models), beam=4, n_best=4), strict=True
    ):
        for one in found:
            tokens = [*one.ids, SPECIAL.end]
            expected = [
                float(mean_probabilities(models, source, one.ids[:n])[token].log())
                for n, token in enumerate(tokens)
            ]
            assert one.token_log_probs == pytest.approx(expected, abs=1e-4)


def test_a_beam_wide_enough_finds_what_enumeration_finds(toy):
    decoders = [toy.Decoder(1), toy.Decoder(2, shifted=True)]
    found = toy.run(
        beam_search, EnsembleDecoder(decoders), toy.source, toy.limits, beam=40, n_best=3
    )
    for source, limit, best in zip(toy.source.tolist(), toy.limits.tolist(), found, strict=True):
        everything = {
            ids: sum(
                sum(one.log_probs(source, [toy.BEGIN, *ids[:n]])[token].exp() for one in decoders)
                .div(2)
                .log()
                .item()
                for n, token in enumerate([*ids, toy.END])
            )
            for length in range(limit + 1)
            for ids in itertools.product(toy.WORDS, repeat=length)
        }
        expected = sorted(everything, key=lambda ids: -everything[ids])[:3]
        assert [tuple(one.ids) for one in best] == expected
        assert best[0].log_prob == pytest.approx(everything[expected[0]], abs=1e-5)


@pytest.mark.parametrize("method", ["greedy", "beam"])
def test_batch_mates_do_not_matter(method):
    decoder = EnsembleDecoder([model(1), model(2)])
    for alone, among in zip(
        [searched(decoder, [source], method=method)[0] for source in SOURCES],
        searched(decoder, method=method),
        strict=True,
    ):
        assert [one.ids for one in alone] == [one.ids for one in among]
        assert alone[0].log_prob == pytest.approx(among[0].log_prob, abs=1e-5)


def test_a_prefix_is_read_by_every_member():
    models = [model(1), model(2)]
    read, fed = torch.tensor([[4, 5, 3]]), [SPECIAL.begin, 7, 8]
    decoder = EnsembleDecoder(models)
    step = decoder.step(decoder.start(read, torch.tensor([fed[:2]])), torch.tensor([8]))
    expected = mean_probabilities(models, [4, 5], [7, 8])
    torch.testing.assert_close(step.logits[0].softmax(-1), expected)


def test_attention_is_the_mean_and_none_where_a_member_has_none(toy):
    decoders = [toy.Decoder(1), toy.Decoder(2)]
    looked, last = EnsembleDecoder(decoders), torch.full((3,), toy.BEGIN)
    found = looked.step(looked.start(toy.source), last, True).attention
    each = [one.step(one.start(toy.source), last, True).attention for one in decoders]
    torch.testing.assert_close(found, sum(each) / 2)

    class Blind(toy.Decoder):
        def step(self, state, last, want_attention=False):
            return super().step(state, last)

    blind = EnsembleDecoder([toy.Decoder(1), Blind(2)])
    assert blind.step(blind.start(toy.source), last, True).attention is None


def test_it_ends_where_its_shortest_member_ends():
    longest = {one.longest for one in (model(1), model(2, positions="learned", max_length=8))}
    assert longest == {None, 8}
    assert EnsembleDecoder([model(1), model(2)]).longest is None
    decoder = EnsembleDecoder([model(1), model(2, positions="learned", max_length=8)])
    assert decoder.longest == 8


def test_known_outputs_have_the_log_probabilities_that_search_reports():
    decoder = EnsembleDecoder([model(1), recurrent(2)])
    assert isinstance(decoder, StepDecoder)
    assert isinstance(decoder.start(torch.tensor([[4, 3]])), State)
    found = searched(decoder, beam=3)
    written = [one[0].ids for one in found]
    known = ensemble_log_probs_over(decoder, SOURCES, written, SPECIAL, CPU)
    for one, log_probs in zip(found, known, strict=True):
        assert log_probs == pytest.approx(one[0].token_log_probs[:-1], abs=1e-4)
    assert members_of(decoder) == decoder.members
    assert members_of(decoder.members[0]) == decoder.members[:1]
