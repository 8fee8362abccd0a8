"""Which texts occur more than once, by their hashes, however many there are: memory stays flat.

Hashes come in runs, from disk. All hashes between two bounds are read from every run, sorted, and
forgotten, before those between the next two are.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from headway.core.dedup_split import HashedRows, Hashes, PairHashes, Repeats, repeats

AT_ONCE = 1 << 21
"""Rows compared at a time, each of 50 bytes or so."""


def find_repeats(runs: Sequence[HashedRows], of: Callable[[PairHashes], Hashes]) -> Repeats:
    """Mark the rows of which one of the three hashes occurs more than once."""
    return repeats_among([run.n_rows for run in runs], lambda: (of(run.hashes()) for run in runs))


def repeats_among(sizes: Sequence[int], runs: Callable[[], Iterable[Hashes]]) -> Repeats:
    """Mark the rows whose hash occurs more than once.

    `runs` gives all hashes anew each time that it is called, in runs of these `sizes`; row 0 of a
    run follows the last one before it.
    """
    n_rows = sum(sizes)
    later, shared = np.zeros(n_rows, np.bool_), np.zeros(n_rows, np.bool_)
    n_parts = -(-n_rows // AT_ONCE) or 1
    for part in range(n_parts):
        least = np.uint64(part * 2**64 // n_parts)
        most = np.uint64((part + 1) * 2**64 // n_parts - 1)
        found = list(_between(least, most, sizes, runs()))
        if not found:
            continue
        values, rows = (np.concatenate(column) for column in zip(*found, strict=True))
        marks = repeats(values)
        later[rows[marks.later]] = True
        shared[rows[marks.shared]] = True
    return Repeats(later, shared)


def _between(
    least: np.uint64, most: np.uint64, sizes: Sequence[int], runs: Iterable[Hashes]
) -> Iterator[tuple[Hashes, NDArray[np.int64]]]:
    """The hashes of each run that lie between two, and their rows."""
    for first, hashes in zip(accumulate(sizes, initial=0), runs, strict=False):
        inside = np.flatnonzero((hashes >= least) & (hashes <= most))
        yield hashes[inside], inside + first
