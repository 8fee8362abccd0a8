"""Laws of the residual connection and its LayerNorm."""

import pytest
import torch
from torch import nn

from headway.nn.residual import Residual


def layer_norm_of_the_notes(
    x: torch.Tensor, gamma: torch.Tensor, beta: torch.Tensor, epsilon: float
) -> torch.Tensor:
    mean = x.mean(-1, keepdim=True)
    variance = x.var(-1, unbiased=False, keepdim=True)
    return gamma * ((x - mean) / torch.sqrt(variance + epsilon)) + beta


def double(x: torch.Tensor) -> torch.Tensor:
    return 2 * x


@pytest.mark.parametrize("epsilon", [1e-5, 1e-12])
def test_torchs_layer_norm_is_the_formula_of_the_notes(epsilon):
    norm, x = nn.LayerNorm(16, eps=epsilon), 3 * torch.randn(4, 5, 16) + 2
    nn.init.normal_(norm.weight)
    nn.init.normal_(norm.bias)
    by_formula = layer_norm_of_the_notes(x, norm.weight, norm.bias, epsilon)
    torch.testing.assert_close(norm(x), by_formula, rtol=1e-5, atol=1e-5)


def test_it_normalizes_each_position_by_itself():
    norm, x = nn.LayerNorm(16), torch.randn(4, 5, 16)
    torch.testing.assert_close(norm(x)[2:3, 3:4], norm(x[2:3, 3:4]))
    torch.testing.assert_close(norm(x).mean(-1), torch.zeros(4, 5), rtol=0, atol=1e-6)


def test_post_norm_by_hand():
    around, x = Residual(8, norm="post", dropout=0.0), torch.randn(2, 3, 8)
    one, zero = torch.ones(8), torch.zeros(8)
    by_hand = layer_norm_of_the_notes(x + 2 * x, one, zero, 1e-5)
    torch.testing.assert_close(around(x, double), by_hand, rtol=1e-5, atol=1e-5)


def test_pre_norm_by_hand():
    around, x = Residual(8, norm="pre", dropout=0.0), torch.randn(2, 3, 8)
    one, zero = torch.ones(8), torch.zeros(8)
    by_hand = x + 2 * layer_norm_of_the_notes(x, one, zero, 1e-5)
    torch.testing.assert_close(around(x, double), by_hand, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_dropout_falls_on_the_sublayers_output_before_it_is_added(norm):
    around, x = Residual(8, norm=norm, dropout=0.5), torch.randn(2, 3, 8)
    torch.manual_seed(4)
    found = around(x, double)
    torch.manual_seed(4)
    if norm == "post":
        by_hand = around.norm(x + around.dropout(2 * x))
    else:
        by_hand = x + around.dropout(2 * around.norm(x))
    torch.testing.assert_close(found, by_hand)
    assert not torch.allclose(found, around.eval()(x, double))
