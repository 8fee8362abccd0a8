"""A large file is read once; what is mapped then answers as what is in memory."""

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.core.errors import DataError
from headway.vectors import cache, files
from headway.vectors.cache import MappedVectors, WordIndex
from headway.vectors.files import open_vectors, write_word2vec
from headway.vectors.word_vectors import WordVectors

WORDS = ["的", "apple", "apples", "😀", '"', *(f"w{i}" for i in range(5_000))]
MATRIX = np.random.default_rng(1).standard_normal((len(WORDS), 24)).astype("f4")


@pytest.fixture
def large(tmp_path, monkeypatch) -> Path:
    """A file that counts as large, and is read in several pieces."""
    monkeypatch.setattr(files, "LARGE_BYTES", 0)
    monkeypatch.setattr("headway.vectors.reading._CHUNK_BYTES", 60_000)
    file = tmp_path / "vectors.bin"
    write_word2vec(file, WORDS, MATRIX, binary=True)
    return file


def opened(file: Path) -> tuple[WordVectors, list[str]]:
    said: list[str] = []
    return open_vectors(file, said.append), said


def test_what_is_mapped_is_what_was_read(large):
    found, _ = opened(large)
    assert isinstance(found, MappedVectors)
    assert found.matrix.tobytes() == MATRIX.tobytes()
    assert list(found.words) == WORDS == [found.words[row] for row in range(len(found))]
    assert [found.find(word) for word in WORDS] == list(range(len(WORDS)))
    assert [found.find(word) for word in ("", "Apple", "w5000", "\udc80")] == [None] * 4
    assert found.words[-1] == WORDS[-1]
    with pytest.raises(IndexError):
        found.words[len(WORDS)]


@pytest.mark.parametrize("compiler", [True, False])
def test_what_is_mapped_answers_as_what_is_in_memory(large, monkeypatch, compiler):
    if not compiler:
        monkeypatch.setattr(cache, "search_library", lambda: None)
    found, whole = opened(large)[0], WordVectors(WORDS, MATRIX)
    for word in WORDS[:20]:
        assert found.neighbours(word) == whole.neighbours(word)
    assert found.analogy("apple", "apples", "w1") == whole.analogy("apple", "apples", "w1")
    assert found.similarity("的", "w7") == whole.similarity("的", "w7")
    many, of_many = MATRIX[:40], whole.nearest_rows(MATRIX[:40], 3)
    assert found.nearest_rows(many, 3).rows.tolist() == of_many.rows.tolist()
    with pytest.raises(DataError, match="Spelled alike: apple, apples"):
        found.neighbours("appel")


def test_a_file_is_read_once(large, monkeypatch):
    _, said = opened(large)
    assert "is read once" in said[0]
    monkeypatch.setattr(cache, "read_rows", None)
    again, said = opened(large)
    assert said == []
    assert again.find("apple") == 1


def test_a_file_that_has_changed_is_read_again(large):
    assert opened(large)[0].vector("apple").tolist() == MATRIX[1].tolist()
    status = large.stat()
    write_word2vec(large, WORDS, -MATRIX, binary=True)
    os.utime(large, ns=(status.st_atime_ns, status.st_mtime_ns))  # the same size, the same time
    assert opened(large)[0].vector("apple").tolist() == (-MATRIX[1]).tolist()
    os.utime(large, ns=(0, 0))
    assert "is read once" in opened(large)[1][0]


@pytest.mark.parametrize("name", ["vectors", "hashes", "words", "bytes"])
def test_a_damaged_folder_is_made_anew(large, own_cache, name):
    opened(large)
    [folder] = own_cache.glob("vectors-*")
    (folder / name).write_bytes((folder / name).read_bytes()[:-1])
    found, said = opened(large)
    assert any("damaged" in line for line in said)
    assert found.matrix.tobytes() == MATRIX.tobytes()
    (folder / name).unlink()
    assert opened(large)[0].neighbours("的") == found.neighbours("的")


def test_what_was_left_out_is_said_each_time(large):
    large.write_bytes(b"a 1 2\nb 3 4\na 5 6\n 7 8\ncaf\xe9 0 1\n")
    first, said = opened(large)
    again, said_again = opened(large)
    assert list(first.words) == list(again.words) == ["a", "b", "caf\\xe9"]
    assert first.matrix.tolist() == [[1, 2], [3, 4], [0, 1]]
    assert said[1:] == said_again
    assert sorted(line.split()[0] for line in said_again) == ["1:", "1:", "1:"]


@pytest.mark.parametrize("cut", [False, True])
def test_a_reading_that_fails_leaves_nothing(large, own_cache, monkeypatch, cut):
    if cut:
        large.write_bytes(large.read_bytes()[:-5])
        with pytest.raises(DataError, match="only 5,004 are whole"):
            opened(large)
    else:
        read, pieces = cache.read_rows, iter(range(3))

        def interrupted(*given):
            for rows in read(*given):
                if next(pieces) == 2:
                    raise KeyboardInterrupt
                yield rows

        monkeypatch.setattr(cache, "read_rows", interrupted)
        with pytest.raises(KeyboardInterrupt):
            opened(large)
    left = [path for folder in own_cache.glob("vectors-*") for path in folder.rglob("*")]
    left += own_cache.glob(".vectors-*.part")
    assert left == []


def test_two_empty_words_are_not_a_file_of_words(large):
    large.write_bytes(b" 1 2\n 3 4\n")
    with pytest.raises(DataError, match="all empty"):
        opened(large)


@given(pieces=st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=8), max_size=6))
def test_of_each_word_the_first_is_kept(pieces):
    index, rows = WordIndex(), dict[str, int]()
    for words in pieces:
        kept = [words[place] for place in index.new(words).tolist()]
        expected = [word for word in dict.fromkeys(words) if word not in rows]
        assert kept == expected
        for word in expected:
            rows[word] = len(rows)
    assert sorted(index.rows.tolist()) == list(range(len(rows)))
    assert index.hashes.tolist() == sorted(index.hashes.tolist())
