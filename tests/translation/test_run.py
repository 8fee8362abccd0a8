"""Runs over several files with weights and tags, and runs that begin with another run."""

import json
import re
import shutil
import tomllib
from pathlib import Path
from typing import Any

import pytest
import torch
from everyday_run import (
    FLAGS,
    Finished,
    check_stopped_and_resumed,
    command,
    left_behind,
    unfinish,
)
from safetensors.torch import load_file

from headway.core.checkpoint import save_tensors
from headway.core.errors import StoppedError
from headway.core.trainer import Trainer
from headway.demo import generate
from headway.runs import fine_tuning
from headway.translator import Translator

pytestmark = pytest.mark.usefixtures("torch_settings_restored")


def written(path: Path, n_pairs: int, seed: int, ending: str = "") -> Path:
    text = "".join(f"{s}\t{t}{ending}\n" for s, t in generate(n_pairs, seed))
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    return written(tmp_path / "big.tsv", 300, 1), written(tmp_path / "mine.tsv", 60, 2, "!")


def train(run: Path, *arguments: object) -> Finished:
    return command("train", "--out", str(run), *map(str, arguments), *FLAGS)


def tune(run: Path, parent: Path, *arguments: object) -> Finished:
    """What is not given is the parent's, or fitted."""
    flags = (
        "--training.max-steps=6", "--training.checkpoint-every=3", "--training.log-every=2",
        "--training.valid-sentences=10", "--data.valid-size=20", "--runtime.threads=1",
        "--runtime.device=cpu",
    )  # fmt: skip
    more = map(str, arguments)
    return command("train", "--out", str(run), "--init-from", str(parent), *flags, *more)


SHORT = (
    "--training.max-steps=2", "--training.checkpoint-every=2", "--training.valid-sentences=5",
    "--data.valid-size=5",
)  # fmt: skip


def config_of(run: Path) -> dict[str, dict[str, Any]]:
    return tomllib.loads((run / "config.toml").read_text(encoding="utf-8"))


def stopped_at_once(_trainer: object, _stop_asked: object) -> None:
    raise StoppedError("enough is known")


# -- mixing -----------------------------------------------------------------------------------


def test_the_mixture_is_said_stored_and_known_to_the_model(files, tmp_path, monkeypatch):
    monkeypatch.setattr(Trainer, "train", stopped_at_once)
    big, mine = files
    finished = train(tmp_path / "run", "--pairs", f"{big}@0.5", "--pairs", f"{mine}@8:tag=mine")
    for words in ("pairs, each 0.5 times", "pairs, each 8 times, tag <mine>", "from ", "in a pass"):
        assert words in finished.err
    data = config_of(tmp_path / "run")["data"]
    assert data["pairs"] == [f"{big}@0.5", f"{mine}@8:tag=mine"]
    assert data["tags"] == ["mine", ""]
    record = json.loads((tmp_path / "run" / "data.json").read_text(encoding="utf-8"))
    assert [(Path(s["file"]).name, s["weight"], s["tag"]) for s in record["mixture"]] == [
        ("mine.tsv", 8.0, "mine"), ("big.tsv", 0.5, ""),
    ]  # fmt: skip
    assert sum(share["share"] for share in record["mixture"]) == pytest.approx(1, abs=1e-3)


def test_each_target_language_is_scored_in_its_own_way(tmp_path):
    of = {}
    for language, seed in (("zh", 1), ("fr", 2)):
        of[language] = written(tmp_path / f"{language}.tsv", 100, seed, language)
        rows = of[language].read_text(encoding="utf-8")
        of[language].write_text(f"en\t{language}\n{rows}", encoding="utf-8")
    run = tmp_path / "run"
    finished = train(run, "--pairs", f"{of['zh']}:tag=zh", "--pairs", f"{of['fr']}:tag=fr")
    card = (run / "README.md").read_text(encoding="utf-8")
    for language, tokenizer in (("zh", "zh"), ("fr", "13a")):
        assert f"validation ({language}): BLEU" in finished.err
        [row] = [line for line in card.splitlines() if line.startswith(f"| BLEU, {language} ")]
        assert f"tok:{tokenizer}|" in row


def test_a_weighted_run_stopped_and_resumed_equals_never_stopping(files, tmp_path, monkeypatch):
    pairs = ("--pairs", f"{files[0]}@0.7", "--pairs", f"{files[1]}@3:tag=mine")
    flags = ("--training.max-steps=4", "--training.checkpoint-every=2")
    check_stopped_and_resumed(
        lambda run: command("train", "--out", str(run), *pairs, *FLAGS, *flags),
        tmp_path,
        monkeypatch,
        at_update=3,
    )
    assert "each 3 times, tag <mine>" in (tmp_path / "whole" / "README.md").read_text("utf-8")


def test_other_weights_or_tags_on_resume_are_refused(files, tmp_path, monkeypatch):
    monkeypatch.setattr(Trainer, "train", stopped_at_once)
    run, (big, mine) = tmp_path / "run", files
    assert train(run, "--pairs", big, f"{mine}@3").status == 130
    for changed in (f"{mine}@4", f"{mine}@3:tag=mine", mine):
        refused = command("train", "--out", str(run), "--resume", "--pairs", str(big), str(changed))
        assert refused.status == 2
        assert "[data] pairs is" in refused.err
    same = command("train", "--out", str(run), "--resume", "--pairs", str(big), f"{mine}@3")
    assert same.status == 130


def test_a_wrong_specification_is_the_users_to_mend_and_nothing_is_left(files, tmp_path):
    for text, message in (
        (f"{files[0]}@0", "how often a pair is seen"),
        (f"{files[0]}:tga=x", "did you mean 'tag'?"),
        (f"{files[0]}@x", "a weight is a number"),
    ):
        finished = train(tmp_path / "run", "--pairs", text)
        assert finished.status == 2
        assert message in finished.err
        assert not (tmp_path / "run").exists()


def test_a_tag_changes_what_the_model_reads_and_an_unknown_one_is_refused(files, tmp_path):
    run = tmp_path / "run"
    assert train(run, "--pairs", files[0], f"{files[1]}:tag=mine").status == 0
    text = tmp_path / "text.en"
    text.write_text("the cat sleeps\n\n", encoding="utf-8")

    def tokens(*tag: str) -> tuple[list[list[str]], str]:
        finished = command("translate", str(run), str(text), "--json", "--runtime.threads=1", *tag)
        assert finished.status == 0, finished.err
        return [t["source_tokens"] for t in json.loads(finished.out)["translations"]], finished.err

    (plain, blank), said = tokens()
    assert "without a tag; the run knows mine" in said
    (tagged, still_blank), said = tokens("--tag", "mine")
    assert "the tag mine" in said
    assert "".join(tagged) == "<mine>▁" + "".join(plain)
    assert blank == still_blank == []
    refused = command("translate", str(run), str(text), "--tag", "mien")
    assert refused.status == 2
    assert "got 'mien'. Its tags: mine" in refused.err
    names = ("--source", str(text), "--reference", str(text), "--tokenize", "char")
    assert "the tag mine" in command("evaluate", str(run), *names, "--tag", "mine").err
    assert command("evaluate", str(run), *names, "--tag", "mien").status == 2


# -- going on from another run ----------------------------------------------------------------


def test_a_tuned_run_begins_as_its_parent_and_tells_where_it_came_from(
    everyday_run, files, tmp_path
):
    run = tmp_path / "run"
    finished = tune(run, everyday_run, "--pairs", f"{files[1]}:tag=mine")
    assert finished.status == 0, finished.err
    first, *_ = map(json.loads, (run / "metrics.jsonl").read_text("utf-8").splitlines())
    assert (first["step"], first["target_tokens"]) == (0, 0)
    for words in (
        f"begins with {everyday_run}", f"before: BLEU {first['bleu']:.2f}",
        "in validations on the way, BLEU: ",
    ):  # fmt: skip
        assert words in finished.err, words
    parent, own = config_of(everyday_run), config_of(run)
    assert own["text"] == parent["text"]
    assert own["model"] == parent["model"]
    assert own["training"]["learning_rate"] == pytest.approx(
        parent["training"]["learning_rate"] / 3
    )
    assert own["training"]["init_from"] == str(everyday_run)
    assert own["data"]["tags"] == ["", "mine"]
    card = (run / "README.md").read_text(encoding="utf-8")
    record = json.loads((run / "data.json").read_text(encoding="utf-8"))["parent"]
    assert record["run"] == str(everyday_run)
    assert record["sha256"] in card
    assert str(everyday_run) in card
    assert (run / "tokenizer.json").read_bytes() == (everyday_run / "tokenizer.json").read_bytes()


def test_before_the_first_update_the_function_is_the_parents(
    everyday_run, files, tmp_path, monkeypatch
):
    monkeypatch.setattr(Trainer, "train", stopped_at_once)
    assert tune(tmp_path / "run", everyday_run, "--pairs", files[1]).status == 130
    texts = [source for source, _ in generate(5, seed=9)]
    parent, own = (
        Translator.load(run, device="cpu").translate_fully(texts, length_penalty=1.0)
        for run in (everyday_run, tmp_path / "run")
    )
    for one, other in zip(parent, own, strict=True):
        assert one.n_best[0].token_log_probs == other.n_best[0].token_log_probs
    weights = load_file(tmp_path / "run" / "model.safetensors")
    for name, tensor in load_file(everyday_run / "model.safetensors").items():
        assert torch.equal(weights[name], tensor)


def test_a_tuned_run_stopped_and_resumed_equals_never_stopping(
    everyday_run, files, tmp_path, monkeypatch
):
    more = ("--pairs", f"{files[1]}@2", str(files[0]), *SHORT)
    check_stopped_and_resumed(
        lambda run: tune(run, everyday_run, *more), tmp_path, monkeypatch, at_update=1
    )
    shutil.copytree(tmp_path / "whole", tmp_path / "anew")
    shutil.rmtree(tmp_path / "anew" / "checkpoints")
    unfinish(tmp_path / "anew")
    anew = command("train", "--out", str(tmp_path / "anew"), "--resume")
    assert "before: BLEU" in anew.err
    assert left_behind(tmp_path / "anew") == left_behind(tmp_path / "whole")


def test_a_parent_that_changed_since_cannot_be_begun_with_again(
    everyday_run, files, tmp_path, monkeypatch
):
    parent = shutil.copytree(everyday_run, tmp_path / "parent")
    with monkeypatch.context() as patch:
        patch.setattr(fine_tuning, "start_from", stopped_at_once)
        assert tune(tmp_path / "run", parent, "--pairs", files[1]).status == 130
    weights = load_file(parent / "model.safetensors")
    save_tensors({name: 2 * w for name, w in weights.items()}, parent / "model.safetensors")
    refused = command("train", "--out", str(tmp_path / "run"), "--resume")
    assert refused.status == 2
    assert "has changed since" in refused.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--model.d-model", "64"], "[model] d_model is 32"),
        (["--text.vocabulary-size", "800"], "[text] vocabulary_size is"),
        (["--preset", "tiny"], "has its sizes as well; got --preset tiny"),
    ],
)
def test_what_contradicts_the_parent_is_refused_and_nothing_is_left(
    everyday_run, files, tmp_path, arguments, message
):
    finished = tune(tmp_path / "run", everyday_run, "--pairs", files[1], *arguments)
    assert finished.status == 2
    assert message in finished.err
    assert not (tmp_path / "run").exists()


def test_an_unfinished_parent_is_refused(everyday_run, files, tmp_path):
    parent = shutil.copytree(everyday_run, tmp_path / "parent")
    unfinish(parent)
    finished = tune(tmp_path / "run", parent, "--pairs", files[1])
    assert finished.status == 2
    assert "only a finished run can be gone on from" in finished.err
    assert "does not exist" in tune(tmp_path / "run", tmp_path / "none", "--pairs", files[1]).err


# -- what broke once ----------------------------------------------------------------------------

NO_MODEL = [flag for flag in FLAGS if not flag.startswith(("--model.", "--training.check"))]


def test_without_a_budget_nothing_is_measured(files, tmp_path, monkeypatch):
    updates: list[int] = []
    monkeypatch.setattr(Trainer, "train_step", lambda *_: updates.append(1))
    monkeypatch.setattr(Trainer, "train", stopped_at_once)
    run = tmp_path / "run"
    command("train", "--out", str(run), "--pairs", str(files[0]), "--preset", "tiny", *NO_MODEL)
    assert not updates
    training = config_of(run)["training"]
    assert (training["max_steps"], training["checkpoint_every"]) == (12, 3)


def test_a_size_that_only_the_fitted_preset_allows_is_taken(files, tmp_path, monkeypatch):
    monkeypatch.setattr(Trainer, "train", stopped_at_once)
    run = tmp_path / "run"
    flags = ("--model.d-model=100", "--training.checkpoint-every=4")
    finished = command("train", "--out", str(run), "--pairs", str(files[0]), *NO_MODEL, *flags)
    assert finished.status == 130, finished.err
    assert "preset tiny" in finished.err
    model = config_of(run)["model"]
    assert (model["d_model"], model["heads"]) == (100, 4)


@pytest.mark.parametrize("preset", [["--preset", "tiny"], []])
def test_the_vocabulary_is_fitted_whatever_presets_there_are(files, tmp_path, monkeypatch, preset):
    """The paper's 37,000 are never laid below a smaller corpus."""
    monkeypatch.setattr(Trainer, "train", stopped_at_once)
    flags = [flag for flag in NO_MODEL if not flag.startswith("--text.")]
    run = tmp_path / "run"
    finished = command("train", "--out", str(run), "--pairs", str(files[0]), *preset, *flags)
    assert "vocabulary of 1,000 sub-words, fitted to" in finished.err
    assert config_of(run)["text"]["vocabulary_size"] <= 1000
    assert config_of(run)["decoding"]["length_penalty"] == 4.0


def test_a_misspelt_preset_gets_a_suggestion(files, tmp_path):
    finished = command("train", "--out", str(tmp_path), "--pairs", str(files[0]), "--preset", "tny")
    assert finished.status == 2
    assert "got 'tny'. Did you mean 'tiny'?" in finished.err


def test_a_run_whose_card_was_deleted_is_still_finished(everyday_run, files, tmp_path):
    run = shutil.copytree(everyday_run, tmp_path / "run")
    (run / "README.md").unlink()
    assert Translator.load(run).translate(["a dog"])
    assert "is finished" in command("train", "--out", str(run), "--resume").err
    assert tune(tmp_path / "child", run, "--pairs", files[1], *SHORT).status == 0


def test_frozen_parts_stay_and_reinitialized_ones_are_drawn_anew(everyday_run, files, tmp_path):
    run = tmp_path / "run"
    parts = ("--freeze", "encoder", "--reinit", "decoder", "--training.average=1")
    finished = tune(run, everyday_run, "--pairs", files[1], *parts)
    assert finished.status == 0, finished.err
    stays, changes = re.search(
        r"stay as they are \((.*)\); these change: (.*)", finished.err
    ).groups()
    assert stays == "encoder; not source_embedding, encoder_norm: name them as well"
    assert "output_weight = target_embedding = source_embedding" in changes
    assert {"encoder_norm", "decoder"} <= set(changes.split())
    assert re.search(r"[\d,]+ taken \(.*\); [\d,]+ drawn anew \(decoder\)", finished.err)
    assert config_of(run)["training"]["freeze"] == ["encoder"]
    parent = load_file(everyday_run / "model.safetensors")
    own = load_file(run / "checkpoints" / "step-6" / "weights.safetensors")
    for name, tensor in parent.items():
        assert torch.equal(own[name], tensor) == name.startswith("encoder."), name
    refused = tune(tmp_path / "other", everyday_run, "--pairs", files[1], "--freeze", "encodre")
    assert refused.status == 2
    assert "Did you mean 'encoder'?" in refused.err
    assert not (tmp_path / "other").exists()


def test_the_papers_schedule_has_no_free_rate(files, tmp_path):
    flags = (*FLAGS, "--training.schedule=paper")
    finished = command("train", "--out", str(tmp_path / "run"), "--pairs", str(files[0]), *flags)
    assert finished.status == 2
    assert "the schedule 'paper' has no free rate" in finished.err
