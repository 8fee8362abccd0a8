"""The cosines of random vectors, against scipy's beta distribution and against drawing some."""

import numpy as np
import pytest
from scipy import integrate, stats

from headway.vectors.chance import chance
from headway.vectors.word_vectors import unit


@pytest.mark.parametrize("size", [2, 3, 4, 10, 100, 300, 16_384])
def test_the_band_of_one_cosine_is_that_of_the_beta_distribution(size: int) -> None:
    half = (size - 1) / 2
    expected = 2 * stats.beta(half, half).ppf(0.975) - 1
    assert chance(size).band == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("size", [2, 3, 100, 300, 16_384])
@pytest.mark.parametrize("n_words", [1, 10, 71_290, 3_000_000, 10**9])
def test_the_largest_of_some_cosines_is_the_integral_over_the_beta_distribution(
    size: int, n_words: int
) -> None:
    half = (size - 1) / 2
    beta = stats.beta(half, half)

    def some_are_nearer(cosine: float) -> float:
        nearer = min(beta.sf((1 + cosine) / 2), 1 - 1e-16)
        return float(-np.expm1(n_words * np.log1p(-nearer)))

    width = 12 / np.sqrt(size)
    places = [x for x in (-width, 0.0, width / 2, width) if -1 < x < 1]
    expected = integrate.quad(some_are_nearer, -1, 1, points=places, limit=500)[0] - 1
    assert chance(size, n_words).largest == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize(("size", "n_words"), [(2, 5), (50, 400), (100, 2_000)])
def test_drawn_vectors_have_these_cosines(size: int, n_words: int) -> None:
    draws = np.random.default_rng(1)
    largest, inside = [], []
    for _ in range(300):
        cosines = unit(draws.standard_normal((n_words, size))) @ unit(draws.standard_normal(size))
        largest.append(cosines.max())
        inside.append(np.mean(np.abs(cosines) <= chance(size).band))
    error = np.std(largest) / np.sqrt(len(largest))
    assert np.mean(largest) == pytest.approx(chance(size, n_words).largest, abs=4 * error)
    share = np.sqrt(0.95 * 0.05 / (300 * n_words))
    assert np.mean(inside) == pytest.approx(0.95, abs=4 * share)


def test_vectors_of_one_number_are_alike_or_opposite() -> None:
    assert chance(1, 1)[2:] == (1.0, 0.0)
    assert chance(1, 3).largest == pytest.approx(1 - 2 / 8)


def test_it_is_told_in_one_line() -> None:
    assert str(chance(100, 20_000)) == (
        "chance: random vectors of 100 numbers have cosines within 0.196 of 0 (95 of 100), "
        "the largest of 20,000 is 0.389 on average"
    )
