"""Laws of the residual connection, of layers, and of stacks of them."""

import pytest
import torch
from small_stack import stack

from headway.core.attention import causal_mask
from headway.core.layers import Residual


def layer_norm_of_the_notes(
    x: torch.Tensor, gamma: torch.Tensor, beta: torch.Tensor, epsilon: float
) -> torch.Tensor:
    mean = x.mean(-1, keepdim=True)
    variance = x.var(-1, unbiased=False, keepdim=True)
    return gamma * ((x - mean) / torch.sqrt(variance + epsilon)) + beta


def double(x: torch.Tensor) -> torch.Tensor:
    return 2 * x


@pytest.mark.parametrize("epsilon", [1e-5, 1e-2])
def test_post_norm_by_hand(epsilon):
    around = Residual(8, norm="post", dropout=0.0, epsilon=epsilon)
    x, gamma, beta = torch.randn(2, 3, 8), torch.randn(8), torch.randn(8)
    around.norm.load_state_dict({"weight": gamma, "bias": beta})
    by_hand = layer_norm_of_the_notes(x + 2 * x, gamma, beta, epsilon)
    torch.testing.assert_close(around(x, double), by_hand, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("epsilon", [1e-5, 1e-2])
def test_pre_norm_by_hand(epsilon):
    around = Residual(8, norm="pre", dropout=0.0, epsilon=epsilon)
    x, gamma, beta = torch.randn(2, 3, 8), torch.randn(8), torch.randn(8)
    around.norm.load_state_dict({"weight": gamma, "bias": beta})
    by_hand = x + 2 * layer_norm_of_the_notes(x, gamma, beta, epsilon)
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


# -- layers and stacks ------------------------------------------------------------------------


def test_a_stack_without_source_and_with_a_causal_mask_is_a_decoder_that_stands_alone():
    alone, x = stack(), torch.randn(2, 6, 8)
    whole = alone(x, causal_mask(6))
    changed = x.clone()
    changed[:, 4:] = torch.randn(2, 2, 8)
    again = alone(changed, causal_mask(6))
    assert torch.equal(again[:, :4], whole[:, :4])
    assert not torch.allclose(again[:, 4], whole[:, 4])


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_each_position_and_each_sentence_is_normalized_by_itself(norm):
    around, x = Residual(8, norm=norm, dropout=0.0), torch.randn(4, 5, 8)
    torch.testing.assert_close(around(x, double)[2:3, 3:4], around(x[2:3, 3:4], double))
