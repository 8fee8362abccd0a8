from collections import Counter
from hashlib import blake2b
from itertools import islice

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.core.dedup_split import pair_hashes, text_hashes
from headway.corpora import many_pieces
from headway.corpora.many_pieces import repeats_among

any_hash = st.integers(0, 12) | st.integers(2**64 - 9, 2**64 - 1) | st.integers(0, 2**64 - 1)


@given(st.lists(any_hash), st.lists(st.integers(0, 5), max_size=4), st.integers(1, 20))
def test_repeats_equal_a_search_by_hand(values: list[int], sizes: list[int], part: int) -> None:
    remaining = iter(values)
    parts = [*(list(islice(remaining, size)) for size in sizes), list(remaining)]
    runs = [np.array(some, np.uint64) for some in parts]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(many_pieces, "HASHES_AT_ONCE", part)
        found = repeats_among([len(run) for run in runs], lambda: iter(runs))
    counts = Counter(values)
    assert found.shared.tolist() == [counts[value] > 1 for value in values]
    assert found.later.tolist() == [value in values[:i] for i, value in enumerate(values)]


def test_no_runs_hold_no_repeats() -> None:
    assert [len(marks) for marks in repeats_among([], list)] == [0, 0]


def test_only_equal_pairs_have_equal_hashes() -> None:
    texts = ["a", "b", "ab", "", "A", "ä"]
    hashes = text_hashes(texts)
    by_hand = [blake2b(text.encode(), digest_size=8).digest() for text in texts]
    assert hashes.tolist() == [int.from_bytes(one, "little") for one in by_hand]
    source, target = (side.ravel() for side in np.meshgrid(hashes, hashes))
    assert len(set(pair_hashes(source, target).tolist())) == len(texts) ** 2
    assert (pair_hashes(source, target) == pair_hashes(source.copy(), target.copy())).all()
