"""Do outputs go with other references than their own? A line may be missing, or split in two."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float64

from headway.languages.scripts import UNSPACED_SCRIPTS

SHIFTS = (-3, -2, -1, 1, 2, 3)
LEAST_LINES = 20
LEAST_GAIN = 0.1
"""A shift is believed if it fits this many lines, and by this much better on average."""

_ALONE = "".join(UNSPACED_SCRIPTS.values())
CHARACTER = re.compile(f"[{_ALONE}]")
"""Of a script that is written without spaces."""

_WORD = re.compile(rf"{CHARACTER.pattern}|[^\W{_ALONE}]+")


class OutputShift(NamedTuple):
    """A stretch of lines that fits other references better than its own."""

    first: int
    last: int
    """Places of the lines, from 0, both included."""
    lines: int
    """Output n goes with reference n + lines."""
    shifted: float
    straight: float
    """Mean overlap of words with and without the shift, from 0 to 1."""


class Overlaps:
    """What lines of an output share with lines of the references, from 0 to 1.

    Dice's coefficient of two lines' words, the rarer weighing more.
    """

    def __init__(self, outputs: Sequence[str], references: Sequence[str]) -> None:
        self._sides = [[frozenset(words(line)) for line in side] for side in (outputs, references)]
        n = len(outputs)
        frequency = Counter(word for side in self._sides for line in side for word in line)
        self._weight = {word: math.log(2 * n / count) for word, count in frequency.items()}
        self._totals = [[self._weigh(line) for line in side] for side in self._sides]

    def __len__(self) -> int:
        return len(self._totals[0])

    def with_places(self, places: Iterable[int]) -> Float64[np.ndarray, " lines"]:
        """Of every line of the output with the reference at its place; 0 where there is none."""
        return np.array([self._of(i, j) for i, j in enumerate(places)])

    def _of(self, i: int, j: int) -> float:
        if not 0 <= j < len(self) or not self._totals[0][i] + self._totals[1][j]:
            return 0.0
        common = self._weigh(self._sides[0][i] & self._sides[1][j])
        return 2 * common / (self._totals[0][i] + self._totals[1][j])

    def _weigh(self, line: frozenset[str]) -> float:
        return sum((self._weight[word] for word in line), start=0.0)


def find_shift(overlaps: Overlaps) -> OutputShift | None:
    """The clearest shift, or None.

    For each shift the stretch is taken in which it gains most over the lines as they are.
    """
    n = len(overlaps)
    straight = overlaps.with_places(range(n))
    best, best_gain = None, 0.0
    for lines in SHIFTS:
        shifted = overlaps.with_places(range(lines, n + lines))
        first, last = _best_stretch(shifted - straight)
        stretch = slice(first, last + 1)
        gain, n_lines = float((shifted - straight)[stretch].sum()), last - first + 1
        if n_lines >= LEAST_LINES and gain > max(best_gain, LEAST_GAIN * n_lines):
            means = float(shifted[stretch].mean()), float(straight[stretch].mean())
            best, best_gain = OutputShift(first, last, lines, *means), gain
    return best


def are_unrelated(overlaps: Overlaps) -> bool:
    """Whether lines share no more with their own references than with those of far-off lines.

    More is what exceeds twice the standard error of the mean; of fewer than 20 lines nothing is
    said.
    """
    n = len(overlaps)
    if n < LEAST_LINES:
        return False
    far = overlaps.with_places((i + n // 2) % n for i in range(n))
    gains = overlaps.with_places(range(n)) - far
    standard_error = gains.std() / math.sqrt(n)
    return bool(gains.mean() < 2 * standard_error)


def _best_stretch(gains: Float64[np.ndarray, " lines"]) -> tuple[int, int]:
    """First and last place of the stretch with the largest sum."""
    sums = np.concatenate([[0.0], gains.cumsum()])
    last = int((sums[1:] - np.minimum.accumulate(sums[:-1])).argmax())
    return int(sums[: last + 1].argmin()), last


def words(text: str) -> list[str]:
    """Words without case and punctuation; of scripts without spaces, characters."""
    return _WORD.findall(text.casefold())
