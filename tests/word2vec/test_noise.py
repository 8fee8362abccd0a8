"""Noise, thinning and the tree, by their formulas, drawn by the kernel and without it."""

import heapq
import itertools

import numpy as np
import pytest

from headway.word2vec.kernel import KernelUpdates, kernel_library
from headway.word2vec.noise import EVERY, huffman_tree, kept_of_2_to_31, noise_table
from headway.word2vec.plain import PlainUpdates, random_at
from headway.word2vec.updates import Objective, updates

COUNTS = np.array([0, 0, 0, 0, 100_000, 31_000, 9_000, 0, 2_500, 700, 120, 12, 1, 1])
SAMPLING = Objective("cbow", window=5, negatives=5, hierarchical=False, thin=0)


@pytest.mark.parametrize("want_c", [True, False], ids=["c", "plain"])
def test_noise_is_drawn_by_count_to_the_three_quarters(want_c: bool) -> None:
    """Chi-square of 200,000 draws, at the 99.9th percentile."""
    if want_c and isinstance(kernel_library(), str):
        pytest.skip("no C compiler here")
    vectors = np.zeros((len(COUNTS), 4), dtype=np.float32)
    learner = updates(vectors, vectors.copy(), COUNTS, SAMPLING, seed=4, threads=1, want_c=want_c)
    n = 200_000
    if isinstance(learner, KernelUpdates):
        drawn = learner.noise(n)
    else:
        assert isinstance(learner, PlainUpdates)
        drawn = learner.noise_from(random_at(int(learner.states.all()[0]), 0, n))
    seen = np.bincount(drawn, minlength=len(COUNTS))
    assert not seen[COUNTS == 0].any()
    expected = n * COUNTS**0.75 / (COUNTS**0.75).sum()
    there = COUNTS > 0
    chi_square = ((seen - expected)[there] ** 2 / expected[there]).sum()
    assert chi_square < 27.9  # 9 degrees of freedom


@pytest.mark.parametrize("seed", range(5))
def test_the_alias_table_stands_for_the_distribution(seed: int) -> None:
    """Put together again, to a rounding of 2^-32 a word."""
    draw = np.random.default_rng(seed)
    counts = np.rint(draw.pareto(1, 1000) * 10).astype(np.int64) * draw.integers(0, 2, 1000)
    threshold, other = noise_table(counts)
    share = (threshold.astype(np.float64) + (threshold == 2**32 - 1)) / 2**32 / len(counts)
    whole = share + np.bincount(other, 1 / len(counts) - share, minlength=len(counts))
    np.testing.assert_allclose(whole, counts**0.75 / (counts**0.75).sum(), atol=1e-9)
    assert not whole[counts == 0].any()


@pytest.mark.parametrize("want_c", [True, False], ids=["c", "plain"])
def test_frequent_words_are_thinned_by_the_formula(want_c: bool) -> None:
    """sqrt(t/f) + t/f of a word's occurrences stay, within four standard deviations."""
    if want_c and isinstance(kernel_library(), str):
        pytest.skip("no C compiler here")
    thin, n = 1e-2, 20_000
    objective = SAMPLING._replace(thin=thin)
    for word in (4, 5, 6, 8, 9):
        vectors = np.zeros((len(COUNTS), 4), dtype=np.float32)
        made = updates(vectors, vectors.copy(), COUNTS, objective, seed=4, threads=1, want_c=want_c)
        ids, lengths = np.full(n, word, np.uint32), np.ones(n, np.int32)
        share = COUNTS[word] / COUNTS.sum()
        p = min(1.0, (thin / share) ** 0.5 + thin / share)
        kept = made.update(ids, lengths, 0.025, 0.025).n_kept
        assert kept == pytest.approx(n * p, abs=4 * (n * p * (1 - p)) ** 0.5)


def test_without_a_threshold_all_words_stay_but_those_that_never_occurred() -> None:
    np.testing.assert_array_equal(kept_of_2_to_31(COUNTS, 0), np.where(COUNTS > 0, EVERY, 0))


def depths_by_heap(counts: list[int]) -> int:
    """Length of all codes, by the textbook's way to make a Huffman tree."""
    heap, total = list(counts), 0
    heapq.heapify(heap)
    while len(heap) > 1:
        both = heapq.heappop(heap) + heapq.heappop(heap)
        total += both
        heapq.heappush(heap, both)
    return total


@pytest.mark.parametrize("n", [1, 2, 3, 10, 200])
def test_the_tree_is_huffmans_and_its_ways_tell_words_apart(n: int) -> None:
    draw = np.random.default_rng(n)
    counts = np.concatenate([np.zeros(4, np.int64), np.rint(1 + 10 * draw.pareto(1, n))])
    counts = counts.astype(np.int64)
    starts, nodes, turns = huffman_tree(counts)
    ways = [
        list(zip(nodes[a:b].tolist(), turns[a:b].tolist(), strict=True))
        for a, b in itertools.pairwise(starts)
    ]
    assert ways[:4] == [[]] * 4
    lengths = counts[4:] @ np.diff(starts)[4:]
    assert lengths == depths_by_heap(counts[4:].tolist())
    assert sum(2.0 ** -len(way) for way in ways[4:]) == 1
    assert len({tuple(way) for way in ways[4:]}) == n
    assert set(nodes.tolist()) == set(range(n - 1))
    for node in range(n - 1):  # what is before it on a way is always the same
        through = [way for way in ways if node in dict(way)]
        assert len({tuple(way[: [at for at, _ in way].index(node)]) for way in through}) == 1
