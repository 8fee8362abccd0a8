import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from headway.core.cleaning import Pair
from headway.doctor.batches import PairSide, batches

texts = st.lists(st.text(st.sampled_from("aä我𝒳1. "), min_size=1, max_size=9), min_size=1)


@given(texts)
def test_characters_are_counted_text_by_text(given_texts: list[str]) -> None:
    side = PairSide(given_texts)
    assert side.lengths.tolist() == [len(text) for text in given_texts]
    assert side.count(side.codes == ord("a")).tolist() == [t.count("a") for t in given_texts]
    assert side.total(side.codes.astype(np.int64)).tolist() == [
        sum(map(ord, text)) + ord("\n") for text in given_texts
    ]


def test_batches_hold_every_pair_once_in_order() -> None:
    pairs = [Pair(f"s{i}", f"t{i}", "f", i) for i in range(10_000)]
    found = list(batches(pairs))
    assert [pair for batch in found for pair in batch.pairs] == pairs
    assert [batch.first_row for batch in found] == [0, 4_096, 8_192]
    assert list(batches([])) == []


def test_long_texts_make_small_batches() -> None:
    pairs = [Pair("x" * 300_000, "y" * 300_000, "f", i) for i in range(5)]
    assert [len(batch.pairs) for batch in batches(pairs)] == [2, 2, 1]


def test_marked_pairs_are_found() -> None:
    pairs = [Pair(str(i), str(i), "f", i) for i in range(4)]
    (batch,) = batches(pairs)
    assert list(batch.marked(np.array([True, False, False, True]))) == [pairs[0], pairs[3]]
