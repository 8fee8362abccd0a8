"""Laws of positions: what a distance means, and what happens past the end."""

import math

import pytest
import torch

from headway.core.attention import attention_weights
from headway.core.embedding import LearnedPositions, SinusoidalPositions, sinusoids
from headway.core.errors import UserError
from headway.core.transformer import Transformer
from headway.language_models.decoder_only import DecoderOnly, DecoderOnlyConfig
from headway.nn.attention_weights import watched
from headway.nn.positioned import PositionedConfig
from headway.nn.positions import (
    LEAST_TURNS,
    NoPositions,
    PositionedAttention,
    RelativePositions,
    rotate,
    turns,
    with_bias,
)


@pytest.mark.parametrize("d_model", [8, 7])
def test_sinusoids_follow_the_formula_of_section_3_5(d_model):
    table = sinusoids(60, d_model)
    for position in (0, 1, 7, 59):
        for column in range(d_model):
            angle = position / 10000 ** (2 * (column // 2) / d_model)
            value = math.cos(angle) if column % 2 else math.sin(angle)
            assert table[position, column].item() == pytest.approx(value, abs=1e-6)


@pytest.mark.parametrize("k", [1, 5, 100])
def test_a_distance_is_one_fixed_linear_map_at_every_position(k):
    d_model = 16
    step = torch.zeros(d_model, d_model)
    for i in range(0, d_model, 2):
        angle = k / 10000 ** (i / d_model)
        step[i : i + 2, i : i + 2] = torch.tensor(
            [[math.cos(angle), math.sin(angle)], [-math.sin(angle), math.cos(angle)]]
        )
    table = sinusoids(400, d_model)
    torch.testing.assert_close(table[:-k] @ step.T, table[k:], rtol=1e-4, atol=1e-5)


def test_sinusoids_go_on_past_their_table_and_are_no_parameter():
    positions = SinusoidalPositions(6)
    assert not list(positions.parameters())
    assert not positions.state_dict()
    x = torch.zeros(1, 3, 6)
    torch.testing.assert_close(positions(x)[0], sinusoids(3, 6))
    torch.testing.assert_close(positions(x, first=700)[0], sinusoids(710, 6)[700:703])


def test_learned_positions_are_a_parameter_and_end():
    positions = LearnedPositions(6, 4)
    x = torch.zeros(2, 3, 6)
    assert torch.equal(positions(x, first=1)[1], positions.table[1:4])
    with pytest.raises(UserError, match="end at 4 tokens; got 5.*sinusoidal"):
        positions(x, first=2)


def test_rotation_keeps_lengths_and_makes_scores_depend_on_distance_only():
    query, key = torch.randn(1, 1, 1, 8), torch.randn(1, 1, 1, 8)
    scores = {}
    for i in (0, 3, 40):
        assert rotate(query, i).norm().item() == pytest.approx(query.norm().item(), rel=1e-5)
        for distance in (-2, 0, 7):
            score = (rotate(query, i + 2) * rotate(key, i + 2 + distance)).sum().item()
            assert score == pytest.approx(scores.setdefault(distance, score), abs=1e-4)
    assert len({round(score, 3) for score in scores.values()}) == 3
    assert scores[0] == pytest.approx((query * key).sum().item(), abs=1e-5)


def test_rotation_acts_at_each_position_of_a_sequence():
    x = torch.randn(2, 3, 5, 4)
    one_by_one = torch.cat([rotate(x[:, :, i : i + 1], 10 + i) for i in range(5)], dim=2)
    torch.testing.assert_close(rotate(x, 10), one_by_one)


@pytest.mark.parametrize(("first", "length"), [(0, 1), (3, 40), (500, 30), (511, 1), (2_000, 7)])
def test_rotations_are_bit_for_bit_those_of_the_positions_angles(first, length):
    x = torch.randn(2, 3, length, 6)
    table = sinusoids(first + length, 6)[first:]
    turn = torch.complex(table[:, 1::2], table[:, 0::2])
    expected = torch.view_as_complex(x.unflatten(-1, (-1, 2))) * turn
    assert torch.equal(rotate(x, first), torch.view_as_real(expected).flatten(-2))


def test_angles_are_made_once_for_all_layers_and_tokens(monkeypatch):
    made = []

    def noted(n_positions: int, d_model: int) -> torch.Tensor:
        made.append(n_positions)
        return sinusoids(n_positions, d_model)

    monkeypatch.setattr("headway.nn.positions.sinusoids", noted)
    turns.cache_clear()
    config = DecoderOnlyConfig(layers=2, d_model=8, d_ff=8, heads=2)
    model = DecoderOnly(config, vocabulary_size=12).eval()
    state = model.start(None, torch.tensor([[2, 4, 5]]))
    for _ in range(50):
        state = model.step(state, torch.tensor([6])).state
    assert made == [LEAST_TURNS]


def test_what_was_made_for_decoding_is_trained_with():
    turns.cache_clear()
    x = torch.randn(1, 2, 5, 4, requires_grad=True)
    with torch.inference_mode():
        rotate(x)
    ones = torch.ones(1, 2, 5, 4)
    [turned_back] = torch.autograd.grad(rotate(x), x, rotate(ones))
    torch.testing.assert_close(turned_back, ones)


def test_rotary_scores_do_not_change_when_everything_moves():
    query, key = torch.randn(1, 2, 6, 4), torch.randn(1, 2, 6, 4)
    here = rotate(query) @ rotate(key).mT
    moved = rotate(query, 33) @ rotate(key, 33).mT
    torch.testing.assert_close(here, moved, rtol=1e-4, atol=1e-5)


def test_relative_scores_are_the_querys_product_with_its_distances_key_clipped():
    relative = RelativePositions(4, reach=2)
    query = torch.randn(2, 3, 4, 4)
    distances = torch.arange(7)[None] - torch.arange(3, 7)[:, None]
    scores = relative.at(query, distances[None, None])
    for i in range(4):
        for j in range(7):
            distance = min(max(j - (i + 3), -2), 2)
            by_hand = query[:, :, i] @ relative.keys[distance + 2] / math.sqrt(4)
            torch.testing.assert_close(scores[:, :, i, j], by_hand)


def test_relative_attention_adds_them_before_softmax():
    attention = PositionedAttention(8, 2, d_k=4, d_v=4, relative=RelativePositions(4, reach=2))
    attention.eval()
    x = torch.randn(1, 6, 8)
    with watched([attention]) as look:
        attention(x, x)
    query, keys = (attention.split(p(x)) for p in (attention.to_query, attention.to_key))
    assert attention.relative is not None
    bias = attention.relative(query, n_keys=6)
    torch.testing.assert_close(look[0], attention_weights(query, keys, with_bias(None, bias)))


def encoder_output(positions: str, source: torch.Tensor) -> torch.Tensor:
    torch.manual_seed(3)
    config = PositionedConfig(
        encoder_layers=2, decoder_layers=1, d_model=8, d_ff=8, heads=2,
        positions=positions,  # type: ignore[arg-type]
    )  # fmt: skip
    return Transformer(config, vocabulary_size=12).eval().encode(source)[0]


def test_without_positions_permuting_the_input_permutes_the_encoders_output():
    source = torch.tensor([[4, 5, 6, 7, 8, 3]])
    order = torch.tensor([3, 0, 5, 1, 4, 2])
    plain, permuted = (encoder_output("none", ids) for ids in (source, source[:, order]))
    torch.testing.assert_close(permuted, plain[:, order], rtol=1e-5, atol=1e-6)
    for positions in ("sinusoidal", "learned", "relative", "rotary"):
        plain, permuted = (encoder_output(positions, ids) for ids in (source, source[:, order]))
        assert not torch.allclose(permuted, plain[:, order], atol=1e-3), positions


def test_no_positions_leave_the_embeddings_as_they_are():
    x = torch.randn(2, 3, 4)
    assert NoPositions()(x, 5) is x
