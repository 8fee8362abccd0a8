"""Do the two sides belong together? Long texts have long translations, unless a line is missing."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from headway.text.cleaning import Pair

_BLOCK = 500
_LEAST = 100  # pairs that say anything about a correlation
_SHIFTS = (-3, -2, -1, 1, 2, 3)
_CLEARER = 0.3
_UNRELATED = 0.15

Logs = NDArray[np.float64]


class Shift(NamedTuple):
    """A block in which targets go with the sources of other lines."""

    first: Pair
    lines: int
    """Target n goes with source n + lines."""
    shifted: float
    straight: float
    """Correlation of the lengths with and without the shift."""

    def __str__(self) -> str:
        where = "before" if self.lines < 0 else "after"
        return (
            f"from about {self.first.origin}: targets seem to belong to the source "
            f"{abs(self.lines)} line(s) {where} (lengths correlate at {self.shifted:.2f}, as given "
            f"{self.straight:.2f}); a line is probably missing or split above"
        )


class ShiftDetector:
    """Looks for stretches where target n goes with source n + k rather than with source n.

    In each block of 500 pairs the logarithms of the lengths are correlated, straight and shifted by
    up to three lines. A shift that fits better by 0.3 is suspicious: aligned text correlates at 0.8
    or so, unrelated lines at 0. If half of all blocks correlate below 0.15, so is the whole.
    """

    def __init__(self) -> None:
        """Start with nothing seen."""
        self._lengths: list[tuple[int, int]] = []
        self._first: Pair | None = None
        self._shifts: list[Shift] = []
        self._straight: list[float] = []

    def add(self, pair: Pair) -> None:
        """Take the next pair of the corpus."""
        if self._first is None:
            self._first = pair
        self._lengths.append((len(pair.source), len(pair.target)))
        if len(self._lengths) == _BLOCK:
            self._judge()

    def break_between(self) -> tuple[int, int] | None:
        """The lines between which the sides part, if they do."""
        self._finish()
        if not self._shifts:
            return None
        line = self._shifts[0].first.line
        return max(1, line - _BLOCK), line + _BLOCK

    def suspicions(self) -> list[str]:
        """What was found in all that was added, in words, at most five."""
        self._finish()
        found = [str(shift) for shift in self._shifts[:5]]
        if self._straight and not found and np.median(self._straight) < _UNRELATED:
            found.append(
                "the lengths of the two sides have nothing to do with each other (correlation "
                f"{np.median(self._straight):.2f}); are these files translations of each other?"
            )
        return found

    def _finish(self) -> None:
        if len(self._lengths) >= _LEAST:
            self._judge()

    def _judge(self) -> None:
        source, target = np.log(np.array(self._lengths, np.float64).T)
        first = self._first
        self._lengths, self._first = [], None
        if first is None or not source.std() or not target.std():
            return
        straight = _correlation(source, target)
        self._straight.append(straight)
        shifted = {k: _correlation(*_shift(source, target, k)) for k in _SHIFTS}
        best = max(shifted, key=lambda k: shifted[k])
        if shifted[best] > straight + _CLEARER:
            self._shifts.append(Shift(first, best, shifted[best], straight))


def _shift(source: Logs, target: Logs, k: int) -> tuple[Logs, Logs]:
    """Source n + k beside target n."""
    return (source[k:], target[:-k]) if k > 0 else (source[:k], target[-k:])


def _correlation(source: Logs, target: Logs) -> float:
    if not source.std() or not target.std():
        return 0.0
    return float(np.corrcoef(source, target)[0, 1])
