"""Do the two sides belong together? Long texts have long translations, unless a line is missing."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from headway.text.cleaning import Pair

_BLOCK = 500
_LEAST = 100  # pairs that say anything about a correlation
_SHIFTS = (-3, -2, -1, 1, 2, 3)
_NEAR = 20  # lines; in text as usual the place is found to five or so
_LEAST_SHIFTED = 20  # pairs in a row
_SURE = 15.0  # nats; windows of good corpora reach 10
_MOST_ODD = 4.0  # a pair further off than so many mean deviations says no more than one at that
_LEAST_DEVIATION = 0.05  # of a logarithm; where lengths agree better, chance does not
_CLEARER = 0.1
_UNRELATED = 0.15
_TRANSLATED = 0.5  # the least correlation that lines which belong together show

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
    """Correlation of the lengths with and without the shift, where it was first seen."""

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


class _Lines(NamedTuple):
    """Pairs in a row: the logarithms of their lengths, and where they stand."""

    source: Logs
    target: Logs
    places: list[Place]

    def part(self, start: int, end: int) -> "_Lines":
        return _Lines(self.source[start:end], self.target[start:end], self.places[start:end])

    def then(self, later: "_Lines") -> "_Lines":
        return _Lines(
            np.concatenate([self.source, later.source]),
            np.concatenate([self.target, later.target]),
            self.places + later.places,
        )


_NOTHING = _Lines(np.zeros(0), np.zeros(0), [])


class ShiftDetector:
    """Looks for stretches where target n goes with source n + k rather than with source n.

    For each shift k of up to three lines, a pair says how much likelier its length is beside the
    shifted source than beside its own, in nats. Where these add up to `_SURE` over at least 20
    pairs, and most, the targets are shifted. Each block of 500 pairs is looked at together with
    the one before. If half of all blocks correlate below 0.15, the sides are unrelated.
    """

    def __init__(self) -> None:
        """Start with nothing seen."""
        self.blocks: list[Block] = []
        """Every whole block so far, in order."""
        self._file = ""
        self._lengths: list[tuple[int, int]] = []
        self._places: list[Place] = []
        self._before = _NOTHING  # of the last block, what is not known to be shifted
        self._shifts: list[Shift] = []
        self._open = False  # whether the last shift reaches as far as was looked

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
        self._judge()
        self._before, self._open = _NOTHING, False

    def _judge(self) -> None:
        if not self._lengths:
            return
        source, target = np.log(np.array(self._lengths, np.float64).T)
        lines = _Lines(source, target, self._places)
        self._lengths, self._places = [], []
        straight = _correlation(source, target)
        if straight is not None and len(source) >= _LEAST:
            self.blocks.append(Block(lines.places[0], straight))
        if self._open:
            lines = self._go_on(lines)
        window = self._before.then(lines)
        n_past = 0
        for n_past, shift in _shifts(window):
            self._shifts.append(shift)
            self._open = n_past == len(window.places)
        self._before = window.part(max(n_past, len(window.places) - _BLOCK), len(window.places))

    def _go_on(self, lines: _Lines) -> _Lines:
        """Follow the open shift as far as it reaches, and give what comes behind it."""
        shift, n = self._shifts[-1], len(lines.places)
        rival = _rival(lines, shift.lines)
        n_more = rival[0] if rival else n
        self._open = n_more == n
        if n_more:
            n_pairs = shift.n_pairs + n_more
            self._shifts[-1] = shift._replace(last=lines.places[n_more - 1], n_pairs=n_pairs)
        return lines.part(n_more, n)


def _shifts(lines: _Lines, start: int = 0) -> list[tuple[int, Shift]]:
    """Each shifted stretch, in order, and the row where it ends; `start` is the first row's."""
    n = len(lines.places)
    if n < _LEAST_SHIFTED:
        return []
    sure, first, end, k = _fitting_better(lines, 0)
    if sure < _SURE:
        return []
    end = _to_the_end(end, n)
    while rival := _rival(lines.part(first, end), k):
        before, behind = first + rival[0], first + rival[1]
        first, end = (first, before) if before - first > end - behind else (behind, end)
    source, target, places = lines.part(first, end)
    if end - first < _LEAST_SHIFTED:
        return []
    straight = _correlation(source, target) or 0.0
    shifted = _correlation(*_shift(source, target, k)) or 0.0
    if shifted < max(straight + _CLEARER, _TRANSLATED):
        return []
    found = Shift(places[0], places[-1], end - first, k, shifted, straight)
    return [
        *_shifts(lines.part(0, first), start),
        (start + end, found),
        *_shifts(lines.part(end, n), start + end),
    ]


def _rival(lines: _Lines, k: int) -> tuple[int, int] | None:
    """Between which rows another shift, or none, fits surely better than `k`."""
    sure, first, end, _ = _fitting_better(lines, k)
    return (first, end) if sure >= _SURE else None


def _to_the_end(row: int, n_rows: int) -> int:
    """What comes within some lines of the end is taken to be meant by it."""
    return n_rows if n_rows - row <= _NEAR else row


def _usual(lines: _Lines) -> tuple[float, float]:
    """The median of the logarithms of length ratios, and the mean deviation from it.

    They are taken with the shift, or without, that leaves the smallest deviation.
    """
    found = []
    for k in (0, *_SHIFTS):
        source, target = _shift(lines.source, lines.target, k)
        if len(source):
            ratio = target - source
            middle = float(np.median(ratio))
            found.append((float(np.abs(ratio - middle).mean()), middle))
    deviation, middle = min(found)
    return middle, max(deviation, _LEAST_DEVIATION)


def _fitting_better(lines: _Lines, known: int) -> tuple[float, int, int, int]:
    """The most evidence in a row for another shift than `known`, its rows, and that shift."""
    usual = _usual(lines)
    known_oddness = _oddness(lines, known, *usual)
    return max(
        (*_best_stretch(np.nan_to_num(known_oddness - _oddness(lines, k, *usual))), k)
        for k in (0, *_SHIFTS)
        if k != known
    )


def _oddness(lines: _Lines, k: int, usual: float, deviation: float) -> Logs:
    """How unlikely target n is beside source n + k, in nats, up to a constant; NaN beside nothing.

    Deviations follow a Laplace distribution, apart from its tails.
    """
    oddness = np.full(len(lines.places), np.nan)
    source, target = _shift(lines.source, lines.target, k)
    ratio = np.abs(target - source - usual) / deviation
    oddness[max(0, -k) :][: len(ratio)] = np.minimum(ratio, _MOST_ODD)
    return oddness


def _best_stretch(evidence: Logs) -> tuple[float, int, int]:
    """The largest sum of evidence in a row, where it begins, and where it ends."""
    sums = np.concatenate([[0.0], np.cumsum(evidence)])
    gains = sums[1:] - np.minimum.accumulate(sums[:-1])
    end = int(np.argmax(gains)) + 1
    return float(gains[end - 1]), int(np.argmin(sums[:end])), end


def _shift(source: Logs, target: Logs, k: int) -> tuple[Logs, Logs]:
    """Source n + k beside target n."""
    n = max(0, len(source) - abs(k))
    return source[max(0, k) :][:n], target[max(0, -k) :][:n]


def _correlation(source: Logs, target: Logs) -> float | None:
    """None if one side has texts of one length only."""
    if not source.std() or not target.std():
        return None
    return float(np.corrcoef(source, target)[0, 1])
