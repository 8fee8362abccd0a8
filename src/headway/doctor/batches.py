"""Pairs by the thousand, with their characters as one array: what whole-corpus checks look at."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from headway.core.cleaning import Pair
from headway.corpora.corpus import Direction

_PAIRS = 4_096
_CHARACTERS = 1 << 20

Codes = NDArray[np.uint32]
Counts = NDArray[np.int64]
Marks = NDArray[np.bool_]


class PairSide:
    def __init__(self, texts: list[str]) -> None:
        """Lay out the texts, none of which holds a line feed, in one array."""
        self.texts = texts
        joined = "\n".join((*texts, "")).encode("utf-32-le")
        self.codes: Codes = np.frombuffer(joined, np.uint32)
        """Code points, a line feed behind each text: [characters]."""
        self.lengths: Counts = np.fromiter(map(len, texts), np.int64, len(texts))
        """Characters of each text: [pairs]."""
        self.starts: Counts = np.cumsum(self.lengths + 1) - (self.lengths + 1)
        """Where each text begins in `codes`: [pairs]."""

    def count(self, marks: Marks) -> Counts:
        """How many characters of each text are marked: [characters] to [pairs]."""
        return np.add.reduceat(marks, self.starts, dtype=np.int64)

    def total(self, values: NDArray[np.generic]) -> NDArray[np.generic]:
        """The sum over the characters of each text, its line feed included."""
        return np.add.reduceat(values, self.starts)


@dataclass(frozen=True)
class PairBatch:
    first_row: int
    """How many pairs stand before them in the corpus."""
    pairs: list[Pair]
    direction: Direction | None = None
    """From which language into which these go, where files of a corpus differ in it."""

    @cached_property
    def source(self) -> PairSide:
        return PairSide([pair.source for pair in self.pairs])

    @cached_property
    def target(self) -> PairSide:
        return PairSide([pair.target for pair in self.pairs])

    @property
    def sides(self) -> tuple[PairSide, PairSide]:
        return self.source, self.target

    def marked(self, marks: Marks) -> Iterator[Pair]:
        return (self.pairs[row] for row in np.flatnonzero(marks))


def batches(
    pairs: Iterable[Pair], directions: Mapping[str, Direction] | None = None
) -> Iterator[PairBatch]:
    """All pairs, at most 4,096 at a time, and no more than about a million characters.

    Those of a batch go in one direction, which `directions` gives by the name of their file.
    """
    known = directions or {}
    row, held, n_characters = 0, list[Pair](), 0
    direction: Direction | None = None
    for pair in pairs:
        if known.get(pair.file) != direction:
            if held:
                yield PairBatch(row, held, direction)
                row, held, n_characters = row + len(held), [], 0
            direction = known.get(pair.file)
        held.append(pair)
        n_characters += len(pair.source) + len(pair.target)
        if len(held) == _PAIRS or n_characters > _CHARACTERS:
            yield PairBatch(row, held, direction)
            row, held, n_characters = row + len(held), [], 0
    if held:
        yield PairBatch(row, held, direction)


def by_direction(
    sample: Iterable[Pair], declared: Mapping[str, Direction] | None
) -> dict[Direction | None, list[Pair]]:
    """Pairs by the direction that their file declares, if it does."""
    found: dict[Direction | None, list[Pair]] = {}
    for pair in sample:
        found.setdefault((declared or {}).get(pair.file), []).append(pair)
    return found
