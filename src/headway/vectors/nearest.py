"""The rows of a matrix that are nearest to others by cosine: candidates are found by quick sums
whose error is bounded, and what comes near enough is ranked exactly. So the answer is the same,
however the candidates were found.
"""

import ctypes
import functools
import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from headway.engine.building import opened_library
from headway.engine.compiling import NoEngineError, cached_library

if TYPE_CHECKING:  # that library takes as long to load as numpy
    from jaxtyping import Float, Int
    from numpy.typing import NDArray

CHUNK = 1 << 14
"""Rows that are looked at at a time."""
SPARE_BYTES = 64
"""Behind the last row of bytes: nearest.c reads whole blocks."""
_FIRST = 1 << 10
_LEAST_OF_THREAD = 1 << 16
_pointer, _int, _float = ctypes.c_void_p, ctypes.c_int64, ctypes.c_float


class RankedRows(NamedTuple):
    """The nearest rows, the nearest first, those that are as near in their order."""

    rows: "Int[NDArray, 'queries top']"
    cosines: "Float[NDArray, 'queries top']"


def by_sums(
    matrix: "Float[NDArray, 'words size']",
    lengths: "Float[NDArray, ' words']",
    queries: "Float[NDArray, 'queries size']",
    wanted: int,
) -> "list[Int[NDArray, ' some']]":
    """For each query of length 1 the rows that may be among the `wanted` nearest, by sums in
    float32, whose error is at most (size + 8) / 2^24."""
    slack = (matrix.shape[1] + 8) * 2.0**-23
    rows = [np.zeros(0, np.int64) for _ in queries]
    cosines = [np.zeros(0, np.float32) for _ in queries]
    floors = np.full(len(queries), -np.inf)
    begin, n_rows = 0, _FIRST
    while begin < len(matrix):
        some = np.asarray(matrix[begin : begin + n_rows], np.float32)
        of_some = (queries @ some.T) / nonzero(lengths[begin : begin + n_rows])
        for query, found in enumerate(of_some):
            near = np.flatnonzero(found >= floors[query] - slack)
            rows[query] = np.concatenate([rows[query], near + begin])
            cosines[query] = np.concatenate([cosines[query], found[near]])
            if len(near) and len(rows[query]) > wanted:
                floors[query] = np.partition(cosines[query], -wanted)[-wanted]
                kept = cosines[query] >= floors[query] - slack
                rows[query], cosines[query] = rows[query][kept], cosines[query][kept]
        begin, n_rows = begin + n_rows, min(2 * n_rows, CHUNK)
    return rows


def ranked(
    matrix: "Float[NDArray, 'words size']",
    rows: "Int[NDArray, ' some']",
    query: "Float[NDArray, ' size']",
    most: int,
) -> "tuple[Int[NDArray, ' most'], Float[NDArray, ' most']]":
    """The nearest of some rows and their cosines, in float64: each sum by itself, so that equal
    vectors have equal cosines."""
    cosines = np.zeros(len(rows))
    for begin in range(0, len(rows), CHUNK):
        some = matrix[rows[begin : begin + CHUNK]].astype(np.float64)
        sums = (some * query).sum(1)
        cosines[begin : begin + CHUNK] = sums / nonzero(np.sqrt((some * some).sum(1)))
    best = np.lexsort((rows, -cosines))[:most]
    return rows[best], cosines[best].astype(np.float32)


def nonzero(lengths: "Float[NDArray, '*rows']") -> "Float[NDArray, '*rows']":
    """What vectors are divided by: those of zeros by 1."""
    return np.where(lengths, lengths, lengths.dtype.type(1))


class RoundedRows(NamedTuple):
    """Rows of length 1 (or zero) as bytes: a row is its step times its bytes, and a rest."""

    units: "Int[NDArray, 'some size']"
    steps: "Float[NDArray, ' some']"
    errors: "Float[NDArray, ' some']"
    """No rest is longer."""


def rounded(rows: "Float[NDArray, 'some size']") -> RoundedRows:
    """Each row of length 1 in int8."""
    steps = np.abs(rows).max(1) / np.float32(127)
    units = np.rint(rows / nonzero(steps)[:, None])
    rests = np.linalg.norm(rows - units * steps[:, None], axis=1)
    return RoundedRows(
        units.astype(np.int8), steps, (rests * 1.001 + 1e-6).astype(np.float32)
    )  # what float32 adds to it is below that


class ByteSearch:
    """Candidates by `RoundedRows` that may lie on a disk, by all processors."""

    def __init__(self, library: ctypes.CDLL, rows: RoundedRows) -> None:
        """`rows.units` have `SPARE_BYTES` behind them."""
        self._search, self._rows = library.headway_candidates, rows

    def candidates(self, query: "Float[NDArray, ' size']", wanted: int) -> "Int[NDArray, ' some']":
        """The rows that may be among the `wanted` nearest to a query of length 1."""
        (n_rows, size), (units, steps, errors) = self._rows.units.shape, self._rows
        most = min(32767, (2**31 - 1) // (127 * size))  # so that no sum is too large
        step = np.abs(query).max() / np.float32(most)
        whole = np.zeros(size + SPARE_BYTES, np.int16)
        whole[:size] = np.rint(query / step)
        error = np.linalg.norm(query - step * whole[:size]) * 1.001 + 1e-6
        usable = getattr(os, "sched_getaffinity", lambda _: range(os.cpu_count() or 1))
        n_threads = max(1, min(len(usable(0)), n_rows // _LEAST_OF_THREAD))
        bounds = np.linspace(0, n_rows, n_threads + 1).astype(int)
        found: list[tuple[NDArray[np.int64], NDArray[np.float32]]] = []
        lowest = np.full((n_threads, wanted), -np.inf, np.float32)

        def search(part: int) -> None:
            begin, end = int(bounds[part]), int(bounds[part + 1])
            rows, upper = np.empty(end - begin, np.int64), np.empty(end - begin, np.float32)
            n = self._search(
                units.ctypes.data, begin, end, size, steps.ctypes.data, errors.ctypes.data,
                whole.ctypes.data, step, error, wanted, lowest[part].ctypes.data,
                rows.ctypes.data, upper.ctypes.data,
            )  # fmt: skip
            found.append((rows[:n], upper[:n]))

        others = [threading.Thread(target=search, args=[part]) for part in range(1, n_threads)]
        for other in others:
            other.start()
        search(0)
        for other in others:
            other.join()
        floor = np.partition(lowest.ravel(), -wanted)[-wanted]
        return np.sort(np.concatenate([rows[upper >= floor] for rows, upper in found]))


@functools.cache
def search_library() -> ctypes.CDLL | None:
    """nearest.c, compiled; None where there is no compiler. Once a process."""
    try:
        return cached_library("nearest", _opened)
    except NoEngineError:
        return None


def _opened(file: Path) -> ctypes.CDLL:
    three = [_pointer] * 3
    given = [_pointer, *[_int] * 3, *three, _float, _float, _int, *three]
    library: ctypes.CDLL = opened_library(file, "headway", {"candidates": (_int, given)})[0]
    return library
