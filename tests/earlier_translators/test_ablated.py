"""Laws of the Transformer with parts taken away; those of its bricks are in nn/test_variants.py."""

from typing import Any

import pytest
import torch
from smoothed_loss import label_smoothed
from torch import nn

from headway.core.errors import ConfigError
from headway.core.interfaces import Seq2Seq, State, StepDecoder
from headway.core.transformer import Transformer
from headway.earlier_translators.ablated import Ablated, AblatedConfig
from headway.models import PRESETS
from headway.nn.attention_weights import look
from headway.nn.positioned import PositionedConfig
from headway.runs.settings import Settings
from headway.translation.spec import SPEC

BEGIN, END, N_WORDS = 2, 3, 13
SOURCE = torch.tensor([[4, 5, 6, 7, END], [8, 9, END, 0, 0]])
FED = torch.tensor([[BEGIN, 7, 8, 9], [BEGIN, 5, 0, 0]])
EXPECTED = torch.tensor([[7, 8, 9, END], [5, END, 0, 0]])
SIZES = {
    "encoder_layers": 2, "decoder_layers": 2, "d_model": 8, "d_ff": 12, "heads": 2, "dropout": 0.0,
}  # fmt: skip

TAKEN: dict[str, dict[str, Any]] = {
    "nothing": {},
    "scale": {"scale": False},
    "product": {"score": "additive"},
    "keys": {"query_is_key": True},
    "mask": {"causal": False},
    "mean": {"cross": "mean"},
    "last": {"cross": "last"},
    "source": {"cross": "none"},
    "residual": {"residual": False},
    "batch": {"normalize": "batch"},
    "norm": {"normalize": "none"},
    "relu": {"feed_forward": "linear"},
    "feed-forward": {"feed_forward": "none"},
    "much": {
        "norm": "pre", "positions": "learned", "heads": 1, "causal": False, "normalize": "batch",
        "score": "additive", "query_is_key": True, "feed_forward": "none", "tied": False,
    },
}  # fmt: skip
each = pytest.mark.parametrize("taken", TAKEN)


def whole(**options: Any) -> Transformer:
    torch.manual_seed(2)
    return Transformer(PositionedConfig(**{**SIZES, **options}), vocabulary_size=N_WORDS).eval()


def ablated(**options: Any) -> Ablated:
    torch.manual_seed(2)
    return Ablated(AblatedConfig(**{**SIZES, **options}), vocabulary_size=N_WORDS).eval()


def without(taken: str) -> Ablated:
    """Without a part; with the statistics of a few batches where it has any."""
    model = ablated(**TAKEN[taken]).train()
    for _ in range(3):
        model(SOURCE, FED)
    return model.eval()


# -- what is left -----------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"norm": "pre", "positions": "relative", "tied": False}])
def test_with_nothing_taken_it_is_the_transformer_bit_for_bit(options):
    one, other = whole(**options, dropout=0.2), ablated(**options, dropout=0.2)
    assert one.state_dict().keys() == other.state_dict().keys()
    assert torch.equal(one(SOURCE, FED), other(SOURCE, FED))
    gradients = []
    for model in (one, other):
        torch.manual_seed(4)
        logits = model.train()(SOURCE, FED)
        label_smoothed(logits, EXPECTED, smoothing=0.1, padding=0).smoothed.backward()
        gradients.append([logits, *(parameter.grad for parameter in model.parameters())])
    assert all(torch.equal(a, b) for a, b in zip(*gradients, strict=True))


@each
def test_what_is_left_begins_with_the_weights_of_the_whole(taken):
    options = TAKEN[taken]
    own = {name: options[name] for name in options if hasattr(PositionedConfig, name)}
    weights = whole(**own).state_dict()
    left = ablated(**options).state_dict()
    new = {name for name in left if name not in weights}
    assert {name.rsplit(".", 1)[-1] for name in new} <= {
        "to_score", "running_mean", "running_variance",
    }  # fmt: skip
    for name in left.keys() - new:
        is_key = options.get("query_is_key") and "to_key" in name
        assert torch.equal(left[name], weights[name.replace("to_key", "to_query")]) or not is_key
        assert is_key or torch.equal(left[name], weights[name])


def n_parameters(model: nn.Module) -> int:
    return sum(parameter.numel() for parameter in model.parameters())


@pytest.mark.parametrize(
    ("taken", "fewer"),
    [
        ("scale", 0), ("mask", 0), ("residual", 0), ("batch", 0), ("relu", 0),
        ("keys", 6 * (8 * 8 + 8)),
        ("product", -6 * 8),
        ("mean", 2 * 2 * (8 * 8 + 8)),
        ("source", 2 * (4 * (8 * 8 + 8) + 16)),
        ("norm", 10 * 16),
        ("feed-forward", 4 * (8 * 12 + 12 + 12 * 8 + 8 + 16)),
    ],
)  # fmt: skip
def test_what_is_taken_is_not_learned(taken, fewer):
    assert n_parameters(whole()) - n_parameters(ablated(**TAKEN[taken])) == fewer


@each
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_every_weight_that_is_left_learns(taken, dtype):
    model = ablated(**TAKEN[taken]).train().to(dtype)
    logits = model(SOURCE, FED)
    label_smoothed(logits.float(), EXPECTED, smoothing=0.1, padding=0).smoothed.backward()
    for name, parameter in model.named_parameters():
        if taken == "source" and name.startswith("encoder"):
            assert parameter.grad is None, "nothing is asked of it"
        else:
            assert parameter.grad is not None
            assert parameter.grad.isfinite().all()
            if dtype == torch.float32 and not name.endswith("to_key.bias"):  # the same for all keys
                assert parameter.grad.any(), name


# -- what may depend on what ------------------------------------------------------------------


@each
def test_batch_mates_and_more_padding_change_nothing(taken):
    model = without(taken)
    together = model(SOURCE, FED)
    alone = model(SOURCE[1:, :3], FED[1:, :2])
    # Without norms logits are in the tens, where numbers of float32 stand 2e-6 apart and more.
    torch.testing.assert_close(together[1:, :2], alone, rtol=1e-6, atol=1e-5)
    longer_source = torch.cat([SOURCE, torch.zeros(2, 9, dtype=torch.long)], 1)
    longer_target = torch.cat([FED, torch.zeros(2, 6, dtype=torch.long)], 1)
    padded = model(longer_source, longer_target)[:, :4]
    torch.testing.assert_close(padded[FED != 0], together[FED != 0], rtol=1e-6, atol=1e-5)


def test_without_the_mask_and_only_then_later_tokens_change_earlier_logits():
    changed = FED.clone()
    changed[0, 3] = 11
    for model, sees in ((ablated(), False), (ablated(causal=False), True)):
        before, after = model(SOURCE, FED), model(SOURCE, changed)
        assert torch.equal(before[0, :3], after[0, :3]) is not sees
        assert torch.equal(before[1], after[1])


def test_without_the_mask_the_first_word_is_written_as_with_it():
    """There is nothing to be seen before anything is written: what training showed is gone."""
    model, masked = ablated(causal=False), ablated()
    first = [one.step(one.start(SOURCE), FED[:, 0]).logits for one in (model, masked)]
    torch.testing.assert_close(*first)
    assert not torch.allclose(first[0], model(SOURCE, FED)[:, 0], atol=0.01), "the truth in sight"


def test_a_padding_id_that_is_fed_first_is_seen_without_the_mask_too():
    """Marian's decoder has no other begin."""
    model, fed = ablated(causal=False), FED.clone()
    fed[:, 0] = 0
    logits = model(SOURCE, fed)
    assert logits.isfinite().all()
    assert look(model, SOURCE, fed).decoder[..., 0].all()


def test_the_decoder_knows_of_the_source_what_is_left_of_it():
    other = SOURCE.clone()
    other[0, 1] = 11
    for cross, knows in (("attention", True), ("mean", True), ("last", True), ("none", False)):
        model = ablated(cross=cross)
        assert torch.equal(model(SOURCE, FED)[0], model(other, FED)[0]) is not knows


def test_without_positions_one_vector_is_the_same_for_any_order_of_the_source():
    for cross in ("mean", "last"):
        model = ablated(cross=cross, positions="none")
        order = torch.tensor([2, 0, 3, 1, 4])  # the end marker stays the last
        before, after = model(SOURCE[:1], FED[:1]), model(SOURCE[:1, order], FED[:1])
        torch.testing.assert_close(before, after)


def test_batch_norm_lets_batch_mates_in_while_it_trains_and_layer_norm_never():
    other = SOURCE.clone(), FED.clone()
    other[0][1, 0], other[1][1, 1] = 11, 12
    for normalize, depends in (("batch", True), ("layer", False), ("none", False)):
        model = ablated(normalize=normalize).train()
        before, after = model(SOURCE, FED)[0], model(*other)[0]
        assert torch.allclose(before, after, rtol=0, atol=1e-6) is not depends


# -- attention maps ---------------------------------------------------------------------------


@each
def test_every_variant_can_be_looked_at(taken):
    model = without(taken)
    looked, heads = look(model, SOURCE, FED), model.config.heads
    assert looked.encoder.shape == (2, 2, heads, 5, 5)
    assert looked.decoder.shape == (2, 2, heads, 4, 4)
    assert looked.cross.shape == (0 if taken == "source" else 2, 2, heads, 4, 5)
    for weights in looked:
        torch.testing.assert_close(weights.sum(-1), torch.ones_like(weights.sum(-1)))
        assert not weights.isnan().any()
    assert not looked.encoder[:, 1, :, :, 3:].any()
    assert looked.decoder[:, 0].triu(1).any() == (not model.config.causal)


def test_with_one_matrix_for_both_raw_scores_are_symmetric_and_weights_need_not_be():
    x = torch.randn(2, 5, 8)
    for same in (True, False):
        attention = ablated(query_is_key=same).encoder[0].self_attention
        query, key, _ = attention.projected(x, x)
        scores = query @ key.transpose(2, 3)
        assert torch.allclose(scores, scores.transpose(2, 3)) is same
        assert (attention.to_query is attention.to_key) is same
        weights = attention.weights(x, x)  # each row has a softmax of its own
        assert not torch.allclose(weights, weights.transpose(2, 3), atol=1e-3)


# -- step by step -----------------------------------------------------------------------------


@each
def test_a_step_is_the_last_row_of_one_pass_over_what_was_written(taken):
    model = without(taken)
    assert isinstance(model, StepDecoder)
    assert isinstance(model, Seq2Seq)
    fed = torch.tensor([[BEGIN, 7, 8, 9], [BEGIN, 5, 6, 10]])
    state = model.start(SOURCE)
    assert isinstance(state, State)
    for i in range(4):
        step = model.step(state, fed[:, i], want_attention=True)
        expected = model(SOURCE, fed[:, : i + 1])[:, -1]
        torch.testing.assert_close(step.logits, expected, rtol=0, atol=1e-5)
        cross = look(model, SOURCE, fed[:, : i + 1]).cross
        if len(cross):
            torch.testing.assert_close(step.attention, cross[-1].mean(1)[:, -1])
        else:
            assert step.attention is None
        state = step.state
    if model.config.causal:
        torch.testing.assert_close(step.logits, model(SOURCE, fed)[:, 3], rtol=0, atol=1e-5)


@each
def test_rows_that_are_chosen_after_a_prefix_go_on_as_if_they_had_always_been_there(taken):
    model = without(taken)
    chosen = torch.tensor([1, 1, 0])
    fed = torch.tensor([[BEGIN, 7, 8], [BEGIN, 5, 6]])
    state = model.start(SOURCE, fed[:, :2]).select(chosen)
    found = model.step(state, fed[chosen, 2]).logits
    expected = model(SOURCE[chosen], fed[chosen])[:, -1]
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-5)


def test_a_source_is_needed():
    with pytest.raises(ConfigError, match="needs a source"):
        ablated().start(None)


# -- settings ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"score": "additive", "scale": False}, "no scale that could be taken away"),
        ({"score": "additive", "positions": "rotary"}, "rotary positions act within the product"),
        ({"score": "additive", "positions": "relative"}, "Choose --model.positions sinusoidal"),
        ({"feed_forward": "linear", "activation": "swiglu"}, "Choose --model.activation relu"),
        ({"cross": "mean", "residual": False}, "with cross 'mean' every position .* the same"),
        ({"cross": "last", "residual": False}, "got residual false. Keep one of them"),
        ({"heads": 3}, "heads must divide d_model"),
    ],
)
def test_what_does_not_go_together_is_refused(options, message):
    with pytest.raises(ConfigError, match=message):
        AblatedConfig(**{**SIZES, **options})


def test_its_preset_is_tiny_with_nothing_taken():
    tiny, own = (Settings.of(PRESETS[name], SPEC) for name in ("tiny", "ablated"))
    assert own.model_type == "ablated"
    assert own.training == tiny.training
    assert own.model == AblatedConfig(**vars(tiny.model))
