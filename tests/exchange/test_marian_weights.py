"""Names and order of weights; that the two sides compute the same is tests/tasks/translation's."""

import pytest
import torch
from transformers.models.marian.modeling_marian import MarianSinusoidalPositionalEmbedding

from headway.core.embedding import sinusoids
from headway.core.transformer import Transformer, TransformerConfig
from headway.exchange.marian_weights import from_theirs, places, sines_first, to_theirs


@pytest.mark.parametrize("d_model", [8, 9])
def test_in_their_order_the_sinusoids_are_theirs(d_model):
    theirs = MarianSinusoidalPositionalEmbedding(50, d_model).create_weight()
    torch.testing.assert_close(sinusoids(50, d_model)[:, sines_first(d_model)], theirs)


@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("norm", ["pre", "post"])
def test_there_and_back_is_the_same_bit_for_bit(tied, norm):
    config = TransformerConfig(
        d_model=6, d_ff=5, heads=2, encoder_layers=2, decoder_layers=1, tied=tied, norm=norm,
        output_bias=True,
    )  # fmt: skip
    model = Transformer(config, vocabulary_size=11)
    own = {
        name: tensor.data + torch.randn_like(tensor) for name, tensor in model.named_parameters()
    }
    for name, tensor in model.named_parameters():
        tensor.data = own[name]
    back = from_theirs(to_theirs(model), config, scaled=True, order=sines_first(config.d_model))
    assert back.keys() == own.keys()
    assert all(torch.equal(back[name], own[name]) for name in own)


def test_every_parameter_but_embeddings_has_a_place_of_its_own():
    config = TransformerConfig(d_model=6, d_ff=5, heads=2, norm="pre", tied=False)
    model = Transformer(config, vocabulary_size=11)
    embeddings = {"output_weight", "target_embedding.weight", "source_embedding.weight"}
    found = places(config)
    assert found.keys() == {name for name, _ in model.named_parameters()} - embeddings
    assert len({place.name for place in found.values()}) == len(found)
