"""Laws of dropout: its mean, its frequency, its independence, its limits."""

import math

import pytest
import torch

from headway.core.dropout import Dropout, set_dropout
from headway.core.errors import ConfigError

N = 1_000_000


@pytest.mark.parametrize("probability", [0.1, 0.3, 0.5, 0.9])
def test_it_drops_with_the_right_frequency_and_keeps_the_mean(probability):
    dropped = Dropout(probability)(torch.ones(N))
    n_dropped = int((dropped == 0).sum())
    spread = math.sqrt(N * probability * (1 - probability))
    assert abs(n_dropped - N * probability) < 5 * spread  # one in two million by chance
    kept = dropped[dropped != 0]
    torch.testing.assert_close(
        kept, torch.full_like(kept, 1 / (1 - probability)), rtol=1e-4, atol=0
    )
    assert dropped.mean().item() == pytest.approx(1, abs=5 * spread / N / (1 - probability))


def test_elements_are_dropped_independently_of_their_neighbours():
    """Four elements share one 64-bit draw; no bit of one may tell anything about another."""
    kept = (Dropout(0.3)(torch.ones(N)) != 0).double()
    bound = 5 / math.sqrt(N / 4)
    lanes = torch.corrcoef(kept.view(-1, 4).T)  # within one draw
    assert (lanes - torch.eye(4)).abs().max().item() < bound
    for distance in (1, 2, 3, 4, 5, 8, 64, 1024):
        pair = torch.corrcoef(torch.stack([kept[:-distance], kept[distance:]]))
        assert abs(pair[0, 1].item()) < bound, distance


def test_each_lane_of_a_draw_has_the_same_frequency():
    kept = (Dropout(0.3)(torch.ones(N)) != 0).double().view(-1, 4).mean(0)
    assert (kept - 0.7).abs().max().item() < 5 * math.sqrt(0.3 * 0.7 / (N / 4))


def test_every_call_draws_anew_and_the_seed_repeats_it():
    dropout, x = Dropout(0.5), torch.ones(4000)
    torch.manual_seed(11)
    first, second = dropout(x), dropout(x)
    torch.manual_seed(11)
    assert torch.equal(dropout(x), first)
    assert torch.equal(dropout(x), second)
    both = torch.corrcoef(torch.stack([first, second]))[0, 1].item()
    assert abs(both) < 5 / math.sqrt(4000)


def test_it_is_the_identity_outside_training_and_at_zero():
    x = torch.randn(5, 7)
    assert Dropout(0.5).eval()(x) is x
    assert Dropout(0.0)(x) is x


@pytest.mark.parametrize("share", [0.25, 0.5, 1.0])
def test_softened_it_drops_a_share_of_its_probability_and_keeps_the_mean(share):
    model = torch.nn.Sequential(Dropout(0.4), torch.nn.Identity())
    set_dropout(model, share)
    dropped = model(torch.ones(N))
    spread = math.sqrt(N * 0.4 * share * (1 - 0.4 * share))
    assert abs(int((dropped == 0).sum()) - N * 0.4 * share) < 5 * spread
    assert dropped.mean().item() == pytest.approx(1, abs=5 * spread / N / (1 - 0.4 * share))


def test_softened_to_nothing_it_is_the_identity_and_can_come_back():
    dropout, x = Dropout(0.4), torch.ones(1000)
    set_dropout(dropout, 0.0)
    assert dropout(x) is x
    set_dropout(dropout, 1.0)
    assert (dropout(x) == 0).any()


@pytest.mark.parametrize("probability", [-0.1, 1.0, 1.5])
def test_a_probability_outside_the_range_is_refused(probability):
    with pytest.raises(ConfigError, match=f"below 1; got {probability}"):
        Dropout(probability)


@pytest.mark.parametrize("probability", [1e-9, 1e-4, 0.99999, 1 - 1e-9])
def test_probabilities_near_the_limits_give_finite_numbers(probability):
    dropped = Dropout(probability)(torch.ones(10_000))
    assert dropped.isfinite().all()
    assert (dropped == 0).double().mean().item() == pytest.approx(probability, abs=0.002)


@pytest.mark.parametrize("shape", [(), (1,), (3,), (5, 7), (2, 3, 5), (0, 4)])
def test_any_shape_and_precision_is_kept(shape):
    for dtype in (torch.float32, torch.bfloat16):
        x = torch.ones(shape, dtype=dtype)
        dropped = Dropout(0.5)(x)
        assert dropped.shape == x.shape
        assert dropped.dtype == dtype


def test_the_gradient_flows_through_what_was_kept_and_nothing_else():
    x = torch.randn(1000, requires_grad=True)
    dropped = Dropout(0.25)(x)
    dropped.sum().backward()
    expected = torch.where(dropped == 0, 0.0, 1 / 0.75)
    torch.testing.assert_close(x.grad, expected, rtol=1e-4, atol=0)
