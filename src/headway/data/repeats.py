"""Which texts occur more than once, found on disk: memory stays flat however many there are.

Rows come in runs. Each run is a file of its hashes in ascending order, and of the row of each. All
hashes between two bounds stand together in every run, so a part that fits in memory is read from
all of them, sorted, and forgotten.
"""

import hashlib
from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_PART = 1 << 20  # rows compared at a time, each of 50 bytes or so
_HASH = np.dtype("<u8")
_ROW = np.dtype("<u4")

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


def write_run(path: Path, hashes: Hashes) -> None:
    """Write the hashes of some rows, at most 2^32, in ascending order."""
    rows = np.argsort(hashes, kind="stable")
    with path.open("wb") as file:
        file.write(hashes[rows].astype(_HASH).tobytes())
        file.write(rows.astype(_ROW).tobytes())


def read_run(path: Path) -> Hashes:
    """The hashes that `write_run` took, in the order of their rows: [rows]."""
    values, rows = _read(path, 0, _n_rows(path))
    hashes = np.empty_like(values)
    hashes[rows] = values
    return hashes


def find_repeats(runs: Sequence[Path]) -> Repeats:
    """Mark the rows whose hash occurs more than once; row 0 of a run follows the last before it."""
    first_rows = list(accumulate(map(_n_rows, runs), initial=0))
    n_rows = first_rows[-1]
    later = np.zeros(n_rows, np.bool_)
    shared = np.zeros(n_rows, np.bool_)
    n_parts = -(-n_rows // _PART) or 1
    bounds = [part * 2**64 // n_parts for part in range(1, n_parts)]
    cuts = [_cuts(run, np.array(bounds, np.uint64)) for run in runs]
    for part in range(n_parts):
        found = [_read(run, cut[part], cut[part + 1]) for run, cut in zip(runs, cuts, strict=True)]
        if not found:
            continue
        values = np.concatenate([values for values, _ in found])
        rows = np.concatenate(
            [first + rows for (_, rows), first in zip(found, first_rows, strict=False)]
        )
        order = np.argsort(values, kind="stable")  # equal values stay in the order of their rows
        values, rows = values[order], rows[order]
        same = values[1:] == values[:-1]
        later[rows[1:][same]] = True
        shared[rows[1:][same]] = True
        shared[rows[:-1][same]] = True
    return Repeats(later, shared)


def _n_rows(run: Path) -> int:
    return run.stat().st_size // (_HASH.itemsize + _ROW.itemsize)


def _cuts(run: Path, bounds: Hashes) -> list[int]:
    """Where in a run each part begins, and where the last one ends."""
    n_rows = _n_rows(run)
    if not n_rows or not len(bounds):
        return [0] * (len(bounds) + 1) + [n_rows]
    values = np.memmap(run, _HASH, mode="r", shape=(n_rows,))
    return [0, *np.searchsorted(values, bounds).tolist(), n_rows]


def _read(run: Path, start: int, end: int) -> tuple[Hashes, NDArray[np.int64]]:
    """Some of the hashes of a run, and their rows in it."""
    with run.open("rb") as file:
        file.seek(start * _HASH.itemsize)
        values = np.fromfile(file, _HASH, end - start)
        file.seek(_n_rows(run) * _HASH.itemsize + start * _ROW.itemsize)
        return values, np.fromfile(file, _ROW, end - start).astype(np.int64)
