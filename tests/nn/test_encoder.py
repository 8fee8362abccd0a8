"""The encoder alone: precision, and the norm on embeddings."""

import pytest
import torch

from headway.core.errors import ConfigError
from headway.nn.encoder import Encoder, EncoderConfig


@pytest.mark.parametrize("embedding_norm", [True, False])
def test_it_computes_in_bfloat16_with_an_embedding_in_float32(embedding_norm):
    config = EncoderConfig(
        d_model=16, d_ff=24, heads=2, layers=2, norm="post", positions="learned", dropout=0.0,
        embedding_norm=embedding_norm,
    )  # fmt: skip
    encoder, ids = Encoder(config, vocabulary_size=30).eval(), torch.randint(1, 30, (2, 9))
    whole = encoder(ids).features
    encoder.bfloat16().embedding.float()
    found = encoder(ids).features
    assert found.dtype == torch.bfloat16
    torch.testing.assert_close(found.float(), whole, rtol=0.05, atol=0.05)


def test_the_norm_is_on_embedding_and_position():
    config = EncoderConfig(d_model=16, heads=2, layers=1, positions="learned", embedding_norm=True)
    encoder = Encoder(config, vocabulary_size=30).eval()
    seen = []
    encoder.layers.register_forward_pre_hook(lambda _, given: seen.append(given[0]))
    ids = torch.tensor([[4, 5, 6]])
    encoder(ids)
    added = encoder.embedding.weight[ids] * 4 + encoder.positions.table[:3]
    by_hand = (added - added.mean(-1, keepdim=True)) / added.std(-1, correction=0, keepdim=True)
    torch.testing.assert_close(seen[0], by_hand, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("scale", [-1.0, 1e9, float("nan")])
def test_embeddings_are_multiplied_by_a_sensible_number(scale):
    with pytest.raises(ConfigError, match="embedding_scale"):
        EncoderConfig(embedding_scale=scale)


def test_embeddings_are_multiplied_by_what_was_set():
    ids = torch.tensor([[4, 5]])
    for scale, expected in ((0.0, 4.0), (1.0, 1.0), (3.0, 3.0)):
        encoder = Encoder(EncoderConfig(d_model=16, embedding_scale=scale), vocabulary_size=9)
        rows = encoder.embedding.weight[ids]
        torch.testing.assert_close(encoder.embedding(ids), rows * expected)
