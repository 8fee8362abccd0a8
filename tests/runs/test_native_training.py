"""A training by the compiled engine is torch's: the same updates, stopped, divided or halved."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import small_pairs
import torch
from random_models import needs_engine
from regression import Listener, everything, never, stop_after
from torch import Tensor

from headway.core.errors import ConfigError
from headway.core.run_folder import RunFolder
from headway.core.runtime import Runtime
from headway.core.trainer import Trainer
from headway.corpora.prepared import Prepared
from headway.engine.training import NativeStep
from headway.runs import gradient, on_gpu
from headway.runs.settings import Settings
from headway.runs.task_spec import Run
from headway.translation.corpus_task import CorpusTask
from headway.translation.pairs import Pairs
from headway.translation.spec import SPEC

pytestmark = [needs_engine, pytest.mark.usefixtures("torch_settings_restored")]

CPU = torch.device("cpu")
SIZES = {"encoder_layers": 2, "decoder_layers": 2, "d_model": 24, "d_ff": 32, "heads": 4}
TRAINING = {
    "max_steps": 12, "checkpoint_every": 3, "log_every": 2, "warmup_steps": 4, "patience": 0,
    "learning_rate": 0.003, "batch_tokens": 200, "average": 2, "valid_sentences": 2,
    "dropout_warmup": 8,
}  # fmt: skip


@pytest.fixture(scope="module")
def prepared() -> Prepared:
    return small_pairs.prepared()


def trainer_in(
    path: Path,
    prepared: Prepared,
    engine: str = "native",
    *,
    dtype: torch.dtype = torch.float32,
    threads: int = 1,
    training: dict[str, Any] | None = None,
    **model: Any,
) -> Trainer[CorpusTask]:
    """As `headway train` makes one."""
    path.mkdir(exist_ok=True)
    sections: Any = {
        "data": {"source": ["a"], "target": ["b"]},
        "model": {**SIZES, "dropout": 0.0, **model},
        "training": {**TRAINING, **(training or {})},
        "runtime": {"engine": engine},
    }
    settings, runtime = Settings.of(sections, SPEC), Runtime(CPU, dtype, threads, "a CPU")
    run = Run(SPEC, RunFolder(path), settings, Pairs(prepared), runtime, print)
    return gradient.build_trainer(run, Listener())


def weights(trainer: Trainer[CorpusTask]) -> dict[str, Tensor]:
    return {name: one.clone() for name, one in trainer.optimizer.weights().items()}


def updates(trainer: Trainer[CorpusTask], n: int) -> list[float]:
    """Losses in nats per target token."""
    return [
        float(trainer.train_step()) / trainer.progress.sums["units"] * (step + 1)
        for step in range(n)
    ]


def assert_near(one: dict[str, Tensor], other: dict[str, Tensor], *, within: float) -> None:
    assert one.keys() == other.keys()
    for name, weight in one.items():
        if "to_key.bias" not in name:  # no gradient but rounding: softmax does not see it
            torch.testing.assert_close(other[name], weight, rtol=0, atol=within, msg=name)


# -- the same updates -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"norm": "pre", "positions": "learned", "tied": False, "output_bias": True, "heads": 2},
    ],
)
def test_a_hundred_updates_are_torchs_within_rounding(tmp_path, prepared, options):
    ours, theirs = (
        trainer_in(tmp_path / engine, prepared, engine, **options) for engine in ("native", "torch")
    )
    losses, expected = updates(ours, 100), updates(theirs, 100)
    assert losses == pytest.approx(expected, rel=1e-3)
    assert expected[-1] < expected[0] - 0.5
    assert_near(weights(theirs), weights(ours), within=2e-3)


def test_in_bfloat16_the_model_is_float32_and_learns_the_same(tmp_path, prepared):
    if trainer_in(tmp_path / "auto", prepared, "auto", dtype=torch.bfloat16).optimizer.n_rounded:
        pytest.skip("no instructions for bfloat16 here")
    ours = trainer_in(tmp_path / "native", prepared, dtype=torch.bfloat16)
    theirs = trainer_in(tmp_path / "torch", prepared, "torch")
    losses, expected = updates(ours, 30), updates(theirs, 30)
    assert {one.dtype for one in ours.model.parameters()} == {torch.float32}
    assert losses[0] == pytest.approx(expected[0], rel=5e-3)
    assert losses != expected
    assert np.mean(losses[-10:]) == pytest.approx(np.mean(expected[-10:]), rel=0.02)


def test_dropout_is_the_engines_and_grows_as_torchs_does(tmp_path, prepared):
    """The first update is before any dropout; with all of it the training loss is higher."""
    ours, none = (
        trainer_in(tmp_path / str(dropout), prepared, dropout=dropout) for dropout in (0.4, 0.0)
    )
    losses, without = updates(ours, 40), updates(none, 40)
    assert losses[0] == without[0]
    assert np.mean(losses[-10:]) > np.mean(without[-10:]) + 0.02


# -- stopped, divided, halved -----------------------------------------------------------------


@pytest.mark.parametrize("threads", [1, 2])
def test_stopped_and_resumed_equals_never_stopped(tmp_path, prepared, threads):
    how: dict[str, Any] = {"dropout": 0.3, "threads": threads}
    trainer_in(tmp_path / "whole", prepared, **how).train(never)
    stopped = trainer_in(tmp_path / "stopped", prepared, **how)
    stopped.train(stop_after(5, stopped))
    again = trainer_in(tmp_path / "stopped", prepared, **how)
    torch.rand(3)
    assert again.resume()
    again.train(never)
    assert everything(tmp_path / "stopped") == everything(tmp_path / "whole")


def test_accumulated_batches_are_one_update(tmp_path, prepared):
    """Each of the two has half of the tokens; which pairs they hold is the stream's matter."""
    ours, theirs = (
        trainer_in(tmp_path / engine, prepared, engine, training={"accumulate": 2})
        for engine in ("native", "torch")
    )
    assert updates(ours, 20) == pytest.approx(updates(theirs, 20), rel=1e-3)
    assert_near(weights(theirs), weights(ours), within=1e-3)


def test_where_memory_is_short_a_batch_is_halved_and_the_update_is_the_same(
    tmp_path, prepared, monkeypatch
):
    whole = trainer_in(tmp_path / "whole", prepared)
    whole.train(never)
    loss, seen = NativeStep.loss, list[int]()

    def short(step: NativeStep, sources: Sequence[Any], *how: Any) -> Tensor:
        if len(sources) > 6:
            raise MemoryError("9 GB")
        seen.append(len(sources))
        return loss(step, sources, *how)

    monkeypatch.setattr(NativeStep, "loss", short)
    halved = trainer_in(tmp_path / "halved", prepared)
    halved.train(never)
    assert halved.progress.parts > 1
    assert seen
    assert halved.progress.counts == whole.progress.counts
    assert_near(weights(whole), weights(halved), within=1e-3)


# -- what is torch's --------------------------------------------------------------------------

LEFT = {
    "rotary": ({"positions": "rotary"}, {}, "its positions are rotary"),
    "packed": ({}, {"pack_length": 64}, "its batches have a loss of their own"),
    "frozen": ({}, {"freeze": ("encoder",)}, "not all weights learn alike"),
    "slower": ({}, {"layer_decay": 0.9}, "not all weights learn alike"),
    "compiled": ({}, {"compile": True}, "torch compiles its layers"),
}


@pytest.mark.parametrize("name", LEFT)
def test_what_the_engine_cannot_do_is_torchs_or_refused(tmp_path, prepared, name, monkeypatch):
    monkeypatch.setattr(on_gpu, "speed_up", lambda *how: None)  # in a minute
    options, changes, reason = LEFT[name]
    left = trainer_in(tmp_path, prepared, "auto", training=changes, **options)
    assert "loss" not in vars(left.task)
    assert vars(left.task)["computed_by"] == f"torch ({reason})"
    with pytest.raises(ConfigError, match=f"engine native is for what it can do; {reason}"):
        trainer_in(tmp_path, prepared, "native", training=changes, **options)


@pytest.mark.parametrize("part", ["loss", "cross_entropy", "tensors"])
def test_a_task_that_makes_its_own_losses_is_torchs(tmp_path, prepared, part, monkeypatch):
    whole = getattr(CorpusTask, part)

    def own(*given: Any) -> Any:
        return whole(*given)

    monkeypatch.setattr(CorpusTask, part, own)
    left = trainer_in(tmp_path, prepared, "auto")
    assert "a loss of their own" in vars(left.task)["computed_by"]


def test_a_hook_sees_what_it_asks_for_and_the_updates_are_the_same(tmp_path, prepared):
    """From the moment it is there to the moment it goes, torch computes."""
    plain, watched = (trainer_in(tmp_path / name, prepared) for name in ("plain", "watched"))
    seen: list[torch.Size] = []
    losses, same = updates(plain, 9), updates(watched, 3)
    layers: Any = watched.model.encoder
    hook = layers[1].register_forward_hook(lambda *given: seen.append(given[2].shape))
    same += updates(watched, 3)
    assert len(seen) == 3
    hook.remove()
    updates(watched, 3)
    assert len(seen) == 3
    assert same[:3] == losses[:3]
    assert_near(weights(plain), weights(watched), within=1e-3)
