"""Lines that do not belong together, and from which line on."""

from collections.abc import Sequence

from headway.corpora.shifts import LengthBlock, Shift, ShiftDetector
from headway.doctor.batches import PairBatch
from headway.doctor.findings import EXAMPLES, Case, Finding, FindingsLog, Severity

_MOST = 20  # shifts told one by one
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
        for shift in shifts[:_MOST]:
            self._notes.add(_shifted(shift, self._n_pairs, serious))
        if shifts[_MOST:]:
            self._notes.add(_more(shifts[_MOST:], self._n_pairs, serious))
        if self._detector.unrelated():
            self._notes.add(_unrelated(self._detector.typical_correlation() or 0.0, self._n_pairs))

    @property
    def shifts(self) -> list[Shift]:
        return self._detector.shifts()

    @property
    def blocks(self) -> list[LengthBlock]:
        """The correlation of the lengths along the files."""
        return self._detector.blocks


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
        examples=[_beginning(shift)],
        serious=serious,
    )


def _more(shifts: Sequence[Shift], n_pairs: int, serious: bool) -> Finding:
    return Finding(
        name="misaligned",
        severity=Severity.LOOK,
        title=f"the sides are shifted in {len(shifts):,} more places",
        n=sum(shift.n_pairs for shift in shifts),
        of=n_pairs,
        meaning=f"The first {_MOST} are told one by one; here too each target belongs to the "
        "source of another line.",
        remedy="Look whether these files are translations of each other, line by line; --drop "
        "misaligned --out OUT leaves these stretches out.",
        examples=[_beginning(shift) for shift in shifts[:EXAMPLES]],
        serious=serious,
    )


def _beginning(shift: Shift) -> Case:
    return Case(shift.first.file, shift.first.line, "", "", "begins about here")


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
