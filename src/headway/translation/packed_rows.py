"""Pairs side by side in rows of a fixed length, so that every batch has the same shape and next to
no padding."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from headway.core.batching import Rounds, TokenBatches
from headway.core.rows import Indices

MULTIPLE = 8
"""Rows are as long as a multiple of this, which kernels of GPUs ask of a mask."""

AT_ONCE = 2
"""This part of the rows is given a pair each, before those with most room are looked for again."""
STEP = 0.005
"""By this share fewer pairs are tried where some did not fit, and more in the next batch."""


class RowBatches(TokenBatches):
    """Batches of random pairs that fill `n_rows` rows; the last of a round has fewer pairs."""

    def __init__(
        self,
        lengths: Sequence[NDArray[np.int32]],
        *,
        row_length: int,
        batch_tokens: int,
        seed: int,
        rounds: Rounds | None = None,
    ) -> None:
        """`row_length` is that of the side with more tokens; the other's is shorter alike."""
        super().__init__(lengths, batch_tokens=batch_tokens, seed=seed, rounds=rounds)
        n_tokens = [int(side.sum()) + len(self) for side in self.lengths]
        shares = (row_length * n / max(n_tokens) for n in n_tokens)
        longest = (int(side.max()) + 1 for side in self.lengths)
        self.row_lengths = [
            -(-max(round(share), most) // MULTIPLE) * MULTIPLE
            for share, most in zip(shares, longest, strict=True)
        ]
        """Of each side."""
        self.n_rows = max(1, batch_tokens // max(self.row_lengths))

    def _packed(self, rows: Indices, random: np.random.Generator) -> list[Indices]:
        shuffled = random.permutation(rows)
        widths = [side[shuffled].astype(np.int64) + 1 for side in self.lengths]
        before = [np.concatenate([[0], side.cumsum()]) for side in widths]
        batches, start, fitted = list[Indices](), 0, 1.0
        while start < len(shuffled):
            end = most = min(
                int(np.searchsorted(side, side[start] + self.n_rows * length, side="right")) - 1
                for side, length in zip(before, self.row_lengths, strict=True)
            )
            if most < len(shuffled):
                end = start + max(1, round((most - start) * min(1.0, fitted + STEP)))
            while (order := self._dealt([side[start:end] for side in widths])) is None:
                end -= max(1, round((end - start) * STEP))
            fitted = (end - start) / (most - start)
            batches.append(shuffled[start:end][order])
            start = end
        return batches

    def _dealt(self, widths: Sequence[NDArray[np.int64]]) -> Indices | None:
        """An order in which some pairs fill the rows one after the other; None if they do not fit.

        The longest first, they are given to the rows that have most room, a few at a time: then all
        rows are about equally full (Graham 1969).
        """
        both, most = np.stack(widths), np.array(self.row_lengths)[:, None]
        filled = np.zeros((2, self.n_rows), np.int64)
        given, few = np.empty(both.shape[1], np.int64), -(-self.n_rows // AT_ONCE)
        longest_first = np.argsort(-both.sum(0), kind="stable")
        for some in np.split(longest_first, range(few, len(longest_first), few)):
            rows = np.argsort((filled / most).max(0), kind="stable")[: len(some)]
            filled[:, rows] += both[:, some]
            given[some] = rows
        return None if (filled > most).any() else np.argsort(given, kind="stable")

    def row_ends(self, widths: Sequence[NDArray[Any]]) -> list[int]:
        """Where each row ends, when pairs of these widths, markers included, are taken in order and
        stand in a row until the next one is too long for it: in no more rows than they fit into."""
        before = [np.concatenate([[0], np.cumsum(side, dtype=np.int64)]) for side in widths]
        ends, start = list[int](), 0
        while start < len(widths[0]):
            fitting = (
                int(np.searchsorted(side, side[start] + length, side="right")) - 1
                for side, length in zip(before, self.row_lengths, strict=True)
            )
            start = max(start + 1, min(fitting))
            ends.append(start)
        return ends


class Layout(NamedTuple):
    """Where the tokens of one side of some pairs stand, one pair behind the other, row by row."""

    shape: tuple[int, int]
    """How many rows, and how long."""
    where: Indices
    """Of each token, in rows laid end to end: [tokens]."""
    sentence: Indices
    """Which pair it belongs to, from 1."""
    place: Indices
    """Where in its sentence it stands, from 0."""

    @classmethod
    def of(cls, widths: NDArray[Any], row_ends: Sequence[int], shape: tuple[int, int]) -> "Layout":
        """Of sentences with these many tokens, markers included."""
        starts = np.cumsum(widths, dtype=np.int64) - widths
        per_row = np.diff([0, *row_ends])
        row = np.repeat(np.arange(len(row_ends)), per_row)
        begins = row * shape[1] + starts - np.repeat(starts[[0, *row_ends[:-1]]], per_row)
        sentence = np.repeat(np.arange(len(widths)), widths)
        place = np.arange(len(sentence)) - starts[sentence]
        return cls(shape, begins[sentence] + place, sentence + 1, place)

    def grid(self, values: NDArray[Any], elsewhere: int = 0) -> Indices:
        """One value a token, in its place: [rows, length]."""
        grid = np.full(self.shape[0] * self.shape[1], elsewhere, np.int64)
        grid[self.where] = values
        return grid.reshape(self.shape)

    def ids(
        self, sentences: Sequence[NDArray[Any]], padding: int, *, begin: int = -1, end: int = -1
    ) -> Indices:
        """The ids of sentences, each with the marker that is given: [rows, length]."""
        first = self.place == 0
        marked = first if end < 0 else np.append(first[1:], True)
        tokens = np.full(len(marked), max(begin, end))
        tokens[~marked] = np.concatenate(sentences)
        return self.grid(tokens, padding)
