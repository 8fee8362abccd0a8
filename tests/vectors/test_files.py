"""Both formats of word2vec; the oracle is gensim."""

import struct

import numpy as np
import pytest
from gensim.models import KeyedVectors
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from headway.vectors.files import write_word2vec

WORDS = ["的", "naïve", "</s>", "10%", "\ufeffa"]
VECTORS = np.array([[0.1, -1e-30, 3.0], [1e30, 0, -0.0], [1, 2, 3], [4, 5, 6], [7, 8, 9]], "f4")
FORMATS = [False, True]


@pytest.mark.parametrize("binary", FORMATS)
def test_gensim_reads_bit_for_bit_what_is_written(tmp_path, binary):
    file = tmp_path / "vectors"
    assert write_word2vec(file, WORDS, VECTORS, binary=binary) == 0
    theirs = KeyedVectors.load_word2vec_format(file, binary=binary)
    assert theirs.index_to_key == WORDS
    assert theirs.vectors.tobytes() == VECTORS.tobytes()


def test_the_bytes_are_the_formats_by_hand(tmp_path):
    file = tmp_path / "vectors"
    write_word2vec(file, ["a", "b"], np.array([[0.5, -2], [1, 0.1]], "f4"))
    assert file.read_bytes() == b"2 2\na 0.5 -2\nb 1 0.100000001\n"
    write_word2vec(file, ["a"], np.array([[0.5, -2]], "f4"), binary=True)
    assert file.read_bytes() == b"1 2\na " + struct.pack("<2f", 0.5, -2) + b"\n"


@pytest.mark.parametrize("binary", FORMATS)
def test_a_word_with_white_space_is_left_out_and_counted(tmp_path, binary):
    file = tmp_path / "vectors"
    words = ["New York", "", "b", "\u3000"]
    assert (
        write_word2vec(file, words, np.arange(8, dtype=np.float32).reshape(4, 2), binary=binary)
        == 3
    )
    theirs = KeyedVectors.load_word2vec_format(file, binary=binary)
    assert theirs.index_to_key == ["b"]
    assert theirs.vectors.tolist() == [[4.0, 5.0]]


NUMBERS = st.floats(width=32, allow_nan=False, allow_infinity=False)
ANY_WORDS = st.lists(st.text(st.characters(codec="utf-8"), min_size=1), min_size=3, max_size=3)


@given(words=ANY_WORDS, vectors=arrays(np.float32, (3, 2), elements=NUMBERS))
def test_any_words_come_back_but_those_with_white_space(tmp_path_factory, words, vectors):
    file = tmp_path_factory.mktemp("any") / "vectors"
    left_out = write_word2vec(file, words, vectors)
    rows = [i for i, word in enumerate(words) if not any(c.isspace() for c in word)]
    assert len(words) - left_out == len(rows)
    first, *lines = file.read_text(encoding="utf-8").removesuffix("\n").split("\n")
    assert first == f"{len(rows)} 2"
    found = [line.split(" ") for line in lines]
    assert [word for word, *_ in found] == [words[i] for i in rows]
    numbers = np.array([numbers for _, *numbers in found], np.float32).reshape(-1, 2)
    assert numbers.tobytes() == vectors[rows].tobytes()
