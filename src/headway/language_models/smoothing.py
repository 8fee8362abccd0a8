"""From counts to the weights of a counting model."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from headway.language_models.ngram import NgramConfig
from headway.language_models.ngram_counting import NgramCounts
from headway.language_models.ngram_windows import firsts
from headway.operations.locks import Say

Numbers = NDArray[np.float64]

USUAL_DISCOUNTS = (0.5, 1.0, 1.5)
"""Taken where a text is too small or too odd for its counts of counts to tell any."""


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
    counting = counts.counting
    n_predictable = counting.vocabulary_size - len({padding, counting.begin})
    found: dict[str, NDArray[Any]] = {"weights_1": weights_of_words(counts, config, padding, say)}
    for order in range(2, counting.order + 1):
        keys, some = counts.keys(order), counts.counts(order)
        smooth = smoothing_of(config, counts_of_counts(some), n_predictable, order, say)
        # Contexts that end a line have nothing after them.
        weights, backoffs = np.zeros(0, np.float32), np.zeros(counts.n_grams[order - 2], np.float32)
        if len(keys):
            owners = keys // counting.vocabulary_size
            starts = firsts(owners)
            made = smooth(some, starts)
            weights, backoffs[owners[starts]] = map(logarithms, made)
        found |= {f"keys_{order}": keys, f"weights_{order}": weights}
        found[f"backoffs_{order - 1}"] = backoffs
    return found


def weights_of_words(
    counts: NgramCounts, config: NgramConfig, padding: int, say: Say
) -> NDArray[np.float32]:
    """The whole probabilities of words by themselves."""
    of_words, begin = counts.counts(1), counts.counting.begin
    predictable = np.ones(len(of_words), bool)
    predictable[[padding, begin]] = False
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
