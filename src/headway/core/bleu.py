"""BLEU (Papineni et al. 2002), and how much of it is chance.

The counts of each sentence are sacreBLEU's own (Post 2018), and so are signatures; the formula is
its formula over arrays, so that hundreds of scores of resampled sentences (Koehn 2004) are one
matrix product and one call.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float64
from sacrebleu.metrics.bleu import BLEU

from headway.core.errors import DataError

Counts = Float64[np.ndarray, "corpora numbers"]
Scores = Float64[np.ndarray, " corpora"]

UNSPACED = dict.fromkeys("ja jpn th tha lo lao km khm my mya bur bo bod tib dz dzo".split(), "char")
UNSPACED |= dict.fromkeys("zh zho chi cmn yue wuu lzh gan hsn".split(), "zh")
"""Languages written without spaces, of which characters are scored, and BLEU's tokenizer."""

DRAWS_AT_ONCE = 4_000_000
"""Bounds the memory of resampling, to about 100 MB."""

LEAST_NOISE = 0.5
"""Scores below this are made of smoothing and of lengths, whatever the resampled ones say."""


def bleu_formula(counts: Counts) -> Scores:
    """BLEU in percent with sacreBLEU's exponential smoothing.

    A row of counts: length of the output and of the reference, then for 1- to 4-grams those that
    match, then those in the output.
    """
    length, reference_length = counts[:, 0], counts[:, 1]
    matches, totals = counts[:, 2:6], counts[:, 6:10]
    none = matches == 0
    with np.errstate(divide="ignore", invalid="ignore"):
        smoothed = 1.0 / (2.0 ** none.cumsum(1) * totals)
        precisions = np.where(totals == 0, 0.0, np.where(none, smoothed, matches / totals))
        brevity = np.minimum(1.0, np.exp(1.0 - reference_length / length))
        scores = 100.0 * brevity * np.exp(np.log(precisions).mean(1))
    return np.where(none.all(1) | (length == 0), 0.0, scores)


@dataclass(frozen=True)
class SentenceStatistics:
    """One system's counts under one metric: a row for each sentence."""

    counts: Float64[np.ndarray, "sentences numbers"]
    formula: Callable[[Counts], Scores]
    metric: Any
    """sacreBLEU's metric, for its signature."""

    def score(self) -> float:
        """Of the whole corpus, in percent."""
        return float(self.formula(self.counts.sum(0, keepdims=True))[0])

    def noise(self) -> float:
        """What chance alone may change of the score: its standard error, resampled."""
        return max(LEAST_NOISE, float(self.resampled(200, seed=12345).std()))

    def signature(self, n_bootstrap: int = 0, seed: int = 0) -> str:
        """sacreBLEU's: all that another needs to reproduce the score."""
        self.metric.n_bootstrap = n_bootstrap or None
        self.metric.seed = str(seed) if n_bootstrap else None
        return str(self.metric.get_signature())

    def resampled(self, n_bootstrap: int, seed: int) -> Scores:
        """Scores of `n_bootstrap` corpora drawn from this one's sentences with replacement.

        The draws depend on the number of sentences and the seed alone, so that two systems are
        resampled alike; with the same seed they are sacreBLEU's.
        """
        random, n = np.random.default_rng(seed), len(self.counts)
        at_once = max(1, DRAWS_AT_ONCE // n)
        sums = []
        for first in range(0, n_bootstrap, at_once):
            size = min(at_once, n_bootstrap - first)
            drawn = random.choice(n, size=(size, n), replace=True)
            drawn += np.arange(size)[:, None] * n
            times = np.bincount(drawn.ravel(), minlength=size * n).reshape(size, n)
            sums.append(times.astype(np.float64) @ self.counts)
        return self.formula(np.concatenate(sums))


def bleu_tokenizer(language: str | None) -> str:
    """sacreBLEU's tokenizer for a target language, by the field's convention.

    Not so Japanese (`char`) and Korean (`13a`): `ja-mecab` and `ko-mecab` need dictionaries.
    """
    base = (language or "").replace("_", "-").split("-")[0].lower()
    return UNSPACED.get(base, "13a")


def bleu_statistics(
    hypotheses: Sequence[str],
    references: Sequence[str],
    metric: BLEU | None = None,
    *,
    target_language: str | None = None,
) -> SentenceStatistics:
    """Counts for BLEU: the usual one for the language, unless another `metric` is given."""
    metric = metric or BLEU(tokenize=bleu_tokenizer(target_language), force=True)
    counts = sentence_counts(metric, hypotheses, [references])
    return SentenceStatistics(counts, bleu_formula, metric)


def sentence_counts(
    metric: Any, hypotheses: Sequence[str], references: Sequence[Sequence[str]]
) -> Float64[np.ndarray, "sentences numbers"]:
    """The counts of each sentence under one of sacreBLEU's metrics.

    Raises `DataError` for unequal numbers of sentences, or none.
    """
    for lines in references:
        check_pairs(hypotheses, lines)
    # What sacreBLEU's own significance tests use; it has no public name for it.
    rows = metric._extract_corpus_statistics(hypotheses, references)
    return np.array(rows, dtype=np.float64)


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
