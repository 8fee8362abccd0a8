"""One convention, and the four others of the notes, which agree once they are converted."""

import math

import torch

from headway.core.attention import (
    ReadyMask,
    additive,
    attention_weights,
    causal_mask,
    padding_mask,
)

IDS = torch.tensor([[4, 5, 6, 7], [4, 5, 0, 0]])
VISIBLE = padding_mask(IDS, 0) & causal_mask(4)  # both at once, [batch, 1, query, key]


def random_scores() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Query, key, and their scaled scores by hand."""
    query, key = torch.randn(2, 3, 4, 5), torch.randn(2, 3, 4, 5)
    return query, key, query @ key.transpose(2, 3) / math.sqrt(5)


def test_the_causal_mask_is_lower_triangular_with_its_diagonal():
    expected = [[1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0], [1, 1, 1, 1]]
    assert causal_mask(4).dtype == torch.bool
    assert causal_mask(4)[0, 0].int().tolist() == expected


def test_padding_is_hidden_from_every_query_whatever_its_id():
    assert padding_mask(IDS, 0)[:, 0, 0].tolist() == [[True] * 4, [True, True, False, False]]
    assert padding_mask(IDS, 7)[:, 0, 0].tolist() == [[True, True, True, False], [True] * 4]


def test_additive_is_zero_where_visible_and_minus_infinity_elsewhere():
    assert additive(torch.tensor([True, False])).tolist() == [0.0, float("-inf")]
    assert additive(torch.tensor([True]), torch.bfloat16).dtype == torch.bfloat16


def test_zero_hides_with_minus_ten_thousand():
    """exp(-10000) is 0 in float32, so only rounding (1e-6) may differ.

    That holds while a row sees a key whose score is within 9,000 of the hidden ones; a row that
    sees nothing would look everywhere alike under this convention, and is zero in ours.
    """
    mask = VISIBLE.int()
    query, key, scores = random_scores()
    theirs = scores.masked_fill(mask == 0, -10000).softmax(-1)
    ours = attention_weights(query, key, ReadyMask.of(mask != 0))
    torch.testing.assert_close(ours, theirs, rtol=1e-6, atol=1e-6)
    nothing = torch.zeros(2, 1, 4, 4, dtype=torch.int)
    assert scores.masked_fill(nothing == 0, -10000).softmax(-1).eq(0.25).all()
    assert not attention_weights(query, key, ReadyMask.of(nothing != 0)).any()


def test_length_by_length_by_batch():
    mask = VISIBLE[:, 0].permute(1, 2, 0)  # [query, key, batch], 1 = look
    query, key, scores = random_scores()
    as_in_the_notes = scores.permute(2, 3, 0, 1)  # [query, key, batch, heads]
    hidden = as_in_the_notes.masked_fill(mask[..., None] == 0, float("-inf"))
    theirs = hidden.softmax(1).permute(2, 3, 0, 1)
    ours = attention_weights(query, key, ReadyMask.of(mask.permute(2, 0, 1)[:, None]))
    torch.testing.assert_close(ours, theirs, rtol=1e-6, atol=1e-6)


def test_boolean_false_hides_a_key():
    """A padding mask of one truth value a position, joined with the upper triangle to be hidden."""
    real = IDS != 0  # [batch, key]
    future = torch.ones(4, 4).triu(1).bool()  # True = hide: the notes' triangle the right way up
    query, key, scores = random_scores()
    hidden = ~real[:, None, None, :] | future
    theirs = scores.masked_fill(hidden, float("-inf")).softmax(-1)
    ours = attention_weights(query, key, ReadyMask.of(real[:, None, None, :] & ~future))
    torch.testing.assert_close(ours, theirs, rtol=1e-6, atol=1e-6)


def test_zero_and_minus_infinity_are_added():
    """Padding and triangle are added to each other, and to the scores."""
    padding = torch.zeros(2, 1, 1, 4).masked_fill(IDS[:, None, None] == 0, float("-inf"))
    triangle = torch.full((4, 4), float("-inf")).triu(1)
    query, key, scores = random_scores()
    theirs = (scores + (padding + triangle)).softmax(-1)
    ours = attention_weights(query, key, ReadyMask.of(padding + triangle == 0))
    torch.testing.assert_close(ours, theirs, rtol=1e-6, atol=1e-6)
    torch.testing.assert_close(additive(VISIBLE), padding + triangle)
