"""Which texts occur more than once, found on disk: memory stays flat however many there are."""

import hashlib
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_PART = 1 << 21  # values sorted at a time: 16 MiB, and as much again for their order

Hashes = NDArray[np.uint64]


class Repeats(NamedTuple):
    """Two marks for each value: [values]."""

    later: NDArray[np.bool_]
    """The same value stands further up."""
    shared: NDArray[np.bool_]
    """The same value stands elsewhere."""


def text_hash(text: str) -> bytes:
    """Eight bytes that tell texts apart: two of 5 million are confused once in 10^6 corpora."""
    return hashlib.blake2b(text.encode("utf-8"), digest_size=8).digest()


def pair_hashes(source: Hashes, target: Hashes) -> Hashes:
    """One hash for both sides of each pair; exchanging the sides changes it."""
    mixed = source * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= (target << np.uint64(31)) | (target >> np.uint64(33))
    return mixed * np.uint64(0xBF58476D1CE4E5B9)


def find_repeats(values: Hashes) -> Repeats:
    """Mark the values that occur more than once; `values` may be a memory map."""
    n_parts = -(-len(values) // _PART) or 1
    later = np.zeros(len(values), np.bool_)
    shared = np.zeros(len(values), np.bool_)
    for part in range(n_parts):
        places = _places(values, part, n_parts)
        chosen = values[places]
        order = np.argsort(chosen, kind="stable")
        places, chosen = places[order], chosen[order]
        same = chosen[1:] == chosen[:-1]
        later[places[1:][same]] = True
        shared[places[1:][same]] = True
        shared[places[:-1][same]] = True
    return Repeats(later, shared)


def _places(values: Hashes, part: int, n_parts: int) -> NDArray[np.int64]:
    """The places whose value belongs to one of `n_parts` parts of about equal size."""
    found = [
        start + np.flatnonzero(values[start : start + _PART] % np.uint64(n_parts) == part)
        for start in range(0, len(values), _PART)
    ]
    return np.concatenate(found) if found else np.zeros(0, np.int64)
