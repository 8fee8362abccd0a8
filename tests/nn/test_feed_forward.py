"""Laws of the position-wise feed-forward network."""

import math

import pytest
import torch
from torch import nn

from headway.core.layers import FeedForward


def test_it_equals_two_convolutions_of_kernel_size_one():
    network, x = FeedForward(6, 10), torch.randn(2, 7, 6)
    widen, narrow = nn.Conv1d(6, 10, 1), nn.Conv1d(10, 6, 1)
    for convolution, linear in ((widen, network.to_inner), (narrow, network.to_output)):
        convolution.weight.data = linear.weight.data[:, :, None]
        convolution.bias.data = linear.bias.data
    by_convolution = narrow(widen(x.transpose(1, 2)).relu()).transpose(1, 2)
    torch.testing.assert_close(network(x), by_convolution)


def test_every_position_goes_its_own_way():
    network, x = FeedForward(6, 10), torch.randn(2, 7, 6)
    alone = torch.cat([network(x[:, i : i + 1]) for i in range(7)], dim=1)
    torch.testing.assert_close(network(x), alone)


def test_relu_is_equation_2_by_hand():
    network, x = FeedForward(4, 5), torch.randn(1, 1, 4)
    inner = x @ network.to_inner.weight.T + network.to_inner.bias
    inner[inner < 0] = 0
    by_hand = inner @ network.to_output.weight.T + network.to_output.bias
    torch.testing.assert_close(network(x), by_hand)


def test_gelu_weighs_by_the_normal_distribution():
    network, x = FeedForward(4, 5, activation="gelu"), torch.randn(1, 3, 4)
    inner = network.to_inner(x)
    normal = torch.tensor(
        [0.5 * (1 + math.erf(v / math.sqrt(2))) for v in inner.flatten().tolist()]
    )
    by_hand = network.to_output(inner * normal.view_as(inner))
    torch.testing.assert_close(network(x), by_hand, rtol=1e-5, atol=1e-6)


def test_gelu_tanh_is_the_approximation_by_hand():
    network, x = FeedForward(4, 5, activation="gelu_tanh"), 3 * torch.randn(1, 3, 4)
    inner = network.to_inner(x)
    about = (1 + (math.sqrt(2 / math.pi) * (inner + 0.044715 * inner**3)).tanh()) / 2
    torch.testing.assert_close(network(x), network.to_output(inner * about), rtol=1e-5, atol=1e-6)


def test_swiglu_gates_by_hand():
    network, x = FeedForward(4, 5, activation="swiglu"), torch.randn(1, 3, 4)
    assert network.to_gate is not None
    inner, gate = network.to_inner(x), network.to_gate(x)
    by_hand = network.to_output(inner / (1 + (-inner).exp()) * gate)
    torch.testing.assert_close(network(x), by_hand)


@pytest.mark.parametrize("activation", ["relu", "gelu"])
def test_only_swiglu_has_a_gate(activation):
    assert FeedForward(4, 5, activation=activation).to_gate is None


def test_dropout_falls_on_the_inner_layer_in_training():
    network, x = FeedForward(4, 50, dropout=0.5), torch.randn(1, 3, 4)
    torch.manual_seed(5)
    dropped = network(x)
    torch.manual_seed(5)
    torch.testing.assert_close(
        dropped, network.to_output(network.dropout(network.to_inner(x).relu()))
    )
    assert not torch.allclose(dropped, network.eval()(x))
