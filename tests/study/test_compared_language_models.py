"""Language models in a comparison, and runs of a task that takes no part in it."""

import json
import math
from collections.abc import Iterator
from pathlib import Path

import pytest
from everyday_run import command
from text_run import write_corpus

from headway import tasks
from headway.language_models.texts import ReadingReport, held_out_rows
from headway.language_models.trained import TrainedLanguageModel
from headway.study.compared_language_models import (
    beginning_and_end,
    held_out_lines,
    validation_lines,
)

pytestmark = pytest.mark.usefixtures("torch_settings_restored")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_corpus(tmp_path_factory.mktemp("text") / "train.txt")


@pytest.fixture(scope="module")
def counted(corpus, tmp_path_factory):
    """Models that count: two of words, one of characters."""
    folder, runs = tmp_path_factory.mktemp("runs"), {}
    for name, unit, order in (
        ("two", "words", 2),
        ("three", "words", 3),
        ("letters", "characters", 4),
    ):
        flags = (f"--text.unit={unit}", "--text.min-count=1", f"--model.order={order}")
        names = ("--task", "language-model", "--corpus", str(corpus), "--model.type=ngram")
        done = command("train", *names, *flags, "--out", str(folder / name))
        assert done.status == 0, done.err
        runs[name] = str(folder / name)
    return runs


@pytest.fixture(scope="module")
def known_text(corpus, tmp_path_factory):
    """Words that all models know."""
    path = tmp_path_factory.mktemp("test") / "test.txt"
    path.write_text("\n".join(corpus.read_text(encoding="utf-8").splitlines()[:15]) + "\n")
    return path


def compared(*arguments):
    done = command("compare", *arguments, "--json")
    assert done.status == 0, done.err
    return json.loads(done.out)


def test_the_figures_are_those_of_evaluate(counted, known_text):
    found = compared(counted["two"], counted["three"], "--corpus", str(known_text))
    for run in found["runs"]:
        scores = TrainedLanguageModel.load(counted[run["name"]]).evaluate([known_text]).scores
        for name, value in (
            ("bits per character", scores.bits_per_character),
            ("perplexity per word", scores.per_word),
            ("perplexity per token", scores.per_token),
        ):
            assert run["figures"][name]["value"] == pytest.approx(value)
    assert [ranking["places"][0]["run"] for ranking in found["rankings"]] == ["three"] * 3


def test_per_word_there_is_nothing_where_white_space_parts_no_words(counted, tmp_path):
    path = tmp_path / "test.txt"
    path.write_text("天街七襄转，阁道二神过。袨服锵环珮，香筵拂绮罗。\n" * 3, encoding="utf-8")
    found = compared(counted["two"], counted["letters"], "--corpus", str(path))
    for run in found["runs"]:
        assert list(run["figures"]) == ["bits per character", "perplexity per token"]


def test_over_other_units_bits_per_character_are_ranked_and_perplexity_per_token_is_not(
    counted, known_text
):
    found = compared(counted["three"], counted["letters"], "--corpus", str(known_text))
    refused = {ranking["by"]: ranking["refused"] for ranking in found["rankings"]}
    assert refused["bits per character"] == refused["perplexity per word"] == []
    assert refused["perplexity per token"][0].startswith("the vocabulary differs")
    by_name = {run["name"]: run["figures"] for run in found["runs"]}
    for figures in by_name.values():  # per word and per character: the same cost, by hand
        lines = known_text.read_text(encoding="utf-8").splitlines()
        lines = [line for i, line in enumerate(lines) if line or i < len(lines) - 1]
        n_words = sum(len(line.split()) + 1 for line in lines)
        n_characters = sum(len(line) + 1 for line in lines)
        bits = figures["bits per character"]["value"] * n_characters
        assert math.log2(figures["perplexity per word"]["value"]) * n_words == pytest.approx(bits)


def test_unknown_words_forbid_a_ranking_between_vocabularies(counted, tmp_path):
    text = tmp_path / "test.txt"
    text.write_text("a zebra sleeps .\nthe teachers are here .\n", encoding="utf-8")
    found = compared(counted["three"], counted["letters"], "--corpus", str(text))
    reasons = {ranking["by"]: ranking["refused"] for ranking in found["rankings"]}
    assert any("unknown words differs" in why for why in reasons["bits per character"])


def test_models_that_were_validated_on_nothing_ask_for_a_text(counted):
    found = compared(counted["two"], counted["three"])
    assert found["rankings"] == []
    assert any("validated on nothing" in note for note in found["notes"])


def test_a_translator_and_a_language_model_are_not_compared(counted, everyday_run):
    done = command("compare", str(everyday_run), counted["two"])
    assert done.status == 2
    assert "runs of one task are compared" in done.err


def test_the_lines_held_out_are_those_that_training_held_out(corpus, tmp_path):
    names = ("--task", "language-model", "--corpus", str(corpus), "--model.type=nnlm")
    sizes = ("--model.order=2", "--model.d-model=8", "--model.d-hidden=8", "--text.unit=words")
    steps = ("--training.max-steps=2", "--training.checkpoint-every=2", "--training.window=8")
    run = tmp_path / "run"
    done = command("train", *names, *sizes, *steps, "--runtime.threads=1", "--out", str(run))
    assert done.status == 0, done.err
    lines = validation_lines(run, TrainedLanguageModel.load(run), say=print)
    kept = json.loads((run / "data.json").read_text(encoding="utf-8"))["valid"]["kept"]
    assert len(lines) == kept
    assert f"{sum(len(line.split()) + 1 for line in lines):,} words" in done.err or set(
        lines
    ) <= set(corpus.read_text(encoding="utf-8").splitlines())


def test_no_more_lines_are_held_than_are_held_out(tmp_path, monkeypatch):
    path = tmp_path / "corpus.txt"
    path.write_text("".join(f"line {row}\n" for row in range(1000)), encoding="utf-8")
    alive = most = 0

    class Line(str):
        def __del__(self) -> None:
            nonlocal alive
            alive -= 1

    class Counted(ReadingReport):
        def lines(self) -> Iterator[str]:
            nonlocal alive, most
            for text in super().lines():
                alive += 1
                most = max(most, alive)
                yield Line(text)

    monkeypatch.setattr("headway.study.compared_language_models.ReadingReport", Counted)
    lines = held_out_lines([path], print)
    rows = sorted(held_out_rows(1000))
    assert lines == [f"line {row}" for row in rows]
    assert alive == len(rows) == 50
    assert most <= len(rows) + 2  # one at hand, and the next


def test_a_line_is_gone_on_with_from_its_first_words():
    assert beginning_and_end("a b c d") == ("a b", "c d")
    assert beginning_and_end("他们不在花园里。") == ("他们不在", "花园里。")
    assert beginning_and_end(" ".join("abcdefghijklmnopqrst")) == (
        "a b c d e f",
        " ".join("ghijklmnopqrst"),
    )


def test_a_task_without_a_line_of_its_own_is_compared_by_what_trainings_log(
    corpus, tmp_path, monkeypatch
):
    monkeypatch.setitem(tasks.TASKS, "letters", "letters")
    steps = ("--training.max-steps=4", "--training.checkpoint-every=2", "--runtime.threads=1")
    runs = [str(tmp_path / name) for name in ("one", "two")]
    for seed, run in enumerate(runs, 1):
        done = command(
            *("train", "--task", "letters", "--data.corpus", str(corpus), "--out", run),
            *(*steps, f"--runtime.seed={seed}", "--runtime.device=cpu"),
        )
        assert done.status == 0, done.err
    found = compared(*runs)
    assert found["rankings"] == []
    assert [run["updates"] for run in found["runs"]] == [4, 4]
    assert all(len(run["curves"]["log_prob"]) == 2 for run in found["runs"])
    page = tmp_path / "page.html"
    done = command("compare", *runs, "--page", str(page))
    assert done.status == 0, done.err
    assert "log prob over updates" in page.read_text(encoding="utf-8")
