"""Word vectors through `headway train`: what is learned, stopped, resumed, and fitted."""

import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from everyday_run import Finished, command
from topics import TOPICS, topic_of, write_topics

from headway.core.run_folder import RunFolder
from headway.tasks import brought_by_run
from headway.vectors.word_vectors import WordVectors
from headway.word2vec import corpus, learning, updates
from headway.word2vec.learning import VectorTrainer

pytestmark = pytest.mark.usefixtures("torch_settings_restored")

FLAGS = ("--model.d-model=16", "--model.window=3", "--training.epochs=4", "--runtime.threads=1")


@pytest.fixture(autouse=True)
def short_stretches(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a small text has a dozen."""
    monkeypatch.setattr(corpus, "STRETCH_IDS", 1_000)
    monkeypatch.setattr(corpus, "BLOCK_CHARACTERS", 1_000)


@pytest.fixture
def topics(tmp_path: Path) -> Path:
    return write_topics(tmp_path / "topics.txt")


def train(file: Path, run: Path, *flags: str) -> Finished:
    names = ("--task", "word-vectors", "--corpus", str(file), "--out", str(run))
    return command("train", *names, *FLAGS, *flags)


def opened(run: Path) -> WordVectors:
    vectors: WordVectors = brought_by_run(run, "vectors")(run)
    return vectors


def all_but_times(run: Path) -> dict[str, Any]:
    log = [{k: v for k, v in line.items() if k != "time_s"} for line in RunFolder(run).read_log()]
    return {"log": log, "model": (run / "model.safetensors").read_bytes()}


@pytest.mark.parametrize("direction", ["cbow", "skip-gram"])
@pytest.mark.parametrize("objective", ["negative-sampling", "hierarchical-softmax"])
def test_words_of_four_interleaved_topics_are_near_to_their_own(
    topics, tmp_path, direction, objective
):
    flags = ("--model.type", direction, "--model.objective", objective, "--training.epochs=20")
    finished = train(topics, tmp_path / "run", *flags, "--training.learning-rate=0.05")
    assert finished.status == 0, finished.err
    vectors = opened(tmp_path / "run")
    for topic, words in TOPICS.items():
        for word in words:
            near = [topic_of(one.word) for one in vectors.neighbours(word, 5)]
            assert near == [topic] * 5, word
    log = RunFolder(tmp_path / "run").read_log()
    assert log[-1]["loss"] < log[0]["loss"]
    assert [*log[0]] == ["step", "time_s", "words", "loss", "learning_rate"]


def test_the_rate_falls_in_a_line_over_all_words(topics, tmp_path):
    assert train(topics, tmp_path / "run", "--training.last-rate=0.005").status == 0
    log = RunFolder(tmp_path / "run").read_log()
    n_words = log[-1]["words"]
    assert n_words == 4 * 15_000
    for line in log:
        wanted = 0.025 + (0.005 - 0.025) * line["words"] / n_words
        assert line["learning_rate"] == pytest.approx(wanted, abs=1e-5)


@pytest.mark.parametrize("every", [0, 3])
def test_stopped_and_resumed_equals_never_stopped(topics, tmp_path, monkeypatch, every):
    take_in, calls = VectorTrainer.take_in, []

    def interrupted(self: VectorTrainer, counted: Any) -> None:
        calls.append(1)
        if len(calls) in (7, 30):  # in the middle of an epoch
            signal.raise_signal(signal.SIGINT)
        take_in(self, counted)

    flag, stopped = f"--training.checkpoint-every={every}", tmp_path / "stopped"
    with monkeypatch.context() as patch:
        patch.setattr(VectorTrainer, "take_in", interrupted)
        told = train(topics, stopped, flag)
        assert told.status == 130
        assert "saved. Go on with: headway train --out" in told.err
        assert not (stopped / "model.safetensors").exists()
        assert command("train", "--out", str(stopped), "--resume").status == 130
    again = command("train", "--out", str(stopped), "--resume")
    assert again.status == 0, again.err
    assert "goes on from step" in again.err
    assert train(topics, tmp_path / "whole", flag).status == 0
    assert all_but_times(stopped) == all_but_times(tmp_path / "whole")


def test_a_killed_run_goes_on_from_its_last_checkpoint(topics, tmp_path, monkeypatch):
    take_in, calls = VectorTrainer.take_in, []

    def killed(self: VectorTrainer, counted: Any) -> None:
        calls.append(1)
        if len(calls) == 20:
            raise KeyboardInterrupt
        take_in(self, counted)

    flag = "--training.checkpoint-every=3"
    with monkeypatch.context() as patch:
        patch.setattr(VectorTrainer, "take_in", killed)
        assert train(topics, tmp_path / "killed", flag).status != 0
    (tmp_path / "killed" / "checkpoints" / "step-18" / "weights.safetensors").write_bytes(b"cut")
    again = command("train", "--out", str(tmp_path / "killed"), "--resume")
    assert again.status == 0, again.err
    assert "damaged checkpoint" in again.err
    assert "goes on from step 15" in again.err
    assert train(topics, tmp_path / "whole", flag).status == 0
    assert all_but_times(tmp_path / "killed") == all_but_times(tmp_path / "whole")


def test_several_threads_learn_every_stretch_once(topics, tmp_path):
    finished = train(topics, tmp_path / "run", "--runtime.threads=3", "--training.epochs=12")
    assert finished.status == 0, finished.err
    assert "no two trainings are alike" in finished.err
    log = RunFolder(tmp_path / "run").read_log()
    assert log[-1]["words"] == 12 * 15_000
    vectors = opened(tmp_path / "run")
    right = [topic_of(one.word) == "sea" for one in vectors.neighbours("ship", 5)]
    assert sum(right) >= 4


def test_a_resumed_run_refuses_another_text_and_other_settings(topics, tmp_path):
    assert train(topics, tmp_path / "run").status == 0
    again = command("train", "--out", str(tmp_path / "run"), "--resume", "--training.thin=0.1")
    assert again.status == 2
    assert "A resumed run keeps its settings" in again.err
    finished = command("train", "--out", str(tmp_path / "run"), "--resume")
    assert "is finished; nothing to resume" in finished.err


def test_a_budget_becomes_a_number_of_stretches_which_is_said(topics, tmp_path):
    flags = [flag for flag in FLAGS if "epochs" not in flag]
    names = ("--task", "word-vectors", "--corpus", str(topics), "--out", str(tmp_path / "run"))
    finished = command("train", *names, *flags, "--budget", "2s")
    assert finished.status == 0, finished.err
    assert "times through the corpus): at" in finished.err
    steps = RunFolder(tmp_path / "run").settings()["training"]["max_steps"]
    assert 1 <= steps <= learning.MOST_PASSES * 17
    assert RunFolder(tmp_path / "run").read_log()[-1]["step"] == steps
    kept = train(topics, tmp_path / "other", "--budget", "1s")  # epochs were asked for as well
    assert "the budget of 1s does not shorten it" in kept.err


def test_a_small_corpus_is_gone_through_more_often(topics, tmp_path):
    names = ("--task", "word-vectors", "--corpus", str(topics), "--out", str(tmp_path / "run"))
    finished = command("train", *names, "--model.d-model=4", "--runtime.threads=1")
    assert f"{learning.MOST_PASSES} times through the corpus of 16,500 words" in finished.err


def test_another_run_is_gone_on_from_with_its_words(topics, tmp_path):
    assert train(topics, tmp_path / "first").status == 0
    before = opened(tmp_path / "first")
    more = tmp_path / "more.txt"
    more.write_text("apple pear plum unheard\n" * 300, encoding="utf-8")
    finished = train(more, tmp_path / "second", "--init-from", str(tmp_path / "first"))
    assert finished.status == 0, finished.err
    after = opened(tmp_path / "second")
    assert after.words == before.words
    assert np.array_equal(after.vector("violin"), before.vector("violin")), "it does not occur"
    assert not np.array_equal(after.vector("apple"), before.vector("apple"))
    for flags, why in {
        ("--model.type=cbow",): "is a model of its type",
        ("--model.d-model=8",): "keeps its vocabulary",
        ("--model.objective=hierarchical-softmax",): "keeps its vocabulary",
    }.items():
        names = ("--task", "word-vectors", "--corpus", str(more), "--out", str(tmp_path / "third"))
        refused = command("train", *names, "--init-from", str(tmp_path / "first"), *flags)
        assert refused.status == 2
        assert why in refused.err


@pytest.mark.parametrize(
    ("flag", "why"),
    [
        ("--model.type=glove", "glove"),
        ("--preset=tiny", "tiny"),
        ("--model.d-model=0", "must be at least 1"),
        ("--training.thin=2", "must be at most 1"),
        ("--training.last-rate=0.5", "the learning rate falls"),
        ("--training.batch-tokens=100", "unknown key 'batch_tokens' in [training]"),
        ("--budget=soon", "a time with its unit"),
        ("--text.unit=subwords", "subwords"),
        ("--runtime.precision=bf16", "in one precision"),
        ("--runtime.engine=native", "by no engine of models"),
        ("--runtime.engine=torch", "by no engine of models"),
    ],
)
def test_what_makes_no_sense_is_refused(topics, tmp_path, flag, why):
    refused = train(topics, tmp_path / "run", flag)
    assert refused.status == 2
    assert why in refused.err
    assert not (tmp_path / "run").exists()


def test_without_a_compiler_torch_learns_and_that_is_said(topics, tmp_path, monkeypatch):
    why_none = "there is no C compiler"
    for module in (learning, updates):
        monkeypatch.setattr(module, "kernel_library", lambda: why_none)
    finished = train(topics, tmp_path / "run")
    assert finished.status == 0
    said = finished.out + finished.err
    assert f"learns by torch, which is slower than the compiled kernel: {why_none}" in said
