"""Do outputs go with the references of other lines? A line may be missing, or split in two."""

import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float64

SHIFTS = (-3, -2, -1, 1, 2, 3)
LEAST_LINES = 20
LEAST_GAIN = 0.1
"""A shift is believed if it fits this many lines, and by this much better on average."""

CHARACTER = re.compile("[\u3040-\u30ff\u3400-\u9fff]")
"""Of Chinese or Japanese."""

_WORD = re.compile(rf"{CHARACTER.pattern}|[^\W\u3040-\u30ff\u3400-\u9fff]+")


class Shift(NamedTuple):
    """A stretch of lines that fits other references better than its own."""

    first: int
    last: int
    """Places of the lines, from 0, both included."""
    lines: int
    """Output n goes with reference n + lines."""
    shifted: float
    straight: float
    """Mean overlap of words with and without the shift, from 0 to 1."""


def find_shift(outputs: Sequence[str], references: Sequence[str]) -> Shift | None:
    """The clearest shift, or None.

    Overlap is Dice's coefficient of two lines' words, the rarer weighing more. For each shift the
    stretch is taken in which it gains most over the lines as they are.
    """
    sides = [[frozenset(words(line)) for line in lines] for lines in (outputs, references)]
    n = len(outputs)
    frequency = Counter(word for side in sides for line in side for word in line)
    weight = {word: math.log(2 * n / count) for word, count in frequency.items()}
    totals = [[sum(weight[word] for word in line) for line in side] for side in sides]

    def overlap(i: int, j: int) -> float:
        if not 0 <= j < n or not totals[0][i] + totals[1][j]:
            return 0.0
        common = sum(weight[word] for word in sides[0][i] & sides[1][j])
        return 2 * common / (totals[0][i] + totals[1][j])

    straight = np.array([overlap(i, i) for i in range(n)])
    best, best_gain = None, 0.0
    for lines in SHIFTS:
        shifted = np.array([overlap(i, i + lines) for i in range(n)])
        first, last = _best_stretch(shifted - straight)
        stretch = slice(first, last + 1)
        gain, n_lines = float((shifted - straight)[stretch].sum()), last - first + 1
        if n_lines >= LEAST_LINES and gain > max(best_gain, LEAST_GAIN * n_lines):
            means = float(shifted[stretch].mean()), float(straight[stretch].mean())
            best, best_gain = Shift(first, last, lines, *means), gain
    return best


def _best_stretch(gains: Float64[np.ndarray, " lines"]) -> tuple[int, int]:
    """First and last place of the stretch with the largest sum."""
    sums = np.concatenate([[0.0], gains.cumsum()])
    last = int((sums[1:] - np.minimum.accumulate(sums[:-1])).argmax())
    return int(sums[: last + 1].argmin()), last


def words(text: str) -> list[str]:
    """Words without case and punctuation; of Chinese and Japanese, characters."""
    return _WORD.findall(text.casefold())
