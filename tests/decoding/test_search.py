"""`search` does what its settings say."""

import pytest
import torch

from headway.decoding.beam import beam_search
from headway.decoding.greedy import greedy
from headway.decoding.sampling import sample
from headway.decoding.search import METHODS, search
from headway.decoding.settings import DecodingSettings
from headway.errors import HeadwayError


def test_each_method_is_the_function_of_its_name_with_the_settings(toy):
    decoder = toy.Decoder(1)
    common = {**toy.ids, "max_lengths": toy.limits}

    def run(**values):
        return search(decoder, toy.source, DecodingSettings(**values), **common)

    assert run(beam=3, n_best=2, length_penalty=1.0) == beam_search(
        decoder, toy.source, **common, beam=3, n_best=2, length_penalty=1.0
    )
    assert run(method="greedy") == greedy(decoder, toy.source, **common, length_penalty=0.6)
    drawing = {"n_best": 3, "temperature": 0.7, "top_k": 3, "top_p": 0.9}
    assert run(method="sampling", seed=7, **drawing) == sample(
        decoder,
        toy.source,
        **common,
        **drawing,
        length_penalty=0.6,
        generator=torch.Generator().manual_seed(7),
    )
    assert set(METHODS) == {"beam", "greedy", "sampling"}


def test_a_generator_that_is_given_goes_on_from_call_to_call(toy):
    decoder = toy.Decoder(1, sharpness=0.1)
    settings = DecodingSettings(method="sampling", n_best=8)
    generator = torch.Generator().manual_seed(1)
    common = {**toy.ids, "max_lengths": toy.limits}
    calls = [search(decoder, toy.source, settings, **common, generator=generator) for _ in range(2)]
    assert calls[0] != calls[1]
    assert calls[0] == search(decoder, toy.source, settings, **common)


@pytest.mark.parametrize("method", ["beam", "greedy"])
def test_a_model_that_gives_no_numbers_is_an_error_that_says_so(toy, method):
    decoder = toy.Decoder(1)
    decoder.log_probs = lambda source, prefix: torch.full((6,), torch.nan)
    with pytest.raises(HeadwayError, match=r"finite log-probability.*lower learning rate"):
        search(
            decoder,
            toy.source,
            DecodingSettings(method=method),
            **toy.ids,
            max_lengths=toy.limits,
        )
