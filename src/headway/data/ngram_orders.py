"""From sorted windows to the n-grams of every order: ids, counts, and in how many contexts.

An n-gram has a number in its order: the place that it has when all are sorted by their words. It is
written as one key: the number of its first words in the order below, times the size of the
vocabulary, plus its last word. Keys are sorted as the n-grams are.
"""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from headway.data.ngram_runs import Span
from headway.data.ngram_windows import Packing, Words, firsts, levels

Counts = NDArray[np.int64]


class Closed(NamedTuple):
    """N-grams of one order of which nothing more will come."""

    keys: NDArray[np.int64]
    counts: Counts


@dataclass
class ReadPosition:
    """How far sorted windows have been read; JSON holds it."""

    last: list[int] | None = None
    """The last window."""
    n_grams: dict[str, int] = field(default_factory=dict)
    """How many of each order have begun."""
    still_open: dict[str, list[list[int]]] = field(default_factory=dict)
    """Of each order the key and the count, so far, of the last one: there may be more of it."""

    def begun(self, order: int) -> int:
        """How many of an order have begun."""
        return self.n_grams.get(str(order), 0)

    def close(self, order: int, keys: NDArray[np.int64], sums: Counts) -> Closed:
        """Go on with new n-grams of an order; `sums` begins with what belongs to the open one.

        Gives those that are closed now.
        """
        before = np.array(self.still_open.get(str(order), []), np.int64).reshape(-1, 2)
        if len(before):
            before[0, 1] += sums[0]
        all_keys = np.concatenate([before[:, 0], keys])
        counts = np.concatenate([before[:, 1], sums[1:]])
        self.still_open[str(order)] = [[int(all_keys[-1]), int(counts[-1])]] if len(counts) else []
        self.n_grams[str(order)] = self.begun(order) + len(keys)
        return Closed(all_keys[:-1], counts[:-1])

    def end(self, order: int) -> Closed:
        """The last one of an order, when nothing more comes."""
        last = np.array(self.still_open.pop(str(order), []), np.int64).reshape(-1, 2)
        return Closed(last[:, 0], last[:, 1])


class Prefixes(NamedTuple):
    """What a range of windows gives."""

    unigrams: Counts
    """How often each word is the first of a window: [vocabulary]."""
    closed: dict[int, Closed]
    """By order, from 2."""
    distinct: list[Words]
    """The windows, each once, as words."""
    levels: NDArray[np.uint8]
    """Of each, the lowest order of which a new n-gram begins with it."""


def prefixes(
    span: Span, packing: Packing, position: ReadPosition, *, vocabulary_size: int, begin: int
) -> Prefixes:
    """Count the n-grams that a range of windows begins with; the payload is how often each came.

    `position` goes on to the end of the range.
    """
    order, numbers = packing.order(span.columns)
    starts = firsts(numbers)
    counts = np.add.reduceat(span.payload[order].astype(np.int64), starts)
    words = packing.words([column[order[starts]] for column in span.columns])
    level = levels(words, position.last)
    ids = words[0].astype(np.int64)
    closed = {}
    for n in range(2, packing.length + 1):
        inside = words[n - 1] != begin  # the others end before their line has so many words
        new = (level <= n) & inside
        keys = ids[new] * vocabulary_size + words[n - 1][new]
        ids = position.begun(n) - 1 + np.cumsum(new)
        closed[n] = position.close(n, keys, sums_between(np.where(inside, counts, 0), new))
    position.last = [int(column[-1]) for column in words]
    unigrams = np.bincount(words[0], weights=counts, minlength=vocabulary_size).astype(np.int64)
    return Prefixes(unigrams, closed, words, level)


def suffixes(found: Prefixes, packing: Packing, begin: int) -> Span:
    """The windows without their first word, sorted; the payload is the level that they had.

    Those that have nothing left are left out.
    """
    inside = found.distinct[1] != begin
    columns = packing.pack([column[inside] for column in found.distinct[1:]])
    order, _ = packing.order(columns)
    return Span([column[order] for column in columns], found.levels[inside][order])


def continuations(
    span: Span, packing: Packing, position: ReadPosition, *, vocabulary_size: int, begin: int
) -> tuple[Counts, dict[int, Counts]]:
    """After how many different words each n-gram stands, N1+(. w1 .. wn), of a range of suffixes.

    Gives that of words, [vocabulary], and by order from 2 that of the n-grams that are closed now.
    Those that begin with the begin marker stand after no word, and are not there.
    """
    order, _ = packing.order(span.columns)
    before = span.payload[order]  # a window whose first n + 1 words came before tells nothing new
    words = packing.words([column[order] for column in span.columns])
    level = levels(words, position.last)
    closed = {}
    for n in range(2, packing.length + 1):
        inside = words[n - 1] != begin
        new = (level <= n) & inside
        sums = sums_between(inside & (before <= n + 1), new)
        closed[n] = position.close(n, np.zeros(int(new.sum()), np.int64), sums).counts
    position.last = [int(column[-1]) for column in words]
    unigrams = np.bincount(words[0][before <= 2], minlength=vocabulary_size).astype(np.int64)
    return unigrams, closed


def sums_between(values: NDArray[Any], new: NDArray[np.bool_]) -> Counts:
    """The sum before the first place that is marked, then from each such place to the next."""
    cumulated = np.zeros(len(values) + 1, np.int64)
    np.cumsum(values, out=cumulated[1:])
    return np.diff(cumulated[np.flatnonzero(new)], prepend=0, append=cumulated[-1])
