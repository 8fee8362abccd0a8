"""Files that are seen more or less often than once: entered only where a weight is not 1."""

import math
import zlib
from collections import Counter
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from headway.core.batching import TokenBatches
from headway.core.rows import Indices

_PHASES = 1 << 20

LEAST_DRAWN_FROM = 400
"""A twentieth of so many is the least that says anything about a model."""


RowWeights = NDArray[np.float64]
"""How often each row is seen in an epoch."""

_LEAST_BATCHES = 50
"""A round of fewer batches would hold too few pairs of like length."""


class WeightedRounds:
    """Rows as often as they weigh: `headway.core.batching.Rounds`.

    Each round holds a row once at most, if there is text enough, so that no batch repeats itself.
    """

    def __init__(self, weights: RowWeights) -> None:
        """How often each is seen in an epoch; 0.5: in every other one."""
        self.weights = weights

    @property
    def identity(self) -> int:
        return zlib.crc32(self.weights.tobytes())

    def __call__(self, batches: TokenBatches, n: int, random: np.random.Generator) -> list[Indices]:
        """The rows of each round of epoch `n`."""
        n_batches = (
            float(self.weights @ batches.widths(np.arange(len(batches)))) / batches.batch_tokens
        )
        n_rounds = min(math.ceil(self.weights.max()), int(n_batches / _LEAST_BATCHES))
        return rounds(times_seen(self.weights, batches.seed, n), max(1, n_rounds), random)


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


def rows_of_heaviest(n_rows: Mapping[str, int], weights: Mapping[str, float], least: int) -> int:
    """How many rows the heaviest files have, which come first; lighter ones too up to `least`.

    Both say by name what a file has. The heaviest files say which text a model is for.
    """
    of_weight: Counter[float] = Counter()
    for file, n in n_rows.items():
        of_weight[weights[file]] += n
    total = 0
    for weight in sorted(of_weight, reverse=True):
        total += of_weight[weight]
        if total >= least:
            break
    return total
