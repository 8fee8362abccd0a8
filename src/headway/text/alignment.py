"""Do the two sides belong together? Long texts have long translations, unless a line is missing."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from headway.text.cleaning import Pair

_BLOCK = 500
_LEAST = 100  # pairs that say anything about a correlation
_SHIFTS = (-3, -2, -1, 1, 2, 3)
_NEAR = 20  # lines; in text as usual the place is found to five or so
_SURE = 5.0  # standard errors: one in three million by chance
_CLEARER = 0.1
_UNRELATED = 0.15
_TRANSLATED = 0.4  # the least correlation that lines which belong together show

Logs = NDArray[np.float64]


class Place(NamedTuple):
    """A line of a file, from 1."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


class Shift(NamedTuple):
    """A stretch in which targets go with the sources of other lines."""

    first: Place
    last: Place
    n_pairs: int
    lines: int
    """Target n goes with source n + lines."""
    shifted: float
    straight: float
    """Correlation of the lengths with and without the shift, in the first block."""

    def __str__(self) -> str:
        where = "before" if self.lines < 0 else "after"
        return (
            f"from about {self.first} to about line {self.last.line}: targets seem to belong to "
            f"the source {abs(self.lines)} line(s) {where} (lengths correlate at "
            f"{self.shifted:.2f}, as given {self.straight:.2f}); a line is probably missing or "
            "split above"
        )


class Block(NamedTuple):
    """How well the lengths of some pairs in a row go together."""

    first: Place
    correlation: float


class ShiftDetector:
    """Looks for stretches where target n goes with source n + k rather than with source n.

    In each block of 500 pairs, and for each shift k of up to three lines, a pair says by how much
    the shifted length ratio is more usual than the straight one. Where their mean lies five
    standard errors above zero, the targets are shifted; where its sum begins to rise is the line.
    If half of all blocks correlate below 0.15, the sides are unrelated.
    """

    def __init__(self) -> None:
        """Start with nothing seen."""
        self.blocks: list[Block] = []
        """Every whole block so far, in order."""
        self._file = ""
        self._lengths: list[tuple[int, int]] = []
        self._places: list[Place] = []
        self._before: tuple[Logs, Logs, list[Place]] | None = None
        self._shifts: list[Shift] = []
        self._open = False  # whether the last block was shifted

    def add(self, pair: Pair) -> None:
        """Take the next pair of the corpus."""
        self.add_lengths(len(pair.source), len(pair.target), Place(pair.file, pair.line))

    def add_lengths(self, source: int, target: int, place: Place) -> None:
        """Take the next pair of the corpus: the characters of its sides, and where it stands."""
        if place.file != self._file:
            self._end_of_file()
            self._file = place.file
        self._places.append(place)
        self._lengths.append((source, target))
        if len(self._lengths) == _BLOCK:
            self._judge()

    def break_between(self) -> tuple[int, int] | None:
        """The lines between which the sides part, if they do."""
        shifts = self.shifts()
        if not shifts:
            return None
        line = shifts[0].first.line
        return max(1, line - _NEAR), line + _NEAR

    def shifts(self) -> list[Shift]:
        """Every shifted stretch in all that was added."""
        self._end_of_file()
        return self._shifts

    def typical_correlation(self) -> float | None:
        """The median over the blocks; None if there are too few pairs to tell."""
        self._end_of_file()
        if not self.blocks:
            return None
        return float(np.median([block.correlation for block in self.blocks]))

    def unrelated(self) -> bool:
        """Whether the lengths of the two sides have nothing to do with each other."""
        typical = self.typical_correlation()
        return typical is not None and not self._shifts and typical < _UNRELATED

    def suspicions(self) -> list[str]:
        """What was found in all that was added, in words, at most five."""
        found = [str(shift) for shift in self.shifts()[:5]]
        if self.unrelated():
            found.append(
                "the lengths of the two sides have nothing to do with each other (correlation "
                f"{self.typical_correlation():.2f}); are these files translations of each other?"
            )
        return found

    def _end_of_file(self) -> None:
        if len(self._lengths) >= _LEAST:
            self._judge()
        self._lengths, self._places = [], []
        self._before, self._open = None, False

    def _judge(self) -> None:
        source, target = np.log(np.array(self._lengths, np.float64).T)
        places = self._places
        self._lengths, self._places = [], []
        straight = _correlation(source, target)
        if straight is None:
            self._before, self._open = None, False
            return
        self.blocks.append(Block(places[0], straight))
        k = _best_shift(source, target)
        shifted = _correlation(*_shift(source, target, k)) if k else None
        if shifted is None or shifted < max(straight + _CLEARER, _TRANSLATED):
            if self._open:
                self._close(source, target, places)
            self._open = False
        elif self._open and self._shifts[-1].lines == k:
            last = self._shifts[-1]
            self._shifts[-1] = last._replace(last=places[-1], n_pairs=last.n_pairs + len(places))
        else:
            self._begin(source, target, places, k, Block(places[0], straight), shifted)
            self._open = True
        self._before = source, target, places

    def _begin(
        self,
        source: Logs,
        target: Logs,
        places: list[Place],
        k: int,
        block: Block,
        shifted: float,
    ) -> None:
        """Note a new shift, from the pair on from which the evidence for it is greatest."""
        if self._before is not None and not self._open:
            source = np.concatenate([self._before[0], source])
            target = np.concatenate([self._before[1], target])
            places = self._before[2] + places
        evidence = _evidence(source, target, k)
        to_come = np.cumsum(evidence[::-1])[::-1]
        first = int(np.argmax(to_come)) + max(0, -k)  # evidence[0] is about target -k, if k < 0
        self._shifts.append(
            Shift(places[first], places[-1], len(places) - first, k, shifted, block.correlation)
        )

    def _close(self, source: Logs, target: Logs, places: list[Place]) -> None:
        """The last shift may have ended inside this block."""
        last = self._shifts[-1]
        so_far = np.cumsum(_evidence(source, target, last.lines))
        n_more = int(np.argmax(so_far)) + 1 if so_far.max() > 0 else 0
        if n_more:
            self._shifts[-1] = last._replace(last=places[n_more - 1], n_pairs=last.n_pairs + n_more)


def _best_shift(source: Logs, target: Logs) -> int:
    """The shift that fits surely better than none; 0 if there is none."""
    sure = {k: _standard_errors(_evidence(source, target, k)) for k in _SHIFTS}
    best = max(sure, key=lambda k: sure[k])
    return best if sure[best] > _SURE else 0


def _evidence(source: Logs, target: Logs, k: int) -> Logs:
    """By how much target n fits source n + k better than source n, for each n that has both."""
    ratio = target - source
    usual = np.median(ratio)
    shifted_source, shifted_target = _shift(source, target, k)
    own = ratio[: len(target) - k] if k > 0 else ratio[-k:]
    return np.abs(own - usual) - np.abs(shifted_target - shifted_source - usual)


def _standard_errors(evidence: Logs) -> float:
    deviation = evidence.std()
    return float(evidence.mean() / deviation * np.sqrt(len(evidence))) if deviation else 0.0


def _shift(source: Logs, target: Logs, k: int) -> tuple[Logs, Logs]:
    """Source n + k beside target n."""
    return (source[k:], target[:-k]) if k > 0 else (source[:k], target[-k:])


def _correlation(source: Logs, target: Logs) -> float | None:
    """None if one side has texts of one length only."""
    if not source.std() or not target.std():
        return None
    return float(np.corrcoef(source, target)[0, 1])
