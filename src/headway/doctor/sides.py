"""Which side a text looks like, learned from the corpus itself: no model of any language is needed.

Every three characters in a row occur so often on the source side and so often on the target side;
the mean logarithm of the two rates' ratio says which side a text resembles.
"""

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from headway.corpora.corpus import Direction
from headway.doctor.batches import Counts, PairBatch, PairSide
from headway.doctor.findings import FindingsLog, Symptom
from headway.doctor.folding import letter_values
from headway.doctor.writing import copied

EXCHANGED = Symptom(
    "exchanged",
    "pairs whose sides seem to be exchanged",
    "The source looks like the target side of this corpus, and the target like the source side.",
    "Exchange the sides of these pairs; if whole files are affected, exchange --source and "
    "--target for them.",
    tolerated=0.0005,
    serious=0.02,
)
SAME_SIDE = Symptom(
    "same_side",
    "pairs with both sides in one language",
    "One side looks like the other side of this corpus: text that was not translated.",
    "Translate or remove them: a model learns from them to leave text as it is.",
    tolerated=0.001,
    serious=0.05,
)

_BUCKETS_BITS = 16
_LEAST_PAIRS = 500
_LEAST_TRIGRAMS = 20
_SURE = 0.5  # nats a trigram

Scores = NDArray[np.float64]


class Sides:
    """Counts the trigrams of both sides, and judges each text by all that came until then."""

    def __init__(self, notes: FindingsLog) -> None:
        """Tell `notes`."""
        self._notes = notes
        self._counts: dict[Direction | None, Counts] = {}
        self._n_pairs: Counter[Direction | None] = Counter()

    def add(self, batch: PairBatch) -> None:
        """Take the next pairs."""
        self._n_pairs[batch.direction] += len(batch.pairs)
        trigrams = [_trigrams(side) for side in batch.sides]
        nothing = np.zeros((2, 1 << _BUCKETS_BITS), np.int64)
        counts = self._counts.setdefault(batch.direction, nothing)
        for n, found in enumerate(trigrams):
            counts[n] += np.bincount(found[found >= 0], minlength=counts.shape[1])
        if self._n_pairs[batch.direction] < _LEAST_PAIRS:
            return
        rates = np.log((counts + 0.5) / (counts.sum(axis=1, keepdims=True) + 1))
        towards_source = rates[0] - rates[1]
        source, target = (
            _scores(side, found, towards_source)
            for side, found in zip(batch.sides, trigrams, strict=True)
        )
        for pair in batch.marked((source < -_SURE) & (target > _SURE)):
            self._notes.take(EXCHANGED, pair)
        for pair in batch.marked((source > 0) & (target > _SURE)):
            if not copied(pair.target, pair.source):
                self._notes.take(SAME_SIDE, pair, "the target looks like a source")
        for pair in batch.marked((source < -_SURE) & (target < 0)):
            if not copied(pair.source, pair.target):
                self._notes.take(SAME_SIDE, pair, "the source looks like a target")

    def conclude(self) -> None:
        """Tell what was found."""
        self._notes.conclude([EXCHANGED, SAME_SIDE], self._n_pairs.total())


def _trigrams(side: PairSide) -> NDArray[np.int64]:
    """The bucket of the three characters from each place on, -1 where the text ends: [characters].

    Case is folded; what is no letter counts as a space.
    """
    values = letter_values()[side.codes]
    mixed = values * np.uint64(3)
    mixed[:-1] ^= values[1:] * np.uint64(5)
    mixed[:-2] ^= values[2:] * np.uint64(7)
    found = (mixed >> np.uint64(64 - _BUCKETS_BITS)).astype(np.int64)
    ends = side.starts + side.lengths
    found[ends] = -1
    found[np.maximum(ends - 1, 0)] = -1
    return found


def _scores(side: PairSide, trigrams: NDArray[np.int64], towards_source: Scores) -> Scores:
    """Mean log-odds of a text's trigrams, above 0 like a source; 0 if they are few: [pairs]."""
    valid = trigrams >= 0
    n_trigrams = side.count(valid)
    total = side.total(np.where(valid, towards_source[trigrams], 0.0)).astype(np.float64)
    return np.where(n_trigrams < _LEAST_TRIGRAMS, 0.0, total / np.maximum(n_trigrams, 1))
