"""Which texts occur more than once, by their hashes: memory stays flat however many there are.

Hashes come in runs, from disk. All hashes between two bounds are read from every run, sorted, and
forgotten, before those between the next two are.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_PART = 1 << 21  # rows compared at a time, each of 50 bytes or so
_HASH = np.dtype("<u8")

Hashes = NDArray[np.uint64]


class Repeats(NamedTuple):
    """Two marks for each row: [rows]."""

    later: NDArray[np.bool_]
    """The same value stands further up."""
    shared: NDArray[np.bool_]
    """The same value stands elsewhere."""


def text_hash(text: str) -> bytes:
    """Eight bytes that tell texts apart: two of 5 million are confused once in 10^6 corpora."""
    return hashlib.blake2b(text.encode("utf-8"), digest_size=8).digest()


def text_hashes(texts: Sequence[str]) -> Hashes:
    """The hash of each text as a number: [texts]."""
    return np.frombuffer(b"".join(map(text_hash, texts)), _HASH)


def pair_hashes(source: Hashes, target: Hashes) -> Hashes:
    """One hash for both sides of each pair; exchanging the sides changes it."""
    mixed = source * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= (target << np.uint64(31)) | (target >> np.uint64(33))
    return mixed * np.uint64(0xBF58476D1CE4E5B9)


def find_repeats(sizes: Sequence[int], runs: Callable[[], Iterable[Hashes]]) -> Repeats:
    """Mark the rows whose hash occurs more than once.

    `runs` gives all hashes anew each time that it is called, in runs of these `sizes`; row 0 of a
    run follows the last one before it.
    """
    n_rows = sum(sizes)
    later, shared = np.zeros(n_rows, np.bool_), np.zeros(n_rows, np.bool_)
    n_parts = -(-n_rows // _PART) or 1
    for part in range(n_parts):
        least = np.uint64(part * 2**64 // n_parts)
        most = np.uint64((part + 1) * 2**64 // n_parts - 1)
        found = list(_between(least, most, sizes, runs()))
        if not found:
            continue
        values, rows = (np.concatenate(column) for column in zip(*found, strict=True))
        order = np.argsort(values, kind="stable")  # equal values stay in the order of their rows
        values, rows = values[order], rows[order]
        same = values[1:] == values[:-1]
        later[rows[1:][same]] = True
        shared[rows[1:][same]] = True
        shared[rows[:-1][same]] = True
    return Repeats(later, shared)


def _between(
    least: np.uint64, most: np.uint64, sizes: Sequence[int], runs: Iterable[Hashes]
) -> Iterator[tuple[Hashes, NDArray[np.int64]]]:
    """The hashes of each run that lie between two, and their rows."""
    for first, hashes in zip(accumulate(sizes, initial=0), runs, strict=False):
        inside = np.flatnonzero((hashes >= least) & (hashes <= most))
        yield hashes[inside], inside + first
