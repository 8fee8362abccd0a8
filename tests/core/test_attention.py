"""Laws of scaled dot-product attention and of its heads."""

import math

import pytest
import torch
import torch.nn.functional as F

from headway.core.attention import (
    MultiHeadAttention,
    ReadyMask,
    additive,
    attend,
    attend_explicitly,
    attention_weights,
    causal_mask,
    padding_mask,
)
from headway.nn.attention_weights import watched
from headway.nn.positions import with_bias

KERNELS = [attend_explicitly, attend]
PADDED = padding_mask(torch.tensor([[5, 6, 7, 8, 9], [5, 6, 7, 0, 0]]), 0)
MASKS = {
    "none": None,
    "padding": PADDED,
    "causal": causal_mask(5),
    "both": PADDED & causal_mask(5),
    "one for each head": (torch.arange(150) % 3 > 0).view(2, 3, 5, 5) | torch.eye(5).bool(),
}


def ready(visible: torch.Tensor | None) -> ReadyMask | None:
    return None if visible is None else ReadyMask.of(visible)


def random_inputs(
    d_k: int = 4, d_v: int = 6, length: int = 5
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Query, key and value with gradients: 2 sentences, 3 heads."""
    query, key = (torch.randn(2, 3, length, d_k, requires_grad=True) for _ in range(2))
    return query, key, torch.randn(2, 3, length, d_v, requires_grad=True)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("mask", MASKS)
def test_every_kernel_equals_torchs_own_function_in_value_and_gradient(kernel, mask):
    inputs = random_inputs()
    ours = kernel(*inputs, ready(MASKS[mask]))
    theirs = F.scaled_dot_product_attention(*inputs, attn_mask=MASKS[mask])
    torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=1e-6)
    direction = torch.randn_like(ours)
    for mine, other in zip(
        torch.autograd.grad(ours, inputs, direction),
        torch.autograd.grad(theirs, inputs, direction),
        strict=True,
    ):
        torch.testing.assert_close(mine, other, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_bias_is_added_to_the_scores_before_softmax(kernel):
    inputs, bias = random_inputs(), torch.randn(2, 3, 5, 5)
    for visible in (None, PADDED):
        mask = bias if visible is None else bias + additive(visible)
        theirs = F.scaled_dot_product_attention(*inputs, attn_mask=mask)
        torch.testing.assert_close(
            kernel(*inputs, with_bias(ready(visible), bias)), theirs, rtol=1e-5, atol=1e-6
        )


@pytest.mark.parametrize("mask", MASKS)
def test_in_bfloat16_on_a_cpu_it_is_equation_1_bit_for_bit(mask):
    inputs = [part.detach().bfloat16() for part in random_inputs()]
    bias, visible, hides = torch.randn(2, 3, 5, 5).bfloat16(), MASKS[mask], None
    if visible is not None:  # and the first query sees nothing
        hides = ReadyMask.of(visible & (torch.arange(5) > 0)[:, None], torch.bfloat16)
    for given in (hides, with_bias(hides, bias)):
        ours, theirs = (kernel(*inputs, given) for kernel in (attend, attend_explicitly))
        torch.testing.assert_close(ours, theirs, rtol=0, atol=0)


def test_the_weights_are_equation_1_word_for_word():
    query, key, _ = random_inputs()
    weights = attention_weights(query, key, ready(PADDED))
    for b in range(2):
        for h in range(3):
            for i in range(5):
                scores = [
                    sum(q * k for q, k in zip(query[b, h, i].tolist(), row, strict=True)) / 2
                    for row in key[b, h].tolist()
                ]
                exps = [
                    math.exp(s) if seen else 0.0
                    for s, seen in zip(scores, PADDED[b, 0, 0].tolist(), strict=True)
                ]
                by_hand = [e / sum(exps) for e in exps]
                assert weights[b, h, i].tolist() == pytest.approx(by_hand, abs=1e-6)


@pytest.mark.parametrize("mask", MASKS)
def test_weights_sum_to_one_and_are_zero_where_nothing_may_be_seen(mask):
    query, key, _ = random_inputs()
    weights = attention_weights(query, key, ready(MASKS[mask]))
    torch.testing.assert_close(weights.sum(-1), torch.ones(2, 3, 5))
    if MASKS[mask] is not None:
        assert not weights[~MASKS[mask].expand_as(weights)].any()


@pytest.mark.parametrize("kernel", KERNELS)
def test_true_means_visible(kernel):
    query, key, value = random_inputs()
    only_the_third = torch.tensor([False, False, True, False, False])[None, None, None]
    context = kernel(query, key, value, ready(only_the_third))
    torch.testing.assert_close(context, value[:, :, 2:3].expand_as(context))


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_query_that_sees_nothing_gets_zeros_and_no_nan_forward_or_backward(kernel):
    inputs = random_inputs()
    visible = PADDED.expand(2, 1, 5, 5).clone()
    visible[0, :, 1] = False  # one row
    visible[1] = False  # a whole sentence
    context = kernel(*inputs, ready(visible))
    assert not context[0, :, 1].any()
    assert not context[1].any()
    assert context[0, :, 0].all()
    gradients = torch.autograd.grad(context.square().sum(), inputs)
    for gradient in gradients:
        assert gradient.isfinite().all()
        assert not gradient[1].any()
        assert gradient[0].any()
    assert not gradients[0][0, :, 1].any()


# -- why 1 / sqrt(d_k) ------------------------------------------------------------------------


@pytest.mark.parametrize("d_k", [4, 64, 512])
def test_the_variance_of_a_score_is_d_k_before_scaling_and_one_after(d_k):
    n = 20_000
    query, key = torch.randn(n, 1, 1, d_k), torch.randn(n, 1, 1, d_k)
    before = (query * key).sum(-1)
    assert before.var().item() == pytest.approx(d_k, rel=0.06)
    # Against a key of zeros (score 0) the odds of the weights are exp(score).
    weights = attention_weights(query, torch.cat([torch.zeros_like(key), key], dim=2))
    after = (weights[..., 1] / weights[..., 0]).log()
    torch.testing.assert_close(after, before / math.sqrt(d_k), rtol=1e-3, atol=1e-4)
    assert after.var().item() == pytest.approx(1, rel=0.06)


def saturation(d_k: int, *, scaled: bool) -> tuple[float, float]:
    """Over random queries: median largest weight of ten, median size of softmax's gradient."""
    query, key = torch.randn(500, 1, 1, d_k), torch.randn(500, 1, 10, d_k)
    weights = attention_weights(query if scaled else query * math.sqrt(d_k), key)[:, 0, 0]
    jacobian = torch.diag_embed(weights) - weights[:, :, None] * weights[:, None, :]
    return weights.amax(-1).median().item(), jacobian.flatten(1).norm(dim=1).median().item()


def test_without_the_scale_softmax_saturates_and_its_gradient_vanishes():
    largest_16, gradient_16 = saturation(16, scaled=False)
    largest_512, gradient_512 = saturation(512, scaled=False)
    assert largest_16 < largest_512
    assert largest_512 > 0.99
    assert gradient_512 < gradient_16 / 10
    for d_k in (16, 512):  # with it, width changes nothing
        largest, gradient = saturation(d_k, scaled=True)
        assert largest < 0.5
        assert gradient == pytest.approx(0.3, abs=0.1)
        assert gradient > 10 * gradient_512


# -- many heads -------------------------------------------------------------------------------


def multi_head(**options: object) -> MultiHeadAttention:
    module = MultiHeadAttention(8, 2, **{"d_k": 5, "d_v": 3, **options})  # type: ignore[arg-type]
    for parameter in module.parameters():
        torch.nn.init.normal_(parameter, std=0.5)
    return module.eval()


def test_heads_looked_at_one_by_one_equal_separate_attentions_by_hand():
    attention, x, memory = multi_head(), torch.randn(2, 5, 8), torch.randn(2, 5, 8)
    with watched([attention]) as look:
        together = attention(x, memory, ready(PADDED))
    contexts = []
    for h in range(2):
        of_k, of_v = slice(5 * h, 5 * h + 5), slice(3 * h, 3 * h + 3)
        query = x @ attention.to_query.weight[of_k].T + attention.to_query.bias[of_k]
        key = memory @ attention.to_key.weight[of_k].T + attention.to_key.bias[of_k]
        value = memory @ attention.to_value.weight[of_v].T + attention.to_value.bias[of_v]
        scores = query @ key.transpose(1, 2) / math.sqrt(5)
        weights = scores.masked_fill(~PADDED[:, 0], float("-inf")).softmax(-1)
        torch.testing.assert_close(look[0][:, h], weights)
        contexts.append(weights @ value)
    by_hand = torch.cat(contexts, -1) @ attention.to_output.weight.T + attention.to_output.bias
    torch.testing.assert_close(together, by_hand)


def test_it_equals_torchs_multihead_attention_with_the_same_weights():
    attention, x, memory = multi_head(d_k=4, d_v=4), torch.randn(2, 3, 8), torch.randn(2, 5, 8)
    theirs = torch.nn.MultiheadAttention(8, 2, batch_first=True)
    projections = [attention.to_query, attention.to_key, attention.to_value]
    theirs.in_proj_weight.data = torch.cat([p.weight for p in projections])
    theirs.in_proj_bias.data = torch.cat([p.bias for p in projections])
    theirs.out_proj.load_state_dict(attention.to_output.state_dict())
    expected, weights = theirs(
        x, memory, memory, key_padding_mask=~PADDED[:, 0, 0], average_attn_weights=False
    )
    with watched([attention]) as look:
        found = attention(x, memory, ready(PADDED))
    torch.testing.assert_close(found, expected)
    torch.testing.assert_close(look[0], weights)


def test_looking_changes_nothing_and_ends():
    attention, x = multi_head(), torch.randn(2, 5, 8)
    with watched([attention]) as look:
        found = attention(x, x, ready(PADDED))
    assert torch.equal(attention(x, x, ready(PADDED)), found)
    assert len(look) == 1


@pytest.mark.parametrize(("d_k", "d_v"), [(4, 4), (1, 7), (9, 2)])
def test_d_k_and_d_v_may_be_any_size(d_k, d_v):
    attention, x = multi_head(d_k=d_k, d_v=d_v), torch.randn(2, 5, 8)
    _, key, value = attention.projected(x, x)
    assert key.shape == (2, 2, 5, d_k)
    assert value.shape == (2, 2, 5, d_v)
    assert attention(x, x).shape == x.shape


def test_dropout_falls_on_the_weights_only_in_training():
    attention, x = multi_head(dropout=0.5), torch.randn(2, 5, 8)
    calm = attention(x, x)
    torch.testing.assert_close(attention(x, x), calm)
    attention.train()
    torch.manual_seed(7)
    dropped = attention(x, x)
    torch.manual_seed(7)
    query, key, value = attention.projected(x, x)
    weights = attention.dropout(attention_weights(query, key))
    by_hand = attention.to_output((weights @ value).transpose(1, 2).flatten(2))
    torch.testing.assert_close(dropped, by_hand)
    assert not torch.allclose(dropped, calm)
