"""Near sequences are those that brute force finds, with an edit distance written by hand."""

import random
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.localization.memory.index import LEAST, MAX_WORDS, NONE, Keys


def edit_distance(one: Sequence[str], other: Sequence[str]) -> int:
    """Wagner and Fischer 1974, row by row."""
    row = list(range(len(other) + 1))
    for i, word in enumerate(one, start=1):
        last, row[0] = row[0], i
        for j, other_word in enumerate(other, start=1):
            last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (word != other_word))
    return row[-1]


def brute_force(
    texts: Sequence[Sequence[str]], keys: np.ndarray, query: Sequence[str], at_least: int
) -> dict[int, int]:
    found = {}
    for text, key in zip(texts, keys, strict=True):
        longer, n_edits = max(len(text), len(query)), edit_distance(text, query)
        if text and query and 100 * (longer - n_edits) >= at_least * longer:
            found[int(key)] = n_edits
    return found


SENTENCES = st.lists(st.sampled_from("abcdef"), max_size=9)


@given(
    st.lists(SENTENCES, min_size=1, max_size=25),
    SENTENCES,
    st.sampled_from((50, 66, 70, 85, 99, 100)),
)
def test_exactly_what_is_near_is_found(
    texts: list[list[str]], query: list[str], at_least: int
) -> None:
    gathered = Keys()
    for text in texts:
        gathered.add(text)
    index, keys = gathered.index()
    found = {one.key: one.n_edits for one in index.near(query, at_least)}
    assert found == brute_force(texts, keys, query, at_least)


def test_the_same_of_texts_as_long_as_paragraphs() -> None:
    chance = random.Random(1)
    words = [f"w{n}" for n in range(300)]
    texts = [
        chance.choices(words, [1 / n for n in range(1, 301)], k=chance.randint(1, 550))
        for _ in range(12)
    ]
    gathered = Keys()
    for text in texts:
        gathered.add(text)
    index, keys = gathered.index()
    for text in (texts[0], max(texts, key=len)):
        query = [word for word in text if chance.random() > 0.2] + ["unheard"]
        found = {one.key: one.n_edits for one in index.near(query, LEAST)}
        assert found == brute_force(texts, keys, query, LEAST)
        assert int(keys[texts.index(text)]) in found or len(text) < 9


def test_equal_sequences_share_a_key_and_empty_ones_have_none() -> None:
    gathered = Keys()
    for text in (["a", "b"], [], ["b"], ["a", "b"], ["x"] * (MAX_WORDS + 1)):
        gathered.add(text)
    index, keys = gathered.index()
    assert keys.tolist() == [1, NONE, 0, 1, NONE]  # the shorter, the lower
    assert index.lengths.tolist() == [1, 2]


@given(st.lists(st.lists(st.sampled_from("abc"), max_size=4), max_size=60))
def test_only_equal_sequences_share_a_key(texts: list[list[str]]) -> None:
    gathered = Keys()
    for text in texts:
        gathered.add(text)
    _, keys = gathered.index()
    same = {(tuple(text), int(key)) for text, key in zip(texts, keys, strict=True)}
    kept = {text for text, _ in same if text}
    assert len({key for text, key in same if text}) == len(kept)
    assert len(same) == len({text for text, _ in same})


@pytest.mark.parametrize("query", [[], ["a"], ["a"] * (MAX_WORDS + 1)])
def test_an_empty_index_and_what_cannot_be_looked_up_give_nothing(query: list[str]) -> None:
    assert Keys().index()[0].near(query, LEAST) == []


def test_words_that_count_as_the_same_are_the_same() -> None:
    gathered = Keys(str.lower)
    for text in (["A", "b"], ["a", "B"]):
        gathered.add(text)
    assert gathered.index()[1].tolist() == [0, 0]
