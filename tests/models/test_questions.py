"""The questions that everybody asks of the Transformer, each answered by a measurement.

Others are answered beside what they are about: the scale in nn/test_attention.py, the order of
words in nn/test_positions.py, the future in models/test_transformer.py. None of these is about
trained weights: they are laws, or say of which random numbers they speak.
"""

import math

import pytest
import torch
from torch import Tensor, nn

from headway.core.attention import ReadyMask, additive, attend, attention_weights, causal_mask
from headway.core.layers import FeedForward
from headway.core.transformer import Transformer, TransformerConfig
from headway.nn.attention_weights import look

SMALL = {"encoder_layers": 1, "decoder_layers": 2, "d_model": 16, "d_ff": 16, "heads": 2}


def small(**options: object) -> Transformer:
    torch.manual_seed(1)
    config = TransformerConfig(**{**SMALL, **options})  # type: ignore[arg-type]
    return Transformer(config, vocabulary_size=11).eval()


# -- why divide by sqrt(d_k) ------------------------------------------------------------------


@pytest.mark.parametrize("mean", [0.0, 1.0, 2.0])
def test_the_variance_of_a_score_is_d_k_only_where_the_means_are_zero(mean):
    """Var(qk) = 1 + 2 mean^2 for each of d_k products of independent numbers of variance 1."""
    d_k = 64
    query, key = (torch.randn(40_000, d_k) + mean for _ in range(2))
    variance = (query * key).sum(-1).var().item()
    assert variance == pytest.approx(d_k * (1 + 2 * mean**2), rel=0.05)


# -- why other weights for queries than for keys ----------------------------------------------


def own_weight(query: Tensor, key: Tensor) -> float:
    """The weight of a position on itself, mean over the positions."""
    return attention_weights(query[None, None], key[None, None])[0, 0].diagonal().mean().item()


def test_with_one_projection_scores_are_symmetric_and_with_two_they_are_not():
    x, to_query, to_key = torch.randn(16, 64), torch.randn(64, 64), torch.randn(64, 64)
    shared = (x @ to_query) @ (x @ to_query).T
    torch.testing.assert_close(shared, shared.T)  # i looks at j as j looks at i
    apart = (x @ to_query) @ (x @ to_key).T
    assert not torch.allclose(apart, apart.T, rtol=0.1)


def test_with_one_projection_nothing_of_the_same_length_scores_higher_than_oneself():
    """Cauchy and Schwarz; a longer vector in the same direction does."""
    query = nn.functional.normalize(torch.randn(16, 64), dim=-1)
    assert ((query @ query.T).argmax(-1) == torch.arange(16)).all()
    query[1] = 2 * query[0]
    assert (query @ query.T)[0].argmax() == 1


def test_one_projection_of_random_vectors_gives_a_unit_matrix_where_scores_are_large_and_not_else():
    """At the scale of LayerNorm's outputs times Xavier's matrices (one head, 64 wide) it is so, as
    the notes say; for queries and keys a tenth as long it is not."""
    n, d = 16, 64
    x, to_query, to_key = torch.randn(n, d), torch.randn(d, d) / 8, torch.randn(d, d) / 8
    assert own_weight(x @ to_query, x @ to_query) > 0.9
    assert own_weight(x @ to_query, x @ to_key) < 2 / n
    assert own_weight(x @ to_query / 10, x @ to_query / 10) < 2 / n
    value = torch.randn(n, d)
    query = (x @ to_query)[None, None]
    alone = attend(4 * query, query, value[None, None])  # then nothing is gathered from others
    torch.testing.assert_close(alone[0, 0], value, rtol=0, atol=1e-3)


# -- why many heads ---------------------------------------------------------------------------


def looking(weights: list[list[float]], values: Tensor) -> Tensor:
    """What heads with these weights gather, through softmax of their logarithms; no projections."""
    scores = torch.tensor(weights).log() * math.sqrt(values.shape[-1])
    heads, n = scores.shape
    keys = torch.eye(n, values.shape[-1]).expand(1, heads, n, -1)
    query = nn.functional.pad(scores, (0, values.shape[-1] - n))[None, :, None]
    return attend(query, keys, values.expand(1, heads, n, -1)).squeeze()


def test_one_head_gives_one_mean_which_many_values_share_and_two_heads_tell_them_apart():
    values = torch.tensor([[1.0, 0.0, 3.0], [0.0, 1.0, -2.0]])
    equal, unequal = [[0.5, 0.5]], [[0.75, 0.25]]
    exchanged = values.flip(0)
    torch.testing.assert_close(looking(equal, values), looking(equal, exchanged))
    # Unequal weights tell these two apart, but not others with the same mean.
    assert not torch.allclose(looking(unequal, values), looking(unequal, exchanged), atol=0.1)
    shift = torch.tensor([1.0, -2.0, 0.5])
    others = values + torch.stack([shift / 0.75, -shift / 0.25])
    torch.testing.assert_close(looking(unequal, values), looking(unequal, others))
    # Two heads with different weights: both values can be computed from what they gathered.
    weights = [[0.75, 0.25], [0.25, 0.75]]
    for both in (values, exchanged, others):
        gathered = looking(weights, both)
        torch.testing.assert_close(torch.linalg.solve(torch.tensor(weights), gathered), both)


# -- why minus infinity -----------------------------------------------------------------------

VISIBLE = torch.tensor([True, True, False])


def test_zero_hides_nothing_and_minus_a_thousand_hides_exactly_where_scores_are_ordinary():
    scores = torch.tensor([2.0, -3.0, 5.0])
    hidden = (scores + additive(VISIBLE)).softmax(-1)
    assert hidden[2] == 0
    assert (scores * VISIBLE).softmax(-1)[2] > 0.1  # exp(0) is 1: a score like any other
    for large in (1000.0, 10_000.0):
        assert torch.equal((scores - large * ~VISIBLE).softmax(-1), hidden)  # exp underflows to 0


def test_only_minus_infinity_hides_whatever_the_scores_are():
    scores = torch.tensor([-2000.0, -2001.0, 5.0])
    assert (scores * VISIBLE).softmax(-1)[2] > 0.99
    assert (scores - 1000.0 * ~VISIBLE).softmax(-1)[2] > 0.99  # the others lie lower still
    hidden = (scores + additive(VISIBLE)).softmax(-1)
    assert hidden[2] == 0
    torch.testing.assert_close(hidden[:2], torch.tensor([1.0, 0.0]).softmax(-1))


def test_minus_infinity_may_be_added_before_or_after_the_scale_and_minus_a_thousand_may_not():
    scores, scale = torch.tensor([4.0, 8.0, 1200.0]), 8.0
    for mask, same in ((additive(VISIBLE), True), (-1000.0 * ~VISIBLE, False)):
        before, after = ((scores + mask) / scale).softmax(-1), (scores / scale + mask).softmax(-1)
        assert torch.allclose(before, after) is same


# -- what the mask of the decoder means -------------------------------------------------------


def test_the_output_that_writes_a_word_has_seen_neither_it_nor_what_follows():
    """The notes' "I love learning": <s> 我 爱 学习 is fed, 我 爱 学习 </s> is expected."""
    begin, i, love, learning, other = 2, 4, 5, 6, 7
    model, source = small(), torch.tensor([[8, 9, 10, 3]])
    fed = torch.tensor([[begin, i, love, learning]])
    logits = model(source, fed)
    for column, row_that_writes_it in ((1, 0), (2, 1), (3, 2)):
        changed = fed.clone()
        changed[:, column:] = other
        after = model(source, changed)
        assert torch.equal(after[:, : row_that_writes_it + 1], logits[:, : row_that_writes_it + 1])
        assert not torch.allclose(after[:, column], logits[:, column])
    weights = look(model, source, fed).decoder
    assert weights[..., 0, :].eq(torch.tensor([1.0, 0, 0, 0])).all()  # 我: from <s> alone
    assert weights[..., 1, :2].all()  # 爱: from <s> and 我
    assert not weights[..., 1, 2:].any()


def test_the_causal_mask_alone_already_tells_order():
    """Only without a mask is attention blind to order; see nn/test_positions.py."""
    x, order = torch.randn(1, 1, 5, 8), torch.tensor([3, 0, 4, 1, 2])
    permuted = x[:, :, order]
    torch.testing.assert_close(attend(permuted, permuted, permuted), attend(x, x, x)[:, :, order])
    masked, of_permuted = (attend(y, y, y, ReadyMask.of(causal_mask(5))) for y in (x, permuted))
    assert not torch.allclose(of_permuted, masked[:, :, order], atol=0.1)


def test_without_cross_attention_the_output_knows_nothing_of_the_source():
    model = small()
    target = torch.tensor([[2, 5, 6]])
    sources = torch.tensor([[4, 7, 3]]), torch.tensor([[8, 9, 3]])

    with torch.no_grad():
        one, other = (model(source, target) for source in sources)
        assert not torch.allclose(one, other, atol=1e-3)
        for name, parameter in model.named_parameters():
            if "cross_attention.to_output" in name:
                parameter.zero_()
        one, other = (model(source, target) for source in sources)
        assert torch.equal(one, other)


# -- LayerNorm, residual connections, feed-forward --------------------------------------------


def test_a_norm_of_the_model_takes_2_2_4_numbers_and_makes_a_mean_for_each_of_4_positions():
    """Not for each of 4 columns of shape (2, 2, 1), as the notes have it and BatchNorm does; nor
    one for each sentence, as LayerNorm over [length, d_model] would."""
    model = small(encoder_layers=3, d_model=4)
    seen: list[tuple[Tensor, Tensor]] = []
    for module in model.modules():
        if isinstance(module, nn.LayerNorm):
            module.register_forward_hook(lambda _, x, y: seen.append((x[0].detach(), y.detach())))
    model.encode(torch.tensor([[4, 5], [7, 8]]))
    assert len(seen) == 2 * 3
    for x, y in seen:
        assert x.shape == (2, 2, 4)
        by_position, by_column, by_sentence = (
            (x - x.mean(axes, keepdim=True))
            / (x.var(axes, unbiased=False, keepdim=True) + 1e-5).sqrt()
            for axes in (-1, (0, 1), (1, 2))
        )
        torch.testing.assert_close(y, by_position)
        assert not torch.allclose(y, by_column, atol=0.1)
        assert not torch.allclose(y, by_sentence, atol=0.1)


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_where_sublayers_give_nothing_what_goes_in_comes_out(norm):
    """The residual connection hands on values and gradients; post-norm also normalizes them."""
    model = small(encoder_layers=3, norm=norm)
    model.encoder_norm = nn.Identity()
    embedded: list[Tensor] = []
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if ".to_output." in name:
                parameter.zero_()

    def start_here(_module: object, _inputs: object, output: Tensor) -> Tensor:
        embedded.append(output.detach().requires_grad_())
        return embedded[0]

    model.source_positions.register_forward_hook(start_here)
    encoded, _ = model.encode(torch.tensor([[4, 5, 6, 3]]))
    weights = torch.randn_like(encoded)
    (encoded * weights).sum().backward()
    if norm == "pre":
        assert torch.equal(encoded, embedded[0])
        assert embedded[0].grad is not None
        assert torch.equal(embedded[0].grad, weights)
    else:
        normal = nn.functional.layer_norm(embedded[0], (16,))
        torch.testing.assert_close(encoded, normal, rtol=1e-3, atol=1e-3)


def n_parameters(module: nn.Module, containing: str = "") -> int:
    return sum(p.numel() for name, p in module.named_parameters() if containing in name)


def test_widening_multiplies_the_feed_forwards_parameters_and_saves_none():
    """Four times as wide, four times as many; in the paper's encoder two thirds of each layer."""
    narrow, wide = (n_parameters(FeedForward(512, d_ff)) for d_ff in (512, 2048))
    assert wide / narrow == pytest.approx(4, rel=0.01)
    config = TransformerConfig(encoder_layers=1, decoder_layers=1)
    with torch.device("meta"):
        layer = Transformer(config, vocabulary_size=9).encoder[0]
    assert n_parameters(layer, "feed_forward.to") == wide == 2 * 512 * 2048 + 2048 + 512
    assert n_parameters(layer, "self_attention.to") == 4 * (512 * 512 + 512)
    assert wide / n_parameters(layer) == pytest.approx(2 / 3, rel=0.01)
