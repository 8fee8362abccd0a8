"""What is read for word vectors: words counted in bounded memory, ids in stretches."""

import gzip
import random
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from everyday_run import command
from hypothesis import given
from hypothesis import strategies as st
from topics import lines, write_topics

from headway.core.errors import DataError
from headway.core.runtime import RuntimeSettings
from headway.runs.settings import Settings
from headway.word2vec import corpus
from headway.word2vec.corpus import VectorCorpus, VectorData, WordCounts, pieces, read
from headway.word2vec.settings import VectorText, Word2VecConfig


def settings(*files: Path, **text: object) -> Settings:
    return Settings(
        "word-vectors", "skip-gram", Word2VecConfig(), VectorData(files), None, RuntimeSettings(),
        text=VectorText(**text),  # type: ignore[arg-type]
    )  # fmt: skip


def read_back(found: VectorCorpus) -> list[list[str]]:
    """The words of each line, from the stretches."""
    rows: list[np.ndarray] = []
    for number in range(len(found)):
        ids, lengths = found.stretch(number)
        assert lengths.sum() == len(ids)
        rows += np.split(ids, np.cumsum(lengths)[:-1])
    return [found.vocabulary.pieces(row.tolist()) for row in rows]


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpus, "STRETCH_IDS", 300)
    monkeypatch.setattr(corpus, "BLOCK_CHARACTERS", 200)


@pytest.mark.usefixtures("short")
def test_stretches_are_the_text_without_rare_words(tmp_path):
    text = [*lines(200), "", "once upon a time", "the"]
    file = tmp_path / "text.txt.gz"
    file.write_bytes(gzip.compress("\n".join(text).encode()))
    found = read(settings(file), None, lambda _: None)
    counts = Counter(" ".join(text).split())
    known = [[word for word in line.split() if counts[word] >= 5] for line in text]
    assert read_back(found) == [line for line in known if line]
    assert len(found) > 5
    words = found.vocabulary.pieces(range(len(found.vocabulary)))
    assert found.counts.tolist() == [0] * 4 + [counts[word] for word in words[4:]]
    assert {*words[4:]} == {word for word, n in counts.items() if n >= 5}
    assert found.counts[4:].tolist() == sorted(found.counts[4:], reverse=True)
    assert found.record()["train"]["kept"] == 202
    again = read(settings(file), found.vocabulary, lambda _: None)
    assert read_back(again) == read_back(found)


@given(st.text(alphabet="ab \u4e00", max_size=60), st.integers(1, 9))
def test_pieces_of_a_line_are_the_line(line, most):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(corpus, "BLOCK_CHARACTERS", most)
        found = list(pieces(line))
        assert "".join(found) == line
        assert all(len(piece) <= most for piece in found)


def test_a_word_is_not_cut_where_a_line_is(monkeypatch):
    monkeypatch.setattr(corpus, "BLOCK_CHARACTERS", 20)
    line = " ".join(["alpha", "beta"] * 30)
    assert [word for piece in pieces(line) for word in piece.split()] == line.split()


def test_a_text_of_one_line_is_read_whole(tmp_path, monkeypatch):
    from headway.core import lines as core_lines

    monkeypatch.setattr(core_lines, "MAX_LINE_BYTES", 1_000)
    file = tmp_path / "text8"
    words = " ".join(lines(300)).split()
    file.write_text(" ".join(words), encoding="utf-8")
    found = read(settings(file), None, lambda _: None)
    assert [word for line in read_back(found) for word in line] == words
    assert found.record()["train"]["dropped"] == {}
    file.write_text("x" * 5_000 + "\n" + "\n".join(lines(100)), encoding="utf-8")
    said: list[str] = []
    read(settings(file), None, said.append)
    assert "  dropped 1 lines of more than 1 MiB without spaces" in said


def test_words_are_counted_in_bounded_memory():
    drawn = random.Random(1)
    frequent = [f"word{n}" for n in range(50) for _ in range(200)]
    rare = [f"rare{n}" for n in range(5_000)]
    text = frequent + rare
    drawn.shuffle(text)
    counted, largest = WordCounts(most=1_000), 0
    for begin in range(0, len(text), 100):
        counted.add(text[begin : begin + 100])
        largest = max(largest, len(counted.counts))
    assert largest <= 1_000
    true = Counter(text)
    for word in {*frequent}:
        assert true[word] - counted.forgotten_below <= counted.counts[word] <= true[word]
    assert 0 < counted.forgotten_below < 20


def test_a_word_that_is_forgotten_each_time_is_missed_by_the_sum_of_what_was_too_rare():
    counted, true = WordCounts(most=2), 0
    for n in range(1, 5):
        true += n
        counted.add(["often"] * n + [f"{letter}{n}" for letter in "ab" for _ in range(n)])
    assert counted.forgotten_below == 4
    assert true == 1 + 2 + 3 + 4
    assert counted.counts["often"] == 0


def test_what_was_forgotten_is_said(tmp_path, monkeypatch):
    monkeypatch.setattr(WordCounts.__init__, "__defaults__", (40,))
    file = write_topics(tmp_path / "text.txt", 100)
    file.write_text(file.read_text("utf-8") + " ".join(f"odd{n}" for n in range(30)), "utf-8")
    said: list[str] = []
    read(settings(file), None, said.append)
    told = "over 40 different words: the rarest were forgotten on the way, so rare words may be "
    assert f"{told}missing, and counts too low" in said


def test_the_most_frequent_words_are_chosen_where_a_size_is_set(tmp_path):
    file = write_topics(tmp_path / "text.txt", 200)
    found = read(settings(file, vocabulary_size=9), None, lambda _: None)
    assert len(found.vocabulary) == 9
    counts = Counter(file.read_text("utf-8").split())
    best = sorted(counts, key=lambda word: (-counts[word], word))[:5]
    assert found.vocabulary.pieces(range(4, 9)) == best


def test_chinese_is_cut_by_jieba_or_read_by_spaces_or_by_characters(tmp_path):
    file = tmp_path / "text.zh"
    file.write_text("我爱吃苹果，他爱吃香蕉。\n" * 20, encoding="utf-8")
    by_jieba = read(settings(file), None, lambda _: None)
    assert by_jieba.vocabulary.has("苹果")
    by_character = read(settings(file, unit="characters"), None, lambda _: None)
    assert by_character.vocabulary.has("苹")
    assert not by_character.vocabulary.has("苹果")
    file.write_text("我 爱吃 苹果 ， 他 爱吃 香蕉 。\n" * 20, encoding="utf-8")
    by_spaces = read(settings(file), None, lambda _: None)
    assert by_spaces.unit.segmenter == "none"
    assert by_spaces.vocabulary.has("爱吃")
    by_character = read(settings(file, unit="characters"), None, lambda _: None)
    assert not by_character.vocabulary.has(" "), "white space is no character to ask for"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "is empty"),
        ("\n \n\n", "there are 0 of 0 different ones"),
        ("hello " * 100, r"there are 1 of 1 different ones: hello \(100 times\)"),
        ("to be or not to be", r"there are 0 of 4 different ones: to \(2 times\), be \(2 times\)"),
    ],
)
def test_a_text_without_words_to_tell_apart_is_refused(tmp_path, text, why):
    file = tmp_path / "text.txt"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=why):
        read(settings(file), None, lambda _: None)
    names = ("--task", "word-vectors", "--corpus", str(file), "--out", str(tmp_path / "run"))
    refused = command("train", *names)
    assert refused.status == 2
    assert not (tmp_path / "run").exists()


def test_files_are_refused_before_anything_is_read(tmp_path):
    names = ("--task", "word-vectors", "--out", str(tmp_path / "run"))
    assert "none is named. Give --corpus F" in command("train", *names).err
    assert "no such file" in command("train", *names, "--corpus", str(tmp_path / "none")).err
    latin = tmp_path / "latin.txt"
    latin.write_bytes("caf\xe9\n".encode("latin-1") * 30)
    assert "text must be UTF-8" in command("train", *names, "--corpus", str(latin)).err
