"""Where targets go with the sources of other lines, because a line is missing above."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from headway.core.cleaning import Pair
from headway.core.errors import DataError
from headway.core.lines import read_lines
from headway.corpora.alignment import (
    BLOCK,
    LEAST_CORRELATED,
    LEAST_SHIFTED,
    SURE,
    UNRELATED,
    Logs,
    correlation,
    fitting_better,
    side_by_side,
)

NEAR = 20
"""Lines by which the place of a break may be off; in text as usual it is found to five or so."""
_CLEARER = 0.1
_TRANSLATED = 0.5  # the least correlation that lines which belong together show


class LineNumber(NamedTuple):
    """A line of a file, from 1."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


class Shift(NamedTuple):
    """A stretch in which targets go with the sources of other lines."""

    first: LineNumber
    last: LineNumber
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


class _PairLengths(NamedTuple):
    """Pairs in a row: the logarithms of their lengths, and where they stand."""

    source: Logs
    target: Logs
    places: list[LineNumber]

    def part(self, start: int, end: int) -> "_PairLengths":
        return _PairLengths(self.source[start:end], self.target[start:end], self.places[start:end])

    def then(self, later: "_PairLengths") -> "_PairLengths":
        return _PairLengths(
            np.concatenate([self.source, later.source]),
            np.concatenate([self.target, later.target]),
            self.places + later.places,
        )


_NOTHING = _PairLengths(np.zeros(0), np.zeros(0), [])


class ShiftDetector:
    """Looks for stretches where target n goes with source n + k rather than with source n.

    For each shift k of up to three lines, a pair says how much likelier its length is beside the
    shifted source than beside its own, in nats. Where these add up to `SURE` over at least 20
    pairs, and most, the targets are shifted. Each block of 500 pairs is looked at together with
    the one before. If half of all blocks correlate below 0.15, the sides are unrelated.
    """

    def __init__(self) -> None:
        self.correlations: list[float] = []
        """Of the lengths in every whole block so far, in order."""
        self._file = ""
        self._lengths: list[tuple[int, int]] = []
        self._places: list[LineNumber] = []
        self._before = _NOTHING  # of the last block, what is not known to be shifted
        self._shifts: list[Shift] = []
        self._open = False  # whether the last shift reaches as far as was looked

    def add(self, pair: Pair) -> None:
        self.add_lengths(len(pair.source), len(pair.target), LineNumber(pair.file, pair.line))

    def add_lengths(self, source: int, target: int, place: LineNumber) -> None:
        """Take the next pair of the corpus: the characters of its sides, and where it stands."""
        if place.file != self._file:
            self._end_of_file()
            self._file = place.file
        self._places.append(place)
        self._lengths.append((source, target))
        if len(self._lengths) == BLOCK:
            self._judge()

    def break_between(self) -> tuple[int, int] | None:
        """The lines between which the sides part, if they do."""
        shifts = self.shifts()
        if not shifts:
            return None
        line = shifts[0].first.line
        return max(1, line - NEAR), line + NEAR

    def shifts(self) -> list[Shift]:
        """Every shifted stretch in all that was added."""
        self._end_of_file()
        return self._shifts

    def typical_correlation(self) -> float | None:
        """The median over the blocks; None if there are too few pairs to tell."""
        self._end_of_file()
        return float(np.median(self.correlations)) if self.correlations else None

    def unrelated(self) -> bool:
        """Whether the lengths of the two sides have nothing to do with each other."""
        typical = self.typical_correlation()
        return typical is not None and not self._shifts and typical < UNRELATED

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
        lines = _PairLengths(source, target, self._places)
        self._lengths, self._places = [], []
        straight = correlation(source, target)
        if straight is not None and len(source) >= LEAST_CORRELATED:
            self.correlations.append(straight)
        if self._open:
            lines = self._go_on(lines)
        window = self._before.then(lines)
        n_past = 0
        for n_past, shift in _shifts(window):
            self._shifts.append(shift)
            self._open = n_past == len(window.places)
        self._before = window.part(max(n_past, len(window.places) - BLOCK), len(window.places))

    def _go_on(self, lines: _PairLengths) -> _PairLengths:
        """Follow the open shift as far as it reaches, and give what comes behind it."""
        shift, n = self._shifts[-1], len(lines.places)
        rival = _rival(lines, shift.lines)
        n_more = rival[0] if rival else n
        self._open = n_more == n
        if n_more:
            n_pairs = shift.n_pairs + n_more
            self._shifts[-1] = shift._replace(last=lines.places[n_more - 1], n_pairs=n_pairs)
        return lines.part(n_more, n)


def _shifts(lines: _PairLengths, start: int = 0) -> list[tuple[int, Shift]]:
    """Each shifted stretch, in order, and the row where it ends; `start` is the first row's."""
    n = len(lines.places)
    if n < LEAST_SHIFTED:
        return []
    sure, first, end, k = fitting_better(lines.source, lines.target, 0)
    if sure < SURE:
        return []
    end = _to_the_end(end, n)
    while rival := _rival(lines.part(first, end), k):
        before, behind = first + rival[0], first + rival[1]
        first, end = (first, before) if before - first > end - behind else (behind, end)
    source, target, places = lines.part(first, end)
    if end - first < LEAST_SHIFTED:
        return []
    straight = correlation(source, target) or 0.0
    shifted = correlation(*side_by_side(source, target, k)) or 0.0
    if shifted < max(straight + _CLEARER, _TRANSLATED):
        return []
    found = Shift(places[0], places[-1], end - first, k, shifted, straight)
    return [
        *_shifts(lines.part(0, first), start),
        (start + end, found),
        *_shifts(lines.part(end, n), start + end),
    ]


def _rival(lines: _PairLengths, k: int) -> tuple[int, int] | None:
    """Between which rows another shift, or none, fits surely better than `k`."""
    sure, first, end, _ = fitting_better(lines.source, lines.target, k)
    return (first, end) if sure >= SURE else None


def _to_the_end(row: int, n_rows: int) -> int:
    """What comes within some lines of the end is taken to be meant by it."""
    return n_rows if n_rows - row <= NEAR else row


def unequal(source: Path, target: Path, n_lines: tuple[int, int]) -> DataError:
    """For two files that do not go together line by line, having so many lines each."""
    detector = ShiftDetector()
    both = zip(read_lines(source), read_lines(target), strict=False)
    for line, (left, right) in enumerate(both, start=1):
        if left and right:
            detector.add_lengths(len(left), len(right), LineNumber("", line))
    found = detector.break_between()
    where = f" (probably between lines {found[0]:,} and {found[1]:,})" if found else ""
    return DataError(
        f"line n of one file must translate line n of the other; {source} has "
        f"{n_lines[0]:,} lines and {target} has {n_lines[1]:,}. Find the line that is "
        f"missing or split{where}, or give the files that belong together."
    )


def suspicions(files: Iterable[tuple[str, NDArray[Any]]]) -> list[str]:
    """Where the sides of a corpus do not go together, in words.

    Each file comes with its rows, or with some that follow those before: `source` and `target` in
    characters, and the `line`.
    """
    detector = ShiftDetector()
    for file, rows in files:
        columns = (rows[name].tolist() for name in ("source", "target", "line"))
        for source, target, line in zip(*columns, strict=True):
            detector.add_lengths(source, target, LineNumber(file, line))
    return detector.suspicions()
