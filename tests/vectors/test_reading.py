"""Files of word vectors are read as gensim reads them, whatever is odd in them; what is not as it
says is refused, at once and in little memory."""

import gzip
import pickle
import struct
import time
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from gensim.models import KeyedVectors
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from headway.core.errors import DataError
from headway.vectors.files import open_vectors, write_glove, write_word2vec

NUMBERS = st.floats(width=32, allow_nan=False, allow_infinity=False)
WORD = st.text(st.characters(codec="utf-8"), min_size=1).filter(
    lambda word: not any(map(str.isspace, word)) and not word.startswith("\ufeff")
)
WORDS = st.lists(WORD, min_size=3, max_size=3, unique=True)
VECTORS = arrays(np.float32, (3, 4), elements=NUMBERS)


def opened(folder: Path, data: bytes, name: str = "file") -> tuple[list[str], list, list[str]]:
    """Words, vectors, and what is said."""
    said: list[str] = []
    (folder / name).write_bytes(data)
    found = open_vectors(folder / name, said.append)
    return list(found.words), found.matrix.tolist(), said


def refused(folder: Path, data: bytes, name: str = "file") -> str:
    """Why; it takes less than a second and 100 MB."""
    (folder / name).write_bytes(data)
    tracemalloc.start()
    started = time.process_time()
    with pytest.raises(DataError) as error:
        open_vectors(folder / name)
    taken_s, (_, peak) = time.process_time() - started, tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert taken_s < 1
    assert peak < 100 << 20
    return str(error.value)


@given(words=WORDS, vectors=VECTORS, how=st.sampled_from(["text", "binary", "glove"]))
def test_what_is_written_is_read_bit_for_bit(tmp_path_factory, words, vectors, how):
    file = tmp_path_factory.mktemp("any") / "vectors"
    if how == "glove":
        write_glove(file, words, vectors)
    else:
        write_word2vec(file, words, vectors, binary=how == "binary")
    for packed in (False, True):
        if packed:
            file.write_bytes(gzip.compress(file.read_bytes()))
        found = open_vectors(file)
        assert list(found.words) == words
        assert found.matrix.tobytes() == vectors.tobytes()


@given(words=WORDS, vectors=VECTORS, binary=st.booleans())
def test_what_gensim_writes_is_read_bit_for_bit(tmp_path_factory, words, vectors, binary):
    file = tmp_path_factory.mktemp("any") / "vectors"
    theirs = KeyedVectors(4)
    theirs.add_vectors(words, vectors)
    theirs.save_word2vec_format(str(file), binary=binary)
    found = open_vectors(file)
    assert list(found.words) == theirs.index_to_key
    assert found.matrix.tobytes() == theirs.vectors.tobytes()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # gensim's
@pytest.mark.parametrize("how", ["word2vec", "binary", "glove"])
def test_a_name_that_ends_in_gz_is_packed_and_gensim_unpacks_it(tmp_path, how):
    file, vectors = tmp_path / "vectors.gz", np.array([[1, 2], [3, 4.5]], "f4")
    if how == "glove":
        write_glove(file, ["a", "b"], vectors)
    else:
        write_word2vec(file, ["a", "b"], vectors, binary=how == "binary")
    theirs = KeyedVectors.load_word2vec_format(
        str(file), binary=how == "binary", no_header=how == "glove"
    )
    assert theirs.index_to_key == ["a", "b"]
    assert theirs.vectors.tolist() == open_vectors(file).matrix.tolist() == vectors.tolist()


def test_words_with_blanks_have_their_numbers_at_the_right(tmp_path):
    data = b"the 1 2\n. . . 3 4\nat me@here.org 5 6\n8 7 8\nroute 66 9 10\n"
    words, vectors, said = opened(tmp_path, data)
    assert words == ["the", ". . .", "at me@here.org", "8", "route 66"]
    assert vectors == [[1, 2], [3, 4], [5, 6], [7, 8], [9, 10]]
    assert said == []


@pytest.mark.parametrize("header", [b"", b"3 2\r\n"])
def test_line_ends_marks_trailing_blanks_and_quotes_change_nothing(tmp_path, header):
    body = "\"'quoted'\" 1 2 \r\n😀\t3\t4\r\n\r\n苹果 -5e-1  .6".encode()
    words, vectors, said = opened(tmp_path, b"\xef\xbb\xbf" + header + body)
    assert words == ["\"'quoted'\"", "😀", "苹果"]
    assert vectors == [[1, 2], [3, 4], [-0.5, pytest.approx(0.6)]]
    assert said == []


def test_double_and_empty_words_are_left_out_and_said(tmp_path):
    words, vectors, said = opened(tmp_path, b"a 1 2\nb 3 4\na 5 6\n 7 8\nb 9 9\nc 0 1\n")
    assert words == ["a", "b", "c"]
    assert vectors == [[1, 2], [3, 4], [0, 1]]
    assert [line.split(":")[0] for line in said] == ["1", "2"]
    row = struct.pack("<f", 0.5)
    words, vectors, said = opened(
        tmp_path, b"4 1\na " + row + b"\n " + row + b"a " + row + b"b " + row
    )
    assert words == ["a", "b"]
    assert len(said) == 2


def test_bytes_that_are_not_utf_8_stay_apart_and_are_counted(tmp_path):
    words, _, said = opened(tmp_path, b"caf\xe9 1 2\ncaf\xe8 1 2\nok 1 2\n")
    assert words == ["caf\\xe9", "caf\\xe8", "ok"]
    assert said[0].startswith("2: words are not UTF-8")


@pytest.mark.parametrize("number", ["nan", "inf", "1e60", "-Infinity"])
def test_numbers_that_are_none_are_refused_with_their_word(tmp_path, number):
    assert "'b', row 2" in refused(tmp_path, f"a 1 2\nb 1 {number}\n".encode())
    bits = struct.pack("<2f", 1, float(number) if number != "1e60" else np.nan)
    assert "'a', row 1" in refused(tmp_path, b"1 2\na " + bits)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"1000000000 300\na " + b"0.1 " * 300 + b"\n", "at least 600,000,000,000 bytes"),
        (b"1000000000 300\na " + bytes(1200), "1,201,000,000,000"),
        (b"3 2\na 1 2\nb 1 2\n", "only 2 are whole"),
        (b"1 2\na 1 2\nb 1 2\n", "more follow"),
        (b"2 2\na 1 2\nb 1\n", "line 3"),
        (b"a 1 2\nb 1\nc 1 2\n", "line 2"),
        (b"a 1 2\nb x 2\nc 1 2\n", "line 2"),
        (b"2 2\na 1 2 3\nb 1 2 3\n", "its lines have 3"),
        (b"2 2\na " + bytes(8) + b"b " + bytes(7), "only 1 are whole"),
        (b"1 2\na " + bytes(8) + b"b " + bytes(8), "more follow"),
        (b"1 2\n" + bytes(100_000), "only 0 are whole"),
        (b"0 2\n", "0 of 2"),
        (b"1 0\na\n", "1 of 0"),
        (b"1 999999999\na" + bytes(8), "1 to 65,536 numbers"),
        (b"<html>\n<p>not here</p>\n", "a word and its numbers"),
        (b"one two three\n", "a word and its numbers"),
        (b"\n", "a word and its numbers"),
        (b"x" * (2 << 20), "a word and its numbers"),
        (b" 1 2\n 3 4\n", "all empty"),
        (b"", "is empty"),
    ],
)
def test_what_is_not_as_it_says_is_refused(tmp_path, data, why):
    assert why in refused(tmp_path, data)
    if data:
        assert refused(tmp_path, gzip.compress(data), "file.gz")


def test_a_lie_in_a_packed_file_is_refused_although_its_size_could_be_true(tmp_path):
    data = b"100000 300\na " + b"0 " * 300 + b"\n" + b"b" + b" 0" * 300 + b"\n"
    packed = gzip.compress(data + bytes(50 << 20), 9)
    assert refused(tmp_path, packed)
    assert "only 2 are whole" in refused(tmp_path, gzip.compress(data) + bytes(60_000))


def test_a_cut_packed_file_is_refused(tmp_path):
    data = gzip.compress(b"a 1 2\n" * 50)
    assert "damaged or cut off" in refused(tmp_path, data[:-9])


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_a_pickle_is_never_opened_and_the_hint_converts_it(tmp_path, protocol):
    theirs = KeyedVectors(2)
    theirs.add_vectors(["a", "b"], np.array([[1, 2], [3, 4]], "f4"))
    file = tmp_path / "theirs.kv"
    theirs.save(str(file), pickle_protocol=protocol)
    said = refused(tmp_path, file.read_bytes(), "theirs.kv")
    assert "a pickle" in said
    code = "\n".join(line.strip() for line in said.splitlines() if line.startswith("  "))
    target = tmp_path / "vectors.bin"
    exec(code.replace("vectors.bin", str(target)), {})
    assert open_vectors(target).matrix.tolist() == [[1, 2], [3, 4]]


def test_files_of_other_programs_are_refused_by_what_is_in_them(tmp_path):
    np.save(tmp_path / "array.npy", np.array([{"a": 1}], object), allow_pickle=True)
    assert "a word and its numbers" in refused(tmp_path, (tmp_path / "array.npy").read_bytes())
    np.savez(tmp_path / "arrays.npz", a=np.ones(3))
    assert "a zip archive" in refused(tmp_path, (tmp_path / "arrays.npz").read_bytes())
    packed = gzip.compress(pickle.dumps({"a": 1}))
    assert "a pickle" in refused(tmp_path, packed)
    assert "fastText" in refused(tmp_path, struct.pack("<2i", 793712314, 12) + bytes(100))
