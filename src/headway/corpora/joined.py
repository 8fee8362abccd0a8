"""Rows of several corpora as one: entered only by a run that mixes in the data of its parent."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from headway.core.rows import SIDES, Indices, StoredIds
from headway.corpora.in_memory import PairRows


class JoinedRows:
    """Some rows of each of several, one after the other, with their files."""

    def __init__(self, parts: Sequence[tuple[PairRows, Indices]]) -> None:
        """Take the rows that stand beside each."""
        self.files = [file for pairs, _ in parts for file in pairs.files]
        first = np.cumsum([0, *(len(pairs.files) for pairs, _ in parts)])
        self.file_numbers = np.concatenate(
            [pairs.file_numbers[rows] + n for (pairs, rows), n in zip(parts, first, strict=False)]
        ).astype(np.uint32)
        sides = {side: [(pairs[side], rows) for pairs, rows in parts] for side in SIDES}
        self._sides = {side: _JoinedSide(some) for side, some in sides.items()}
        self.lengths = {
            side: np.concatenate([pairs.lengths[side][rows] for pairs, rows in parts])
            for side in SIDES
        }

    def __len__(self) -> int:
        return len(self.file_numbers)

    def __getitem__(self, side: str) -> Any:
        return self._sides[side]


class _JoinedSide:
    def __init__(self, parts: Sequence[tuple[Any, Indices]]) -> None:
        self._parts = parts
        self._first = np.cumsum([0, *(len(rows) for _, rows in parts)])

    def __getitem__(self, i: int) -> StoredIds:
        if not 0 <= i < self._first[-1]:
            raise IndexError(f"row {i} of {self._first[-1]}")
        number = int(np.searchsorted(self._first, i, side="right")) - 1
        side, rows = self._parts[number]
        ids: StoredIds = side[int(rows[i - self._first[number]])]
        return ids


def texts_of(pairs: PairRows, side: str, rows: Indices) -> list[bytes]:
    """The ids of one side of some rows, to be compared: [rows]."""
    return [pairs[side][int(row)].tobytes() for row in rows]


def without(pairs: PairRows, rows: Indices, unwanted: dict[str, set[bytes]]) -> Indices:
    """Those of `rows` none of whose sides is among the `unwanted` texts of that side."""
    keep = np.ones(len(rows), np.bool_)
    for side, texts in unwanted.items():
        found = texts_of(pairs, side, rows)
        keep &= np.fromiter((text not in texts for text in found), np.bool_, len(rows))
    return rows[keep]


def some_rows(n_rows: int, most: int, seed: int) -> Indices:
    """All rows, or `most` of them drawn with a seed, in their order."""
    if n_rows <= most:
        return np.arange(n_rows)
    random = np.random.Generator(np.random.PCG64([seed, n_rows]))
    return np.sort(random.choice(n_rows, most, replace=False))


class AmendedRows:
    """Pairs of which some have another text on one side."""

    def __init__(self, pairs: PairRows, side: str, anew: Mapping[int, Sequence[int]]) -> None:
        """`anew` has the ids of these rows, without markers."""
        self.files, self.file_numbers = pairs.files, pairs.file_numbers
        self._sides = {name: pairs[name] for name in SIDES}
        self._sides[side] = _AmendedSide(pairs[side], anew)
        self.lengths = {name: np.array(pairs.lengths[name]) for name in SIDES}
        for row, ids in anew.items():
            self.lengths[side][row] = len(ids)

    def __len__(self) -> int:
        return len(self.file_numbers)

    def __getitem__(self, side: str) -> Any:
        return self._sides[side]


class _AmendedSide:
    def __init__(self, side: Any, anew: Mapping[int, Sequence[int]]) -> None:
        self._side, self._anew = side, {row: np.asarray(ids) for row, ids in anew.items()}

    def __getitem__(self, i: int) -> StoredIds:
        ids: StoredIds = self._anew[i] if i in self._anew else self._side[i]
        return ids
