"""What is asked of words and their vectors; the oracles are gensim, and arithmetic by hand."""

import numpy as np
import pytest
from gensim.models import KeyedVectors

from headway.core.errors import DataError
from headway.vectors.word_vectors import WordVectors, unit

WORDS = [f"w{i}" for i in range(2_000)]
MATRIX = np.random.default_rng(1).standard_normal((len(WORDS), 16)).astype("f4")


@pytest.fixture(scope="module")
def theirs() -> KeyedVectors:
    found = KeyedVectors(16)
    found.add_vectors(WORDS, MATRIX)
    return found


def test_neighbours_and_analogies_are_gensims(theirs):
    ours = WordVectors(WORDS, MATRIX)
    for word in WORDS[:20]:
        found = theirs.most_similar(word, topn=5)
        assert [near.word for near in ours.neighbours(word, 5)] == [other for other, _ in found]
        cosines = [near.cosine for near in ours.neighbours(word, 5)]
        assert cosines == pytest.approx([cosine for _, cosine in found], abs=1e-5)
        three = [word, "w50", "w60"]
        found = theirs.most_similar(positive=three[1:], negative=three[:1], topn=5)
        assert [near.word for near in ours.analogy(*three, top=5)] == [other for other, _ in found]
        similarity = theirs.similarity(word, "w50")
        assert ours.similarity(word, "w50") == pytest.approx(similarity, abs=1e-5)


def test_by_hand():
    matrix = np.array([[3, 4], [0, 2], [-1, 0], [0, 0], [1e30, 0]], "f4")
    ours = WordVectors(["a", "b", "c", "zero", "huge"], matrix)
    assert ours.similarity("a", "b") == pytest.approx(0.8)
    assert ours.similarity("a", "zero") == 0
    assert [near.word for near in ours.neighbours("a")] == ["b", "huge", "zero", "c"]
    assert ours.neighbours("a", 1) == [("b", pytest.approx(0.8))]
    assert ours.neighbours("b", 9)[0] == ("a", pytest.approx(0.8))
    assert unit(matrix[4]).tolist() == [1, 0]
    assert ours.near(np.array([1e-30, 0]), 1) == [("huge", 1)]


def test_a_word_that_is_not_there_is_told_those_spelled_alike():
    ours = WordVectors(["apple", "apples", "maple", "zebra"], np.eye(4, dtype="f4"))
    with pytest.raises(DataError, match=r"got 'appel'\. Spelled alike: apple"):
        ours.neighbours("appel")
    with pytest.raises(DataError, match="got '苹果'. Ask for a word"):
        ours.similarity("apple", "苹果")


def test_of_sub_words_a_word_is_the_piece_that_begins_one():
    ours = WordVectors(["▁apple", "apple", "▁tea", "s", "▁苹", "苹"], np.eye(6, dtype="f4"))
    assert ours.row("tea") == 2
    assert ours.row("apple") == 0
    assert ours.row("▁apple") == 0
    assert ours.row("s") == 3
    assert ours.row("苹") == 5
    assert [word in ours for word in ("tea", "▁tea", "苹", "s")] == [True, True, True, False]
    assert (ours.find("tea"), ours.find("apple")) == (None, 1)
