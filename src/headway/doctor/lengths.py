"""How long the texts are, target over source, and where lengths show that lines do not belong
together."""

import numpy as np

from headway.core.rows import SIDES
from headway.corpora.shifts import Shift, ShiftDetector
from headway.doctor.batches import Counts, PairBatch, PairSide, marks_of
from headway.doctor.findings import Case, Finding, FindingsLog, Severity

_IS_SPACE = marks_of(filter(str.isspace, map(chr, range(0x3001))))
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


class SizeExaminer:
    def __init__(self) -> None:
        names = (f"{side}_{what}" for what in ("characters", "words") for side in SIDES)
        self.histograms = {name: Histogram() for name in names}
        self.histograms["target_over_source"] = Histogram(1 / _PER_UNIT)  # of characters

    def add(self, batch: PairBatch) -> None:
        for name, side in zip(SIDES, batch.sides, strict=True):
            self.histograms[f"{name}_characters"].add(side.lengths)
            self.histograms[f"{name}_words"].add(words(side))
        ratio = batch.target.lengths / batch.source.lengths
        self.histograms["target_over_source"].add(np.rint(ratio * _PER_UNIT).astype(np.int64))

    def summary(self) -> dict[str, dict[str, float]]:
        """Every histogram in five numbers; nothing of an empty corpus."""
        return {name: found.summary() for name, found in self.histograms.items() if found.total}


def words(side: PairSide) -> Counts:
    """How many pieces stand between spaces in each text: [pairs]."""
    space = _IS_SPACE[side.codes]
    ends = np.zeros_like(space)
    ends[1:] = space[1:] & ~space[:-1]
    return side.count(ends)


_SERIOUS = 0.01  # of all pairs, all shifts together


class Alignment:
    """Follows how well the lengths of both sides go together along the files."""

    def __init__(self, notes: FindingsLog) -> None:
        self._notes = notes
        self._detector = ShiftDetector()
        self._n_pairs = 0

    def add(self, batch: PairBatch) -> None:
        self._n_pairs += len(batch.pairs)
        for pair in batch.pairs:
            self._detector.add(pair)

    def conclude(self) -> None:
        shifts = self._detector.shifts()
        serious = sum(shift.n_pairs for shift in shifts) > _SERIOUS * self._n_pairs
        for shift in shifts:
            self._notes.add(_shifted(shift, self._n_pairs, serious))
        if self._detector.unrelated():
            self._notes.add(_unrelated(self._detector.typical_correlation() or 0.0, self._n_pairs))

    @property
    def shifts(self) -> list[Shift]:
        return self._detector.shifts()


def _shifted(shift: Shift, n_pairs: int, serious: bool) -> Finding:
    n_lines = abs(shift.lines)
    lines = "one line" if n_lines == 1 else f"{n_lines} lines"
    side, missing, way = (
        ("source", "target", "below") if shift.lines > 0 else ("target", "source", "above")
    )
    return Finding(
        name="misaligned",
        severity=Severity.LOOK,
        title=f"the sides are shifted by {lines} from about {shift.first} to line "
        f"{shift.last.line}",
        n=shift.n_pairs,
        of=n_pairs,
        meaning=f"From there on each target belongs to the source {lines} {way} (the "
        f"lengths then correlate at {shift.shifted:.2f}, as given at {shift.straight:.2f}). Before "
        f"that place the {missing} lacks {lines}, or the {side} has too many.",
        remedy=f"Compare both files from a few lines before line {shift.first.line}: insert what "
        f"the {missing} lacks, or remove what has no translation; --drop misaligned --out OUT "
        "leaves out the whole stretch.",
        examples=[Case(shift.first.file, shift.first.line, "", "", "begins about here")],
        serious=serious,
    )


def _unrelated(correlation: float, n_pairs: int) -> Finding:
    return Finding(
        name="unrelated",
        severity=Severity.LOOK,
        title="the two sides seem to have nothing to do with each other",
        n=n_pairs,
        of=n_pairs,
        meaning="Long texts have long translations, but here the lengths of the sides correlate at "
        f"{correlation:.2f} only (of translations at 0.7 to 0.9).",
        remedy="Look whether these files are translations of each other, in the same order.",
        serious=True,
    )
