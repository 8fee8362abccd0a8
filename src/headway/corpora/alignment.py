"""Do the two sides belong together? Long texts have long translations, unless a line is missing.

Here is what is asked of every corpus. Where it is suspicious, `headway.corpora.shifts` says where.
"""

from collections.abc import Iterable
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

BLOCK = 500
"""Pairs that are looked at together with as many before them."""
LEAST_CORRELATED = 100
"""Pairs that say anything about a correlation."""
LEAST_SHIFTED = 20
"""Pairs in a row."""
SURE = 15.0
"""Nats; windows of good corpora reach 10."""
UNRELATED = 0.15
"""The correlation below which two sides have nothing to do with each other."""

_SHIFTS = (-3, -2, -1, 1, 2, 3)
_MOST_ODD = 4.0  # a pair further off than so many mean deviations says no more than one at that
_LEAST_DEVIATION = 0.05  # of a logarithm; where lengths agree better, chance does not

Rows = NDArray[Any]
Logs = NDArray[np.float64]
"""Logarithms of the lengths of some texts in a row, in characters."""


def suspicious(files: Iterable[tuple[str, Rows]]) -> bool:
    """Whether `ShiftDetector` may find anything, told quickly from the same windows.

    Each file comes with its rows, or with some that follow those before: `source` and `target` in
    characters, none of which is 0.
    """
    correlations = []
    for _, parts in groupby(files, key=lambda part: part[0]):
        sides = [np.stack([rows["source"], rows["target"]]) for _, rows in parts]
        lengths = np.concatenate(sides, axis=1)
        for start in range(0, lengths.shape[1], BLOCK):
            window = np.log(lengths[:, max(0, start - BLOCK) : start + BLOCK].astype(np.float64))
            source, target = window
            if len(source) >= LEAST_SHIFTED and fitting_better(source, target, 0)[0] >= SURE:
                return True
            n_before = min(start, BLOCK)
            straight = correlation(source[n_before:], target[n_before:])
            if straight is not None and len(source) - n_before >= LEAST_CORRELATED:
                correlations.append(straight)
    return bool(correlations and np.median(correlations) < UNRELATED)


def fitting_better(source: Logs, target: Logs, known: int) -> tuple[float, int, int, int]:
    """The most evidence in a row for another shift than `known`, its rows, and that shift."""
    usual = _usual(source, target)
    odd = _oddness(source, target, known, *usual)
    return max(
        (*_best_stretch(np.nan_to_num(odd - _oddness(source, target, k, *usual))), k)
        for k in (0, *_SHIFTS)
        if k != known
    )


def side_by_side(source: Logs, target: Logs, k: int) -> tuple[Logs, Logs]:
    """Source n + k beside target n."""
    n = max(0, len(source) - abs(k))
    return source[max(0, k) :][:n], target[max(0, -k) :][:n]


def correlation(source: Logs, target: Logs) -> float | None:
    """None if one side has texts of one length only."""
    if not source.std() or not target.std():
        return None
    return float(np.corrcoef(source, target)[0, 1])


def _usual(source: Logs, target: Logs) -> tuple[float, float]:
    """The median of the logarithms of length ratios, and the mean deviation from it.

    They are taken with the shift, or without, that leaves the smallest deviation.
    """
    found = []
    for k in (0, *_SHIFTS):
        left, right = side_by_side(source, target, k)
        if len(left):
            ratio = right - left
            middle = float(np.median(ratio))
            found.append((float(np.abs(ratio - middle).mean()), middle))
    deviation, middle = min(found)
    return middle, max(deviation, _LEAST_DEVIATION)


def _oddness(source: Logs, target: Logs, k: int, usual: float, deviation: float) -> Logs:
    """How unlikely target n is beside source n + k, in nats, up to a constant; NaN beside nothing.

    Deviations follow a Laplace distribution, apart from its tails.
    """
    oddness = np.full(len(source), np.nan)
    left, right = side_by_side(source, target, k)
    ratio = np.abs(right - left - usual) / deviation
    oddness[max(0, -k) :][: len(ratio)] = np.minimum(ratio, _MOST_ODD)
    return oddness


def _best_stretch(evidence: Logs) -> tuple[float, int, int]:
    """The largest sum of evidence in a row, where it begins, and where it ends."""
    sums = np.concatenate([[0.0], np.cumsum(evidence)])
    gains = sums[1:] - np.minimum.accumulate(sums[:-1])
    end = int(np.argmax(gains)) + 1
    return float(gains[end - 1]), int(np.argmin(sums[:end])), end
