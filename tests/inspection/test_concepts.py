"""What the page says of the paper's ideas holds in the model's own numbers."""

import math

import numpy as np
import pytest
import torch
from scipy.special import softmax
from small_models import OF_TEXT, OTHERS, STANDARD, ablated

from headway.core.embedding import sinusoids
from headway.core.transformer import Transformer
from headway.earlier_translators.convolutional import Convolutional, ConvolutionalConfig
from headway.inspection.concepts import causal, order_known_by, positions, scale
from headway.inspection.html_page import KINDS, packed, unpacked
from headway.inspection.tracing import traced
from headway.nn.positioned import PositionedConfig


def small(**changes: object) -> Transformer:
    config = PositionedConfig(
        d_model=16, heads=2, d_ff=32, encoder_layers=1, decoder_layers=1, dropout=0.0, **changes
    )  # type: ignore[arg-type]
    return Transformer(config, vocabulary_size=20).eval()


def test_positions_are_what_the_model_adds() -> None:
    model = small()
    found = positions(model, model.config)
    assert found is not None
    table = unpacked(found["table"])
    np.testing.assert_array_equal(table, sinusoids(64, 16).numpy())
    vectors = torch.from_numpy(table.copy())
    wanted = torch.cosine_similarity(vectors[:-3], vectors[3:]).mean()
    assert found["similarity"][3] == pytest.approx(float(wanted), abs=1e-5)


def test_positions_that_are_further_apart_are_less_alike_on_the_whole_but_not_at_every_step() -> (
    None
):
    """By the formula: the cosine of two sinusoids k apart is the mean of cos(k / 10000^(2i/d))."""
    config = PositionedConfig(d_model=128, encoder_layers=1, decoder_layers=1)
    found = positions(Transformer(config, vocabulary_size=20), config)
    assert found is not None
    by_hand = [
        np.mean([math.cos(k / 10000 ** (2 * i / 128)) for i in range(64)]) for k in range(64)
    ]
    np.testing.assert_allclose(found["similarity"], by_hand, atol=1e-4)
    assert (np.diff(by_hand) > 0).sum() == 19
    eighths = np.reshape(by_hand, (8, 8)).mean(axis=1)
    assert (np.diff(eighths) < 0).all()


def test_a_model_that_adds_nothing_has_no_positions_to_show() -> None:
    model = small(positions="rotary")
    assert positions(model, model.config) is None


def test_learned_positions_end_where_the_model_does() -> None:
    model = small(positions="learned", max_length=10)
    found = positions(model, model.config)
    assert found is not None
    assert found["table"]["shape"] == [10, 16]


def test_a_convolutional_models_positions_are_learned() -> None:
    config = ConvolutionalConfig(d_model=8, encoder_layers=1, decoder_layers=1, max_length=12)
    found = positions(Convolutional(config, vocabulary_size=20), config)
    assert found is not None
    assert found["kind"] == "learned"
    assert found["table"]["shape"] == [12, 8]


def test_the_causal_mask_is_the_decoders_triangle() -> None:
    found = causal(traced(small(), [5, 6, 3], [2, 7, 8, 9]).tensors)
    assert found is not None
    np.testing.assert_array_equal(unpacked(found), np.tril(np.ones((4, 4), np.uint8)))


def test_without_the_scale_softmax_is_what_it_is_of_larger_scores() -> None:
    trace = traced(small(), [5, 6, 7, 3], [2, 7, 8]).tensors
    found = {one["name"]: one for one in scale(trace)}
    assert list(found) == ["encoder.0.self", "decoder.0.self", "decoder.0.cross"]
    products = trace["encoder.0.self.query"] @ trace["encoder.0.self.key"].transpose(0, 2, 1)
    for kind, divided in (("scaled", math.sqrt(8)), ("unscaled", 1.0)):
        weights = softmax(products / divided, axis=-1)
        gradient = np.mean([np.trace(np.diag(p) - np.outer(p, p)) for p in weights.reshape(-1, 4)])
        assert found["encoder.0.self"][kind]["largest"] == pytest.approx(
            weights.max(-1).mean(), abs=1e-4
        )
        assert found["encoder.0.self"][kind]["gradient"] == pytest.approx(gradient, abs=1e-4)


@pytest.mark.parametrize("kind", list(KINDS))
def test_packed_arrays_come_back(kind: str) -> None:
    array = np.arange(24).reshape(2, 3, 4)
    back = unpacked(packed(array, kind))
    np.testing.assert_array_equal(back, array)
    assert back.dtype == np.dtype(KINDS[kind])


def test_a_page_says_what_tells_the_order_where_nothing_is_added() -> None:
    models = {name: make() for name, make in {**STANDARD, **OTHERS, **OF_TEXT}.items()}
    knows = {name: order_known_by(model, model.config) for name, model in models.items()}
    assert knows["rotary"] == knows["relative"] == knows["window"] == "attention"
    assert knows["none"] == "mask"
    assert knows["rnn"] == knows["gru"] == knows["additive"] == "recurrence"
    assert knows["bytenet"] == knows["convolutional"] == "convolution"
    assert knows["nnlm"] == "window"
    not_even = ablated(positions="none", causal=False)
    assert order_known_by(not_even, not_even.config) == "nothing"
