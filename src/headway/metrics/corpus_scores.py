"""BLEU and chrF of a corpus with intervals and signatures, and of several languages together."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

from headway.core.bleu import (
    Counts,
    Scores,
    SentenceStatistics,
    bleu_statistics,
    bleu_tokenizer,
    check_pairs,
    sentence_counts,
)

Advance = Callable[[int], object]
"""Is told how many more sentences were scored (TER takes up to 20 ms for a long one)."""


def nobody(_: int) -> None:
    """Nobody is told of progress."""


def counted(
    metric: Any,
    formula: Callable[[Counts], Scores],
    hypotheses: Sequence[str],
    references: Sequence[Sequence[str]],
    advance: Advance = nobody,
) -> SentenceStatistics:
    """What one of sacreBLEU's metrics counts, against any of several references; some sentences at
    a time, of which `advance` is told."""
    for lines in references:
        check_pairs(hypotheses, lines)
    parts = []
    for first in range(0, len(hypotheses), 50):
        some = slice(first, first + 50)
        sets = [lines[some] for lines in references]
        parts.append(sentence_counts(metric, hypotheses[some], sets))
        advance(len(parts[-1]))
    return SentenceStatistics(np.concatenate(parts), formula, metric)


def chrf_formula(counts: Counts) -> Scores:
    """chrF2 in percent (Popovic 2015): n-grams of characters and words, recall weighing twice.

    A row of counts: for each n the n-grams in the output, in the reference, and in both.
    """
    output, reference, both = counts.reshape(len(counts), -1, 3).transpose(2, 0, 1)
    usable = (output > 0) & (reference > 0)
    n_usable = np.maximum(usable.sum(1), 1)
    precision = np.where(usable, both / np.maximum(output, 1), 0.0).sum(1) / n_usable
    recall = np.where(usable, both / np.maximum(reference, 1), 0.0).sum(1) / n_usable
    weighted = 4.0 * precision + recall
    return 100.0 * 5.0 * precision * recall / np.where(weighted > 0, weighted, 1.0)


def chrf_statistics(
    hypotheses: Sequence[str], references: Sequence[str], **how: Any
) -> SentenceStatistics:
    """Counts for chrF2, or with `word_order=2` (n-grams of words up to that) for chrF2++."""
    return counted(CHRF(**how), chrf_formula, hypotheses, [references])


def bleu_by_language(
    hypotheses: Sequence[str], references: Sequence[str], languages: Sequence[str | None]
) -> SentenceStatistics:
    """Counts for BLEU of all sentences together, each cut into tokens as its language is."""
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
    parts[0].metric.tokenizer_signature = "+".join(rows_of)
    order = np.argsort(np.concatenate([*rows_of.values()]))
    return replace(parts[0], counts=np.concatenate([part.counts for part in parts])[order])


@dataclass(frozen=True)
class Score:
    """One figure in percent; `low` and `high` bound it with 95 % confidence."""

    score: float
    low: float
    high: float
    signature: str


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


class BleuAndChrf(NamedTuple):
    """What a model card tells of translations into one language."""

    bleu: Score
    chrf: Score


def score_translations(
    hypotheses: Sequence[str], references: Sequence[str], *, target_language: str | None = None
) -> BleuAndChrf:
    """Both scores with their intervals and signatures."""
    return BleuAndChrf(
        with_interval(bleu_statistics(hypotheses, references, target_language=target_language)),
        with_interval(chrf_statistics(hypotheses, references)),
    )
