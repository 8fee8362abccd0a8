"""IBM's model 1, by arrays in blocks and by dictionaries."""

from collections import defaultdict

import numpy as np
import pytest

from headway.core.rows import EncodedPairs
from headway.corpora import model_1
from headway.translation import shortlisting as lexicon

N_TOKENS = 12
PAIRS = [
    ([4, 5], [8, 9]),
    ([4, 6], [8, 10]),
    ([5], [9]),
    ([6, 6, 7], [10, 11]),
    ([7], [11, 11, 4]),
]


@pytest.fixture
def store() -> EncodedPairs:
    return EncodedPairs([[np.array(side, np.uint16) for side in pair] for pair in PAIRS])


def by_dictionaries() -> dict[tuple[int, int], float]:
    """The textbook's loops."""
    pairs = [([N_TOKENS, *source], target) for source, target in PAIRS]
    likely: dict[tuple[int, int], float] = defaultdict(lambda: 1.0)
    for _ in range(model_1.ROUNDS):
        counts, totals = defaultdict[tuple[int, int], float](float), defaultdict[int, float](float)
        for source, target in pairs:
            for t in target:
                norm = sum(likely[s, t] for s in source)
                for s in source:
                    counts[s, t] += likely[s, t] / norm
                    totals[s] += likely[s, t] / norm
        likely = defaultdict(float, {(s, t): n / totals[s] for (s, t), n in counts.items()})
    return likely


@pytest.mark.parametrize("at_once", [1, 9, 1 << 20])
def test_arrays_give_what_loops_give(
    at_once: int, store: EncodedPairs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lexicon, "AT_ONCE", at_once)
    found = lexicon.learned(store, N_TOKENS)
    ours = {
        (int(s), int(t)): float(p)
        for s, t, p in zip(found.source, found.target, found.probability, strict=True)
    }
    assert ours == pytest.approx(dict(by_dictionaries()))
    likeliest = found.likeliest(2, N_TOKENS, otherwise=3)
    assert likeliest.shape == (N_TOKENS, 2)
    assert likeliest[:4].tolist() == [[3, 3]] * 4
    assert likeliest[[4, 5, 6], 0].tolist() == [8, 9, 10]


def test_of_too_many_pairs_some_are_left_out_evenly(
    store: EncodedPairs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lexicon, "MOST_COOCCURRENCES", 14)
    found = lexicon.learned(store, N_TOKENS)
    assert {*found.source.tolist()} == {4, 5, 7, N_TOKENS}
