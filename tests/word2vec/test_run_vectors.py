"""Words of a text are looked up; the oracle is the matrix."""

import numpy as np
import pytest

from headway.language_models.units import TokenUnit
from headway.vectors.word_vectors import WordVectors
from headway.word2vec.run_vectors import StaticEmbedder

MATRIX = np.arange(6, dtype=np.float32).reshape(3, 2) + 1


def embedded(text, words, unit="words"):
    model = StaticEmbedder(WordVectors(words, MATRIX), TokenUnit(unit, "none"))
    [one] = model.embed([text])
    return one


def test_each_word_has_its_row_wherever_it_stands_and_an_unknown_one_zeros():
    one = embedded("b  pear a b", ["a", "b", "c"])
    assert one.of(one.words())[0].tolist() == [[3, 4], [0, 0], [1, 2], [3, 4]]
    assert [one.knows(span) for span in one.words()] == [True, False, True, True]


@pytest.mark.parametrize("text", ["", "  "])
def test_a_blank_line_has_no_words(text):
    assert embedded(text, ["a", "b", "c"]).words() == []


def test_characters_are_looked_up_one_by_one():
    one = embedded("苹 果", ["苹", "果", "公"], unit="characters")
    assert one.of(one.words())[0].tolist() == [[1, 2], [3, 4]]


def test_text_is_brought_to_nfc_as_words_of_runs_are():
    one = embedded("cafe\u0301", ["caf\u00e9", "b", "c"])
    assert one.of(one.words())[0].tolist() == [[1, 2]]
