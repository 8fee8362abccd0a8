"""Budgets of minutes: where a translator begins, its batches, and that it goes on from there."""

from typing import Any

import pytest
import torch
from everyday_run import FLAGS, command

from headway.core.run_folder import RunFolder
from headway.core.trainer import Trainer
from headway.core.training_interfaces import Progress
from headway.models import PRESETS
from headway.runs import fitting


def test_a_run_begins_there_and_before_its_first_checkpoint_goes_on_from_there(
    everyday_files, tmp_path, monkeypatch
):
    first: list[dict[str, Any]] = []

    def stopped_at_once(self: Trainer[Any], _: Any) -> Progress:
        first.append({name: one.clone() for name, one in self.optimizer.weights().items()})
        return self.progress

    monkeypatch.setattr(Trainer, "train", stopped_at_once)
    names = ["--source", str(everyday_files[0]), "--target", str(everyday_files[1]), *FLAGS]
    for run, more in (("usual", ()), ("begun", ("--init-embedding=pairs",))):
        assert command("train", *names, "--out", str(tmp_path / run), *more).status == 130
    assert command("train", "--out", str(tmp_path / "begun"), "--resume").status == 130
    usual, begun_there, again = first
    changed = {name for name, one in usual.items() if not torch.equal(one, begun_there[name])}
    assert "output_weight" in changed
    assert len(changed) < len(usual) / 2, "all else is as it was drawn"
    assert all(torch.equal(one, again[name]) for name, one in begun_there.items())


def test_a_short_budget_begins_there_with_smaller_batches_unless_it_is_told_not_to(
    everyday_files, tmp_path, monkeypatch
):
    monkeypatch.setattr(Trainer, "train", lambda self, _: self.progress)
    monkeypatch.setattr(fitting, "timed_updates", lambda *_: (1000.0, 0.1))
    monkeypatch.setattr(fitting, "seconds_of", lambda work: 0.0)
    names = ["--source", str(everyday_files[0]), "--target", str(everyday_files[1])]
    sizes = [flag for flag in FLAGS if flag.startswith("--model.")]
    found = {}
    for run, more in {
        "short": ("--budget=2m",),
        "told": ("--budget=2m", "--init-embedding=", "--training.batch-tokens=600"),
        "named": ("--budget=2m", "--preset=tiny"),
        "long": ("--budget=2h",),
        "other": ("--budget=2m", "--model.type=ablated"),
        "in parts": ("--budget=2m", "--training.layer-decay=0.9"),
        "accumulated": ("--budget=2m", "--training.accumulate=9"),
    }.items():
        finished = command("train", *names, "--out", str(tmp_path / run), *sizes, *more)
        assert finished.status == 130, finished.err
        found[run] = RunFolder(tmp_path / run).settings()["training"]
    whole = PRESETS["tiny"]["training"]["batch_tokens"]
    steps = {run: of["max_steps"] for run, of in found.items()}
    assert {run: of["batch_tokens"] for run, of in found.items()} == {
        "short": whole // 2, "told": 600, "named": whole, "long": whole,
        "other": whole, "in parts": whole, "accumulated": whole,
    }  # fmt: skip
    began = {run for run, of in found.items() if of["init_embedding"] == "pairs"}
    assert began == {"short"}
    assert steps["short"] == pytest.approx(2 * steps["named"], rel=0.2)
    assert steps["long"] * whole > fitting.FEW


def test_only_pairs_tell_it(tmp_path):
    (tmp_path / "text.en").write_text("the dog sees a cat\n" * 200, encoding="utf-8")
    finished = command(
        "train", "--corpus", str(tmp_path / "text.en"), "--out", str(tmp_path / "run"),
        "--task", "language-model", "--init-embedding", "pairs",
    )  # fmt: skip
    assert finished.status == 2
    assert "is for translators, whose pairs tell" in finished.err
    assert "Give a file of word vectors" in finished.err
