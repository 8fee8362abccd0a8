"""From text to the weights of a counting model: n-grams of every order are counted, and smoothed.

An n-gram has a place in its order, where all are sorted by their words, and is written as one key:
the place of its first words in the order below, times the size of the vocabulary, plus its last
word. Counting takes some 100 bytes of memory for each word of the text.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from headway.language_models.ngram import NgramConfig
from headway.operations.locks import Say

Numbers = NDArray[np.float64]
Counts = NDArray[np.int64]

USUAL_DISCOUNTS = (0.5, 1.0, 1.5)
"""Taken where a text is too small or too odd for its counts of counts to tell any."""


class Counting(NamedTuple):
    """What is counted, and how."""

    order: int
    vocabulary_size: int
    begin: int
    """The id that is put before each line; no line has it."""
    continuations: bool
    """Of all n-grams but the longest, and those at the beginning of a line, count not how often
    they come but after how many different words, N1+(. w1 .. wn): Kneser-Ney's counts."""


@dataclass(frozen=True)
class NgramCounts:
    """Counts of the n-grams of each order, sorted by their words."""

    begin: int
    keys: tuple[Counts, ...]
    """Of order 1, all ids of the vocabulary."""
    counts: tuple[Counts, ...]
    n_tokens: int
    """Words and ends of lines."""

    @property
    def n_grams(self) -> tuple[int, ...]:
        """How many there are of each order; of order 1, the size of the vocabulary."""
        return tuple(map(len, self.keys))


@runtime_checkable
class IdRows(Protocol):
    """Rows of ids, each with its end marker, as a side of a `headway.corpora.store.Store`."""

    lengths: NDArray[np.int32]

    def read(self, begin: int, end: int) -> NDArray[np.unsignedinteger]:
        """The ids of some rows, end to end."""
        ...


def count_ngrams(text: IdRows, counting: Counting) -> NgramCounts:
    """The counts of a text."""
    size = counting.vocabulary_size
    words, within = lines_from_begin(text, counting.begin)
    place = words.astype(np.int64)  # in its order, of the n-gram that ends at each word
    keys, counts = [np.arange(size)], [np.bincount(words, minlength=size)]
    for n in range(2, counting.order + 1):
        ends = np.flatnonzero(within >= n - 1)  # none goes back over the beginning of its line
        shorter = place[ends]
        found, first, of_each, n_each = distinct(place[ends - 1] * size + words[ends])
        if counting.continuations:
            before = np.bincount(shorter[first], minlength=len(counts[-1]))
            # Nothing stands before a line: what begins one stays as it was counted.
            counts[-1] = np.where(before, before, counts[-1])
        place[ends] = of_each
        keys.append(found)
        counts.append(n_each)
    n_tokens = len(words) - len(text.lengths)
    return NgramCounts(counting.begin, tuple(keys), tuple(counts), n_tokens)


def lines_from_begin(text: IdRows, begin: int) -> tuple[NDArray[np.uint32], NDArray[np.int32]]:
    """All lines as `<s> w1 .. wn </s> <s> v1 ..`, and each word's place in its line, from 0."""
    lengths = text.lengths.astype(np.int64) + 1
    starts = np.cumsum(lengths) - lengths
    words = np.full(int(lengths.sum()), begin, np.uint32)
    inside = np.ones(len(words), bool)
    inside[starts] = False
    words[inside] = text.read(0, len(lengths))
    within = np.arange(len(words)) - np.repeat(starts, lengths)
    return words, within.astype(np.int32)


class Distinct(NamedTuple):
    """The different values among some, sorted."""

    values: Counts
    some_place: Counts
    """A place where each of them stands."""
    numbers: Counts
    """Which of them each one is, from 0."""
    counts: Counts


def distinct(values: Counts) -> Distinct:
    """As `numpy.unique`, which asks for the first place of each, and takes thrice as long."""
    order = np.argsort(values)
    in_order = values[order]
    new = np.diff(in_order, prepend=-1) != 0
    numbers = np.empty_like(order)
    numbers[order] = np.cumsum(new) - 1
    starts = np.flatnonzero(new)
    return Distinct(in_order[starts], order[starts], numbers, np.diff(starts, append=len(values)))


class Smoothed(NamedTuple):
    """What is made of the counts of some contexts."""

    weights: Numbers
    """Of each n-gram: what it adds to what the order below says."""
    backoffs: Numbers
    """Of each context: what the order below is multiplied with."""


Smooth = Callable[[NDArray[np.int64], NDArray[np.int64]], Smoothed]
"""From the counts of n-grams, and where each context begins among them."""


def adding(k: float, n_predictable: int) -> Smooth:
    """(c(h, w) + k) / (c(h) + k|V|), as c(h, w) / (c(h) + k|V|) and the share of 1 / |V|."""

    def smooth(counts: NDArray[np.int64], starts: NDArray[np.int64]) -> Smoothed:
        total = np.add.reduceat(counts, starts) + k * n_predictable
        return Smoothed(counts / spread(total, starts, counts), k * n_predictable / total)

    return smooth


def discounting(discounts: Sequence[float]) -> Smooth:
    """Interpolated Kneser-Ney (Chen and Goodman 1998, eq. 21 and 25): max(c - D(c), 0) / c(h), and
    the share of what was taken off.

    `discounts` are those of counts of 1, 2, .., the last for all above.
    """
    table = np.array([0.0, *discounts])

    def smooth(counts: NDArray[np.int64], starts: NDArray[np.int64]) -> Smoothed:
        total = np.add.reduceat(counts, starts).astype(np.float64)
        taken = np.minimum(table[np.minimum(counts, len(table) - 1)], counts)
        return Smoothed(
            (counts - taken) / spread(total, starts, counts),
            np.add.reduceat(taken, starts) / total,
        )

    return smooth


def spread(of_contexts: Numbers, starts: NDArray[np.int64], over: NDArray[np.int64]) -> Numbers:
    """A number of each context, for each of its n-grams."""
    return np.repeat(of_contexts, np.diff(starts, append=len(over)))


def modified_discounts(counts_of_counts: Sequence[int]) -> tuple[float, ...] | None:
    """D1, D2 and D3+ from how many n-grams were counted 1, 2, 3 and 4 times (Chen and Goodman 1998,
    eq. 26); None where these tell nothing that is between 0 and the count."""
    n = [0, *counts_of_counts]
    if not min(n[1:5]):
        return None
    y = n[1] / (n[1] + 2 * n[2])
    found = tuple(c - (c + 1) * y * n[c + 1] / n[c] for c in (1, 2, 3))
    return found if all(0 < d <= c for c, d in enumerate(found, start=1)) else None


def single_discount(counts_of_counts: Sequence[int]) -> tuple[float, ...] | None:
    """D = n1 / (n1 + 2 n2) (Chen and Goodman 1998, eq. 20); None where one of them is 0."""
    n1, n2 = counts_of_counts[:2]
    return (n1 / (n1 + 2 * n2),) if n1 and n2 else None


def smoothing_of(
    config: NgramConfig, counts_of_counts: Sequence[int], n_predictable: int, order: int, say: Say
) -> Smooth:
    """What becomes of the counts of an order under the settings."""
    if config.smoothing in ("none", "add-one", "add-k"):
        return adding(config.added, n_predictable)
    modified = config.smoothing == "modified-kneser-ney"
    found = (modified_discounts if modified else single_discount)(counts_of_counts)
    if found is None:
        found = USUAL_DISCOUNTS if modified else USUAL_DISCOUNTS[:1]
        say(
            f"order {order}: {counts_of_counts} n-grams counted 1, 2, 3 and 4 times tell no "
            f"discounts; taken are {', '.join(map(str, found))}"
        )
    return discounting(found)


def smoothed(
    counts: NgramCounts, config: NgramConfig, *, padding: int, say: Say
) -> dict[str, NDArray[Any]]:
    """The arrays of a `headway.language_models.ngram.Ngram` by name: keys, and decimal logarithms
    in float32."""
    size, n_predictable = counts.n_grams[0], counts.n_grams[0] - len({padding, counts.begin})
    found: dict[str, NDArray[Any]] = {"weights_1": weights_of_words(counts, config, padding, say)}
    pairs = zip(counts.keys[1:], counts.counts[1:], strict=True)
    for order, (keys, some) in enumerate(pairs, start=2):
        smooth = smoothing_of(config, counts_of_counts(some), n_predictable, order, say)
        # Contexts that end a line have nothing after them.
        weights, backoffs = np.zeros(0, np.float32), np.zeros(counts.n_grams[order - 2], np.float32)
        if len(keys):
            owners = keys // size
            starts = np.flatnonzero(np.diff(owners, prepend=-1))
            made = smooth(some, starts)
            weights, backoffs[owners[starts]] = map(logarithms, made)
        found |= {f"keys_{order}": keys, f"weights_{order}": weights}
        found[f"backoffs_{order - 1}"] = backoffs
    return found


def weights_of_words(
    counts: NgramCounts, config: NgramConfig, padding: int, say: Say
) -> NDArray[np.float32]:
    """The whole probabilities of words by themselves."""
    of_words = counts.counts[0]
    predictable = np.ones(len(of_words), bool)
    predictable[[padding, counts.begin]] = False
    known, n_predictable = of_words[predictable], int(predictable.sum())
    smooth = smoothing_of(config, counts_of_counts(known), n_predictable, 1, say)
    found = smooth(known, np.zeros(1, np.int64))
    probabilities = np.zeros(len(of_words))
    probabilities[predictable] = found.weights + found.backoffs / n_predictable
    return logarithms(probabilities)


def logarithms(values: Numbers) -> NDArray[np.float32]:
    """Decimal ones; minus infinity of 0."""
    with np.errstate(divide="ignore"):
        found: NDArray[np.float32] = np.log10(values).astype(np.float32)
    return found


def counts_of_counts(counts: NDArray[np.int64]) -> list[int]:
    """How many n-grams were counted 1, 2, 3 and 4 times."""
    found: list[int] = np.bincount(np.minimum(counts, 5), minlength=6)[1:5].tolist()
    return found
