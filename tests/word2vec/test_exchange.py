"""Runs of word vectors and the files of other programs."""

import gzip
import re
from pathlib import Path

import numpy as np
import pytest
from everyday_run import command
from gensim.models import KeyedVectors
from topics import write_topics

from headway.operations.shipped import say_once
from headway.runs.checking import check_run
from headway.tasks import brought_by_run
from headway.vectors.word_vectors import WordVectors
from headway.word2vec.run_vectors import vectors_of_run

pytestmark = pytest.mark.usefixtures("torch_settings_restored")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("vectors")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HEADWAY_CACHE", str(folder / "cache"))
        file = write_topics(folder / "topics.txt", 300)
        names = ("--task", "word-vectors", "--corpus", str(file), "--out", str(folder / "run"))
        finished = command("train", *names, "--model.d-model=10", "--runtime.threads=1")
        assert finished.status == 0, finished.err
    return folder / "run"


@pytest.mark.parametrize("kind", ["word2vec", "word2vec-binary", "glove"])
@pytest.mark.parametrize("packed", ["", ".gz"])
def test_gensim_reads_what_is_exported_bit_for_bit_and_it_comes_back(run, tmp_path, kind, packed):
    file = tmp_path / f"vectors{packed}"
    told = command("export", str(run), str(file), "--to", kind)
    assert told.status == 0, told.err
    assert "vectors of 36 words written" in told.err
    own = vectors_of_run(run)
    if kind == "glove":  # gensim does not close such a file
        raw = file.read_bytes()
        text = (gzip.decompress(raw) if packed else raw).decode()
        words, rows = zip(*(line.split(" ", 1) for line in text.splitlines()), strict=True)
        matrix = np.array([row.split() for row in rows], np.float32)
    else:
        theirs = KeyedVectors.load_word2vec_format(str(file), binary=kind == "word2vec-binary")
        words, matrix = theirs.index_to_key, theirs.vectors
    assert list(words) == list(own.words)
    assert np.array_equal(matrix, own.matrix)
    back = tmp_path / "back"
    told = command("import", kind, str(file), "--out", str(back))
    assert told.status == 0, told.err
    again: WordVectors = brought_by_run(back, "vectors")(back)
    assert list(again.words) == list(own.words)
    assert np.array_equal(again.matrix, own.matrix)
    assert all(one.state == "whole" for one in check_run(back))
    refused = command("predict", str(back), "ship")
    assert refused.status == 2
    assert "has the first alone. Train a run" in refused.err


def test_vectors_are_those_of_the_model_and_stay_on_the_disk(run):
    from headway.runs.loading import open_run
    from headway.word2vec.spec import SPEC

    _, vocabulary, model, _ = open_run(SPEC, run, device="cpu")
    found = vectors_of_run(run)
    assert np.array_equal(found.matrix, model.vectors[4:].detach().numpy())  # type: ignore
    assert found.words == vocabulary.pieces(range(4, len(vocabulary)))
    assert not found.matrix.flags.writeable
    assert isinstance(found.matrix.base, np.memmap | np.ndarray)


def test_a_file_with_markers_and_odd_words_becomes_a_run_of_the_others(tmp_path):
    file = tmp_path / "odd.txt"
    lines = ["</s> 1 0", "the 0 1", "e\u0301 1 1", "\u00e9 2 2", "<unk> 3 3", "apple 4 4"]
    file.write_text("\n".join(["6 2", *lines]) + "\n", encoding="utf-8")
    told = command("import", "word2vec", str(file), "--out", str(tmp_path / "run"))
    assert told.status == 0, told.err
    found = vectors_of_run(tmp_path / "run")
    assert list(found.words) == ["the", "\u00e9", "apple"]
    assert found.matrix.tolist() == [[0, 1], [1, 1], [4, 4]]
    assert "3 words" in told.err
    refused = command(
        "import", "glove", str(file), "--out", str(tmp_path / "other"), "--unit", "characters"
    )
    assert refused.status == 0, "é is a character"
    file.write_text("</s> 1 0\n<unk> 1 1\n", encoding="utf-8")
    refused = command("import", "glove", str(file), "--out", str(tmp_path / "none"))
    assert refused.status == 2
    assert "none of the 2 words" in refused.err
    assert not (tmp_path / "none").exists()


def test_vectors_of_a_training_that_may_go_on_are_said_to_be_so(run, tmp_path):
    import shutil

    copy = tmp_path / "copy"
    shutil.copytree(run, copy)
    settings = (copy / "config.toml").read_text(encoding="utf-8")
    for finished in ("true", "false"):
        marked = settings.replace("finished = true", f"finished = {finished}")
        (copy / "config.toml").write_text(marked, encoding="utf-8")
        assert command("check", str(copy), "--accept").status == 0
        for verb in (("export", str(tmp_path / "v.txt"), "--to", "glove"), ("neighbours", "gold")):
            say_once.cache_clear()  # once a process
            said = command(verb[0], str(copy), *verb[1:]).err
            assert ("copy is unfinished: headway train" in said) == (finished == "false"), said


def test_a_damaged_or_unfinished_run_is_refused(run, tmp_path):
    import shutil

    copy = tmp_path / "copy"
    shutil.copytree(run, copy)
    whole = (copy / "model.safetensors").read_bytes()
    (copy / "model.safetensors").write_bytes(whole[:200])
    refused = command("export", str(copy), str(tmp_path / "v.txt"), "--to", "glove")
    assert refused.status == 2
    assert "cannot be used" in refused.err
    (copy / "model.safetensors").unlink()
    refused = command("export", str(copy), str(tmp_path / "v.txt"), "--to", "glove")
    assert "has no model yet. Go on with: headway train --out" in refused.err
    (copy / "tokenizer.json").write_bytes(gzip.compress(b"{}"))
    assert command("export", str(copy), str(tmp_path / "v.txt"), "--to", "glove").status == 2


def test_parameters_of_a_run_are_counted_part_by_part(run, tmp_path):
    told = command("parameters", str(run))
    assert told.status == 0, told.err
    assert "skip-gram (word-vectors), a vocabulary of 40, 800 parameters" in told.out
    assert re.search(r"^  vectors +400$", told.out, re.MULTILINE)
    told = command("parameters", "configs/text8-skip-gram.toml", "--vocabulary", "1000", "--json")
    assert '"parameters": 200000' in told.out
