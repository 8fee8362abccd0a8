"""`headway embed`, by the command line."""

import io
import json
import sys
from pathlib import Path

import numpy as np
import pytest
from everyday_run import command
from safetensors.numpy import load_file
from text_run import train, write_corpus

TEXT = "The dog runs.\n\nThe small dog sleeps in the garden.\n"
CPU = "--runtime.device=cpu"


@pytest.fixture
def text(tmp_path: Path) -> str:
    file = tmp_path / "text.en"
    file.write_text(TEXT, encoding="utf-8")
    return str(file)


def embedded(*arguments: str) -> dict:
    found = command("embed", *arguments, "--json", CPU)
    assert found.status == 0, found.err
    return json.loads(found.out)


def test_a_word_a_vector_a_layer_and_blank_lines_keep_their_place(text, tmp_path):
    out = tmp_path / "v.safetensors"
    done = command("embed", "demo", text, "--out", str(out), CPU)
    assert done.status == 0
    assert f"vectors of 10 words, of layer embedding, 1, 2, written to {out}" in done.err
    found = load_file(out)
    assert found["vectors"].shape[:2] == (10, 3)
    assert found["offsets"].tolist() == [0, 3, 3, 10]
    assert bytes(found["tokens"]).decode().split() == TEXT.split()


def test_json_says_the_same_numbers_bit_for_bit(text, tmp_path):
    out = tmp_path / "v.safetensors"
    for layer in ("2", "embedding", "mean"):
        command("embed", "demo", text, "--layer", layer, "--out", str(out), CPU)
        found, printed = load_file(out), embedded("demo", text, "--layer", layer)
        assert printed["layers"] == [layer]
        assert [line["tokens"] for line in printed["lines"]] == [
            one.split() for one in TEXT.splitlines()
        ]
        numbers = [row for line in printed["lines"] for row in line["vectors"]]
        assert np.array(numbers, np.float32).tobytes() == found["vectors"].tobytes()


def test_standard_input_is_read_as_a_file_is(text, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(TEXT.encode())))
    assert embedded("demo", "--layer", "1") == embedded("demo", text, "--layer", "1")


def test_a_language_model_embeds_and_says_which_words_it_does_not_know(tmp_path):
    run = tmp_path / "run"
    assert train("lstm", write_corpus(tmp_path / "corpus.txt", 60), run).status == 0
    file = tmp_path / "a.txt"
    file.write_text("the dog zyzzyva\n")
    found = command("embed", str(run), str(file), "--json", CPU)
    printed = json.loads(found.out)
    assert printed["layers"] == ["embedding", "1"]
    assert np.array(printed["lines"][0]["vectors"]).shape == (3, 2, 16)
    assert "1 words are unknown to the model" in found.err


def refused(*arguments: str) -> str:
    found = command("embed", *arguments)
    assert found.status == 2
    assert not found.out
    return found.err


def test_what_cannot_be_is_refused_with_what_can(text, tmp_path):
    out = ("--out", str(tmp_path / "v"))
    assert "It has 0 (embedding), 1, 2." in refused("demo", text, "--layer", "3", *out)
    assert "got neither" in refused("demo", text)
    assert "got both" in refused("demo", text, "--json", *out)
    assert "takes one file" in refused("demo", text, text, *out)
    assert "no such file" in refused("demo", str(tmp_path / "none.txt"), "--json")
    assert f"{tmp_path} is none" in refused("demo", text, "--out", str(tmp_path))
    assert "/dev/null is none" in refused("demo", text, "--out", "/dev/null")
    before = Path(text).read_bytes()
    assert "does not replace what went in" in refused("demo", text, "--out", text)
    assert Path(text).read_bytes() == before
    assert not (tmp_path / "v").exists()


def test_a_model_that_counts_has_no_vectors(tmp_path):
    corpus = write_corpus(tmp_path / "corpus.txt", 30)
    run, flags = tmp_path / "run", ("--task=language-model", "--model.type=ngram")
    assert command("train", *flags, f"--corpus={corpus}", f"--out={run}").status == 0
    assert "--model.type lstm" in refused(str(run), str(corpus), "--json")
