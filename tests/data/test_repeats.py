from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.data import repeats
from headway.data.repeats import find_repeats, pair_hashes, text_hash


@given(st.lists(st.integers(0, 12) | st.integers(2**64 - 9, 2**64 - 1)), st.integers(1, 20))
def test_repeats_equal_a_search_by_hand(values: list[int], part: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(repeats, "_PART", part)
        found = find_repeats(np.array(values, np.uint64))
    counts = Counter(values)
    assert found.shared.tolist() == [counts[value] > 1 for value in values]
    assert found.later.tolist() == [value in values[:i] for i, value in enumerate(values)]


def test_only_equal_pairs_have_equal_hashes() -> None:
    texts = ["a", "b", "ab", "", "A", "ä"]
    hashes = np.frombuffer(b"".join(map(text_hash, texts)), "<u8")
    source, target = (side.ravel() for side in np.meshgrid(hashes, hashes))
    assert len(set(pair_hashes(source, target).tolist())) == len(texts) ** 2
    assert (pair_hashes(source, target) == pair_hashes(source.copy(), target.copy())).all()
