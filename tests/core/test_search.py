"""`search` does what its settings say."""

from functools import partial
from typing import get_args, get_type_hints

import pytest
import torch

from headway.core.beam import beam_search, greedy
from headway.core.errors import ConfigError, HeadwayError
from headway.core.hypothesis import Rules
from headway.core.search import METHODS, search
from headway.core.transformer import Transformer, TransformerConfig
from headway.decoding.sampling import sample
from headway.translation.decoding import SamplingSettings


def started(decoder, toy):
    """What every search begins with, up to the settings."""
    return decoder, decoder.start(toy.source), torch.full((len(toy.source),), toy.BEGIN)


def rules(toy, settings, **more):
    return Rules(settings, toy.END, toy.limits, (0, 1), **more)


def test_each_method_is_the_function_of_its_name_with_the_settings(toy):
    decoder = toy.Decoder(1)

    def run(**values):
        return search(*started(decoder, toy), rules(toy, SamplingSettings(**values)))

    options = {"beam": 3, "n_best": 2, "length_penalty": 1.0}
    assert run(**options) == toy.run(beam_search, decoder, toy.source, toy.limits, **options)
    options = {"method": "greedy", "length_penalty": 1.0}
    assert run(**options) == toy.run(greedy, decoder, toy.source, toy.limits, **options)
    assert {*METHODS, "sampling"} == set(get_args(get_type_hints(SamplingSettings)["method"]))
    with pytest.raises(ConfigError, match="by beam or greedy here; got sampling"):
        run(method="sampling")


def test_a_generator_that_is_given_goes_on_from_call_to_call(toy):
    decoder = toy.Decoder(1, sharpness=0.1)
    asked = rules(toy, SamplingSettings(method="sampling", n_best=8))
    drawing = {"sampling": partial(sample, generator=torch.Generator().manual_seed(1))}
    calls = [search(*started(decoder, toy), asked, drawing) for _ in range(2)]
    assert calls[0] != calls[1]
    assert calls[0] == search(*started(decoder, toy), asked, {"sampling": sample})


@pytest.mark.parametrize("want_scores", [True, False])
@pytest.mark.parametrize("method", ["beam", "greedy"])
def test_a_model_that_gives_no_numbers_is_an_error_that_says_so(toy, method, want_scores):
    decoder = toy.Decoder(1)
    decoder.log_probs = lambda source, prefix: torch.full((6,), torch.nan)
    asked = rules(toy, SamplingSettings(method=method), want_scores=want_scores)
    with pytest.raises(HeadwayError, match=r"finite log-probability.*lower learning rate"):
        search(*started(decoder, toy), asked)


@pytest.mark.parametrize(
    "values", [{"beam": 4, "n_best": 4}, {"method": "greedy"}, {"method": "sampling", "n_best": 3}]
)
def test_log_probabilities_found_are_those_of_one_teacher_forced_pass(toy, values):
    """Caches and their reordering against no cache at all, on the paper's model."""
    config = TransformerConfig(encoder_layers=1, decoder_layers=2, d_model=16, heads=2, d_ff=32)
    model = Transformer(config, vocabulary_size=6).eval()
    asked = rules(toy, SamplingSettings(**values), want_attention=True)
    found = search(*started(model, toy), asked, {**METHODS, "sampling": sample})
    for sentence, hypotheses in zip(toy.source, found, strict=True):
        source = sentence[sentence != 0].unsqueeze(0)
        for hypothesis in hypotheses:
            fed = torch.tensor([[toy.BEGIN, *hypothesis.ids]])
            expected = torch.tensor([*hypothesis.ids, toy.END])
            with torch.no_grad():
                log_probs = model(source, fed)[0].log_softmax(-1)
            torch.testing.assert_close(
                torch.tensor(hypothesis.token_log_probs),
                log_probs.gather(1, expected.unsqueeze(1)).squeeze(1),
                atol=1e-5,
                rtol=0,
            )
            assert hypothesis.attention.shape == (len(expected), toy.source.size(1))
            torch.testing.assert_close(hypothesis.attention.sum(1), torch.ones(len(expected)))
            assert not hypothesis.attention[:, source.size(1) :].any()


def test_a_search_goes_on_from_a_prefix_as_if_it_had_written_it(toy):
    config = TransformerConfig(
        encoder_layers=1, decoder_layers=2, d_model=16, heads=2, d_ff=32, output_bias=True
    )
    model = Transformer(config, vocabulary_size=6).eval()
    torch.nn.init.constant_(model.output_bias[toy.END], -30.0)  # written where it is forced
    settings = SamplingSettings(method="greedy")

    def write(state, last, limit):
        limits = torch.full((3,), limit)
        return search(model, state, last, Rules(settings, toy.END, limits))

    begin = torch.full((3,), toy.BEGIN)
    whole = [one.ids for [one] in write(model.start(toy.source), begin, 6)]
    written = torch.tensor([ids[:3] for ids in whole])
    state = model.start(toy.source, torch.cat([begin[:, None], written[:, :2]], 1))
    rest = [one.ids for [one] in write(state, written[:, 2], 3)]
    assert rest == [ids[3:] for ids in whole]
