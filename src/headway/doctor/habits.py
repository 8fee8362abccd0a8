"""What is usual in a corpus: how long translations are, how they end, which words are whose."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from headway.doctor.batches import Marks, PairBatch, PairSide
from headway.doctor.tokens import HashedTokens, Hashes
from headway.languages.scripts import LAST
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


_IS_END = np.zeros(LAST, np.bool_)
_IS_END[[ord(sign) for sign in _ENDS]] = True
_IS_CLOSER = np.zeros(LAST, np.bool_)
_IS_CLOSER[[ord(sign) for sign in _CLOSERS]] = True


def has_end(side: PairSide) -> Marks:
    """Which texts end as sentences do, closing quotes and brackets apart: [pairs]."""
    last = side.starts + side.lengths - 1
    for _ in range(3):
        closing = (last > side.starts) & _IS_CLOSER[side.codes[last]]
        last = last - closing
    return _IS_END[side.codes[last]] & (side.lengths > 0)


class Owned(NamedTuple):
    hashes: Hashes
    """Ascending: [words]."""
    odds: Floats
    """Log-odds, above 0 for a word of the source side: [words]."""

    @classmethod
    def of(cls, source: HashedTokens, target: HashedTokens) -> "Owned":
        """Count the words of both sides of some pairs."""
        hashes = np.unique(np.concatenate([source.hashes, target.hashes]))
        counts = []
        for side in (source, target):
            places = np.searchsorted(hashes, side.hashes)
            counts.append(np.bincount(places, minlength=len(hashes)) + 0.5)
        rates = [np.log(one / one.sum()) for one in counts]
        often = counts[0] + counts[1] > _OWNED_OFTEN
        return cls(hashes[often], (rates[0] - rates[1])[often])

    def side_of(self, found: HashedTokens) -> Floats:
        """The log-odds of each word; 0 for one that is hardly known: [tokens]."""
        if not len(self.hashes):
            return np.zeros(len(found.hashes))
        places = np.minimum(np.searchsorted(self.hashes, found.hashes), len(self.hashes) - 1)
        return np.where(self.hashes[places] == found.hashes, self.odds[places], 0.0)


_OWNED_OFTEN = 5
