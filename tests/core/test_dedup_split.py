from collections import Counter
from hashlib import blake2b

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from headway.core.dedup_split import PairHashes, repeats, text_hashes

any_hash = st.integers(0, 12) | st.integers(2**64 - 9, 2**64 - 1) | st.integers(0, 2**64 - 1)


@given(st.lists(any_hash))
def test_repeats_equal_a_search_by_hand(values: list[int]) -> None:
    found = repeats(np.array(values, np.uint64))
    counts = Counter(values)
    assert found.shared.tolist() == [counts[value] > 1 for value in values]
    assert found.later.tolist() == [value in values[:i] for i, value in enumerate(values)]


def test_only_equal_pairs_have_equal_hashes() -> None:
    texts = ["a", "b", "ab", "", "A", "ä"]
    hashes = text_hashes(texts)
    by_hand = [blake2b(text.encode(), digest_size=8).digest() for text in texts]
    assert hashes.tolist() == [int.from_bytes(one, "little") for one in by_hand]
    source, target = (side.ravel() for side in np.meshgrid(hashes, hashes))
    of_pairs = PairHashes(source, target).of_pairs()
    assert len(set(of_pairs.tolist())) == len(texts) ** 2
    assert (of_pairs == PairHashes(source.copy(), target.copy()).of_pairs()).all()
