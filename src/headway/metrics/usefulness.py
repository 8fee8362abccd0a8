"""Whether translations are of any use: judged by what needs no model and no magic score."""

from collections.abc import Sequence

import numpy as np

from headway.metrics.corpus_scores import chrf_statistics

LEAST_SENTENCES = 20
"""With fewer nothing is said."""
LEAST_TOLD_APART = 0.8
"""How often a translation must be nearer to its own reference than to that of another sentence;
chance is a half."""
_SHIFTS = 5


def below_use(sources: Sequence[str], hypotheses: Sequence[str], references: Sequence[str]) -> str:
    """Why translations are good for nothing, in words; nothing where they are not.

    Either the sources themselves, untranslated, are as near to the references (by chrF), or one
    cannot tell from a translation which sentence it is of: it is no nearer to its own reference
    than to others.
    """
    if len(references) < LEAST_SENTENCES:
        return ""
    score, copied = (chrf_statistics(one, references).score() for one in (hypotheses, sources))
    if score <= copied:
        return (
            "the untranslated sources are as near to the validation references as its translations "
            f"(chrF {copied:.1f} and {score:.1f})"
        )
    share = told_apart(hypotheses, references)
    if share < LEAST_TOLD_APART:
        return (
            f"only {share:.0%} of its translations are nearer to their own reference than to that "
            f"of another sentence; chance is 50%, and {LEAST_TOLD_APART:.0%} is the least"
        )
    return ""


def told_apart(hypotheses: Sequence[str], references: Sequence[str]) -> float:
    """How often a translation is nearer to its own reference than to another; ties are halves.

    By sentence chrF, beside a few others of the same references; 0.5 is chance.
    """
    n = len(references)
    own = _by_sentence(hypotheses, references)
    wins, n_compared = 0.0, 0
    for number in range(1, _SHIFTS + 1):
        shift = number * n // (_SHIFTS + 1)
        others = [references[(row + shift) % n] for row in range(n)]
        other = _by_sentence(hypotheses, others)
        differ = np.array([a != b for a, b in zip(others, references, strict=True)])
        wins += float(((own > other) + 0.5 * (own == other))[differ].sum())
        n_compared += int(differ.sum())
    return wins / n_compared if n_compared else 1.0


def _by_sentence(hypotheses: Sequence[str], references: Sequence[str]) -> np.ndarray:
    found = chrf_statistics(hypotheses, references)
    scores: np.ndarray = found.formula(found.counts)
    return scores
