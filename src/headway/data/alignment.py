"""Do the two sides belong together? Long texts have long translations, unless a line is missing."""

import numpy as np

from headway.text.cleaning import Pair

_BLOCK = 500
_SHIFTS = (-3, -2, -1, 1, 2, 3)
_CLEARER = 0.3


class ShiftDetector:
    """Looks for stretches where target n goes with source n + k rather than with source n.

    In each block of 500 pairs the lengths of both sides are correlated, straight and shifted by up
    to three lines. A shift that fits better by 0.3 is suspicious: aligned text correlates at 0.8
    or so, unrelated lines at 0.
    """

    def __init__(self) -> None:
        """Start with nothing seen."""
        self._lengths: list[tuple[int, int]] = []
        self._first: Pair | None = None
        self._found: list[str] = []

    def add(self, pair: Pair) -> None:
        """Take the next pair of the corpus."""
        if self._first is None:
            self._first = pair
        self._lengths.append((len(pair.source), len(pair.target)))
        if len(self._lengths) == _BLOCK:
            self._judge()

    def suspicions(self) -> list[str]:
        """What was found, in words, at most five."""
        return self._found[:5]

    def _judge(self) -> None:
        source, target = np.log(np.array(self._lengths, float).T)
        first = self._first
        self._lengths, self._first = [], None
        straight = _correlation(source, target)
        shifted = {k: _shifted_correlation(source, target, k) for k in _SHIFTS}
        best = max(shifted, key=lambda k: shifted[k])
        if shifted[best] > straight + _CLEARER and first is not None:
            where = "before" if best < 0 else "after"
            self._found.append(
                f"from about {first.origin}: targets seem to belong to the source {abs(best)} "
                f"line(s) {where} (lengths correlate at {shifted[best]:.2f}, as given "
                f"{straight:.2f}); a line is probably missing or split above"
            )


def _shifted_correlation(source: np.ndarray, target: np.ndarray, shift: int) -> float:
    if shift > 0:
        return _correlation(source[shift:], target[:-shift])
    return _correlation(source[:shift], target[-shift:])


def _correlation(source: np.ndarray, target: np.ndarray) -> float:
    if not source.std() or not target.std():
        return 0.0
    return float(np.corrcoef(source, target)[0, 1])
