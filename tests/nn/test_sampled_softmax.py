"""Sampled softmax against the full one."""

import math

import torch

from headway.core.loss import projected_label_smoothed
from headway.nn.sampled_softmax import sampled_cross_entropy, share_of_samples


def parts(n_words=60, n_tokens=12):
    torch.manual_seed(2)
    features = torch.randn(2, n_tokens, 5, requires_grad=True)
    weight = torch.randn(n_words, 5, requires_grad=True)
    bias = torch.randn(n_words, requires_grad=True)
    target = torch.randint(1, 9, (2, n_tokens))  # few words, so that the others are drawn
    target[0, 3:5] = 0
    return features, weight, bias, target


def full(features, weight, bias, target):
    return projected_label_smoothed(
        features, weight, target, output_bias=bias, smoothing=0.0, padding=0
    )


def gradients(loss, *of):
    return torch.autograd.grad(loss.smoothed, of)


def test_with_many_draws_it_is_the_full_one():
    features, weight, bias, target = parts()
    found = sampled_cross_entropy(features, weight, bias, target, n_samples=1_000_000, padding=0)
    expected = full(features, weight, bias, target)
    torch.testing.assert_close(found.nll, expected.nll)
    of = (features, weight, bias)
    for one, its in zip(gradients(found, *of), gradients(expected, *of), strict=True):
        torch.testing.assert_close(one, its, rtol=1e-4, atol=1e-5)


def test_what_is_summed_up_in_the_denominator_is_right_in_the_mean():
    """exp(loss) of one token is the sum over all words through exp of its own logit."""
    features, weight, bias, _ = parts()
    weight, bias = weight.detach(), bias.detach()
    one, target = features[:1, :1].detach(), torch.tensor([[5]])
    expected = full(one, weight, bias, target).nll.exp()
    torch.manual_seed(7)
    sums = torch.stack(
        [
            sampled_cross_entropy(one, weight, bias, target, n_samples=80, padding=0).nll.exp()
            for _ in range(1000)
        ]
    )
    error = sums.std() / len(sums) ** 0.5
    assert abs(sums.mean() - expected) < 4 * error
    assert sums.std() > 0.01 * expected, "it was sampled at all"


def test_its_gradient_comes_nearer_to_the_full_one_with_more_draws():
    features, weight, bias, target = parts()
    of = (features, weight, bias)
    expected = gradients(full(features, weight, bias, target), *of)
    errors = []
    torch.manual_seed(4)
    for n_samples in (5, 50, 500):
        error = 0.0
        for _ in range(40):
            loss = sampled_cross_entropy(
                features, weight, bias, target, n_samples=n_samples, padding=0
            )
            pairs = zip(gradients(loss, *of), expected, strict=True)
            error += sum((one - its).square().sum().item() for one, its in pairs)
        errors.append(error)
    assert errors[0] > 2 * errors[1] > 4 * errors[2]


def test_words_are_drawn_by_the_log_uniform_distribution_as_often_as_by_hand():
    share = share_of_samples(1000, 50)
    n_drawn = torch.zeros(1000)
    rank = torch.arange(1000, dtype=torch.float64)
    probability = ((rank + 2).log() - (rank + 1).log()) / math.log(1001)
    assert abs(probability.sum() - 1) < 1e-9
    generator = torch.Generator().manual_seed(1)
    for _ in range(2000):
        drawn = torch.multinomial(probability, 50, replacement=True, generator=generator)
        n_drawn[drawn.unique()] += 1
    spread = (share * (1 - share) / 2000).sqrt()
    assert ((n_drawn / 2000 - share) / spread).abs().max() < 4.5


def test_draws_repeat_with_torchs_generator():
    features, weight, bias, target = parts()
    losses = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        loss = sampled_cross_entropy(features, weight, bias, target, n_samples=9, padding=0)
        losses.append(loss.nll.item())
    assert losses[0] == losses[1] != losses[2]
