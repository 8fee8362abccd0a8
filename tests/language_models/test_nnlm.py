"""Laws of the model of Bengio et al. 2003; the laws of all are in test_language_models.py."""

import math

import pytest
import torch
import torch.nn.functional as F

from headway.core.errors import ConfigError
from headway.language_models.nnlm import Nnlm, NnlmConfig

BEGIN = 2


def small(**options: object) -> Nnlm:
    config = NnlmConfig(**{"order": 4, "d_model": 3, "d_hidden": 5, **options})  # type: ignore[arg-type]
    return Nnlm(config, vocabulary_size=11).eval()


def test_two_words_by_hand():
    """n = 2, m = h = 1: C = (0.5, -1), d = 0.1, H = 2, U = (1, -1), W = (0.5, 0), b = (0, 0.2)."""
    model = Nnlm(NnlmConfig(order=2, d_model=1, d_hidden=1), vocabulary_size=2, padding=0)
    model.embedding.weight.data.copy_(torch.tensor([[0.5], [-1.0]]))  # sqrt(m) is 1
    model.to_hidden.weight.data.fill_(2.0)
    model.to_hidden.bias.data.fill_(0.1)
    model.output_weight.data.copy_(torch.tensor([[1.0, 0.5], [-1.0, 0.0]]))
    model.output_bias.data.copy_(torch.tensor([0.0, 0.2]))
    [[after_first, after_second]] = model(torch.tensor([[0, 1]])).softmax(-1).tolist()
    for x, found in ((0.5, after_first), (-1.0, after_second)):
        hidden = math.tanh(0.1 + 2 * x)
        scores = [math.exp(0.5 * x + hidden), math.exp(0.2 - hidden)]
        assert found == pytest.approx([score / sum(scores) for score in scores])


@pytest.mark.parametrize("direct", [True, False])
@pytest.mark.parametrize("order", [2, 3, 5])
def test_it_is_equation_1_with_one_hot_vectors_times_c(order, direct):
    model = small(order=order, direct=direct)
    model.output_bias.data.normal_()
    model.to_hidden.bias.data.normal_()
    text = [4, 9, BEGIN, 7, 10, 4]
    padded = [BEGIN] * (order - 2) + text
    c = model.word_vectors()
    u, w = model.output_weight.split([5, model.output_weight.shape[1] - 5], dim=1)
    for t in range(len(text)):
        context = padded[t : t + order - 1]
        one_hot = F.one_hot(torch.tensor(context[::-1]), 11).float()  # the last word first
        x = (one_hot @ c).flatten()
        hidden = torch.tanh(model.to_hidden.bias + model.to_hidden.weight @ x)
        y = model.output_bias + u @ hidden + (w @ x if direct else 0)
        torch.testing.assert_close(model(torch.tensor([text]))[0, t], y)


def test_the_gradient_of_a_look_up_is_that_of_one_hot_times_c():
    model = small(direct=False)
    ids = torch.tensor([[4, 9, 4]])
    looked_up = model.embedding(ids)
    weigh = torch.randn_like(looked_up)
    [found] = torch.autograd.grad((looked_up * weigh).sum(), model.embedding.weight)
    q = model.embedding.weight.detach().clone().requires_grad_()
    product = F.one_hot(ids, 11).float() @ q * model.embedding.scale
    torch.testing.assert_close(product, looked_up)
    [expected] = torch.autograd.grad((product * weigh).sum(), q)
    torch.testing.assert_close(found, expected)


@pytest.mark.parametrize("order", [2, 4])
def test_words_further_back_than_n_minus_1_have_no_effect_and_nearer_ones_have(order):
    model = small(order=order)
    text = torch.tensor([[4, 5, 6, 7, 8, 9]])
    expected = model(text)[0, -1]
    for place in range(text.shape[1]):
        changed = text.clone()
        changed[0, place] = 10
        same = torch.allclose(model(changed)[0, -1], expected)
        assert same == (place < text.shape[1] - (order - 1))


def test_words_before_the_last_begin_marker_are_seen():
    model = small()
    stream = torch.tensor([[4, 5, BEGIN, 6]])
    assert not torch.allclose(model(stream)[0, -1], model(torch.tensor([[8, 9, BEGIN, 6]]))[0, -1])
    first = model(torch.tensor([[BEGIN, 6]]))[0, -1]  # begin markers stand before the beginning
    torch.testing.assert_close(model(torch.tensor([[BEGIN, BEGIN, 6]]))[0, -1], first)


def test_its_parameters_are_those_of_the_paper():
    """Section 2: for each word b, C with W, and U; for the hidden layer d and H."""
    n_words, n, m, h = 11, 4, 3, 5
    expected = n_words * (1 + n * m + h) + h * (1 + (n - 1) * m)
    assert sum(parameter.numel() for parameter in small().parameters()) == expected


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"order": 1}, "order must be at least 2; got 1"),
        ({"d_hidden": 0}, "d_hidden must be at least 1; got 0"),
        ({"d_model": 1 << 20}, "d_model must be at most 65,536"),
        ({"dropout": -0.1}, "dropout must be at least 0 and below 1; got -0.1"),
    ],
)
def test_impossible_sizes_are_refused(options, message):
    with pytest.raises(ConfigError, match=message):
        small(**options)
