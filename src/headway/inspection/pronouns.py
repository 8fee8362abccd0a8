"""Which head knows what a pronoun stands for."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float


class PronounAttention(NamedTuple):
    """Who looks at the words of a sentence, and which of these matter."""

    weights: Float[np.ndarray, "layers heads rows words"]
    pronoun: int
    """The row that stands for the pronoun."""
    antecedent: int
    rival: int
    """Another noun that the pronoun could have stood for."""


class Head(NamedTuple):
    """One head of one layer, both from 0, and how well it tells antecedents from rivals."""

    layer: int
    head: int
    margin: float
    """Weight on the antecedent less weight on the rival, mean over the sentences."""


def clearest_head(sentences: Sequence[PronounAttention]) -> Head:
    """The head whose pronouns look most at their antecedent and least at the rival.

    A head that always looks at, say, the subject gains nothing where subject and object are the
    antecedent equally often.
    """
    margins = np.stack(
        [
            s.weights[:, :, s.pronoun, s.antecedent] - s.weights[:, :, s.pronoun, s.rival]
            for s in sentences
        ]
    ).mean(axis=0)
    layer, head = np.unravel_index(int(margins.argmax()), margins.shape)
    return Head(int(layer), int(head), float(margins[layer, head]))


def share_resolved(sentences: Sequence[PronounAttention], layer: int, head: int) -> float:
    """In what share of the sentences this head looks more at the antecedent than at the rival."""
    rows = [(s, s.weights[layer, head, s.pronoun]) for s in sentences]
    return float(np.mean([row[s.antecedent] > row[s.rival] for s, row in rows]))
