"""IBM's model 1 (Brown et al. 1993, section 4.5): which token translates which, by expectation and
maximization over arrays."""

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

ROUNDS = 4
"""Of expectation and maximization: more change the order of translations hardly."""


class Cooccurrences(NamedTuple):
    """Every token of a source beside every token of its target, for some pairs: [cooccurrences]."""

    source: Integers
    target: Integers
    place: Integers
    """Of the target's token, counted over all pairs."""


def cooccurrences(
    source: Integers, n_source: Integers, target: Integers, n_target: Integers
) -> Cooccurrences:
    """Of texts end to end, which have so many tokens: [tokens], [pairs] of both sides."""
    first = np.repeat(np.cumsum(n_source) - n_source, n_target)
    width = np.repeat(n_source, n_target)
    place = np.repeat(np.arange(len(target)), width)
    within = np.arange(len(place)) - np.repeat(np.cumsum(width) - width, width)
    return Cooccurrences(source[first[place] + within], target[place], place)


def expected_counts(
    blocks: Callable[[], Iterable[tuple[Integers, Integers]]],
    source: Integers,
    probability: Floats,
    empty: float = 0.0,
) -> tuple[Floats, Floats]:
    """How often each entry, a token and a translation of it, is expected, and its probability.

    `blocks` gives the entry and the place of all cooccurrences, anew for each round; `source` is
    the token of each entry, `probability` what is believed first, and `empty` that of the empty
    word where no source has it as a token.
    """
    expected = np.zeros(len(source))
    for _ in range(ROUNDS):
        expected = np.zeros(len(source))
        for entry, place in blocks():
            share = probability[entry]
            share = share / (np.bincount(place, share) + empty)[place]
            expected += np.bincount(entry, share, len(source))
        probability = expected / np.bincount(source, expected)[source]
    return expected, probability
