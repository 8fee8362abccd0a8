"""Words of texts as numbers: hashed without a loop over them, whatever the script."""

from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from headway.core.fair_sample import UNSPACED_SCRIPTS
from headway.doctor.batches import Marks, PairSide
from headway.doctor.folding import Hashes, letter_values
from headway.languages.scripts import LAST, scripts

_LONGEST = 64
_BASE = np.uint64(0xD6E8FEB86659FD93)  # odd

Rows = NDArray[np.int64]


class HashedTokens(NamedTuple):
    """The words of some texts, in their order; where none are marked, the characters."""

    hashes: Hashes
    """The same for a word in either case: [tokens]."""
    rows: Rows
    """Which text a word stands in: [tokens]."""
    places: Rows
    """How many words stand before it in its text: [tokens]."""
    starts: Rows
    """Where it begins among the characters of the side: [tokens]."""

    def counts(self, n_rows: int) -> Rows:
        """How many words each text has: [rows]."""
        return np.bincount(self.rows, minlength=n_rows)


@cache
def word_values() -> Hashes:
    """A random number for each letter, the same in either case, and each digit: [0x110000]."""
    values = letter_values().copy()
    digits = [code for code in range(0x20000) if chr(code).isdecimal()]
    values[digits] = np.array([int(chr(code)) for code in digits], np.uint64) * _BASE + _BASE
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
    return HashedTokens(hashed(values, starts), rows, places, starts)


def hashed(values: Hashes, starts: Rows) -> Hashes:
    """A number for the values from each start to the next, in which zeros do not count: [starts].

    Values are those of all characters of a side, in which zeros stand between words only.
    """
    if not len(starts):
        return np.zeros(0, np.uint64)
    lengths = np.diff(starts, append=len(values))
    places = np.arange(starts[0], len(values)) - np.repeat(starts, lengths)
    powers = np.cumprod(np.full(_LONGEST, _BASE, np.uint64))
    weighted = values[starts[0] :] * powers[np.minimum(places, _LONGEST - 1)]
    return np.add.reduceat(weighted, starts - starts[0])
