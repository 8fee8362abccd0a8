"""Sorted runs of windows on disk, read back range by range: sorting what memory does not hold.

A range has what lies between two values in all runs. One after the other, the ranges are all
windows in their order; each fits in memory by itself.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from headway.data.ngram_windows import Column

_EVERY = 1024  # one in so many windows is held in memory, to find the others by


class Span(NamedTuple):
    """Some windows in their order, and what is known of each."""

    columns: list[Column]
    payload: NDArray[Any]


class SortedRun:
    """Windows in a folder, sorted."""

    def __init__(self, folder: Path, name: str, n_columns: int, kind: np.dtype[Any]) -> None:
        """Open what `write_run` wrote; `kind` is that of the payload."""
        self._columns = [folder / f"{name}.column{i}" for i in range(n_columns)]
        self._payload, self._kind = folder / f"{name}.payload", kind
        self.n_windows = self._payload.stat().st_size // kind.itemsize
        self.sample: Column = np.fromfile(folder / f"{name}.sample", np.uint64)
        """One in `_EVERY` windows, by the first column."""

    def first_from(self, value: np.uint64) -> int:
        """The place of the first window whose first column is not below `value`."""
        block = max(0, int(np.searchsorted(self.sample, value)) - 1) * _EVERY
        near = _read(self._columns[0], np.dtype(np.uint64), block, _EVERY)
        return block + int(np.searchsorted(near, value))

    def read(self, begin: int, end: int) -> Span:
        """The windows from place `begin` up to `end`."""
        kind = np.dtype(np.uint64)
        columns = [_read(path, kind, begin, end - begin) for path in self._columns]
        return Span(columns, _read(self._payload, self._kind, begin, end - begin))


def write_run(folder: Path, name: str, span: Span) -> None:
    """Write sorted windows to files in a folder."""
    for i, column in enumerate(span.columns):
        column.tofile(folder / f"{name}.column{i}")
    span.payload.tofile(folder / f"{name}.payload")
    span.columns[0][::_EVERY].tofile(folder / f"{name}.sample")


def _read(path: Path, kind: np.dtype[Any], begin: int, n: int) -> NDArray[Any]:
    """Read, not mapped: pages of a mapped file would stay in memory."""
    return np.fromfile(path, kind, count=n, offset=begin * kind.itemsize)


def n_ranges(runs: Sequence[SortedRun], most: int) -> int:
    """How many ranges `ranges` gives."""
    return len(_splitters(runs, most)) + 1


def ranges(runs: Sequence[SortedRun], most: int, begin: int = 0) -> Iterator[Span]:
    """All windows in ranges of about `most`, those of each run one after the other; the ranges
    before number `begin` are left out.

    Windows that are alike in the first column are never parted: a range may be larger by these.
    """
    splitters = _splitters(runs, most)[max(0, begin - 1) :]
    places = [[run.first_from(value) for value in splitters] for run in runs]
    for run, of_run in zip(runs, places, strict=True):
        of_run.append(run.n_windows)
        if not begin:
            of_run.insert(0, 0)
    for number in range(len(splitters) + (not begin)):
        read = [
            run.read(*of_run[number : number + 2]) for run, of_run in zip(runs, places, strict=True)
        ]
        columns = [
            np.concatenate(some) for some in zip(*(one.columns for one in read), strict=True)
        ]
        yield Span(columns, np.concatenate([one.payload for one in read]))


def _splitters(runs: Sequence[SortedRun], most: int) -> Column:
    """The first value of each range but the first."""
    sample = np.sort(np.concatenate([run.sample for run in runs]))
    step = max(1, most // _EVERY)
    found = np.unique(sample[step::step])
    return found[found > sample[:1]]  # no range is empty
