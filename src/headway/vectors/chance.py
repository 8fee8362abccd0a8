"""Chance: the cosines that vectors without any meaning have, so that others are not overrated."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

STEPS = 1 << 16
"""Stretches of the angle from 0 to pi. `band` is within 1e-6 and `largest` within 1e-4 for sizes up
to 16,384 and up to 10^9 words."""


class Chance(NamedTuple):
    """Cosines between vectors of some size that point anywhere, each way equally likely."""

    size: int
    """Numbers in a vector."""
    n_words: int
    """With how many words one is compared."""
    band: float
    """95 of 100 cosines lie between -band and band."""
    largest: float
    """The expected largest of `n_words` cosines: what a nearest neighbour has by chance."""

    def __str__(self) -> str:
        return (
            f"chance: random vectors of {self.size} numbers have cosines within "
            f"{self.band:.3f} of 0 (95 of 100), the largest of {self.n_words:,} is "
            f"{self.largest:.3f} on average"
        )


@lru_cache(maxsize=64)
def chance(size: int, n_words: int = 1) -> Chance:
    """What to expect of vectors of `size` numbers, one of which is compared with `n_words` others.

    The angle between two such vectors has a density in proportion to sin(angle)^(size - 2): the
    cosine c is distributed as 2b - 1, where b is beta((size - 1) / 2, (size - 1) / 2). Both figures
    are integrals of it; `largest` is that of 1 - F(c)^n_words from -1 to 1, less 1, since cosines
    with independent vectors are independent. Trained vectors need not be spread so evenly: where
    most of them point one way, any two of them are nearer than by chance.
    """
    if size == 1:  # there are two ways only, and cosines are 1 or -1
        return Chance(size, n_words, 1.0, 1.0 - 2.0 * 0.5**n_words)
    angles = np.linspace(0.0, np.pi, STEPS + 1)
    sines = np.sin(angles).clip(0.0)
    with np.errstate(divide="ignore", under="ignore"):
        density = np.exp((size - 2) * np.log(sines)) if size > 2 else np.ones_like(sines)
    nearer = np.concatenate([[0.0], np.cumsum((density[1:] + density[:-1]) / 2)])
    nearer /= nearer[-1]  # the share of random vectors that are nearer than each angle
    band = float(np.cos(np.interp(0.025, nearer, angles)))
    none_nearer = np.exp(n_words * np.log1p(-np.minimum(nearer, 1.0 - 1e-16)))
    # the expected value of c is the integral of P(c > x) over x, from -1, less 1; dx = sin da
    largest = float(np.trapezoid((1.0 - none_nearer) * np.sin(angles), angles)) - 1.0
    return Chance(size, n_words, band, largest if n_words > 1 else 0.0)
