"""Scores of translations as training needs them: BLEU and chrF, with intervals and p-values.

They are sacreBLEU's figures in percent, with its signatures. Intervals and p-values come from
bootstrap resampling of sentences (Koehn 2004).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from sacrebleu.metrics.bleu import BLEU

from headway.errors import DataError
from headway.metrics.statistics import (
    SentenceStatistics,
    bleu_statistics,
    bleu_tokenizer,
    chrf_statistics,
)


@dataclass(frozen=True)
class Score:
    """One figure in percent; `low` and `high` bound it with 95 % confidence."""

    score: float
    low: float
    high: float
    signature: str


class BleuAndChrf(NamedTuple):
    """What a model card tells of translations into one language."""

    bleu: Score
    chrf: Score


@dataclass(frozen=True)
class Difference:
    """A second system's score less a first one's; `p_value` is of the paired bootstrap test."""

    difference: float
    p_value: float


def score_translations(
    hypotheses: Sequence[str], references: Sequence[str], *, target_language: str | None = None
) -> BleuAndChrf:
    """Both scores with their intervals and signatures.

    Raises `DataError` for unequal numbers of sentences, or none.
    """
    check_pairs(hypotheses, references)
    return BleuAndChrf(
        with_interval(bleu_statistics(hypotheses, references, target_language=target_language)),
        with_interval(chrf_statistics(hypotheses, references)),
    )


def bleu(
    hypotheses: Sequence[str], references: Sequence[str], *, target_language: str | None = None
) -> float:
    """BLEU alone, in percent: no interval."""
    check_pairs(hypotheses, references)
    return bleu_statistics(hypotheses, references, target_language=target_language).score()


def bleu_by_language(
    hypotheses: Sequence[str], references: Sequence[str], languages: Sequence[str | None]
) -> SentenceStatistics:
    """Counts for BLEU of all sentences together, each cut into tokens as its language is."""
    check_pairs(hypotheses, references)
    rows_of: dict[str, list[int]] = {}
    for row, language in enumerate(languages):
        rows_of.setdefault(bleu_tokenizer(language), []).append(row)
    parts = [
        bleu_statistics(
            [hypotheses[row] for row in rows],
            [references[row] for row in rows],
            BLEU(tokenize=tokenizer, force=True),
        )
        for tokenizer, rows in rows_of.items()
    ]
    return replace(parts[0], counts=np.concatenate([part.counts for part in parts]))


def with_interval(
    statistics: SentenceStatistics, n_bootstrap: int = 1000, seed: int = 12345
) -> Score:
    """The corpus score with its 95 % interval; without resampling, the interval is the score."""
    score = statistics.score()
    low = high = score
    if n_bootstrap:
        resampled = np.sort(statistics.resampled(n_bootstrap, seed))
        cut = n_bootstrap // 40  # 2.5 % at either end
        low, high = float(resampled[cut]), float(resampled[n_bootstrap - cut - 1])
    return Score(score, low, high, statistics.signature(n_bootstrap, seed))


def difference(
    first: SentenceStatistics,
    second: SentenceStatistics,
    *,
    n_bootstrap: int = 1000,
    seed: int = 12345,
) -> Difference:
    """Does the second system really differ? Both are counts of the same sentences, in order.

    Both are scored on the same resampled corpora. The p-value is the share of them whose absolute
    difference exceeds its mean over all resamples by the observed difference or more, as in
    sacreBLEU's paired bootstrap test (for which, however, equal systems differ significantly):
    below 0.05, chance is a poor explanation.
    """
    observed = second.score() - first.score()
    resampled = (one.resampled(n_bootstrap, seed) for one in (first, second))
    distances = np.abs(np.subtract(*resampled))
    n_farther = int((distances - distances.mean() >= abs(observed)).sum())
    return Difference(observed, (n_farther + 1) / (n_bootstrap + 1))


def check_pairs(hypotheses: Sequence[str], references: Sequence[str]) -> None:
    """Raise `DataError` for unequal numbers of sentences, or none."""
    if len(hypotheses) != len(references):
        raise DataError(
            "every translation needs its reference; got "
            f"{len(hypotheses)} translations and {len(references)} references. "
            "Give files of equally many lines."
        )
    if not hypotheses:
        raise DataError("scores need at least one sentence; got none. Give files with lines.")
