"""Rows of several stores as one: entered only by a run that mixes in the data of its parent."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from headway.core.batching import Indices, StoredIds
from headway.corpora.store import Store


class JoinedStore(Store):
    """Some rows of each of several stores, one store after the other, with their files."""

    def __init__(self, parts: Sequence[tuple[Store, Indices]]) -> None:
        """Take the rows that stand beside each store; all have the same sides."""
        self.directory = Path()
        self.content = self._content(parts)
        self.sides = parts[0][0].sides
        self._sides: dict[str, Any] = {
            name: _JoinedSide([(store[name], rows) for store, rows in parts]) for name in self.sides
        }
        self.lengths = {name: side.lengths for name, side in self._sides.items()}
        self.rows = np.concatenate([store.rows[rows] for store, rows in parts])
        first = np.cumsum([0, *(len(store.content["files"]) for store, _ in parts)])
        self.file_numbers = np.concatenate(
            [store.file_numbers[rows] + n for (store, rows), n in zip(parts, first, strict=False)]
        ).astype(np.uint32)

    def _content(self, parts: Sequence[tuple[Store, Indices]]) -> dict[str, Any]:
        files = [file for store, _ in parts for file in store.content["files"]]
        return {"n_rows": sum(len(rows) for _, rows in parts), "files": files}


class _JoinedSide:
    def __init__(self, parts: Sequence[tuple[Any, Indices]]) -> None:
        self._parts = parts
        self._first = np.cumsum([0, *(len(rows) for _, rows in parts)])
        self.lengths = np.concatenate([side.lengths[rows] for side, rows in parts])

    def __len__(self) -> int:
        return len(self.lengths)

    def __getitem__(self, i: int) -> StoredIds:
        if not 0 <= i < len(self.lengths):
            raise IndexError(f"row {i} of {len(self.lengths)}")
        number = int(np.searchsorted(self._first, i, side="right")) - 1
        side, rows = self._parts[number]
        ids: StoredIds = side[int(rows[i - self._first[number]])]
        return ids

    def read(self, begin: int, end: int) -> StoredIds:
        """The ids of rows `begin` up to `end`, end to end."""
        ids: StoredIds = np.concatenate([self[i] for i in range(begin, end)])
        return ids


def texts_of(store: Store, side: str, rows: Indices) -> list[bytes]:
    """The ids of one side of some rows, to be compared: [rows]."""
    return [store[side][int(row)].tobytes() for row in rows]


def without(store: Store, rows: Indices, unwanted: dict[str, set[bytes]]) -> Indices:
    """Those of `rows` none of whose sides is among the `unwanted` texts of that side."""
    keep = np.ones(len(rows), np.bool_)
    for side, texts in unwanted.items():
        found = texts_of(store, side, rows)
        keep &= np.fromiter((text not in texts for text in found), np.bool_, len(rows))
    return rows[keep]


def some_rows(n_rows: int, most: int, seed: int) -> Indices:
    """All rows, or `most` of them drawn with a seed, in their order."""
    if n_rows <= most:
        return np.arange(n_rows)
    random = np.random.Generator(np.random.PCG64([seed, n_rows]))
    return np.sort(random.choice(n_rows, most, replace=False))


class AmendedStore(Store):
    """A store of which some rows have another text on one side."""

    def __init__(self, store: Store, side: str, anew: Mapping[int, Sequence[int]]) -> None:
        """`anew` has the ids of these rows, without markers."""
        self.directory, self.content, self.sides = store.directory, store.content, store.sides
        self.rows, self.file_numbers = store.rows, store.file_numbers
        self._sides: dict[str, Any] = {name: store[name] for name in store.sides}
        self._sides[side] = _AmendedSide(store[side], anew)
        self.lengths = {name: one.lengths for name, one in self._sides.items()}


class _AmendedSide:
    def __init__(self, side: Any, anew: Mapping[int, Sequence[int]]) -> None:
        self._side, self._anew = side, {row: np.asarray(ids) for row, ids in anew.items()}
        self.lengths = np.array(side.lengths)
        for row, ids in self._anew.items():
            self.lengths[row] = len(ids)

    def __len__(self) -> int:
        return len(self.lengths)

    def __getitem__(self, i: int) -> StoredIds:
        ids: StoredIds = self._anew[i] if i in self._anew else self._side[i]
        return ids
