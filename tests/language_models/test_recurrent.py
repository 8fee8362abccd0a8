"""What only recurrent language models have; the laws of all are in test_language_models.py."""

import math

import pytest
import torch

from headway.core.errors import ConfigError
from headway.language_models.models import LANGUAGE_MODELS
from headway.language_models.recurrent import RecurrentConfig, RecurrentLanguageModel


@pytest.mark.parametrize(("kind", "n_products"), [("rnn", 1), ("lstm", 4), ("gru", 3)])
@pytest.mark.parametrize("tied", [True, False])
def test_its_parameters_add_up_by_hand(kind, n_products, tied):
    config, build = LANGUAGE_MODELS[kind]
    model = build(config(layers=2, d_model=8, tied=tied), vocabulary_size=13)
    layer = n_products * (2 * 8 * 8 + 2 * 8)
    expected = (1 if tied else 2) * 13 * 8 + 13 + 2 * layer
    assert sum(parameter.numel() for parameter in model.parameters()) == expected


def test_the_gradient_ends_where_a_stretch_begins():
    """Truncated backpropagation: what is carried counts, and is not learned through."""
    model = RecurrentLanguageModel(
        RecurrentConfig(layers=1, d_model=4, dropout=0.0), recurrence="lstm", vocabulary_size=7
    )
    first, second = torch.tensor([[2, 4, 5]]), torch.tensor([[6]])
    carried = model.read(first).carried
    model.read(second, carried).features.sum().backward()
    gradient = model.embedding.weight.grad
    assert gradient is not None
    assert gradient[6].any()
    assert not gradient[[2, 4, 5]].any()
    alone = model.read(second).features
    assert not torch.allclose(model.read(second, carried).features, alone)


@pytest.mark.parametrize("kind", ["rnn", "lstm", "gru"])
def test_scales_are_factors_of_the_matrices(kind):
    config, build = LANGUAGE_MODELS[kind]
    one, other = (
        build(
            config(layers=2, d_model=8, tied=False, embedding_scale=into, output_scale=out),
            vocabulary_size=13,
        ).eval()
        for into, out in ((1.0, 8.0), (0.0, 4.0))
    )
    weights = one.state_dict()
    weights["embedding.weight"] = weights["embedding.weight"] / math.sqrt(8)
    weights["output_weight"] = 2 * weights["output_weight"]
    other.load_state_dict(weights)
    fed = torch.tensor([[2, 4, 5, 7]])
    torch.testing.assert_close(one(fed), other(fed))
    begun = one.start(None, fed[:, :3])
    torch.testing.assert_close(one.step(begun, fed[:, 3]).logits, one(fed)[:, 3])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"layers": 0}, "layers must be at least 1; got 0"),
        ({"d_model": 1 << 17}, "d_model must be at most 65,536"),
        ({"output_scale": 0.0}, "output_scale must be from 1e-06 to 10000; got 0.0"),
        ({"embedding_scale": float("nan")}, "embedding_scale must be from 0 to 10000; got nan"),
        ({"dropout": 1.0}, "dropout must be at least 0 and below 1; got 1.0"),
    ],
)
def test_impossible_sizes_are_refused(options, message):
    with pytest.raises(ConfigError, match=message):
        RecurrentConfig(**options)
