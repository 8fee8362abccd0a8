"""Batches of a fixed number of tokens, the same ones for the same seed, wherever one starts."""

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from headway.core.errors import ConfigError, RunError
from headway.core.rows import Indices


@runtime_checkable
class Rounds(Protocol):
    """Which rows an epoch has, where it is not each of them once: those of each round of epoch `n`;
    no batch has rows of two rounds. `identity`, which is not 0, tells it from others."""

    @property
    def identity(self) -> int: ...
    def __call__(
        self, batches: "TokenBatches", n: int, random: np.random.Generator
    ) -> list[Indices]: ...


class TokenBatches:
    """Packs rows of like length, so that padding is rare, and orders the batches at random.

    A row has one or more sides. A batch of n rows costs n * its longest side with one marker, and
    never more than `batch_tokens`, unless one row alone is longer.
    """

    def __init__(
        self,
        lengths: Sequence[Any],
        *,
        batch_tokens: int,
        seed: int,
        rounds: Rounds | None = None,
    ) -> None:
        """Take, for each side, the lengths in tokens, without markers, of every row: an array, or
        what gives those of some rows as one does."""
        n_rows = [len(side) for side in lengths]
        if batch_tokens < 1 or len({*n_rows}) != 1 or 0 in n_rows:
            raise ConfigError(
                "batches need one token or more, one row or more, and as many lengths of each "
                f"side; got batches of {batch_tokens} tokens and sides of {n_rows} rows."
            )
        self.lengths = lengths
        self.batch_tokens = batch_tokens
        self.seed = seed
        self.rounds = rounds
        self.order = rounds.identity if rounds else 0

    def __len__(self) -> int:
        """How many rows there are."""
        return len(self.lengths[0])

    def widths(self, rows: Indices) -> NDArray[np.int64]:
        """The longest side of each of these rows, with a marker: [rows]."""
        return np.max([side[rows] for side in self.lengths], axis=0).astype(np.int64) + 1

    def epoch(self, n: int) -> list[Indices]:
        """The batches of epoch `n`, counted from 0: row indices.

        In a round rows are sorted by the length of the last side, then of the one before it, and so
        on, with ties shuffled; its batches come in random order. An epoch is one round of all rows,
        or what `rounds` says. All depends on (seed, n) and nothing else.
        """
        random = np.random.Generator(np.random.PCG64([self.seed, n]))
        rounds = self.rounds(self, n, random) if self.rounds else [np.arange(len(self))]
        return [batch for rows in rounds for batch in self._packed(rows, random)]

    def _packed(self, rows: Indices, random: np.random.Generator) -> list[Indices]:
        if not len(rows):
            return []
        shuffled = random.permutation(rows)
        order = shuffled[np.lexsort([side[shuffled] for side in self.lengths])]
        ends = _pack(self.widths(order), self.batch_tokens)
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


@runtime_checkable
class Batches(Protocol):
    """The batches of each epoch, and what they depend on."""

    batch_tokens: int
    """About the size of a batch."""
    seed: int
    order: int
    """What their order depends on beside the seed; 0: nothing."""

    def __len__(self) -> int:
        """How many rows, or tokens, there are."""

    def epoch(self, n: int) -> list[Indices]:
        """The batches of epoch `n`, counted from 0; at least one in some epoch."""


class BatchStream:
    """Batches without end, epoch after epoch; stopped and restored it goes on as if it never was.

    `epoch` and `index` say which batch comes next.
    """

    def __init__(self, batches: Batches) -> None:
        """Start at the first batch of epoch 0."""
        self.batches = batches
        self._epoch = batches.epoch(0)
        self._identity = {
            "pairs": len(batches), "batch_tokens": batches.batch_tokens, "seed": batches.seed,
            "weights": batches.order,
        }  # fmt: skip
        self.epoch = self.index = 0

    def next(self) -> Indices:
        """The indices of the next batch."""
        while self.index == len(self._epoch):  # an epoch of light rows alone may be empty
            self.epoch, self.index = self.epoch + 1, 0
            self._epoch = self.batches.epoch(self.epoch)
        self.index += 1
        return self._epoch[self.index - 1]

    def state_dict(self) -> dict[str, int]:
        """All that `load_state_dict` needs, ready for JSON."""
        return {"epoch": self.epoch, "index": self.index, **self._identity}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go to where `state` was taken. Raises RunError: data, batch size or seed were others."""
        for name, value in self._identity.items():
            if state.get(name, 0) != value:
                raise RunError(
                    f"the order of batches can only be resumed with the same {name}; the run has "
                    f"{state.get(name, 0)}, now it is {value}. Put it back, or start a new run."
                )
        self.epoch, self.index = state["epoch"], state["index"]
        self._epoch = self.batches.epoch(self.epoch)
        if not 0 <= self.index <= len(self._epoch):
            raise RunError(
                f"a pass has {len(self._epoch)} batches; the run says it was at {self.index}. "
                "Start a new run."
            )
