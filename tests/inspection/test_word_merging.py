"""Pieces become words without losing any attention."""

import unicodedata

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from headway.core.subwords import Subwords
from headway.inspection.word_merging import merge_pieces, words_of


def test_attention_to_a_word_is_the_sum_and_of_a_word_the_mean_over_its_pieces() -> None:
    weights = np.array([[0.2, 0.3, 0.5], [0.6, 0.4, 0.0], [0.1, 0.1, 0.8]])
    merged = merge_pieces(weights, [[0, 1], [2]], [[0], [1, 2]])
    np.testing.assert_allclose(merged, [[(0.2 + 0.6) / 2, (0.8 + 0.4) / 2], [0.1, 0.9]])


def test_every_layer_and_head_is_merged_alike_and_rows_still_sum_to_one() -> None:
    weights = np.random.default_rng(1).dirichlet(np.ones(5), size=(2, 3, 4))
    queries, keys = [[0], [1, 2, 3]], [[0, 1], [2], [3, 4]]
    merged = merge_pieces(weights, queries, keys)
    assert merged.shape == (2, 3, 2, 3)
    np.testing.assert_allclose(merged.sum(axis=-1), 1.0)
    np.testing.assert_allclose(merged[1, 2], merge_pieces(weights[1, 2], queries, keys))


def test_words_start_at_spaces_markers_and_punctuation() -> None:
    pieces = ["The", "▁an", "imal", "▁didn", "'", "t", "▁cross", ".", "</s>"]
    words = words_of(pieces)
    assert words.labels == ["The", "animal", "didn't", "cross", ".", "</s>"]
    assert words.groups == [[0], [1, 2], [3, 4, 5], [6], [7], [8]]


def test_scripts_without_spaces_keep_their_pieces_and_bytes_become_their_character() -> None:
    pieces = ["那只", "动物", "，", "<0xE6>", "<0x8B><0xBC>", "了"]
    assert words_of(pieces).labels == ["那只", "动物", "，", "拼", "了"]
    assert words_of(["<0xE6>", "▁a"]).labels == ["<0xE6>", "a"]


def test_nothing_to_merge_is_no_words() -> None:
    assert words_of([]) == ([], [])


@given(st.lists(st.text(max_size=6), max_size=12))
def test_every_piece_is_in_exactly_one_word(pieces: list[str]) -> None:
    words = words_of(pieces)
    assert [i for group in words.groups for i in group] == list(range(len(pieces)))
    assert len(words.labels) == len(words.groups)


def test_the_words_of_an_english_sentence_are_those_between_its_spaces() -> None:
    lines = ["The animal didn't cross the street.", "那只动物没有过马路。"] * 5
    subwords = Subwords.train(lines, vocabulary_size=300)
    text = "The street didn't cross the animal"
    assert words_of(subwords.pieces(subwords.encode(text))).labels == text.split()
    chinese = words_of(subwords.pieces(subwords.encode("拼过马路"))).labels
    assert unicodedata.normalize("NFC", "".join(chinese)) == "拼过马路"
