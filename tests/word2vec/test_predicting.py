"""`headway predict` with word vectors: a gap is filled, and a context told."""

import io
import json
from pathlib import Path

import numpy as np
import pytest
import torch
from everyday_run import command
from topics import topic_of, write_topics

from headway.runs.loading import open_run
from headway.word2vec.predicting import WordPredictor
from headway.word2vec.spec import SPEC

pytestmark = pytest.mark.usefixtures("torch_settings_restored")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of each type and objective."""
    folder = tmp_path_factory.mktemp("vectors")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HEADWAY_CACHE", str(folder / "cache"))
        file = write_topics(folder / "topics.txt", 600)
        for direction in ("cbow", "skip-gram"):
            for objective in ("negative-sampling", "hierarchical-softmax"):
                run = folder / f"{direction}-{objective}"
                finished = command(
                    "train", "--task", "word-vectors", "--corpus", str(file), "--out", str(run),
                    "--model.type", direction, "--model.objective", objective,
                    "--model.d-model=12", "--training.learning-rate=0.1", "--runtime.threads=1",
                    "--training.epochs=40",
                )  # fmt: skip
                assert finished.status == 0, finished.err
    return folder


@pytest.mark.parametrize("objective", ["negative-sampling", "hierarchical-softmax"])
def test_cbow_fills_a_gap_with_words_of_the_topic(runs, objective):
    run = str(runs / f"cbow-{objective}")
    found = json.loads(command("predict", run, "ship sail _ anchor the", "--json").out)["words"]
    topics = [topic_of(one["token"]) for one in found if topic_of(one["token"])]
    assert topics[:5] == ["sea"] * 5
    whole = json.loads(command("predict", run, "ship sail _ the", "--top", "0", "--json").out)
    assert sum(one["prob"] for one in whole["words"]) == pytest.approx(1, abs=1e-9)
    assert len(whole["words"]) == 36


@pytest.mark.parametrize("objective", ["negative-sampling", "hierarchical-softmax"])
def test_skip_gram_tells_what_stands_around_a_word(runs, objective):
    run = str(runs / f"skip-gram-{objective}")
    for asked in (["--context", "violin"], ["violin"]):
        found = json.loads(command("predict", run, *asked, "--json").out)["words"]
        topics = [topic_of(one["token"]) for one in found if topic_of(one["token"])]
        assert topics[:4] == ["music"] * 4


def test_probabilities_of_negative_sampling_are_those_of_the_model_and_the_noise(runs):
    run = runs / "cbow-negative-sampling"
    _, vocabulary, model, _ = open_run(SPEC, run, device="cpu")
    ids = vocabulary.encode("apple pear plum fig")
    logits = model(torch.tensor([ids]))[0].double() + 0.75 * model.counts.double().log()  # type: ignore
    wanted = logits.softmax(0).detach().numpy()
    found = WordPredictor(run).next("apple pear _ plum fig", 0)
    by_word = dict(found)
    for word in ("quince", "the", "tower"):
        assert by_word[word] == pytest.approx(wanted[vocabulary.encode(word)[0]], rel=1e-4)


def test_probabilities_of_the_tree_are_products_of_turns(runs):
    """By hand: of each word the turns on its way, one after the other."""
    from headway.word2vec.noise import huffman_tree

    predictor = WordPredictor(runs / "cbow-hierarchical-softmax")
    ids = predictor.vocabulary.encode("apple pear")
    hidden = predictor.vectors[ids].mean(0)
    tree = huffman_tree(predictor.counts)
    found = dict(predictor.next("apple _ pear", 0))
    for word in ("plum", "the", "tower"):
        [number] = predictor.vocabulary.encode(word)
        prob = 1.0
        for place in range(tree.starts[number], tree.starts[number + 1]):
            score = float(predictor.outputs[tree.nodes[place]] @ hidden) * float(tree.turns[place])
            prob /= 1 + np.exp(-score)
        assert found[word] == pytest.approx(prob, rel=1e-4)


def test_only_the_words_within_the_window_count(runs):
    predictor = WordPredictor(runs / "cbow-negative-sampling")
    near = "ship sail wave anchor tide _"
    assert predictor.next(f"apple pear fig {near}") == predictor.next(near)


def test_a_gap_needs_no_spaces_around_it(runs, tmp_path):
    file, run = tmp_path / "text.zh", tmp_path / "run"
    file.write_text("我 是 最 帅 的 Nick\n我 是 最 好 的 Nick\n" * 100, encoding="utf-8")
    names = ("--task", "word-vectors", "--corpus", str(file), "--out", str(run))
    flags = ("--model.type=cbow", "--model.d-model=8", "--training.thin=0", "--runtime.threads=1")
    assert command("train", *names, *flags).status == 0
    found = json.loads(command("predict", str(run), "我 是 最 _ 的 Nick", "--json").out)["words"]
    assert {one["token"] for one in found[:2]} == {"帅", "好"}
    names = (*names[:-1], str(tmp_path / "characters"))
    assert command("train", *names, *flags, "--text.unit=characters").status == 0
    predictor = WordPredictor(tmp_path / "characters")
    assert predictor.next("我是最_的Nick") == predictor.next("我 是 最 _ 的 Nick")


@pytest.mark.parametrize(
    ("direction", "asked", "why"),
    [
        ("skip-gram", ["ship _ sail"], "a gap is filled by a model of the type cbow"),
        ("cbow", ["--context", "ship"], "is told by a model of the type skip-gram"),
        (
            "cbow",
            ["ship sail"],
            "stands for the one word that is asked for; got 'ship sail'",
        ),
        ("cbow", ["ship _ sail _"], "which has 2"),
        ("skip-gram", ["ship sail"], "what stands around one word is told; got 2"),
        ("cbow", ["unheard _ of"], ""),
        ("cbow", ["unheard _ off"], "by words that have vectors; got 'unheard _ off'"),
        ("cbow", ["_"], "by words that have vectors; got '_'. See which have: headway export"),
        ("cbow", ["_ shipp"], "Spelled alike: ship"),
        ("skip-gram", ["--context", "shipp"], "got 'shipp'. Spelled alike: ship"),
        ("skip-gram", ["--context", ""], "what stands around one word is told; got 0"),
        ("skip-gram", ["unheard"], "words are predicted by words that have vectors; got 'unheard'"),
        ("skip-gram", ["ship", "--context", "ship"], "Leave one of them out"),
        ("cbow", ["ship _", "--top", "-1"], "--top is how many are told, 0 for all; got -1"),
    ],
)
def test_what_is_asked_wrongly_is_told_what_is_right(runs, direction, asked, why):
    said = command("predict", str(runs / f"{direction}-negative-sampling"), *asked)
    assert said.status == (2 if why else 0)
    assert why in said.err
    if not why:
        assert "without a vector, so nothing is predicted from it: unheard" in said.err


def test_several_lines_are_answered_one_by_one(runs, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"ship\nviolin\n")))
    run = str(runs / "skip-gram-negative-sampling")
    found = json.loads(command("predict", run, "--json").out)["predictions"]
    assert [one["text"] for one in found] == ["ship", "violin"]
    assert all(len(one["words"]) == 10 for one in found)
