"""Windows of words as numbers that sort as they do: what n-grams of every order are counted from.

One window begins at every word of a text. Once all windows are sorted, those that begin with the
same k words stand side by side, for every k: one sort serves all orders.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Column = NDArray[np.uint64]
Words = NDArray[np.uint32]

MOST_ROWS = 1 << 31
"""Windows that can be sorted at a time: their numbers, and a word beside, fit in 64 bits."""


class Packing(NamedTuple):
    """How windows are packed: the first column has as many words as fit in 64 bits, those after it
    as many as fit beside the number of a row."""

    bits: int
    """Of one word."""
    widths: tuple[int, ...]
    """Words in each column."""

    @classmethod
    def of(cls, length: int, vocabulary_size: int) -> "Packing":
        """The packing of windows of so many words, all of them below `vocabulary_size`."""
        bits = max(1, (vocabulary_size - 1).bit_length())
        widths = [min(length, 64 // bits)]
        beside = (64 - MOST_ROWS.bit_length()) // bits
        while sum(widths) < length:
            widths.append(min(length - sum(widths), beside))
        return cls(bits, tuple(widths))

    @property
    def length(self) -> int:
        """Words in a window."""
        return sum(self.widths)

    def pack(self, words: Sequence[Words]) -> list[Column]:
        """Columns of windows, given the first words of all, the second ones, .."""
        remaining = iter(words)
        columns = []
        for width in self.widths:
            column = next(remaining).astype(np.uint64)
            for _ in range(width - 1):
                column = (column << np.uint64(self.bits)) | next(remaining)
            columns.append(column)
        return columns

    def words(self, columns: Sequence[Column]) -> list[Words]:
        """The inverse: the first words of all windows, the second ones, .."""
        mask = np.uint64((1 << self.bits) - 1)
        return [
            ((column >> np.uint64(self.bits * place)) & mask).astype(np.uint32)
            for column, width in zip(columns, self.widths, strict=True)
            for place in reversed(range(width))
        ]

    def order(self, columns: Sequence[Column]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The order that sorts windows, and the number, from 0, of each one's value there."""
        order = np.argsort(columns[0])
        number = _numbered(columns[0][order])
        for column, width in zip(columns[1:], self.widths[1:], strict=True):
            value = (number.astype(np.uint64) << np.uint64(self.bits * width)) | column[order]
            within = np.argsort(value)
            order, number = order[within], _numbered(value[within])
        return order, number


def _numbered(values: Column) -> NDArray[np.int64]:
    """The number, from 0, of each distinct value of a sorted array."""
    new = np.zeros(len(values), np.int64)
    new[1:] = values[1:] != values[:-1]
    return np.cumsum(new)


def firsts(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where each number of a sorted array begins."""
    return np.flatnonzero(np.diff(numbers, prepend=-1))


def lines_from_begin(
    ids: NDArray[np.unsignedinteger], lengths: NDArray[np.int32], begin: int
) -> Words:
    """Rows of ids, end to end, each with its end marker, as `<s> w1 .. wn </s> <s> v1 ..`."""
    longer = lengths.astype(np.int64) + 1
    starts = np.cumsum(longer) - longer
    sequence = np.empty(int(longer.sum()), np.uint32)
    text = np.ones(len(sequence), bool)
    text[starts] = False
    sequence[text], sequence[starts] = ids, begin
    return sequence


def windows(sequence: Words, length: int, begin: int) -> list[Words]:
    """The windows of what `lines_from_begin` gives: their first words, their second ones, ..

    None goes over the end of a line: it is filled up with the begin marker, which no n-gram has but
    in its first place.
    """
    filled = np.concatenate([sequence, np.full(length - 1, begin, np.uint32)])
    columns = [sequence]
    for place in range(1, length):
        column = filled[place : place + len(sequence)]
        if place > 1:
            column = np.where(columns[-1] == begin, np.uint32(begin), column)
        columns.append(column)
    return columns


def levels(words: Sequence[Words]) -> NDArray[np.uint8]:
    """At which word, from 1, each window differs first from the one before it; where two are equal,
    it is one more than the words."""
    level = np.full(len(words[0]), len(words) + 1, np.uint8)
    for place in reversed(range(len(words))):
        column = words[place]
        changed = np.ones(len(column), bool)
        changed[1:] = column[1:] != column[:-1]
        level[changed] = place + 1
    return level
