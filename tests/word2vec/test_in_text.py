"""Rows in play in a place of a text: those of a run, by its own window, counts and matrices."""

import math
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from everyday_run import command
from safetensors.numpy import load_file
from topics import write_topics

from headway.core.errors import DataError
from headway.tokenizers.words import Words
from headway.vectors.in_play import rows_in_play
from headway.word2vec.predicting import place_in_text

pytestmark = pytest.mark.usefixtures("torch_settings_restored")


@pytest.fixture(scope="module")
def topics(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_topics(tmp_path_factory.mktemp("text") / "topics.txt")


def trained(topics: Path, run: Path, *flags: str) -> Path:
    names = ("--task", "word-vectors", "--corpus", str(topics), "--out", str(run))
    sizes = ("--model.d-model=8", "--training.epochs=1", "--runtime.threads=1")
    assert command("train", *names, *sizes, *flags).status == 0
    return run


@pytest.mark.parametrize("direction", ["cbow", "skip-gram"])
def test_its_rows_are_those_of_the_runs_matrices(topics, tmp_path, direction):
    run = trained(topics, tmp_path / "run", "--model.type", direction)
    tensors, words = load_file(run / "model.safetensors"), Words.load(run / "tokenizer.json")
    known = words.pieces(range(4, 12))
    sentence = f"zebra {known[0]} {known[1]} <b> {known[2]} {known[3]} {known[4]}"
    place = place_in_text(run, sentence)
    assert place.direction == direction
    assert place.words == sentence.split()
    assert place.words[place.centre] == known[2]
    assert [place.words[i] for i in place.around] == [known[i] for i in (0, 1, 3, 4)]
    assert len(place.noise) == 5
    assert not {*place.noise} & {*known[:5]}
    for row in rows_in_play(place, "cbow").given:
        assert row.numbers == tensors["vectors"][words.encode(row.word)[0]][:5].tolist()
    play = rows_in_play(place, direction)
    given = [tensors["vectors"][words.encode(row.word)[0]] for row in play.given]
    for row in play.asked:
        output = tensors["outputs"][words.encode(row.word)[0]]
        probability = 1 / (1 + math.exp(-float(np.mean(given, axis=0) @ output)))
        assert row.probability == pytest.approx(probability, abs=1e-5)


def test_the_page_of_a_run_has_its_rows(topics, tmp_path):
    run = trained(topics, tmp_path / "run", "--model.type", "cbow")
    common = [w for w, _ in Counter(topics.read_text("utf-8").split()).most_common(6)]
    words = tmp_path / "words.txt"
    words.write_text("\n".join(common), encoding="utf-8")
    asked = ("--words", str(words), "--sentence", f"{common[0]} <i> {common[1]}")
    assert command("map", str(run), *asked).status == 0
    text = (run / "map.html").read_text(encoding="utf-8")
    assert f"whether {common[1]} stands there" in text
    assert "&lt;i&gt;" in text
    assert "other rows: untouched" in text


def test_what_has_no_rows_of_words_is_refused(topics, tmp_path):
    run = trained(topics, tmp_path / "run", "--model.objective", "hierarchical-softmax")
    words = tmp_path / "words.txt"
    words.write_text("\n".join(Words.load(run / "tokenizer.json").pieces(range(4, 9))), "utf-8")
    assert command("map", str(run), "--words", str(words)).status == 0
    shown = command("map", str(run), "--words", str(words), "--sentence", "a b")
    assert shown.status == 2
    assert "nodes of a tree" in shown.err


def test_a_sentence_of_unknown_words_is_refused(topics, tmp_path):
    run = trained(topics, tmp_path / "run")
    with pytest.raises(DataError, match="that have vectors"):
        place_in_text(run, "zebra quagga okapi")
    one, two, three = Words.load(run / "tokenizer.json").pieces(range(4, 7))
    apart = " ".join(f"zebra{n}" for n in range(14))
    with pytest.raises(DataError, match="at most 10 words away that have vectors"):
        place_in_text(run, f"{one} {apart} {two}")
    place = place_in_text(run, f"{one} {apart} {two} quagga {three}")
    shown = {place.words[i] for i in (place.centre, *place.around)}
    assert shown == {two, three}
    assert rows_in_play(place, place.direction).given
