"""How long the texts are: characters, words, and target over source."""

from typing import NamedTuple

import numpy as np

from headway.doctor.batches import Counts, PairBatch, PairSide

_SPACES = np.array([ord(c) for c in map(chr, range(0x3001)) if c.isspace()], np.uint32)
_IS_SPACE = np.zeros(0x110000, np.bool_)
_IS_SPACE[_SPACES] = True
_PER_UNIT = 100  # ratios are told apart to the hundredth


class Histogram:
    def __init__(self, unit: float = 1.0) -> None:
        self.unit = unit
        self.counts: Counts = np.zeros(0, np.int64)
        """How often `unit` times i occurs: [values]."""

    def add(self, multiples: Counts) -> None:
        """Count some values, given as multiples of the unit."""
        found = np.bincount(multiples, minlength=len(self.counts)).astype(np.int64)
        found[: len(self.counts)] += self.counts
        self.counts = found

    @property
    def total(self) -> int:
        return int(self.counts.sum())

    def quantile(self, level: float) -> float:
        """The least value that a part `level` of all values does not exceed."""
        place = np.searchsorted(np.cumsum(self.counts), level * self.total)
        return float(round(int(place) * self.unit, 6))

    def summary(self) -> dict[str, float]:
        """Mean, 1 %, half, 99 %, and the longest, of at least one value."""
        mean = float(self.counts @ np.arange(len(self.counts))) * self.unit / self.total
        return {
            "mean": round(mean, 2),
            "low_1": self.quantile(0.01),
            "median": self.quantile(0.5),
            "high_99": self.quantile(0.99),
            "longest": round((len(self.counts) - 1) * self.unit, 6),
        }


class SideSizes(NamedTuple):
    characters: Histogram
    words: Histogram


class SizeExaminer:
    def __init__(self) -> None:
        self.source = SideSizes(Histogram(), Histogram())
        self.target = SideSizes(Histogram(), Histogram())
        self.ratio = Histogram(1 / _PER_UNIT)
        """Target characters over source characters."""

    def add(self, batch: PairBatch) -> None:
        for sizes, side in zip((self.source, self.target), batch.sides, strict=True):
            sizes.characters.add(side.lengths)
            sizes.words.add(words(side))
        ratio = batch.target.lengths / batch.source.lengths
        self.ratio.add(np.rint(ratio * _PER_UNIT).astype(np.int64))

    def summary(self) -> dict[str, dict[str, float]]:
        """Every histogram in five numbers; nothing of an empty corpus."""
        histograms = {
            "source_characters": self.source.characters,
            "target_characters": self.target.characters,
            "source_words": self.source.words,
            "target_words": self.target.words,
            "target_over_source": self.ratio,
        }
        return {name: found.summary() for name, found in histograms.items() if found.total}


def words(side: PairSide) -> Counts:
    """How many pieces stand between spaces in each text: [pairs]."""
    space = _IS_SPACE[side.codes]
    ends = np.zeros_like(space)
    ends[1:] = space[1:] & ~space[:-1]
    return side.count(ends)
