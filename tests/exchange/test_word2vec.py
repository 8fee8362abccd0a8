"""Both formats of word2vec; the oracle is gensim."""

import gzip
import struct
from pathlib import Path

import numpy as np
import pytest
from gensim.models import KeyedVectors
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from headway.core.errors import DataError
from headway.exchange.word2vec import read_word2vec, write_word2vec

WORDS = ["的", "naïve", "</s>", "10%", "\ufeffa"]
VECTORS = np.array([[0.1, -1e-30, 3.0], [1e30, 0, -0.0], [1, 2, 3], [4, 5, 6], [7, 8, 9]], "f4")
FORMATS = [False, True]


@pytest.mark.parametrize("binary", FORMATS)
def test_what_is_written_is_read_bit_for_bit_and_gensim_reads_the_same(tmp_path, binary):
    file = tmp_path / "vectors"
    assert write_word2vec(file, WORDS, VECTORS, binary=binary) == 0
    found = read_word2vec(file)
    assert found.words == WORDS
    assert found.vectors.tobytes() == VECTORS.tobytes()
    theirs = KeyedVectors.load_word2vec_format(file, binary=binary)
    assert theirs.index_to_key == WORDS
    assert np.array_equal(theirs.vectors, VECTORS)


@pytest.mark.parametrize("binary", FORMATS)
def test_what_gensim_writes_is_read(tmp_path, binary):
    theirs = KeyedVectors(3)
    theirs.add_vectors(WORDS, VECTORS)
    theirs.save_word2vec_format(tmp_path / "vectors", binary=binary)
    found = read_word2vec(tmp_path / "vectors")
    assert found.words == WORDS
    assert np.array_equal(found.vectors, VECTORS)


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
    assert read_word2vec(file).words == ["b"]
    assert read_word2vec(file).vectors.tolist() == [[4.0, 5.0]]


@pytest.mark.parametrize("binary", FORMATS)
def test_gzipped_files_and_tables_without_a_word_are_read(tmp_path, binary):
    file = tmp_path / "vectors"
    write_word2vec(file, WORDS, VECTORS, binary=binary)
    packed = tmp_path / "vectors.gz"
    packed.write_bytes(gzip.compress(file.read_bytes()))
    assert read_word2vec(packed).words == WORDS
    write_word2vec(file, [], VECTORS[:0], binary=binary)
    assert read_word2vec(file).vectors.shape == (0, 3)


NUMBERS = st.floats(width=32, allow_nan=False, allow_infinity=False)
ANY_WORDS = st.lists(st.text(st.characters(codec="utf-8"), min_size=1), min_size=3, max_size=3)


@pytest.mark.parametrize("binary", FORMATS)
@given(words=ANY_WORDS, vectors=arrays(np.float32, (3, 2), elements=NUMBERS))
def test_any_words_come_back_but_those_with_white_space(tmp_path_factory, binary, words, vectors):
    file = tmp_path_factory.mktemp("any") / "vectors"
    left_out = write_word2vec(file, words, vectors, binary=binary)
    found = read_word2vec(file)
    rows = [i for i, word in enumerate(words) if not any(c.isspace() for c in word)]
    assert len(words) - left_out == len(rows)
    assert found.words == [words[i] for i in rows]
    assert found.vectors.tobytes() == vectors[rows].tobytes()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a 1 2\nb 3 4\n", "begins with a line of two whole numbers"),
        (b"2 0\n", "1 to 1,048,576 numbers"),
        (b"2 2\na 1 2\n", "number 2 is missing: the file ends before it"),
        (b"2 2\na 1 2\nb 3\n", "number 2 is no word with its numbers"),
        (b"2 2\na 1 2\nb 3 x\n", "number 2 is no word"),
        (b"1 2\na 1 nan\n", "number 1 is no word"),
        (b"1 2\n\xff 1 2\n", "not UTF-8"),
        (b"2 2\na " + struct.pack("<2f", 1, 2) + b"\nb \0\0", "number 2 is missing"),
        (b"999999999 3\na 1 2 3\n", "number 2 is missing"),
    ],
)
def test_damage_is_named(tmp_path, content, message):
    file: Path = tmp_path / "vectors"
    file.write_bytes(content)
    with pytest.raises(DataError, match=message):
        read_word2vec(file)


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(DataError):
        read_word2vec(tmp_path / "none")
