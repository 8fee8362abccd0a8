"""`search` does what its settings say."""

import pytest
import torch

from headway.decoding.beam import beam_search
from headway.decoding.greedy import greedy
from headway.decoding.sampling import sample
from headway.decoding.search import METHODS, search
from headway.decoding.settings import DecodingSettings
from headway.errors import HeadwayError
from headway.models.transformer import Transformer, TransformerConfig


def test_each_method_is_the_function_of_its_name_with_the_settings(toy):
    decoder = toy.Decoder(1)
    common = {**toy.ids, "max_lengths": toy.limits}

    def run(**values):
        return search(decoder, toy.source, DecodingSettings(**values), **common)

    assert run(beam=3, n_best=2, length_penalty=1.0) == beam_search(
        decoder, toy.source, **common, beam=3, n_best=2, length_penalty=1.0
    )
    assert run(method="greedy") == greedy(decoder, toy.source, **common, length_penalty=1.0)
    drawing = {"n_best": 3, "temperature": 0.7, "top_k": 3, "top_p": 0.9}
    assert run(method="sampling", seed=7, **drawing) == sample(
        decoder,
        toy.source,
        **common,
        **drawing,
        length_penalty=1.0,
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


@pytest.mark.parametrize(
    "values", [{"beam": 4, "n_best": 4}, {"method": "greedy"}, {"method": "sampling", "n_best": 3}]
)
def test_log_probabilities_found_are_those_of_one_teacher_forced_pass(toy, values):
    """Caches and their reordering against no cache at all, on the paper's model."""
    config = TransformerConfig(encoder_layers=1, decoder_layers=2, d_model=16, heads=2, d_ff=32)
    model = Transformer(config, vocabulary_size=6).eval()
    found = search(
        model,
        toy.source,
        DecodingSettings(**values),
        **toy.ids,
        max_lengths=toy.limits,
        want_attention=True,
    )
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
