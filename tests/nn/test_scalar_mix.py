"""The mixture of layers (Peters et al. 2018, equation 1), by hand."""

import math

import pytest
import torch

from headway.core.optimizer import FlatAdam
from headway.nn.scalar_mix import ScalarMix


def test_by_hand():
    mix = ScalarMix(3)
    layers = torch.tensor([[[1.0, 2.0]], [[3.0, 5.0]], [[-1.0, 0.0]]])  # [layers, 1 place, 2]
    torch.testing.assert_close(mix(layers), layers.mean(0))
    with torch.no_grad():
        mix.weights.copy_(torch.tensor([0.0, math.log(2.0), math.log(5.0)]))
        mix.gamma.fill_(4.0)
    expected = [[4 * (1 + 2 * 3 - 5) / 8, 4 * (2 + 2 * 5 + 0) / 8]]
    torch.testing.assert_close(mix(layers), torch.tensor(expected))


def test_with_the_norm_each_layer_counts_alike_however_large_it_is():
    mix = ScalarMix(2, norm=True)
    one, other = torch.tensor([[1.0, 2.0, 6.0]]), torch.tensor([[-300.0, 100.0, 200.0]])
    expected = sum((x - x.mean()) / x.std(correction=0) for x in (one, other)) / 2
    torch.testing.assert_close(mix(torch.stack([one, other])), expected)


def test_it_learns_which_layer_is_of_use():
    torch.manual_seed(1)
    mix, layers = ScalarMix(3), torch.randn(3, 50, 8)
    adam = FlatAdam(mix, torch.float32, betas=(0.9, 0.999), epsilon=1e-8)
    for _ in range(300):
        (mix(layers) - 2.5 * layers[1]).square().mean().backward()
        adam.step(0.1, clip_norm=0.0)
    assert mix.weights.softmax(0)[1] > 0.95
    assert mix.gamma.item() == pytest.approx(2.5, abs=0.1)
