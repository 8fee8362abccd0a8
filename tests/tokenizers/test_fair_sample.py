from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.tokenizers import fair_sample
from headway.tokenizers.fair_sample import sample


@given(st.integers(0, 40), st.integers(1, 40), st.integers(0, 3))
def test_a_sample_is_as_large_as_it_may_be_and_repeats_nothing(
    n_lines: int, n_sample: int, seed: int
) -> None:
    lines = [str(i) for i in range(n_lines)]
    said: list[str] = []
    chosen = sample(lines, n_sample, seed, said.append)
    assert len(chosen) == min(n_lines, n_sample)
    assert len(set(chosen)) == len(chosen)
    assert set(chosen) <= set(lines)
    assert bool(said) == (n_lines > n_sample)
    assert chosen == sample(lines, n_sample, seed, said.append)


@pytest.mark.parametrize("unspaced_budget", [1_000, 11])
def test_every_line_is_equally_likely_to_be_sampled(
    unspaced_budget: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fair_sample, "UNSPACED_BUDGET", unspaced_budget)
    lines = ["我爱" + chr(0x4E00 + i) for i in range(24)]  # of 3 characters, so 11 are 3 lines
    n_sampled, n_seeds = (8 if unspaced_budget > 72 else 3), 3_000
    counts = Counter(
        line for seed in range(n_seeds) for line in sample(lines, 8, seed, lambda _message: None)
    )
    odds = n_sampled / len(lines)
    assert counts.total() == n_seeds * n_sampled
    deviation = (n_seeds * odds * (1 - odds)) ** 0.5
    assert all(abs(counts[line] - n_seeds * odds) < 5 * deviation for line in lines)


def test_sampling_is_said_with_its_numbers() -> None:
    said: list[str] = []
    sample(["a b"] * 7, 3, 5, said.append)
    assert said == ["the sub-words are learned from 3 of 7 lines, drawn at random with seed 5"]


@pytest.mark.parametrize("character", ["我", "ก", "x"])
def test_unspaced_text_is_thinned_so_that_memory_is_bounded(character: str) -> None:
    said: list[str] = []
    lines = [character * 1_000] * 5_000
    chosen = sample(lines, 1_000_000, 1, said.append)
    assert 500_000 < sum(map(len, chosen)) <= 1_000_000
    assert len(said) == 1
