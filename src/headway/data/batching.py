"""Batches of a fixed number of tokens, the same ones for the same seed, wherever one starts."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headway.errors import ConfigError, RunError

Indices = NDArray[np.int64]


class TokenBatches:
    """Packs pairs of like length, so that padding is rare, and orders the batches at random.

    A batch of n pairs costs n * max(longest source, longest target) with one marker each, and never
    more than `batch_tokens`, unless one pair alone is longer.
    """

    def __init__(
        self,
        source_lengths: NDArray[np.int32],
        target_lengths: NDArray[np.int32],
        *,
        batch_tokens: int,
        seed: int,
    ) -> None:
        """Take the lengths in tokens, without markers, of every pair."""
        if batch_tokens < 1:
            raise ConfigError(f"a batch holds at least one token; got batch_tokens={batch_tokens}.")
        if len(source_lengths) != len(target_lengths) or not len(source_lengths):
            raise ConfigError(
                "batches need as many source as target lengths, and one at least; got "
                f"{len(source_lengths)} and {len(target_lengths)}."
            )
        self.source_lengths = np.asarray(source_lengths)
        self.target_lengths = np.asarray(target_lengths)
        self.batch_tokens = batch_tokens
        self.seed = seed

    def __len__(self) -> int:
        """How many pairs there are."""
        return len(self.source_lengths)

    def epoch(self, n: int) -> list[Indices]:
        """The batches of epoch `n`, counted from 0: pair indices, each pair once.

        Pairs are sorted by target, then source length, with ties shuffled; the batches come in
        random order. Both depend on (seed, n) and nothing else.
        """
        random = np.random.Generator(np.random.PCG64([self.seed, n]))
        shuffled = random.permutation(len(self))
        keys = self.source_lengths[shuffled], self.target_lengths[shuffled]
        order = shuffled[np.lexsort(keys)]
        widths = np.maximum(self.source_lengths[order], self.target_lengths[order]) + 1
        ends = _pack(widths.astype(np.int64), self.batch_tokens)
        batches = np.split(order, ends[:-1])
        return [batches[i] for i in random.permutation(len(batches))]


def _pack(widths: NDArray[np.int64], batch_tokens: int) -> list[int]:
    """Where each batch ends when rows are taken in order until the next one is too much."""
    ends: list[int] = []
    start = 0
    while start < len(widths):
        most = max(1, batch_tokens // int(widths[start]))
        widest = np.maximum.accumulate(widths[start : start + most])
        costs = widest * np.arange(1, len(widest) + 1)
        start += max(1, int(np.searchsorted(costs, batch_tokens, side="right")))
        ends.append(start)
    return ends


class BatchStream:
    """Batches without end, epoch after epoch; stopped and restored it goes on as if it never was.

    `epoch` and `index` say which batch comes next.
    """

    def __init__(self, batches: TokenBatches) -> None:
        """Start at the first batch of epoch 0."""
        self._batches = batches
        self._epoch = batches.epoch(0)
        self.epoch = 0
        self.index = 0

    def next(self) -> Indices:
        """The indices of the next batch."""
        if self.index == len(self._epoch):
            self.epoch, self.index = self.epoch + 1, 0
            self._epoch = self._batches.epoch(self.epoch)
        self.index += 1
        return self._epoch[self.index - 1]

    def state(self) -> dict[str, int]:
        """All that `restore` needs, ready for JSON."""
        return {"epoch": self.epoch, "index": self.index, **self._identity()}

    def restore(self, state: dict[str, Any]) -> None:
        """Go to where `state` was taken.

        Raises:
            RunError: it was taken from other data, another batch size or another seed.
        """
        identity = self._identity()
        for name, value in identity.items():
            if state[name] != value:
                raise RunError(
                    f"the order of batches can only be resumed with the same {name}; the run has "
                    f"{state[name]}, now it is {value}. Put it back, or start a new run."
                )
        self.epoch, self.index = state["epoch"], state["index"]
        self._epoch = self._batches.epoch(self.epoch)

    def _identity(self) -> dict[str, int]:
        batches = self._batches
        return {"pairs": len(batches), "batch_tokens": batches.batch_tokens, "seed": batches.seed}


def pad(
    rows: Sequence[NDArray[Any]], padding: int, *, begin: int | None = None, end: int | None = None
) -> Indices:
    """The rows as one array, with markers if they are given: [rows, longest]."""
    n_begin, n_end = int(begin is not None), int(end is not None)
    lengths = np.fromiter((len(row) for row in rows), np.int64, len(rows))
    longest = int(lengths.max(initial=0))
    padded = np.full((len(rows), n_begin + longest + n_end), padding, np.int64)
    if rows:
        inside = np.arange(longest) < lengths[:, None]
        padded[:, n_begin : n_begin + longest][inside] = np.concatenate(rows)
    if begin is not None:
        padded[:, 0] = begin
    if end is not None:
        padded[np.arange(len(rows)), n_begin + lengths] = end
    return padded
