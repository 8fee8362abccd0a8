"""Do the sides of a pair belong together, as a whole and to the end?

What is usual is learned from a sample of the corpus itself before it is gone through; no model of
any language is needed. Where it is too small to learn from, nothing is said.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from headway.core.cleaning import Pair
from headway.core.dedup_split import Marks
from headway.corpora.corpus import Direction
from headway.doctor.batches import HashedTokens, PairBatch, PairSide, marks_of, tokens
from headway.doctor.findings import FindingsLog, Symptom
from headway.doctor.lexicon import CooccurrenceLexicon, Evidence, learned
from headway.languages.sentences import ENDS

Floats = NDArray[np.float64]

_ENDS = f"{ENDS}:：；"
_CLOSERS = "\"'”’»›)）」』】］] `*"
_BUCKETS = 12  # of lengths, each twice as long as the one before
_LEAST_IN_BUCKET = 50
_LEAST_DEVIATION = 0.08
_CUT_FROM, _CUT_TO = 0.25, 0.88  # the part of a target that is left when it was cut off
_ENDS_WHEN_CUT = 0.05
_SHORT = 5  # characters that every text is taken to be longer than it is


class HabitExaminer:
    """Lengths and endings of translations that are whole."""

    def __init__(self, batch: PairBatch) -> None:
        ratio, bucket = _ratios(batch)
        self._middle = np.full(_BUCKETS, float(np.median(ratio)))
        self._deviation = np.full(_BUCKETS, _mean_deviation(ratio))
        for n in range(_BUCKETS):
            some = ratio[bucket == n]
            if len(some) >= _LEAST_IN_BUCKET:
                self._middle[n] = np.median(some)
                self._deviation[n] = _mean_deviation(some)
        source, target = map(has_end, batch.sides)
        n_open = np.count_nonzero(source & ~target)
        self._open = (n_open + 1) / (np.count_nonzero(source) + 2)

    def cut_off(self, batch: PairBatch) -> tuple[Floats, Floats]:
        """How much likelier the length, and the end, of a target are if it was cut off, in nats.

        A cut leaves any part of a text from a quarter on. Lengths of whole ones follow a Laplace
        distribution around what is usual for a source as long as theirs: [pairs] twice.
        """
        ratio, bucket = _ratios(batch)
        off = ratio - self._middle[bucket]
        deviation = self._deviation[bucket]
        whole = np.log(np.exp(-np.abs(off) / deviation) / (2 * deviation) + 1e-9)
        left = np.exp(off)
        cut = np.where(
            (left > _CUT_FROM) & (left < _CUT_TO), np.log(left / (_CUT_TO - _CUT_FROM)), -6.0
        )
        source, target = map(has_end, batch.sides)
        ends = np.where(
            target,
            np.log(_ENDS_WHEN_CUT / (1 - self._open)),
            np.log((1 - _ENDS_WHEN_CUT) / self._open),
        )
        return cut - whole, np.where(source, ends, 0.0)


def _ratios(batch: PairBatch) -> tuple[Floats, NDArray[np.int64]]:
    """Logarithms of target over source, and the bucket of the source's length: [pairs] twice."""
    source, target = (side.lengths + float(_SHORT) for side in batch.sides)
    bucket = np.clip(np.log2(source).astype(np.int64), 0, _BUCKETS - 1)
    return np.log(target / source), bucket


def _mean_deviation(ratio: Floats) -> float:
    return max(float(np.abs(ratio - np.median(ratio)).mean()), _LEAST_DEVIATION)


_IS_END, _IS_CLOSER = marks_of(_ENDS), marks_of(_CLOSERS)


def has_end(side: PairSide) -> Marks:
    """Which texts end as sentences do, closing quotes and brackets apart: [pairs]."""
    last = side.starts + side.lengths - 1
    for _ in range(3):
        closing = (last > side.starts) & _IS_CLOSER[side.codes[last]]
        last = last - closing
    return _IS_END[side.codes[last]] & (side.lengths > 0)


UNRELATED_PAIR = Symptom(
    "unrelated_pair",
    "pairs whose sides do not belong together",
    "Hardly a word of either side finds its usual translation on the other: lines were mixed up, "
    "or a translation is very free.",
    "Look at the examples: if they are wrong, remove these pairs (--drop unrelated_pair), and look "
    "where they came from.",
    tolerated=0.01,
    serious=0.03,
)
TRUNCATED = Symptom(
    "truncated",
    "targets that seem to be cut off",
    "They are shorter than usual, end without a full stop, or lack what the end of the source "
    "says. A model learns to stop too early.",
    "Complete or remove them (--drop truncated).",
    tolerated=0.005,
    serious=0.02,
)
SAMPLE_PAIRS = 40_000
"""Pairs that are learned from, at most."""
SAMPLE_CHARACTERS = 4_000_000
"""As many as these have, both sides together."""

_LEAST_PAIRS = 300
_UNRELATED = -5.0  # nats for their belonging together
_LEAST_WORDS = 4  # that said something
_CUT_OFF = 2.5  # nats, the rarity of cut targets not counted
_MOST_BY_WORDS = 8.0  # nats that the words at the end may say for a cut
_BY_WORDS = 0.7  # they depend on each other
_TAIL = 0.5  # of the source's words
_LEAST_LENGTH = 15  # characters of a source that may be cut off


class DirectionStatistics(NamedTuple):
    """What is usual where texts go in one direction."""

    lexicon: CooccurrenceLexicon
    habits: HabitExaminer


class TranslationCheck:
    symptoms = UNRELATED_PAIR, TRUNCATED

    def __init__(
        self,
        log: FindingsLog,
        sample: Iterable[Pair],
        declared: Mapping[str, Direction] | None = None,
    ) -> None:
        """Learn from a `sample` in random order; `declared` is the direction of files by name."""
        self._log = log
        self._known: dict[Direction | None, DirectionStatistics] = {}
        of_direction: dict[Direction | None, list[Pair]] = {}
        for pair in sample:
            of_direction.setdefault((declared or {}).get(pair.file), []).append(pair)
        for direction, pairs in of_direction.items():
            some = PairBatch(0, pairs)
            both = tokens(some.source), tokens(some.target)
            lexicon = learned(both, len(pairs)) if len(pairs) >= _LEAST_PAIRS else None
            if lexicon is not None:
                self._known[direction] = DirectionStatistics(lexicon, HabitExaminer(some))

    def add(self, batch: PairBatch) -> None:
        known = self._known.get(batch.direction)
        if known is None:
            return
        both = tokens(batch.source), tokens(batch.target)
        evidence = known.lexicon.evidence(both)
        told = self._tell_unrelated(batch, evidence)
        self._tell_truncated(batch, known.habits, both[0], evidence[0], told)

    def _tell_unrelated(self, batch: PairBatch, evidence: tuple[Evidence, Evidence]) -> Marks:
        n = len(batch.pairs)
        nats = evidence[0].total(n) + evidence[1].total(n)
        n_words = evidence[0].n_words(n) + evidence[1].n_words(n)
        marks = (nats < _UNRELATED) & (n_words >= _LEAST_WORDS)
        for row in np.flatnonzero(marks):
            pair = batch.pairs[row]
            if pair.source != pair.target:
                self._log.take(UNRELATED_PAIR, pair, sure=-float(nats[row]))
        return marks

    def _tell_truncated(
        self,
        batch: PairBatch,
        habits: HabitExaminer,
        source: HashedTokens,
        evidence: Evidence,
        told: Marks,
    ) -> None:
        n = len(batch.pairs)
        n_words = np.maximum(source.counts(n), 1)
        tail = evidence.places >= _TAIL * n_words[evidence.rows]
        missing = np.bincount(evidence.rows[tail], -evidence.nats[tail], minlength=n)
        by_length, by_end = habits.cut_off(batch)
        by_words = _BY_WORDS * np.clip(missing, -_MOST_BY_WORDS, _MOST_BY_WORDS)
        nats = by_length + by_end + by_words
        marks = (nats > _CUT_OFF) & (by_length > 0) & (batch.source.lengths >= _LEAST_LENGTH)
        for row in np.flatnonzero(marks & ~told):
            self._log.take(TRUNCATED, batch.pairs[row], sure=float(nats[row]))
