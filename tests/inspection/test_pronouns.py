"""The head that is shown is the one that tells best, and it is not flattered."""

import numpy as np

from headway.inspection.pronouns import PronounAttention, clearest_head, share_resolved


def looking(layers_heads: dict[tuple[int, int], list[float]], antecedent: int) -> PronounAttention:
    """2 layers, 2 heads, 3 words; the last word is the pronoun, 0 and 1 are the nouns."""
    weights = np.full((2, 2, 3, 3), 1 / 3)
    for (layer, head), row in layers_heads.items():
        weights[layer, head, 2] = row
    return PronounAttention(weights, pronoun=2, antecedent=antecedent, rival=1 - antecedent)


def test_the_clearest_head_follows_the_antecedent_not_the_subject() -> None:
    always_first, follows = (0, 1), (1, 0)
    sentences = [
        looking({always_first: [0.9, 0.0, 0.1], follows: [0.6, 0.2, 0.2]}, antecedent=0),
        looking({always_first: [0.9, 0.0, 0.1], follows: [0.3, 0.5, 0.2]}, antecedent=1),
    ]
    head = clearest_head(sentences)
    assert (head.layer, head.head) == (1, 0)
    np.testing.assert_allclose(head.margin, ((0.6 - 0.2) + (0.5 - 0.3)) / 2)
    assert share_resolved(sentences, 1, 0) == 1.0
    assert share_resolved(sentences, 0, 1) == 0.5
    assert share_resolved(sentences, 0, 0) == 0.0  # looking at both alike tells nothing
