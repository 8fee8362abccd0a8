"""Files that are seen more or less often than once: entered only where a weight is not 1."""

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from headway.data.pieces import Piece

_PHASES = 1 << 20


def times_seen(weights: NDArray[np.float64], seed: int, n: int) -> NDArray[np.int64]:
    """How often each row comes in epoch `n`: [rows].

    That is its weight if it is whole; else it is rounded down or up so that after any number of
    epochs the sum is right to within one, beginning at a random place for each row.
    """
    random = np.random.Generator(np.random.PCG64([seed, 0, 1]))
    phases = random.integers(_PHASES, size=len(weights)) / _PHASES
    so_far, then = (np.floor(epoch * weights + phases) for epoch in (n, n + 1))
    return (then - so_far).astype(np.int64)


def rounds(
    times: NDArray[np.int64], n_rounds: int, random: np.random.Generator
) -> list[NDArray[np.int64]]:
    """The rows of each round; those that come several `times` are spread over them evenly."""
    rows = np.repeat(np.arange(len(times)), times)
    copy = np.arange(len(rows)) - np.repeat(np.cumsum(times) - times, times)
    place = (copy + random.random(len(times))[rows]) / times[rows]
    number = (place * n_rounds).astype(np.int64)
    return [rows[number == one] for one in range(n_rounds)]


def rows_of_heaviest(pieces: Sequence[Piece], weights: Mapping[str, float], least: int) -> int:
    """How many rows the heaviest files have, which come first; lighter ones too up to `least`.

    `weights` says by name how heavy each file is.
    """
    n_rows: Counter[float] = Counter()
    for piece in pieces:
        of_file = np.bincount(piece.rows()["file"], minlength=len(piece.files)).tolist()
        for file, n in zip(piece.files, of_file, strict=True):
            n_rows[weights[file]] += n
    total = 0
    for weight in sorted(n_rows, reverse=True):
        total += n_rows[weight]
        if total >= least:
            break
    return total
