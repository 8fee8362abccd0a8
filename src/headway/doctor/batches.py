"""Pairs by the thousand as arrays, which whole-corpus checks look at: their characters, and their
words hashed without a loop over them, whatever the script."""

import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import groupby
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from headway.core.cleaning import Pair
from headway.core.dedup_split import Hashes, Marks, shuffled
from headway.corpora.corpus import Direction
from headway.corpora.many_pieces import portions
from headway.languages.scripts import LAST, UNSPACED_SCRIPTS, scripts

_PAIRS = 4_096
_CHARACTERS = 1 << 20

Codes = NDArray[np.uint32]
Counts = NDArray[np.int64]


def marks_of(characters: Iterable[str]) -> Marks:
    """Which code points are among these characters: [0x110000]."""
    marks = np.zeros(LAST, np.bool_)
    marks[[ord(character) for character in characters]] = True
    return marks


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
    known, row = directions or {}, 0
    for direction, some in groupby(pairs, lambda pair: known.get(pair.file)):
        for held in portions(some, _PAIRS, _CHARACTERS):
            yield PairBatch(row, held, direction)
            row += len(held)


_FOLDED_BASE = 0x9E3779B97F4A7C15  # odd, so that no power of it is zero modulo 2^64
_HAN_PLANES = range(0x20000, 0x40000)


@cache
def letter_values() -> Hashes:
    """A random number for each letter, the same in either case; 0 for what is none: [0x110000].

    `σ` and `ς` have one capital, and so one number.
    """
    folded = np.zeros(LAST, np.uint64)
    folded[_HAN_PLANES] = _HAN_PLANES
    for code in range(0x20000):
        character = chr(code)
        if unicodedata.category(character)[0] in "LM":
            forms = character.casefold(), character.lower(), character
            folded[code] = ord(next(one for one in forms if len(one) == 1))
    return np.where(folded > 0, shuffled(folded, 0), np.uint64(0))


def folded_hashes(side: PairSide) -> Hashes:
    """A number for each text that case, digits, punctuation and spaces do not change: [pairs].

    Texts without a letter are told apart by all their characters. Two of 5 million others are
    confused once in 10^6 corpora.
    """
    values = letter_values()[side.codes]
    without = side.count(values > 0) == 0
    hashes = _polynomial(side, values)
    if without.any():
        hashes[without] = _polynomial(side, shuffled(side.codes.astype(np.uint64), 0))[without]
    return hashes


def _polynomial(side: PairSide, values: Hashes) -> Hashes:
    """The sum of value i times base^i, counting only values that are not 0: [pairs]."""
    kept = values > 0
    place: NDArray[np.int64] = np.cumsum(kept) - kept
    place -= np.repeat(place[side.starts], side.lengths + 1)
    powers = np.full(int(place.max()) + 1, _FOLDED_BASE, np.uint64)
    powers[0] = 1
    return side.total(values * np.cumprod(powers)[place]).astype(np.uint64)


_LONGEST = 64
_WORD_BASE = np.uint64(0xD6E8FEB86659FD93)  # odd

Rows = NDArray[np.int64]


class HashedTokens(NamedTuple):
    """The words of some texts, in their order; where none are marked, the characters."""

    hashes: Hashes
    """The same for a word in either case: [tokens]."""
    rows: Rows
    """Which text a word stands in: [tokens]."""
    places: Rows
    """How many words stand before it in its text: [tokens]."""

    def counts(self, n_rows: int) -> Rows:
        return np.bincount(self.rows, minlength=n_rows)


@cache
def word_values() -> Hashes:
    """A random number for each letter, the same in either case, and each digit: [0x110000]."""
    values = letter_values().copy()
    digits = [code for code in range(0x20000) if chr(code).isdecimal()]
    values[digits] = (
        np.array([int(chr(code)) for code in digits], np.uint64) * _WORD_BASE + _WORD_BASE
    )
    return values


@cache
def _unspaced() -> Marks:
    """Characters that are counted as words: [0x110000]."""
    names = scripts().names
    wanted = [names.index(name) for name in UNSPACED_SCRIPTS]
    return np.isin(scripts().of, wanted)[:LAST]


def tokens(side: PairSide) -> HashedTokens:
    """Every word of letters and digits; of scripts that write no spaces, every character."""
    values = word_values()[side.codes]
    written = values > 0
    alone = _unspaced()[side.codes] & written
    begins = written.copy()
    begins[1:] &= ~written[:-1] | alone[1:] | alone[:-1]
    starts = np.flatnonzero(begins)
    rows = np.repeat(np.arange(len(side.texts)), side.lengths + 1)[starts]
    n_before = np.searchsorted(rows, np.arange(len(side.texts)))
    places = np.arange(len(rows)) - n_before[rows]
    return HashedTokens(hashed(values, starts), rows, places)


def hashed(values: Hashes, starts: Rows) -> Hashes:
    """A number for the values from each start to the next, in which zeros do not count: [starts].

    Values are those of all characters of a side, in which zeros stand between words only.
    """
    if not len(starts):
        return np.zeros(0, np.uint64)
    lengths = np.diff(starts, append=len(values))
    places = np.arange(starts[0], len(values)) - np.repeat(starts, lengths)
    powers = np.cumprod(np.full(_LONGEST, _WORD_BASE, np.uint64))
    weighted = values[starts[0] :] * powers[np.minimum(places, _LONGEST - 1)]
    return np.add.reduceat(weighted, starts - starts[0])
