"""All that `headway evaluate` says of systems: three metrics, significance, BLEU by length."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from jaxtyping import Bool
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.metrics.ter import TER

from headway.core.bleu import (
    UNSPACED,
    Counts,
    Scores,
    SentenceStatistics,
    bleu_formula,
    bleu_tokenizer,
)
from headway.core.errors import DataError
from headway.core.lines import MAX_LINE_BYTES, read_lines
from headway.languages.codes import base, suffix_of
from headway.localization.formats.file_kinds import NO_TEXT, no_plain_text
from headway.metrics.corpus_scores import (
    Advance,
    Score,
    chrf_formula,
    counted,
    nobody,
    with_interval,
)
from headway.metrics.tokenizers import bleu_metric

METRICS = ("bleu", "chrf", "ter")
LAST_LENGTHS = (5, 10, 15, 20, 30, 40, 60)


@dataclass(frozen=True)
class TranslationScores:
    bleu: Score
    chrf: Score
    ter: Score | None
    """Lower is better; None where it was not asked for."""
    rouge: dict[str, Score]
    """By the names in `headway.metrics.rouge.NAMES`; empty where it was not asked for."""
    exact_match: float
    """Percent of the sentences that equal their reference, or one of several."""
    sentences: int
    hypothesis_length: int
    """In BLEU's tokens."""
    reference_length: int


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
class Difference:
    """A second system's score less a first one's; `p_value` is of the paired bootstrap test."""

    difference: float
    p_value: float


@dataclass(frozen=True)
class ScoredSystem:
    """One system, scored sentence by sentence: what every figure below is computed from."""

    statistics: dict[str, SentenceStatistics]
    """By the names in `METRICS`; `ter`, and those of ROUGE, only where they were asked for."""
    exact: Bool[np.ndarray, " sentences"]


def read_to_score(path: Path) -> list[str]:
    """The lines of one side of a test set.

    Raises DataError: the file cannot be read as text, or a line has more than 1 MiB.
    """
    if suffix_of(path) in NO_TEXT:
        raise no_plain_text(path)
    lines = []
    for number, line in enumerate(read_lines(path), 1):
        if line is None:
            raise DataError(
                f"a line to be scored may have {MAX_LINE_BYTES:,} bytes; line {number:,} of {path} "
                "has more. Split it, in every file alike."
            )
        lines.append(line)
    return lines


def measure(
    hypotheses: Sequence[str],
    references: Sequence[str],
    *,
    more_references: Sequence[Sequence[str]] = (),
    target_language: str | None = None,
    tokenize: str | None = None,
    lowercase: bool = False,
    ter: bool = True,
    rouge: bool = False,
    advance: Advance = nobody,
) -> ScoredSystem:
    """Score every sentence once.

    BLEU's tokenizer follows the target language (`zh`; `char` for others without spaces; else
    `13a`) unless `tokenize` names another, such as `none` for text that is tokenized already.
    `lowercase` folds case for BLEU and chrF (TER ignores case always). `more_references` are
    further translations of every sentence: BLEU matches any of them and takes the length that is
    closest, chrF and TER take the one that fits best. TER may be left out: where it counts
    characters, a thousand long lines take minutes. `advance` is told of progress: the number of
    sentences, times that of metrics. Raises `DataError` for unequal numbers of sentences, or none.
    """
    sets = [references, *more_references]
    name = tokenize or bleu_tokenizer(target_language)
    metric = bleu_metric(name, target_language=target_language, lowercase=lowercase)
    chrf = CHRF(lowercase=lowercase)
    statistics = {
        "bleu": counted(metric, bleu_formula, hypotheses, sets, advance),
        "chrf": counted(chrf, chrf_formula, hypotheses, sets, advance),
    }
    if ter:
        statistics["ter"] = ter_statistics(hypotheses, sets, target_language, advance)
    if rouge:
        from headway.metrics.rouge import rouge_statistics  # an extra

        unspaced = is_unspaced(target_language)
        statistics |= rouge_statistics(hypotheses, sets, unspaced=unspaced)
    return ScoredSystem(
        statistics,
        np.array(
            [
                any(line.strip() == right.strip() for right in rights)
                for line, *rights in zip(hypotheses, *sets, strict=True)
            ]
        ),
    )


def summarize(
    measured: ScoredSystem, *, n_bootstrap: int = 1000, seed: int = 12345
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
        ter=scores.pop("ter", None),
        rouge={name: score for name, score in scores.items() if name not in METRICS},
        exact_match=100.0 * float(measured.exact.mean()),
        sentences=len(measured.exact),
        hypothesis_length=int(counts[:, 0].sum()),
        reference_length=int(counts[:, 1].sum()),
    )


def compare(
    first: ScoredSystem, second: ScoredSystem, *, n_bootstrap: int = 1000, seed: int = 12345
) -> dict[str, Difference]:
    """What `difference` says under each metric that both were measured by."""
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


def lengths_in_tokens(
    texts: Sequence[str], language: str | None = None, tokenize: str | None = None
) -> list[int]:
    """How long each text is for BLEU: words and signs, or characters; or as `tokenize` cuts it."""
    name = tokenize or bleu_tokenizer(language)
    tokenizer = bleu_metric(name, target_language=language).tokenizer
    return [len(tokenizer(text.rstrip()).split()) for text in texts]


def by_length(measured: ScoredSystem, lengths: Sequence[int]) -> list[LengthBucket]:
    """BLEU of short and of long sentences apart; empty buckets are left out.

    `lengths` are those of the sources or of the references, in any unit, the same for all systems.
    """
    statistics = measured.statistics["bleu"]
    bucket = np.searchsorted(LAST_LENGTHS, np.asarray(lengths))
    buckets = []
    for i in np.unique(bucket):
        part = replace(statistics, counts=statistics.counts[bucket == i])
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


def is_unspaced(language: str | None) -> bool:
    """Whether metrics count its characters, for want of spaces, as those of Chinese."""
    return base(language) in UNSPACED


def ter_formula(counts: Counts) -> Scores:
    """Translation edit rate in percent (Snover et al. 2006); lower is better.

    A row of counts: edits (a shift of words is one), words in the reference.
    """
    edits, words = counts[:, 0], counts[:, 1]
    return 100.0 * np.where(words > 0, edits / np.where(words > 0, words, 1.0), edits > 0)


def ter_statistics(
    hypotheses: Sequence[str],
    references: Sequence[Sequence[str]],
    target_language: str | None = None,
    advance: Advance = nobody,
) -> SentenceStatistics:
    """Counts for TER, which ignores case, against any of several references; Chinese and Japanese
    are split into characters, as far as sacreBLEU knows them (Thai, Lao, Khmer, Burmese and Tibetan
    it does not)."""
    unspaced = is_unspaced(target_language)
    metric = TER(normalized=unspaced, asian_support=unspaced)
    return counted(metric, ter_formula, hypotheses, references, advance)


def difference(
    first: SentenceStatistics,
    second: SentenceStatistics,
    *,
    n_bootstrap: int = 1000,
    seed: int = 12345,
) -> Difference:
    """Does the second system really differ? Both are counts of the same sentences, in order.

    The p-value is the share of resampled corpora whose absolute difference exceeds the mean of all
    by the observed one or more: sacreBLEU's (by which, however, the same outputs differ). It counts
    one tail, so that of systems that are equally good 11 % have p below 0.05.
    """
    observed = second.score() - first.score()
    resampled = (one.resampled(n_bootstrap, seed) for one in (first, second))
    distances = np.abs(np.subtract(*resampled))
    n_farther = int((distances - distances.mean() >= abs(observed)).sum())
    return Difference(observed, (n_farther + 1) / (n_bootstrap + 1))
