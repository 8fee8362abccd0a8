"""Laws of the bricks that stand where a part of the Transformer was taken away."""

import copy
import math

import pytest
import torch
from torch import Tensor, nn

from headway.core.attention import ReadyMask, padding_mask
from headway.core.layers import FeedForward, Residual
from headway.earlier_translators.variants import (
    AdditiveHeads,
    BatchNorm,
    ExchangedAttention,
    OneVectorAttention,
    RealTokens,
    UnscaledAttention,
    WithoutFeedForward,
    WithoutResidual,
    WithoutSublayer,
)
from headway.nn.attention_weights import watched
from headway.nn.positions import PositionedAttention, RelativePositions

IDS = torch.tensor([[4, 5, 6, 7, 3], [8, 9, 3, 0, 0]])
MASK = ReadyMask.of(padding_mask(IDS, 0))
QUERY, KEY = torch.randn(2, 3, 8), torch.randn(2, 5, 8)


def standard(**options: object) -> PositionedAttention:
    torch.manual_seed(3)
    return PositionedAttention(8, 2, d_k=4, d_v=4, **options).eval()  # type: ignore[arg-type]


VARIANTS = {
    "unscaled": UnscaledAttention,
    "additive": AdditiveHeads,
    "mean": lambda attention: OneVectorAttention(attention, "mean"),
    "last": lambda attention: OneVectorAttention(attention, "last"),
}


# -- attention --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", VARIANTS)
def test_what_is_gathered_is_the_weights_times_the_values_and_nothing_of_what_is_hidden(name):
    attention: ExchangedAttention = VARIANTS[name](standard())
    with watched([attention]) as looked:
        found = attention(QUERY, KEY, MASK)
    [weights] = looked
    torch.testing.assert_close(weights.sum(-1), torch.ones(2, 2, 3))
    assert not weights[1, :, :, 3:].any()
    value = attention.split(attention.to_value(KEY))
    by_hand = attention.to_output((weights @ value).transpose(1, 2).flatten(2))
    torch.testing.assert_close(found, by_hand)
    changed = KEY.clone()
    changed[1, 3:] = 100.0
    assert torch.equal(attention(QUERY, changed, MASK), found)
    blind = ReadyMask.of(torch.zeros(2, 1, 1, 5).bool())
    assert not attention.weights(QUERY, KEY, blind).any(), "zeros, and no NaN"


@pytest.mark.parametrize("relative", [False, True])
def test_without_the_scale_scores_are_sqrt_d_k_times_as_large(relative):
    positions = {"relative": RelativePositions(4)} if relative else {}
    whole = standard(**positions)
    query, key, _ = whole.projected(KEY, KEY)
    scores = query @ key.transpose(2, 3) / math.sqrt(4)
    if whole.relative is not None:
        scores = scores + whole.relative(query, n_keys=key.shape[2])
    torch.testing.assert_close(whole.weights(KEY, KEY, MASK), masked(scores))
    unscaled = UnscaledAttention(whole).weights(KEY, KEY, MASK)
    torch.testing.assert_close(unscaled, masked(math.sqrt(4) * scores))


def masked(scores: Tensor) -> Tensor:
    return (scores + MASK.hidden).softmax(-1)


def test_additive_scores_are_bahdanaus_for_every_pair_and_head_by_hand():
    attention = AdditiveHeads(standard())
    query, key = (
        projection(x).unflatten(-1, (2, 4))
        for projection, x in ((attention.to_query, QUERY), (attention.to_key, KEY))
    )  # [batch, length, heads, d_k]
    scores = torch.empty(2, 2, 3, 5)
    for b in range(2):
        for h in range(2):
            for i in range(3):
                for j in range(5):
                    both = (query[b, i, h] + key[b, j, h]).tanh()
                    scores[b, h, i, j] = attention.to_score[h] @ both
    torch.testing.assert_close(attention.weights(QUERY, KEY, MASK), masked(scores))
    torch.testing.assert_close(attention.weights(QUERY, KEY), scores.softmax(-1))


def test_an_additive_score_begins_with_a_variance_under_one_for_any_d_k():
    """Each tanh is at most 1 and v about 1/sqrt(d_k): what the scale does for a product."""
    for d_k in (16, 256):
        heads = AdditiveHeads(PositionedAttention(8, 1, d_k=d_k, d_v=8))
        both = torch.randn(2000, d_k).tanh()
        assert (both @ heads.to_score[0]).var() < 1


def test_one_vector_is_the_mean_of_the_real_positions_or_the_last_of_them_for_all_who_ask():
    whole = standard()
    mean, last = (OneVectorAttention(copy.deepcopy(whole), kind) for kind in ("mean", "last"))
    for attention, vectors in (
        (mean, torch.stack([KEY[0].mean(0), KEY[1, :3].mean(0)])),
        (last, torch.stack([KEY[0, 4], KEY[1, 2]])),
    ):
        by_hand = whole.to_output(whole.to_value(vectors))[:, None].expand(-1, 3, -1)
        torch.testing.assert_close(attention(QUERY, KEY, MASK), by_hand)
        assert {name.split(".")[0] for name, _ in attention.named_parameters()} == {
            "to_value", "to_output",
        }  # fmt: skip


# -- residual connections ---------------------------------------------------------------------


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_without_the_connection_nothing_is_added(norm):
    whole, x = Residual(8, norm=norm, dropout=0.0), torch.randn(2, 3, 8)
    nn.init.normal_(whole.norm.weight)  # type: ignore[arg-type]
    alone = WithoutResidual(whole)
    by_hand = {"post": whole.norm(x.sin()), "pre": whole.norm(x).sin()}[norm]
    assert torch.equal(alone(x, torch.sin), by_hand)
    assert not torch.allclose(whole(x, torch.sin), by_hand, atol=0.1)


def test_a_sublayer_that_is_not_there_changes_and_learns_nothing():
    x = torch.randn(2, 3, 8)
    around, inside = WithoutSublayer(), WithoutFeedForward()
    assert torch.equal(around(x, inside), x)
    assert torch.equal(inside(x), x)
    assert not [*around.parameters(), *inside.parameters()]


def test_a_feed_forward_without_its_activation_is_one_linear_map():
    layer, x = FeedForward(8, 16), torch.randn(5, 8)
    assert not torch.allclose(layer(-x) - layer(0 * x), layer(0 * x) - layer(x), atol=0.01)
    layer.activate = nn.Identity()
    product = layer.to_output.weight @ layer.to_inner.weight
    bias = layer.to_output.weight @ layer.to_inner.bias + layer.to_output.bias
    torch.testing.assert_close(layer(x), x @ product.T + bias)


# -- norms ------------------------------------------------------------------------------------


def told(mask: Tensor) -> RealTokens:
    real = RealTokens()
    real.mask = mask
    return real


def test_batch_norm_is_torchs_on_the_real_tokens_in_value_gradient_and_what_it_keeps():
    ours, torchs = BatchNorm(8, told(IDS != 0)), nn.BatchNorm1d(8)
    for module in (ours, torchs):
        torch.manual_seed(5)
        nn.init.normal_(module.weight)
        nn.init.normal_(module.bias)
    real = IDS != 0
    for seed in range(3):
        torch.manual_seed(seed)
        x = torch.randn(2, 5, 8, requires_grad=True)
        weights = torch.randn(8, 8)
        found, expected = ours(x)[real], torchs(x[real])
        torch.testing.assert_close(found, expected)
        gradients = (
            torch.autograd.grad((y * weights).sum(), (x, module.weight, module.bias))
            for y, module in ((found, ours), (expected, torchs))
        )
        for one, other in zip(*gradients, strict=True):
            torch.testing.assert_close(one, other)
        torch.testing.assert_close(ours.running_mean, torchs.running_mean)
        torch.testing.assert_close(ours.running_variance, torchs.running_var)
    ours.eval(), torchs.eval()
    kept = ours.running_mean.clone()
    torch.testing.assert_close(ours(x), torchs(x.transpose(1, 2)).transpose(1, 2))
    assert torch.equal(ours.running_mean, kept), "only training moves it"


def test_of_the_notes_2_2_4_numbers_layer_norm_makes_rows_alike_and_batch_norm_columns():
    """0 .. 15: within a position the numbers are 1 apart, within a column 4 apart. LayerNorm leaves
    four positions that are all the same, BatchNorm four columns that are."""
    x = torch.arange(16.0).view(2, 2, 4)
    steps = torch.tensor([-1.5, -0.5, 0.5, 1.5]) / math.sqrt(1.25)  # by hand: variance 1.25
    by_layer = nn.LayerNorm(4, eps=0.0)(x)
    by_batch = BatchNorm(4, told(torch.ones(2, 2).bool()), epsilon=0.0)(x)
    torch.testing.assert_close(by_layer, steps.expand(2, 2, 4))
    torch.testing.assert_close(by_batch, steps.view(2, 2, 1).expand(2, 2, 4))


def test_batch_norm_of_one_sentence_has_its_statistics_and_of_one_token_gives_the_bias():
    norm = BatchNorm(8, told(torch.tensor([[True, True, False]])))
    x = torch.randn(1, 3, 8)
    torch.testing.assert_close(norm(x)[0, :2].mean(0), torch.zeros(8), rtol=0, atol=1e-5)
    norm.real.mask = torch.tensor([[True, False, False]])
    nn.init.normal_(norm.bias)
    torch.testing.assert_close(norm(x)[0, 0], norm.bias)
    assert norm.running_variance.isfinite().all()


def test_batch_norm_counts_in_float32_whatever_it_is_given():
    norm, x = BatchNorm(8, told(IDS != 0)), 100 + torch.randn(2, 5, 8)
    found = norm(x.bfloat16())
    assert found.dtype == torch.bfloat16
    torch.testing.assert_close(found, norm(x.bfloat16().float()).bfloat16())
    assert norm.running_mean.dtype == torch.float32
