"""Pairs as rows of ids: encoded, kept in memory, and padded to one array."""

from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headway.core.cleaning import Pair, Report
from headway.core.dedup_split import drop_kept
from headway.core.subwords import Subwords

SIDES = ("source", "target")
Indices = NDArray[np.int64]
StoredIds = NDArray[np.uint16] | NDArray[np.uint32]
_CHUNK = 2_000  # pairs encoded at a time


class EncodedPairs:
    """Ids of pairs, without markers, in memory."""

    def __init__(self, rows: Sequence[Sequence[StoredIds]]) -> None:
        """Take source and target of each pair."""
        self._sides = {name: [row[place] for row in rows] for place, name in enumerate(SIDES)}
        self.lengths: dict[str, NDArray[np.int32]] = {
            name: np.fromiter(map(len, side), np.int32, len(side))
            for name, side in self._sides.items()
        }
        """Of each side in ids: [rows]."""

    def __len__(self) -> int:
        """How many pairs there are."""
        return len(self._sides["source"])

    def __getitem__(self, side: str) -> Sequence[StoredIds]:
        """One side: `pairs["source"][i]` are the source ids of pair i: [length]."""
        return self._sides[side]


as_written: Callable[[Pair], tuple[str, str]] = itemgetter(0, 1)
"""The two texts of a pair."""


def encoded(
    pairs: Sequence[Pair],
    subwords: Subwords,
    max_length: int,
    report: Report,
    texts: Callable[[Pair], tuple[str, str]] = as_written,
) -> tuple[list[tuple[StoredIds, StoredIds]], list[int]]:
    """The ids of the pairs that are short enough, and their places; `report` counts the others.

    `texts` gives of each pair what a model reads and writes.
    """
    kind = id_type(len(subwords))
    rows, places = list[tuple[StoredIds, StoredIds]](), list[int]()
    for start in range(0, len(pairs), _CHUNK):
        sources, targets = zip(*map(texts, pairs[start : start + _CHUNK]), strict=True)
        both = zip(subwords.encode_batch(sources), subwords.encode_targets(targets), strict=True)
        for place, (left, right) in enumerate(both, start):
            if reason := refusal((len(left), len(right)), max_length):
                drop_kept(report, reason, [pairs[place]])
                continue
            rows.append((np.array(left, kind), np.array(right, kind)))
            places.append(place)
    return rows, places


def id_type(n_ids: int) -> np.dtype[Any]:
    """What holds ids below `n_ids` in the fewest bytes."""
    return np.dtype(np.uint16 if n_ids <= 1 << 16 else np.uint32)


def refusal(lengths: Sequence[int], max_length: int) -> str:
    """Why a row with so many ids on each side is left out; empty if it is not."""
    if not min(lengths):
        return "no_tokens"
    return "too_many_tokens" if max_length and max(lengths) > max_length else ""


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
