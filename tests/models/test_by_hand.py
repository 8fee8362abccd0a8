"""The whole model against the paper written by hand: values, shapes, places of dropout."""

import math
import re
from pathlib import Path

import pytest
import torch
from by_hand import ByHand, angle, position_table
from torch import Tensor

from headway.core.dropout import Dropout
from headway.core.transformer import Transformer, TransformerConfig
from headway.language_models.decoder_only import DecoderOnly, DecoderOnlyConfig
from headway.nn.attention_weights import look

NOTES = Path(__file__).parent.parent.parent / "docs" / "notes.zh-CN.md"
BEGIN, END = 2, 3
SOURCE = torch.tensor([[4, 5, 6, 7, END], [8, 9, END, 0, 0]])
FED = torch.tensor([[BEGIN, 7, 8, 9], [BEGIN, 5, 6, 10]])
SIZES = {
    "B": 2, "S": 5, "T": 4, "d_model": 12, "h": 3, "d_k": 8, "d_v": 7, "h·d_v": 21, "d_ff": 20,
    "V": 13,
}  # fmt: skip
"""No two alike, so that no axis can stand for another."""


def model_of(norm: str = "post", dropout: float = 0.0) -> Transformer:
    """Random everywhere, biases and norms too, so that nothing can hide."""
    config = TransformerConfig(
        encoder_layers=2, decoder_layers=2, d_model=12, d_ff=20, heads=3, d_k=8, d_v=7,
        norm=norm, dropout=dropout,
    )  # fmt: skip
    model = Transformer(config, vocabulary_size=SIZES["V"])
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.dim() == 1:
                parameter.normal_(mean=float(name.endswith("norm.weight")), std=0.3)
    return model.eval()


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_every_weight_and_logit_is_that_of_the_paper_by_hand(norm):
    model = model_of(norm)
    by_hand = ByHand(model.state_dict(), heads=3, norm=norm)
    torch.testing.assert_close(model(SOURCE, FED), by_hand.logits(SOURCE, FED))
    torch.testing.assert_close(model.encode(SOURCE)[0], by_hand.values["encoded"])
    for kind, looked in look(model, SOURCE, FED)._asdict().items():
        torch.testing.assert_close(looked, torch.stack(by_hand.looked[kind]))


def with_the_raw_column(length: int, d_model: int) -> Tensor:
    """Study notes number the columns 0, 1, 2, .. and put that number where the pair's belongs."""
    return torch.tensor(
        [
            [
                (math.cos if i % 2 else math.sin)(pos / 10000 ** (2 * (i - i % 2) / d_model))
                for i in range(d_model)
            ]
            for pos in range(length)
        ]
    )


def with_sines_first(length: int, d_model: int) -> Tensor:
    return torch.cat([position_table(length, d_model)[:, i::2] for i in (0, 1)], dim=1)


def counted_from_one(length: int, d_model: int) -> Tensor:
    return position_table(length + 1, d_model)[1:]


@pytest.mark.parametrize("wrong", [with_the_raw_column, with_sines_first, counted_from_one])
def test_another_table_of_positions_gives_other_logits(wrong):
    model = model_of()
    by_hand = ByHand(model.state_dict(), heads=3, table=wrong)
    assert not torch.allclose(model(SOURCE, FED), by_hand.logits(SOURCE, FED), atol=1e-2)


def test_the_raw_column_number_doubles_the_exponent():
    right, doubled = (table(50, 16) for table in (position_table, with_the_raw_column))
    torch.testing.assert_close(doubled[:, 2], right[:, 4])  # what belongs to column 4 comes at 2
    assert angle(1, 2, 16) == pytest.approx(10000 ** (-2 / 16))


def test_the_notes_table_of_shapes_is_the_models():
    """By name of the step; that each step's values are the model's is tested above."""
    by_hand = ByHand(model_of().state_dict(), heads=3)
    by_hand.logits(SOURCE, FED)
    text = NOTES.read_text(encoding="utf-8")
    rows = re.findall(r"^\|[^|\n]*\| `([a-z ]+)` \| `\[([^\]`]+)\]` \|", text, re.MULTILINE)
    written = {name: tuple(SIZES[axis] for axis in shape.split(", ")) for name, shape in rows}
    assert written == {name: tuple(value.shape) for name, value in by_hand.values.items()}


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_dropout_falls_on_the_inputs_and_on_each_sublayers_output_and_nowhere_else(norm):
    """The same draws in the same order: 2 inputs, 2 x 2 and 2 x 3 sub-layers (section 5.4)."""
    model = model_of(norm, dropout=0.4).train()
    places: list[tuple[int, ...]] = []
    dropout = Dropout(0.4).train()

    def drop(x: Tensor) -> Tensor:
        places.append(tuple(x.shape))
        return dropout(x)

    by_hand = ByHand(model.state_dict(), heads=3, norm=norm, dropout=drop)
    torch.manual_seed(5)
    found = model(SOURCE, FED)
    torch.manual_seed(5)
    torch.testing.assert_close(found, by_hand.logits(SOURCE, FED))
    assert places == [(2, 5, 12)] * 5 + [(2, 4, 12)] * 7


def test_matrices_begin_uniform_within_xaviers_bound_and_biases_at_zero():
    """Glorot and Bengio 2010, eq. 16: plus or minus sqrt(6 / (inputs + outputs))."""
    config = TransformerConfig(encoder_layers=1, decoder_layers=1, d_model=64, d_ff=256, heads=4)
    model = Transformer(config, vocabulary_size=9)
    sublayers = {name: p for name, p in model.named_parameters() if ".to_" in name}
    matrices = {name: p for name, p in sublayers.items() if p.dim() == 2}
    assert len(matrices) == 6 + 10
    for name, matrix in matrices.items():
        bound = math.sqrt(6 / sum(matrix.shape))
        assert 0.98 * bound < matrix.abs().max().item() <= bound, name
        assert matrix.std().item() == pytest.approx(bound / math.sqrt(3), rel=0.03), name
        assert not sublayers[name.replace("weight", "bias")].any(), name


@pytest.mark.parametrize("kind", ["transformer", "decoder_only"])
def test_the_residual_gain_multiplies_what_each_sublayer_adds_at_first_and_nothing_else(kind):
    def begun(gain):
        torch.manual_seed(5)
        if kind == "transformer":
            config = TransformerConfig(
                encoder_layers=2, decoder_layers=2, d_model=8, d_ff=16, heads=2, norm="pre",
                residual_gain=gain,
            )  # fmt: skip
            return Transformer(config, vocabulary_size=9)
        config = DecoderOnlyConfig(layers=2, d_model=8, d_ff=16, heads=2, residual_gain=gain)
        return DecoderOnly(config, vocabulary_size=9)

    whole, half, none = (dict(begun(gain).named_parameters()) for gain in (1.0, 0.5, 0.0))
    added = {f"{part}.to_output.weight" for part in ("attention", "feed_forward")}
    n_added = 0
    for name, matrix in whole.items():
        is_added = name.endswith(tuple(added))
        n_added += is_added
        torch.testing.assert_close(half[name], matrix * (0.5 if is_added else 1))
        assert torch.equal(none[name], torch.zeros_like(matrix) if is_added else matrix)
    assert n_added == (10 if kind == "transformer" else 4)


def test_with_a_residual_gain_of_0_a_pre_norm_encoder_passes_its_input_on():
    config = TransformerConfig(
        encoder_layers=3, decoder_layers=1, d_model=8, d_ff=16, heads=2, norm="pre",
        residual_gain=0.0,
    )  # fmt: skip
    model = Transformer(config, vocabulary_size=9).eval()
    source = torch.tensor([[4, 5, 6]])
    given = model.source_positions(model.source_embedding(source))
    mean, variance = given.mean(-1, keepdim=True), given.var(-1, keepdim=True, correction=0)
    expected = (given - mean) / (variance + config.layer_norm_epsilon).sqrt()
    torch.testing.assert_close(model.encode(source)[0], expected)
