"""What heads do is measured, and nothing is said of a head that does what chance does."""

import numpy as np
import pytest

from headway.inspection.head_habits import Weights, habits

PIECES = ["▁the", "▁dog", "▁saw", "▁the", "▁cat", ".", "</s>"]
N = len(PIECES)
MARKERS = np.array([False] * 6 + [True])
ALL = np.ones((N, N), dtype=bool)


def text(*heads: np.ndarray, visible: np.ndarray = ALL) -> Weights:
    """One layer with these heads."""
    return Weights(np.stack(heads)[None], visible, PIECES, PIECES, MARKERS)


def looking(*columns: int) -> np.ndarray:
    """Each row pays all to the given column."""
    return np.eye(N)[list(columns)]


EVEN = np.full((N, N), 1 / N)


@pytest.mark.parametrize(
    ("columns", "name"),
    [
        ((0, 0, 1, 2, 3, 4, 5), "previous"),
        ((1, 2, 3, 4, 5, 6, 6), "next"),
        ((0, 1, 2, 3, 4, 5, 6), "itself"),
        ((0, 0, 0, 0, 0, 0, 0), "first"),
        ((6, 6, 6, 6, 6, 6, 6), "marker"),
        ((5, 5, 5, 5, 5, 5, 5), "punctuation"),
        ((3, 6, 0, 0, 2, 1, 1), "same word"),
    ],
)
def test_a_head_that_does_one_thing_is_named_after_it(columns: tuple[int, ...], name: str) -> None:
    found = habits(text(looking(*columns)))
    assert found.names_of_heads() == [[name]]
    strength = found.strengths[0, 0, found.names.index(name)]
    np.testing.assert_allclose(strength, 1.0)
    np.testing.assert_allclose(found.spread, 0.0, atol=1e-9)


def test_a_head_that_weighs_all_alike_is_diffuse_and_has_no_strength() -> None:
    found = habits(text(EVEN))
    assert found.names_of_heads() == [["diffuse"]]
    np.testing.assert_allclose(found.strengths, 0.0, atol=1e-12)
    np.testing.assert_allclose(found.spread, 1.0)


def test_a_share_is_the_mean_over_the_queries_that_have_such_a_place() -> None:
    """By hand: only the two `the` have the same word elsewhere."""
    weights = EVEN.copy()
    weights[0], weights[3] = 0.0, 0.0
    weights[0, 3], weights[0, 1] = 0.6, 0.4
    weights[3, 0], weights[3, 2] = 0.2, 0.8
    found = habits(text(weights))
    same = found.names.index("same word")
    np.testing.assert_allclose(found.shares[0, 0, same], (0.6 + 0.2) / 2)
    np.testing.assert_allclose(found.even[same], 1 / N)


def test_a_query_that_sees_one_thing_only_tells_nothing() -> None:
    """In a decoder the first token cannot but look at itself."""
    causal = np.tril(ALL)
    found = habits(text(causal / causal.sum(1, keepdims=True), visible=causal))
    np.testing.assert_allclose(found.strengths[..., found.even > 0], 0.0, atol=1e-12)
    itself = found.names.index("itself")
    np.testing.assert_allclose(found.even[itself], np.mean([1 / n for n in range(2, N + 1)]))
    assert np.isnan(found.shares[0, 0, found.names.index("next")])


def test_across_two_texts_the_place_counts_not_the_distance() -> None:
    rows, columns = list("abcde"), [*"uvwxyz", *"abc"]
    maps = np.zeros((1, 1, 5, 9))
    maps[0, 0, range(5), [0, 2, 4, 6, 8]] = 1.0
    none = np.zeros(9, dtype=bool)
    text = Weights(maps, np.ones((5, 9), dtype=bool), rows, columns, none, across=True)
    assert habits(text).names_of_heads() == [["same place"]]
