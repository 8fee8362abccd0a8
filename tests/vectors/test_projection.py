"""Principal components against eigenvectors; t-SNE against its paper's equations by autograd."""

import numpy as np
import pytest
import torch
from scipy import stats

from headway.vectors.projection import (
    METHODS,
    components,
    divergence_gradient,
    kept,
    neighbourhoods,
    squared_distances,
    tsne,
)


def drawn(n_words: int, size: int, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((n_words, size)).astype(np.float32)


def five_groups(n_each: int = 12, size: int = 50) -> tuple[np.ndarray, np.ndarray]:
    group = np.repeat(np.arange(5), n_each)
    return drawn(5, size, 2)[group] * 2 + drawn(5 * n_each, size), group


@pytest.mark.parametrize(("n_words", "size"), [(30, 8), (5, 40), (60, 2), (4, 1)])
def test_components_are_eigenvectors_of_the_covariance(n_words: int, size: int) -> None:
    vectors = drawn(n_words, size).astype(np.float64)
    values, directions = np.linalg.eigh(np.cov(vectors.T, bias=True).reshape(size, size))
    plane = components(vectors)
    expected = (vectors - vectors.mean(0)) @ directions[:, ::-1][:, :2]
    found = plane.places[:, : expected.shape[1]]
    np.testing.assert_allclose(np.abs(found), np.abs(expected), atol=1e-6)
    assert plane.variance == pytest.approx(values[::-1][:2].sum() / values.sum())


def test_of_two_numbers_nothing_is_lost() -> None:
    vectors = drawn(20, 2)
    plane = components(vectors)
    assert plane.variance == pytest.approx(1)
    np.testing.assert_allclose(
        squared_distances(plane.places), squared_distances(vectors), atol=1e-5
    )
    assert kept(vectors, plane.places) == 1


@pytest.mark.parametrize("perplexity", [2.0, 5.0, 12.0])
def test_every_word_has_as_many_neighbours_as_the_perplexity_says(perplexity: float) -> None:
    vectors = drawn(40, 10)
    shares = neighbourhoods(vectors, perplexity)
    np.testing.assert_allclose(np.exp(stats.entropy(shares, axis=1)), perplexity, rtol=1e-6)
    assert np.diagonal(shares).max() == 0
    for row, apart in zip(shares, squared_distances(vectors), strict=True):
        order = np.argsort(apart)[1:]
        assert (np.diff(row[order]) <= 0).all()
        # shares of a normal distribution: their logarithms fall in a line with squared distance
        seen = order[row[order] > 1e-12]
        slopes = np.diff(np.log(row[seen])) / np.diff(apart[seen])
        np.testing.assert_allclose(slopes, slopes[0], rtol=1e-3)


def test_the_gradient_is_that_of_the_divergence() -> None:
    shares = neighbourhoods(drawn(12, 6), 3.0)
    near = np.maximum((shares + shares.T) / 24, 1e-12)
    np.fill_diagonal(near, 0.0)
    places = torch.tensor(drawn(12, 2).astype(np.float64), requires_grad=True)
    weights = 1 / (1 + (places[:, None] - places).square().sum(-1))
    weights = weights * (1 - torch.eye(12, dtype=torch.float64))
    given = torch.tensor(near)
    pairs = given > 0
    divergence = (given[pairs] * (given[pairs] / (weights / weights.sum())[pairs]).log()).sum()
    divergence.backward()
    assert places.grad is not None
    found = divergence_gradient(near, places.detach().numpy())
    np.testing.assert_allclose(found, places.grad.numpy(), atol=1e-10)


def test_tsne_keeps_more_neighbours_than_components_do_and_groups_apart() -> None:
    vectors, group = five_groups()
    places = tsne(vectors).places
    apart = squared_distances(places)
    np.fill_diagonal(apart, np.inf)
    assert (group[apart.argmin(1)] == group).all()
    assert kept(vectors, places) > kept(vectors, components(vectors).places) + 0.1


def test_of_vectors_without_groups_neither_method_makes_some() -> None:
    group = np.repeat(np.arange(5), 12)
    for method in METHODS.values():
        apart = squared_distances(method(drawn(60, 100)).places)
        np.fill_diagonal(apart, np.inf)
        assert np.mean(group[apart.argmin(1)] == group) < 0.45  # 11 of 59 are expected


@pytest.mark.parametrize("method", METHODS.values())
def test_the_same_vectors_lie_where_they_lay(method) -> None:  # type: ignore[no-untyped-def]
    vectors, _ = five_groups(5)
    assert method(vectors).places.tobytes() == method(vectors.copy()).places.tobytes()


@pytest.mark.parametrize("method", METHODS.values())
@pytest.mark.parametrize(
    "vectors", [np.ones((6, 4)), np.zeros((3, 5)), drawn(3, 2), drawn(4, 1), drawn(1, 3)]
)
def test_few_or_equal_vectors_have_places_too(method, vectors) -> None:  # type: ignore[no-untyped-def]
    places = method(vectors.astype(np.float32)).places
    assert places.shape == (len(vectors), 2)
    assert np.isfinite(places).all()


def test_what_is_kept_is_counted_word_by_word() -> None:
    vectors, _ = five_groups(4)
    places = drawn(20, 2, 5)
    both = 0
    for word in range(20):
        near = [
            sorted((float(((each[word] - each[other]) ** 2).sum()), other) for other in range(20)
                   if other != word)[:5]
            for each in (vectors, places)
        ]  # fmt: skip
        both += len({other for _, other in near[0]} & {other for _, other in near[1]})
    assert kept(vectors, places) == pytest.approx(both / 100)
