"""Laws of the loss: equal to torch's, equal in chunks, gradients by hand."""

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from smoothed_loss import label_smoothed

from headway.core.embedding import project
from headway.core.loss import projected_label_smoothed

N_WORDS = 11


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.7])
@pytest.mark.parametrize("padding", [0, 5])
def test_it_equals_torchs_cross_entropy_in_value_and_gradient(smoothing, padding):
    logits = torch.randn(3, 4, N_WORDS, requires_grad=True)
    target = torch.randint(N_WORDS, (3, 4))
    target[0, 2:] = padding
    loss = label_smoothed(logits, target, smoothing=smoothing, padding=padding)
    common = {"ignore_index": padding, "reduction": "sum"}
    theirs = F.cross_entropy(
        logits.flatten(0, 1), target.flatten(), label_smoothing=smoothing, **common
    )
    torch.testing.assert_close(loss.smoothed, theirs)
    torch.testing.assert_close(
        torch.autograd.grad(loss.smoothed, logits), torch.autograd.grad(theirs, logits)
    )
    plain = F.cross_entropy(logits.flatten(0, 1), target.flatten(), **common)
    torch.testing.assert_close(loss.nll, plain.detach())
    assert not loss.nll.requires_grad


def test_the_gradient_is_softmax_minus_the_target_distribution_by_hand():
    logits = torch.randn(2, N_WORDS, requires_grad=True)
    target, smoothing = torch.tensor([4, 9]), 0.1
    label_smoothed(logits, target, smoothing=smoothing, padding=0).smoothed.backward()
    wanted = torch.full((2, N_WORDS), smoothing / N_WORDS)
    wanted[0, 4] += 1 - smoothing
    wanted[1, 9] += 1 - smoothing
    torch.testing.assert_close(logits.grad, logits.detach().softmax(-1) - wanted)


def test_the_smoothed_loss_is_least_at_the_target_distribution_not_at_certainty():
    wanted = torch.full((1, N_WORDS), 0.1 / N_WORDS)
    wanted[0, 4] += 0.9
    target = torch.tensor([4])
    loss = label_smoothed(wanted.log(), target, smoothing=0.1, padding=0)
    entropy = -(wanted * wanted.log()).sum()
    torch.testing.assert_close(loss.smoothed, entropy)
    certain = F.one_hot(target, N_WORDS) * 30.0
    assert label_smoothed(certain, target, smoothing=0.1, padding=0).smoothed > entropy


@given(
    chunk=st.integers(1, 20),
    smoothing=st.sampled_from([0.0, 0.1, 0.5]),
    padding=st.sampled_from([0, 3]),
    target=st.lists(st.lists(st.integers(0, N_WORDS - 1), min_size=4, max_size=4), min_size=1,
                    max_size=4),
    scale=st.sampled_from([1.0, 20.0]),
    bias=st.booleans(),
)  # fmt: skip
def test_in_chunks_it_is_the_same_in_value_and_in_every_gradient(
    chunk, smoothing, padding, target, scale, bias
):
    torch.manual_seed(len(target))
    truth = torch.tensor(target)
    features = (torch.randn(*truth.shape, 6) * scale).requires_grad_()
    weight = torch.randn(N_WORDS, 6, requires_grad=True)
    output_bias = torch.randn(N_WORDS, requires_grad=True) if bias else None
    options = {"smoothing": smoothing, "padding": padding}
    whole = label_smoothed(project(features, weight, output_bias), truth, **options)
    chunked = projected_label_smoothed(
        features, weight, truth, **options, output_bias=output_bias, chunk=chunk
    )
    inputs = [features, weight, *([] if output_bias is None else [output_bias])]
    torch.testing.assert_close(chunked.smoothed, whole.smoothed, rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(chunked.nll, whole.nll, rtol=1e-4, atol=1e-4)
    for mine, other in zip(
        torch.autograd.grad(chunked.smoothed * 0.5, inputs),
        torch.autograd.grad(whole.smoothed * 0.5, inputs),
        strict=True,
    ):
        torch.testing.assert_close(mine, other, rtol=1e-4, atol=1e-4 * scale)


def test_a_truth_held_to_be_impossible_has_its_exact_loss_and_gradient():
    """Its probability underflows; its cross-entropy does not."""
    features = torch.tensor([[200.0, 0.0]], requires_grad=True)
    weight, target = torch.tensor([[0.0, 0], [1.0, 0], [0.0, 1]]), torch.tensor([2])
    options = {"smoothing": 0.1, "padding": 0}
    whole = label_smoothed(project(features, weight), target, **options)
    chunked = projected_label_smoothed(features, weight, target, **options)
    assert whole.nll.item() == pytest.approx(200)
    assert chunked.nll.item() == pytest.approx(200)
    torch.testing.assert_close(
        torch.autograd.grad(chunked.smoothed, features),
        torch.autograd.grad(whole.smoothed, features),
    )


def test_only_padding_costs_nothing():
    features = torch.randn(2, 3, 6, requires_grad=True)
    weight = torch.randn(N_WORDS, 6, requires_grad=True)
    target = torch.zeros(2, 3, dtype=torch.long)
    loss = projected_label_smoothed(features, weight, target, smoothing=0.1, padding=0)
    loss.smoothed.backward()
    assert loss.smoothed.item() == loss.nll.item() == 0
    assert not features.grad.any()
    assert not weight.grad.any()


def test_in_bfloat16_the_loss_stays_near_and_the_weights_gradient_stays_float32():
    features = torch.randn(40, 6)
    weight = torch.randn(N_WORDS, 6)
    target = torch.randint(1, N_WORDS, (40,))
    options = {"smoothing": 0.1, "padding": 0}
    exact_weight = weight.clone().requires_grad_()
    exact = label_smoothed(project(features, exact_weight), target, **options)
    exact.smoothed.backward()
    rounded_weight = weight.clone().requires_grad_()
    loss = projected_label_smoothed(features.bfloat16(), rounded_weight, target, **options)
    loss.smoothed.backward()
    assert loss.smoothed.dtype == torch.float32
    assert rounded_weight.grad.dtype == torch.float32
    assert loss.smoothed.item() == pytest.approx(exact.smoothed.item(), rel=0.02)
    torch.testing.assert_close(rounded_weight.grad, exact_weight.grad, rtol=0.05, atol=0.15)


@pytest.mark.parametrize("biased", [False, True])
def test_padding_that_is_computed_too_changes_nothing(biased):
    features = torch.randn(3, 5, 6, requires_grad=True)
    weight = torch.randn(N_WORDS, 6, requires_grad=True)
    bias = torch.randn(N_WORDS, requires_grad=True) if biased else None
    target = torch.randint(1, N_WORDS, (3, 5))
    target[0, 2:] = 0
    target[2] = 0
    found = [
        projected_label_smoothed(
            features, weight, target, smoothing=0.1, padding=0, output_bias=bias, chunk=4,
            one_shape=one_shape,
        )
        for one_shape in (False, True)
    ]  # fmt: skip
    torch.testing.assert_close(*found)
    learn = [features, weight, *([] if bias is None else [bias])]
    torch.testing.assert_close(*(torch.autograd.grad(one.smoothed, learn) for one in found))
