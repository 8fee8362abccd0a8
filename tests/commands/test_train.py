"""`headway train` from end to end, on sentences of our own and a model trained in seconds."""

import json
import os
import random
import re
import shlex
import shutil
import signal
import threading
import time
import tomllib
from contextlib import redirect_stderr
from itertools import pairwise
from pathlib import Path

import pytest
from everyday_run import (
    FLAGS,
    SETTINGS,
    Finished,
    command,
    left_behind,
    train,
    unfinish,
    write_pairs,
)
from several_processes import by_processes

from headway.cli import main
from headway.core.config import format_toml
from headway.core.errors import StoppedError
from headway.core.run_folder import RunFolder
from headway.core.subwords import Subwords
from headway.core.trainer import Trainer
from headway.demo import generate
from headway.language_models.models import PRESETS as LANGUAGE_MODELS
from headway.models import PRESETS
from headway.runs import fitting
from headway.translation.corpus_task import CorpusTask

pytestmark = pytest.mark.usefixtures("torch_settings_restored")


def test_the_help_names_every_preset():
    shown = command("train", "--help").out
    assert [name for name in {**PRESETS, **LANGUAGE_MODELS} if name not in shown] == []


def config_of(run: Path) -> dict[str, dict[str, object]]:
    return tomllib.loads((run / "config.toml").read_text(encoding="utf-8"))


def resume(run: Path, *more: str) -> Finished:
    return command("train", "--out", str(run), "--resume", *more)


# -- what a run leaves behind -----------------------------------------------------------------


def test_the_run_folder_holds_all_that_its_owner_needs(everyday_run):
    assert sorted(path.name for path in everyday_run.iterdir()) == [
        "README.md", "checkpoints", "checks.json", "config.toml", "data.json", "metrics.jsonl",
        "model.safetensors", "tokenizer.json",
    ]  # fmt: skip
    suffixes = {path.suffix for path in everyday_run.rglob("*") if path.is_file()}
    assert suffixes == {".md", ".toml", ".json", ".jsonl", ".safetensors"}  # nothing pickled
    newest = everyday_run / "checkpoints" / "step-12"
    assert sorted(path.name for path in newest.iterdir()) == [
        "resume.safetensors", "state.json", "weights.safetensors",
    ]  # fmt: skip


def test_every_line_of_the_metrics_has_its_units(everyday_run):
    text = (everyday_run / "metrics.jsonl").read_text(encoding="utf-8")
    lines = [json.loads(line) for line in text.splitlines()]
    common = {"step", "time_s", "source_tokens", "target_tokens"}
    training = [line for line in lines if "loss" in line]
    validation = [line for line in lines if "bleu" in line]
    assert len(training) + len(validation) == len(lines)
    of_updates = {"loss", "learning_rate", "gradient_norm"}
    assert all(set(line) == common | of_updates for line in training)
    assert all(set(line) == common | {"valid_loss", "bleu"} for line in validation)
    assert [line["step"] for line in training] == [2, 4, 6, 8, 10, 12]
    assert [line["step"] for line in validation] == [4, 8, 12]
    for name in common:
        values = [line[name] for line in lines]
        assert values == sorted(values)
    assert training[-1]["loss"] < training[0]["loss"]  # twelve updates already teach something


def test_the_settings_in_effect_are_stored(everyday_run, everyday_files):
    stored = config_of(everyday_run)
    for section, values in SETTINGS.items():
        for key, value in values.items():
            if key != "vocabulary_size":
                assert stored[section][key] == value, key
    assert stored["text"]["vocabulary_size"] == len(Subwords.load(everyday_run))
    assert stored["model"]["type"] == "transformer"
    assert stored["data"]["source"] == [str(everyday_files[0].absolute())]
    assert stored["data"]["source_language"] == "en"
    assert stored["data"]["target_language"] == "zh"
    assert stored["training"]["warmup_steps"] > 0


def test_data_and_versions_are_recorded(everyday_run, everyday_files):
    record = json.loads((everyday_run / "data.json").read_text(encoding="utf-8"))
    assert set(record["sha256"]) == {str(file.absolute()) for file in everyday_files}
    assert record["train"]["read"] == 300
    assert record["train"]["dropped"]["held_out"] == 20
    assert record["valid"]["kept"] == 20
    assert {"headway", "torch"} <= set(record["versions"])


def test_the_model_card_names_scores_data_and_the_next_commands(everyday_run):
    card = (everyday_run / "README.md").read_text(encoding="utf-8")
    for word in ("en -> zh", "BLEU", "chrF", "tok:zh", "train.en", "seed 1", "12 updates"):
        assert word in card
    for verb in ("translate", "evaluate"):
        assert f"headway {verb} {everyday_run}" in card


def test_it_says_what_it_read_what_it_chose_and_what_comes_next(everyday_run):
    said = (everyday_run.parent / "said.txt").read_text(encoding="utf-8")
    for words in (
        "runs on CPU", "read 300 pairs", "dropped: 20 held out", "20 pairs for validation",
        "preset tiny:", "target tokens", "parameters, seed 1", "validation loss", "BLEU",
        "the model is", "next:", f"headway translate {everyday_run}",
    ):  # fmt: skip
        assert words in said, words


# -- repeatable -------------------------------------------------------------------------------


def test_another_seed_gives_other_weights(everyday_run, everyday_files, tmp_path):
    assert train(everyday_files, tmp_path / "other", "--seed", "2").status == 0
    assert left_behind(tmp_path / "other")["model"] != left_behind(everyday_run)["model"]


def test_a_settings_file_does_what_flags_do_and_the_same_seed_gives_the_same_weights(
    everyday_run, everyday_files, tmp_path
):
    files = {"source": [everyday_files[0]], "target": [everyday_files[1]]}
    (tmp_path / "run.toml").write_text(
        format_toml({**SETTINGS, "data": {**SETTINGS["data"], **files}}), encoding="utf-8"
    )
    run = tmp_path / "run"
    finished = command("train", "--config", str(tmp_path / "run.toml"), "--out", str(run))
    assert finished.status == 0, finished.err
    assert config_of(run) == config_of(everyday_run)
    assert left_behind(run) == left_behind(everyday_run)


def test_a_flag_goes_on_top_of_the_file(everyday_files, tmp_path, monkeypatch):
    monkeypatch.setattr(Trainer, "train", stopped_at_once)
    (tmp_path / "run.toml").write_text(format_toml(SETTINGS), encoding="utf-8")
    options = ["--config", str(tmp_path / "run.toml"), "--model.heads", "4"]
    names = ["--source", str(everyday_files[0]), "--target", str(everyday_files[1])]
    assert command("train", *names, *options, "--out", str(tmp_path / "run")).status == 130
    assert config_of(tmp_path / "run")["model"]["heads"] == 4
    assert config_of(tmp_path / "run")["model"]["d_model"] == 32


# -- stopped, killed, resumed -----------------------------------------------------------------


def stopped_at_once(_trainer: object, _stop_asked: object) -> None:
    raise StoppedError("enough is known")


def unfinished(everyday_run: Path, run: Path) -> Path:
    """A copy of the run that has its last four updates still to go."""
    shutil.copytree(everyday_run, run)
    unfinish(run)
    shutil.rmtree(run / "checkpoints" / "step-12")
    return run


def test_a_signal_saves_says_how_to_go_on_and_going_on_equals_never_stopping(
    everyday_run, everyday_files, tmp_path, monkeypatch
):
    """Twice: first where a checkpoint is due, then between two."""
    run = tmp_path / "my run"
    next_batch = CorpusTask.next_batch
    calls: list[int] = []
    signals = {4: signal.SIGTERM, 6: signal.SIGINT}

    def interrupted(task: CorpusTask):
        calls.append(1)
        if len(calls) in signals:
            signal.raise_signal(signals[len(calls)])
        return next_batch(task)

    monkeypatch.setattr(CorpusTask, "next_batch", interrupted)
    for step, number in signals.items():
        finished = resume(run) if calls else train(everyday_files, run)
        assert finished.status == 130
        assert f"{number.name}: saving" in finished.err
        assert f"stopped at step {step} of 12, saved" in finished.err
        told = finished.err.partition("Go on with: ")[2]
        assert shlex.split(told) == ["headway", "train", "--out", str(run), "--resume"]
        assert "Traceback" not in finished.err
    assert "goes on from step 4" in finished.err
    again = resume(run)
    assert again.status == 0, again.err
    assert "goes on from step 6" in again.err
    assert left_behind(run) == left_behind(everyday_run)


@pytest.mark.parametrize(
    ("place", "number"),
    [
        ("core.trainer.Trainer.choose", signal.SIGTERM),
        ("runs.train.write_card", signal.SIGINT),
    ],
)
def test_a_signal_behind_the_last_update_says_how_to_go_on_too(
    everyday_run, tmp_path, place, number
):
    before = signal.getsignal(number)

    def interrupted(*_: object) -> None:
        signal.raise_signal(number)

    run = unfinished(everyday_run, tmp_path / "my run")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(f"headway.{place}", interrupted)
        stopped = resume(run)
    assert stopped.status == 130
    assert signal.getsignal(number) == before
    told = stopped.err.partition("interrupted. Go on with: ")[2]
    assert shlex.split(told) == ["headway", "train", "--out", str(run), "--resume"]
    assert resume(run).status == 0
    assert left_behind(run) == left_behind(everyday_run)


def test_a_signal_saves_where_nobody_reads_stderr_any_more(everyday_run, tmp_path, monkeypatch):
    """Ctrl-C under `2>&1 | tee log` ends tee first."""
    run = unfinished(everyday_run, tmp_path / "run")
    next_batch = CorpusTask.next_batch
    calls: list[int] = []
    reader, writer = os.pipe()

    def interrupted(task: CorpusTask):
        calls.append(1)
        if len(calls) == 2:
            os.close(reader)
            signal.raise_signal(signal.SIGINT)
        return next_batch(task)

    with monkeypatch.context() as patch, open(writer, "w", buffering=1) as pipe:
        patch.setattr(CorpusTask, "next_batch", interrupted)
        with redirect_stderr(pipe):
            assert main(["train", "--out", str(run), "--resume"]) == 130
    again = resume(run)
    assert again.status == 0, again.err
    assert "goes on from step 10" in again.err
    assert left_behind(run) == left_behind(everyday_run)


def test_killed_in_earnest_and_resumed_equals_never_stopping(
    everyday_run, everyday_files, tmp_path
):
    """A process of its own, ended by kill -9 wherever it is by then."""
    run = tmp_path / "run"

    def kill() -> None:
        while not list((run / "checkpoints").glob("step-*")):
            time.sleep(0.01)  # until there is one
        time.sleep(random.Random(1).random() / 10)
        os.kill(os.getpid(), signal.SIGKILL)

    def work(_: int) -> int:
        del os.environ["RANK"], os.environ["WORLD_SIZE"]  # it is alone
        threading.Thread(target=kill).start()
        return train(everyday_files, run).status

    assert by_processes(1, work) == [None]
    again = resume(run)
    assert again.status == 0, again.err
    assert left_behind(run) == left_behind(everyday_run)


def test_a_finished_run_has_nothing_to_resume(everyday_run):
    before = left_behind(everyday_run)
    finished = resume(everyday_run)
    assert finished.status == 0
    assert "is finished; nothing to resume" in finished.err
    assert left_behind(everyday_run) == before


def test_a_run_without_a_checkpoint_starts_at_step_0(everyday_run, tmp_path):
    run = tmp_path / "run"
    run.mkdir()
    for name in ("config.toml", "tokenizer.json", "data.json"):
        shutil.copy(everyday_run / name, run / name)
    finished = resume(run)
    assert finished.status == 0, finished.err
    assert "no checkpoint yet: starts at step 0" in finished.err
    assert left_behind(run) == left_behind(everyday_run)


def test_shifted_lines_are_warned_of(tmp_path: Path) -> None:
    lengths = [5 + i * 37 % 90 for i in range(600)]
    texts = [("x" * n + f" {i}", "y" * n + f" {i}") for i, n in enumerate(lengths)]
    shifted = [(source, target) for (source, _), (_, target) in pairwise(texts)]
    files = write_pairs(tmp_path, "train", shifted)
    said = train(files, tmp_path / "run", "--training.max-steps=1")
    assert said.status == 0, said.err
    assert "WARNING: from about" in said.err
    assert "belong to the source 1 line(s) after" in said.err


def test_where_there_is_nothing_to_go_on_with_that_is_said(tmp_path: Path) -> None:
    said = train(
        write_pairs(tmp_path, "train", generate(60, seed=1)),
        tmp_path / "run",
        "--training.max-steps=1",
        "--resume",
    )
    assert said.status == 0, said.err
    assert f"there is no run in {tmp_path / 'run'} to go on with: one begins" in said.err


def test_sides_that_were_exchanged_are_warned_of(tmp_path: Path) -> None:
    pairs = [(chinese, english) for english, chinese in generate(60, seed=1)]
    files = write_pairs(tmp_path, "train", pairs)
    said = train(files, tmp_path / "run", "--training.max-steps=1")
    assert said.status == 0, said.err
    for side, code, other in (("sources", "en", "zh"), ("targets", "zh", "en")):
        told = f"WARNING: {side} should be in {code}, but .* that tell seem to be in {other}\\."
        assert re.search(f"{told} Were the two sides exchanged\\?", said.err)


def test_the_newest_checkpoint_damaged_is_said_and_the_one_before_gives_the_same(
    everyday_run, tmp_path
):
    run = unfinished(everyday_run, tmp_path / "run")
    shutil.copytree(everyday_run / "checkpoints" / "step-12", run / "checkpoints" / "step-12")
    weights = run / "checkpoints" / "step-12" / "weights.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1] + b"?")
    finished = resume(run)
    assert finished.status == 0, finished.err
    assert "damaged checkpoint" in finished.err
    assert "goes on from step 8" in finished.err
    assert left_behind(run) == left_behind(everyday_run)


def test_a_run_goes_on_without_a_data_json_that_was_damaged(everyday_run, tmp_path):
    run = unfinished(everyday_run, tmp_path / "run")
    (run / "data.json").write_text("{}", encoding="utf-8")
    assert "data.json: Take it from a copy of the run." in command("check", str(run)).out
    refused = resume(run)
    assert refused.status == 2
    assert "data.json is not as headway wrote it" in refused.err
    (run / "data.json").unlink()
    finished = resume(run)
    assert finished.status == 0, finished.err
    assert "whether the files are still the same cannot be checked" in finished.err
    assert left_behind(run) == left_behind(everyday_run)
    assert "data.json: not there" in command("check", str(run)).out


def test_a_folder_that_holds_a_run_is_refused_without_resume(everyday_run, everyday_files):
    before = left_behind(everyday_run)
    finished = train(everyday_files, everyday_run)
    assert finished.status == 2
    assert "already holds a run" in finished.err
    assert "--resume" in finished.err
    assert left_behind(everyday_run) == before


def test_other_settings_on_resume_are_refused(everyday_run, tmp_path):
    run = unfinished(everyday_run, tmp_path / "run")
    finished = resume(run, "--model.heads", "4")
    assert finished.status == 2
    assert "[model] heads is 2, got 4" in finished.err
    assert "start a new run" in finished.err
    assert resume(run, "--seed", "9").status == 2


def test_changed_data_on_resume_is_refused(everyday_files, tmp_path, monkeypatch):
    files = tuple(Path(shutil.copy(file, tmp_path)) for file in everyday_files)
    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "train", stopped_at_once)
        assert train(files, tmp_path / "run").status == 130
    files[0].write_text(
        files[0].read_text(encoding="utf-8").replace("the", "a", 1), encoding="utf-8"
    )
    finished = resume(tmp_path / "run")
    assert finished.status == 2
    assert "train.en has changed since" in finished.err


def test_the_tokenizer_of_the_run_is_used_again(everyday_run, tmp_path, monkeypatch):
    def learn(*_: object, **__: object) -> None:
        raise AssertionError("the run has its sub-words already")

    run = unfinished(everyday_run, tmp_path / "run")
    monkeypatch.setattr(Subwords, "train", learn)
    assert resume(run).status == 0
    assert Subwords.load(run).fingerprint() == Subwords.load(everyday_run).fingerprint()


# -- choices ----------------------------------------------------------------------------------


def test_validation_files_are_used_and_what_they_hold_is_not_trained_on(
    everyday_files, tmp_path, monkeypatch
):
    monkeypatch.setattr(Trainer, "train", stopped_at_once)
    pairs = generate(300, seed=1)[:7] + generate(60, seed=5)[:18]
    source, target = write_pairs(tmp_path, "valid", pairs)
    finished = train(
        everyday_files, tmp_path / "run",
        "--valid-source", str(source), "--valid-target", str(target),
    )  # fmt: skip
    assert "25 pairs for validation" in finished.err
    record = json.loads((tmp_path / "run" / "data.json").read_text(encoding="utf-8"))
    assert record["train"]["dropped"]["leakage"] >= 7
    assert "held_out" not in record["train"]["dropped"]
    assert str(source) in record["sha256"]


def test_validation_pairs_that_are_all_dropped_are_told_with_the_reason(everyday_files, tmp_path):
    source, target = write_pairs(tmp_path, "valid", [("I love cats.", " "), ("A dog.", "")])
    finished = train(
        everyday_files, tmp_path / "run",
        "--valid-source", str(source), "--valid-target", str(target),
    )  # fmt: skip
    assert finished.status == 2
    assert "none was left (dropped: 2 blank side)" in finished.err
    assert "whose pairs are kept" in finished.err


def without(*prefixes: str) -> list[str]:
    return [flag for flag in FLAGS if not flag.startswith(prefixes)]


def test_a_budget_becomes_a_number_of_steps_once(everyday_files, tmp_path, monkeypatch):
    monkeypatch.setattr(Trainer, "train", stopped_at_once)
    names = ["--source", str(everyday_files[0]), "--target", str(everyday_files[1])]
    flags = without("--training.max-steps", "--training.checkpoint-every")
    run = tmp_path / "run"
    finished = command("train", *names, "--out", str(run), *flags, "--budget", "20h")
    assert finished.status == 130, finished.err
    assert "updates of" in finished.err
    assert "as measured" in finished.err
    stored = config_of(run)["training"]
    assert stored["budget"] == "20h"
    assert stored["max_steps"] > stored["checkpoint_every"] > 0
    assert 1 <= stored["warmup_steps"] <= 4000
    assert resume(run).status == 130  # nothing is measured again
    assert config_of(run)["training"] == stored


def test_the_number_of_updates_of_a_preset_gives_way_to_a_budget(
    everyday_files, tmp_path, monkeypatch
):
    monkeypatch.setattr(Trainer, "train", stopped_at_once)
    monkeypatch.setattr(fitting, "timed_updates", lambda *_: (100.0, 0.5))
    names = ["--source", str(everyday_files[0]), "--target", str(everyday_files[1])]
    open_ = ("max-steps", "checkpoint-every", "learning-rate")
    flags = without(*(f"--training.{name}" for name in open_))
    run = tmp_path / "run"
    asked = ("--preset=paper-base", "--budget=1h")
    finished = command("train", *names, "--out", str(run), *flags, *asked)
    assert finished.status == 130, finished.err
    stored = config_of(run)["training"]
    assert stored["max_steps"] == pytest.approx(2 * 0.97 * stored["within_s"], rel=0.2)


def test_without_a_budget_the_corpus_says_how_long(everyday_files, tmp_path, monkeypatch):
    monkeypatch.setattr(Trainer, "train", stopped_at_once)
    names = ["--source", str(everyday_files[0]), "--target", str(everyday_files[1])]
    flags = without("--training.max-steps", "--training.checkpoint-every")
    finished = command("train", *names, "--out", str(tmp_path / "run"), *flags)
    assert finished.status == 130, finished.err
    assert "100 times through the corpus" in finished.err
    assert config_of(tmp_path / "run")["training"]["max_steps"] > 100


def test_a_budget_that_preparation_has_spent_ends_in_a_model_and_a_warning(
    everyday_files, tmp_path
):
    names = ["--source", str(everyday_files[0]), "--target", str(everyday_files[1])]
    flags = without("--training.max-steps", "--training.checkpoint-every")
    run = tmp_path / "run"
    finished = command("train", *names, "--out", str(run), *flags, "--budget", ".01s")
    assert finished.status == 0, finished.err
    assert "WARNING: 0 s of .01s are left after preparation" in finished.err
    assert "longer --budget" in finished.err
    assert RunFolder(run).finished
    plans = re.findall(r"^(?:plan: )?([\d,]+) updates ", finished.err, re.MULTILINE)
    assert RunFolder(run).read_log()[-1]["step"] == int(plans[-1].replace(",", "")) > 0


def test_a_budget_that_is_spent_still_has_the_least_that_is_a_model_and_no_more(
    everyday_files, tmp_path, monkeypatch
):
    monkeypatch.setattr(Trainer, "train", stopped_at_once)
    monkeypatch.setattr(fitting, "timed_updates", lambda *_: (100.0, 0.5))
    monkeypatch.setattr(fitting, "seconds_of", lambda work: 0.1)
    names = ["--source", str(everyday_files[0]), "--target", str(everyday_files[1])]
    flags = without("--training.max-steps", "--training.checkpoint-every")
    run = tmp_path / "run"
    finished = command("train", *names, "--out", str(run), *flags, "--budget", ".01s")
    assert finished.status == 130, finished.err
    assert 12 <= config_of(run)["training"]["max_steps"] <= fitting.TIMED_UPDATES


# -- refusals ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--model.head", "4"], "unknown key 'head' in [model]; did you mean 'heads'?"),
        (["--modle.heads", "4"], "did you mean --model."),
        (["--bugdet", "3m"], "did you mean --budget?"),
        (["--budget", "30"], "like 90s, 30m or 1h30m; got '30'"),
        (["--preset", "huge"], "--preset must be one of"),
        (["--model.type", "rnn"], "[model] type must be one of transformer"),
        (["--model.heads", "3"], "Try heads=2"),
        (["--model.dropout", "1.5"], "dropout must be"),
        (["--training.average", "0"], "average must be at least 1"),
    ],
)
def test_wrong_settings_are_the_users_to_mend_and_nothing_is_left(
    everyday_files, tmp_path, flags, message
):
    finished = train(everyday_files, tmp_path / "run", *flags)
    assert finished.status == 2
    assert message in finished.err
    assert "Traceback" not in finished.err
    assert not (tmp_path / "run").exists()


def test_too_few_pairs_are_refused(tmp_path):
    files = write_pairs(tmp_path, "few", generate(10, seed=1))
    finished = train(files, tmp_path / "run")
    assert finished.status == 2
    assert "at least 20 usable pairs" in finished.err


def test_the_same_text_on_both_sides_is_refused(everyday_files, tmp_path):
    finished = train((everyday_files[0], everyday_files[0]), tmp_path / "run")
    assert finished.status == 2
    assert "must differ" in finished.err


def test_a_file_in_the_place_of_the_run_is_refused(everyday_files, tmp_path):
    (tmp_path / "run").write_text("mine", encoding="utf-8")
    finished = train(everyday_files, tmp_path / "run")
    assert finished.status == 2
    assert "must name a folder" in finished.err
