"""Scores of translations: BLEU, chrF, TER, with intervals, significance, and by length.

All are sacreBLEU's figures in percent, with its signatures. Intervals and p-values come from
bootstrap resampling of sentences (Koehn 2004).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool
from sacrebleu.metrics.bleu import BLEU

from headway.errors import DataError
from headway.metrics.statistics import (
    Advance,
    SentenceStatistics,
    bleu_statistics,
    chrf_statistics,
    nobody,
    ter_statistics,
)
from headway.metrics.tokenizers import bleu_tokenizer

METRICS = ("bleu", "chrf", "ter")
LAST_LENGTHS = (5, 10, 15, 20, 30, 40, 60)


@dataclass(frozen=True)
class Score:
    """One figure in percent; `low` and `high` bound it with 95 % confidence."""

    score: float
    low: float
    high: float
    signature: str


@dataclass(frozen=True)
class TranslationScores:
    """All scores of one system."""

    bleu: Score
    chrf: Score
    ter: Score | None
    """Lower is better; None where it was not asked for."""
    exact_match: float
    """Percent of the sentences that equal their reference, or one of several."""
    sentences: int
    hypothesis_length: int
    """In BLEU's tokens."""
    reference_length: int


@dataclass(frozen=True)
class Difference:
    """A second system's score less a first one's; `p_value` is of the paired bootstrap test."""

    difference: float
    p_value: float


@dataclass(frozen=True)
class LengthBucket:
    """BLEU of the sentences whose length lies between `shortest` and `longest`, both included."""

    shortest: int
    longest: int | None
    sentences: int
    bleu: float
    length_ratio: float
    """Length of the output over length of the reference."""


@dataclass(frozen=True)
class Measured:
    """One system, scored sentence by sentence: what every figure below is computed from."""

    statistics: dict[str, SentenceStatistics]
    """By the names in `METRICS`; `ter` only where it was asked for."""
    exact: Bool[np.ndarray, " sentences"]


def measure(
    hypotheses: Sequence[str],
    references: Sequence[str],
    *,
    more_references: Sequence[Sequence[str]] = (),
    target_language: str | None = None,
    tokenize: str | None = None,
    lowercase: bool = False,
    ter: bool = True,
    advance: Advance = nobody,
) -> Measured:
    """Score every sentence once.

    BLEU's tokenizer follows the target language (`zh`; `char` for Japanese; else `13a`) unless
    `tokenize` names another, such as `none` for text that is tokenized already. `lowercase` folds
    case for BLEU and chrF (TER ignores case always). `more_references` are further translations
    of every sentence: BLEU matches any of them and takes the length that is closest, chrF and TER
    take the one that fits best. TER may be left out: where it counts characters, a thousand long
    lines take minutes. `advance` is told of progress: the number of sentences, times that of
    metrics. Raises `DataError` for unequal numbers of sentences, or none.
    """
    sets = [references, *more_references]
    for lines in sets:
        check_pairs(hypotheses, lines)
    statistics = {
        "bleu": bleu_statistics(
            hypotheses,
            references,
            more_references=more_references,
            target_language=target_language,
            tokenize=tokenize,
            lowercase=lowercase,
            advance=advance,
        ),
        "chrf": chrf_statistics(
            hypotheses,
            references,
            more_references=more_references,
            lowercase=lowercase,
            advance=advance,
        ),
    }
    if ter:
        statistics["ter"] = ter_statistics(
            hypotheses,
            references,
            more_references=more_references,
            target_language=target_language,
            advance=advance,
        )
    return Measured(
        statistics,
        np.array(
            [
                any(line.strip() == right.strip() for right in rights)
                for line, *rights in zip(hypotheses, *sets, strict=True)
            ]
        ),
    )


def summarize(
    measured: Measured, *, n_bootstrap: int = 1000, seed: int = 12345
) -> TranslationScores:
    """Corpus scores with 95 % intervals: the middle of `n_bootstrap` resampled scores."""
    counts = measured.statistics["bleu"].counts
    scores = {
        name: with_interval(statistics, n_bootstrap, seed)
        for name, statistics in measured.statistics.items()
    }
    return TranslationScores(
        bleu=scores["bleu"],
        chrf=scores["chrf"],
        ter=scores.get("ter"),
        exact_match=100.0 * float(measured.exact.mean()),
        sentences=len(measured.exact),
        hypothesis_length=int(counts[:, 0].sum()),
        reference_length=int(counts[:, 1].sum()),
    )


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


def compare(
    first: Measured, second: Measured, *, n_bootstrap: int = 1000, seed: int = 12345
) -> dict[str, Difference]:
    """Does the second system really differ? By the names of what both were measured by.

    Both are scored on the same resampled corpora. The p-value is the share of them whose absolute
    difference exceeds its mean over all resamples by the observed difference or more, as in
    sacreBLEU's paired bootstrap test (for which, however, equal systems differ significantly):
    below 0.05, chance is a poor explanation.
    """
    if len(first.exact) != len(second.exact):
        raise DataError(
            "two systems are compared on the same sentences; got "
            f"{len(first.exact)} and {len(second.exact)}. Translate the same source with both."
        )
    return {
        name: difference(statistics, second.statistics[name], n_bootstrap=n_bootstrap, seed=seed)
        for name, statistics in first.statistics.items()
        if name in second.statistics
    }


def difference(
    first: SentenceStatistics,
    second: SentenceStatistics,
    *,
    n_bootstrap: int = 1000,
    seed: int = 12345,
) -> Difference:
    """`compare` under one metric; both are counts of the same sentences, in the same order."""
    observed = second.score() - first.score()
    resampled = (one.resampled(n_bootstrap, seed) for one in (first, second))
    distances = np.abs(np.subtract(*resampled))
    n_farther = int((distances - distances.mean() >= abs(observed)).sum())
    return Difference(observed, (n_farther + 1) / (n_bootstrap + 1))


def lengths_in_tokens(texts: Sequence[str], language: str | None = None) -> list[int]:
    """How long each text is for BLEU: words and signs, of Chinese and Japanese characters."""
    tokenizer = BLEU(tokenize=bleu_tokenizer(language)).tokenizer
    return [len(tokenizer(text.rstrip()).split()) for text in texts]


def by_length(measured: Measured, lengths: Sequence[int] | None = None) -> list[LengthBucket]:
    """BLEU of short and of long sentences apart; empty buckets are left out.

    `lengths` are those of the sources, in any unit; without them, those of the references in
    BLEU's tokens.
    """
    statistics = measured.statistics["bleu"]
    if lengths is None:
        lengths = statistics.counts[:, 1].astype(int).tolist()
    bucket = np.searchsorted(LAST_LENGTHS, np.asarray(lengths))
    buckets = []
    for i in np.unique(bucket):
        part = statistics.of(bucket == i)
        length, reference_length = part.counts[:, :2].sum(0)
        buckets.append(
            LengthBucket(
                shortest=LAST_LENGTHS[i - 1] + 1 if i else 0,
                longest=LAST_LENGTHS[i] if i < len(LAST_LENGTHS) else None,
                sentences=len(part.counts),
                bleu=part.score(),
                length_ratio=float(length / reference_length) if reference_length else 0.0,
            )
        )
    return buckets


def score_translations(
    hypotheses: Sequence[str],
    references: Sequence[str],
    *,
    target_language: str | None = None,
    tokenize: str | None = None,
    lowercase: bool = False,
    ter: bool = True,
    n_bootstrap: int = 1000,
    seed: int = 12345,
) -> TranslationScores:
    """BLEU, chrF and TER of one system: `measure`, then `summarize`."""
    measured = measure(
        hypotheses,
        references,
        target_language=target_language,
        tokenize=tokenize,
        lowercase=lowercase,
        ter=ter,
    )
    return summarize(measured, n_bootstrap=n_bootstrap, seed=seed)


def compare_systems(
    first: Sequence[str],
    second: Sequence[str],
    references: Sequence[str],
    *,
    target_language: str | None = None,
    n_bootstrap: int = 1000,
    seed: int = 12345,
) -> dict[str, Difference]:
    """The second system's scores less the first one's, with p-values; see `compare`."""
    measured = [
        measure(system, references, target_language=target_language) for system in (first, second)
    ]
    return compare(*measured, n_bootstrap=n_bootstrap, seed=seed)


def bleu(
    hypotheses: Sequence[str],
    references: Sequence[str],
    *,
    target_language: str | None = None,
    tokenize: str | None = None,
    lowercase: bool = False,
) -> float:
    """BLEU alone, in percent, as validation needs it: no interval, and no slow TER."""
    check_pairs(hypotheses, references)
    return bleu_statistics(
        hypotheses,
        references,
        target_language=target_language,
        tokenize=tokenize,
        lowercase=lowercase,
    ).score()


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
            [hypotheses[row] for row in rows], [references[row] for row in rows], tokenize=tokenizer
        )
        for tokenizer, rows in rows_of.items()
    ]
    return replace(parts[0], counts=np.concatenate([part.counts for part in parts]))


def moses_bleu(
    hypotheses: Sequence[str], references: Sequence[str], language: str, *, lowercase: bool = True
) -> float:
    """BLEU as the older literature has it: over Moses tokens, by default lower-cased.

    This is the figure that Multi30k papers report; it is not comparable to sacreBLEU's.
    Raises `ConfigError` where the extra `moses` is not installed.
    """
    return bleu(
        hypotheses, references, target_language=language, tokenize="moses", lowercase=lowercase
    )


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
