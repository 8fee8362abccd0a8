"""Low-rank adapters: what they can represent, and what they leave as it is."""

import pytest
import torch
from torch import nn

from headway.core.errors import ConfigError
from headway.nn.encoder import Encoder, EncoderConfig
from headway.nn.lora import SCALE, adapt, adaptable, lay, merge


def adapted(rank: int, inputs: int = 6, outputs: int = 4) -> nn.Linear:
    torch.manual_seed(3)
    matrix = nn.Linear(inputs, outputs)
    adapt(matrix, rank)
    return matrix


def test_an_adapter_changes_nothing_at_first_and_draws_as_a_matrix_is_drawn():
    matrix, x = adapted(2), torch.randn(5, 6)
    assert torch.equal(matrix(x), nn.functional.linear(x, matrix.weight, matrix.bias))
    many = adapted(4, inputs=400, outputs=4).lora_down  # uniform within 1 / sqrt(inputs)
    assert many.std().item() == pytest.approx((1 / 3 / 400) ** 0.5, rel=0.1)


@pytest.mark.parametrize("rank", [1, 3])
def test_laid_into_its_matrix_it_does_what_it_did_beside_it(rank):
    matrix, x = adapted(rank), torch.randn(50, 6)
    nn.init.normal_(matrix.lora_up)
    laid = merge(matrix.weight.data, matrix.lora_down.data, matrix.lora_up.data, torch.empty(4, 6))
    merged = nn.functional.linear(x, laid, matrix.bias)
    assert torch.allclose(matrix(x), merged, atol=1e-6)
    assert torch.linalg.matrix_rank(laid - matrix.weight) == rank


def test_of_full_rank_it_can_be_any_update():
    """By the singular values of the update."""
    matrix, update = adapted(4), torch.randn(4, 6)
    u, s, v = torch.linalg.svd(update, full_matrices=False)
    with torch.no_grad():
        matrix.lora_up.copy_(u * s / SCALE)
        matrix.lora_down.copy_(v)
    x = torch.randn(9, 6)
    wanted = nn.functional.linear(x, matrix.weight + update, matrix.bias)
    assert torch.allclose(matrix(x), wanted, atol=1e-5)


def test_it_is_laid_on_attention_and_feed_forward_alone():
    config = EncoderConfig(d_model=8, d_ff=16, heads=2, layers=2, activation="swiglu")
    trunk = Encoder(config, vocabulary_size=9)
    names = {*adaptable(trunk, ("layers.1.",))}
    attention = {f"layers.1.self_attention.to_{what}" for what in "query key value output".split()}
    inner = {f"layers.1.feed_forward.to_{what}" for what in "inner gate output".split()}
    assert names == attention | inner
    with pytest.raises(ConfigError, match="at most the size of the matrices, 8; got 9"):
        lay(trunk, 9, ("layers.",))
    with pytest.raises(ConfigError, match="this type of model has none"):
        lay(nn.Linear(2, 2), 1, ("layers.",))
