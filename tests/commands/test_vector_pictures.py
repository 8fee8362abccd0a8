"""`headway map`: a picture, a page or JSON of chosen words, and what it refuses."""

from pathlib import Path

import numpy as np
import pytest
from everyday_run import command

WORDS = "cat dog cow red blue green 苹果 $x".split()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    draws = np.random.default_rng(1)
    path = tmp_path / "vectors.txt"
    rows = [f"{word} {' '.join(f'{x:.3f}' for x in draws.standard_normal(8))}" for word in WORDS]
    path.write_text(f"{len(WORDS)} 8\n" + "\n".join(rows) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def words(tmp_path: Path) -> Path:
    path = tmp_path / "words.txt"
    path.write_text("# animals\ncat\ndog\nzebra\n\nred\n苹果\n$x\n", encoding="utf-8")
    return path


def test_a_picture_is_written_and_what_is_on_it_is_said(file, words, tmp_path):
    out = tmp_path / "map.png"
    shown = command("map", str(file), "--words", str(words), "--out", str(out))
    assert shown.status == 0
    assert shown.out == f"map: {out}\n"
    assert "5 of 8 words, 2 groups" in shown.err
    assert "without a vector, and left out: 1 (zebra)" in shown.err
    assert "two random vectors" in shown.err
    data = out.read_bytes()
    assert data.startswith(b"\x89PNG")
    assert len(data) > 20_000


def test_a_page_of_a_file_has_words_and_says_what_rows_in_play_need(file, words, tmp_path):
    out = tmp_path / "map.html"
    assert command("map", str(file), "--words", str(words), "--out", str(out)).status == 0
    text = out.read_text(encoding="utf-8")
    assert "<h1>" in text
    assert "苹果" in text
    assert "headway map RUN --sentence" in text


def test_without_out_the_page_lies_here(file, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert command("map", "vectors.txt", "--words", "words.txt").out == "map: map.html\n"
    assert Path("map.html").stat().st_size > 10_000


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--out", "map.pdf"], "a map is a .png or a .html; got map.pdf"),
        (["--out", "gone/map.png"], "--out is written into a folder that is there"),
        (["--out", "map.png", "--sentence", "a b"], "--sentence is for the page"),
        (["--sentence", "a b"], "--sentence needs a run of word vectors; a file has"),
        (["--words", "gone.txt"], "no such file: gone.txt"),
    ],
)
def test_what_cannot_be_is_refused(file, words, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    shown = command("map", str(file), *(["--words", "words.txt"] if "--words" not in arguments
                                        else []), *arguments)  # fmt: skip
    assert shown.status == 2
    assert message in shown.err
    assert not Path("map.html").exists()


def test_words_without_vectors_are_answered_with_those_spelled_alike(file, tmp_path):
    words = tmp_path / "others.txt"
    words.write_text("cats\nzebra\n", encoding="utf-8")
    shown = command("map", str(file), "--words", str(words))
    assert shown.status == 2
    assert "a map needs 3 words that have vectors; got 0 of 2" in shown.err
    assert "Spelled like the first: cat" in shown.err
