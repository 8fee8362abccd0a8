"""What a training does when something goes wrong: the end is that of an undisturbed one."""

import errno
import json
import math
import os
import shutil
import signal
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from torch import Tensor, nn

from headway.core import checkpoint
from headway.core.disk import DiskError
from headway.core.dropout import Dropout
from headway.core.errors import HeadwayError, RunError, StoppedError
from headway.core.out_of_reach import out_of_memory
from headway.core.run_folder import RunFolder
from headway.core.trainer import Progress, Trainer
from headway.core.training_interfaces import Batch, TaskState, Validation
from headway.operations import recovery
from headway.operations.recovery import upgraded
from headway.operations.time_budget import PlannedTraining
from headway.runs import console
from headway.runs.gradient import trainer_of

SETTINGS = PlannedTraining(
    max_steps=12, checkpoint_every=3, log_every=2, warmup_steps=4, learning_rate=0.05,
    batch_tokens=1, patience=0, average=3,
)  # fmt: skip


class KilledError(BaseException):
    """Stands for kill -9."""


class Fragile:
    """Eight points a batch, made from its number; fails where it is told to."""

    unit, counted = "points", ("points",)

    def __init__(
        self,
        most_rows: int = 8,
        error: Exception | None = None,
        kill_at: int = 0,
        spoil: Callable[[int, int], float] = lambda n, time_: 1.0,
    ) -> None:
        self.n, self.most_rows, self.error, self.kill_at = 0, most_rows, error, kill_at
        self.spoil, self.times = spoil, dict[int, int]()
        self.seen: list[tuple[int, int]] = []
        self.carried = torch.zeros(1)

    def next_batch(self) -> Batch:
        self.n += 1
        if self.n == self.kill_at:
            raise KilledError
        self.times[self.n] = self.times.get(self.n, 0) + 1
        x = torch.sin(torch.arange(16.0).view(8, 2) * self.n)
        return Batch(x, units=8, counts={"points": 8})

    def loss(self, model: nn.Module, batch: Batch) -> Tensor:
        x = batch.rows
        self.carried += x.abs().sum()  # in place: harder to put back
        torch.rand(1)  # as dropout draws before memory is out
        found = (model(x).float() - x.sum(1, keepdim=True)).square().sum()
        if len(x) > self.most_rows and self.n >= 5:
            found.backward()  # and half of the gradients are there
            raise self.error or MemoryError("9 GB")
        self.seen.append((self.n, len(x)))
        return found * self.spoil(self.n, self.times[self.n])

    def split_batch(self, batch: Batch, n: int) -> list[Batch]:
        parts = [rows for rows in batch.rows.tensor_split(n) if len(rows)]
        return [Batch(rows, len(rows), {"points": len(rows)}) for rows in parts]

    def validate(self, model: nn.Module) -> Validation:
        assert all(weight.isfinite().all() for weight in model.parameters())
        return Validation(1.0, float(self.n), "bleu")

    def state_dict(self) -> TaskState:
        return TaskState({"n": self.n}, {"carried": self.carried})

    def load_state_dict(self, state: TaskState) -> None:
        self.n, self.carried = state.countable["n"], state.tensors["carried"].clone()


class Listener:
    """Remembers what is said."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def step(
        self, progress: Progress, *, loss: float, speed: float, unit: str, last_step: int
    ) -> None:
        assert math.isfinite(loss)

    def validation(self, progress: Progress, result: Validation, *, best: bool) -> None:
        pass

    def say(self, message: str) -> None:
        self.said.append(message)


def network(dropout: float, batch_norm: bool = False) -> nn.Module:
    torch.manual_seed(5)
    norm = [nn.BatchNorm1d(6, affine=False)] if batch_norm else []
    return nn.Sequential(nn.Linear(2, 6), *norm, Dropout(dropout), nn.Tanh(), nn.Linear(6, 1))


def trainer_in(
    path: Path,
    task: Fragile | None = None,
    settings: PlannedTraining = SETTINGS,
    dropout: float = 0.3,
    batch_norm: bool = False,
) -> Trainer[Fragile]:
    """As a fresh process would build it."""
    path.mkdir(exist_ok=True)
    models = [network(dropout, batch_norm) for _ in range(2)]
    torch.manual_seed(6)
    return trainer_of(
        *models, task or Fragile(), RunFolder(path), settings,
        dtype=torch.float32, reporter=Listener(),
    )  # fmt: skip


def never() -> bool:
    return False


def weights(trainer: Trainer[Fragile]) -> dict[str, Tensor]:
    return {name: tensor.clone() for name, tensor in trainer.optimizer.weights().items()}


def said(trainer: Trainer[Fragile]) -> list[str]:
    assert isinstance(trainer.reporter, Listener)
    return trainer.reporter.said


def everything(path: Path) -> dict[str, Any]:
    """All that a run leaves behind, but for times."""
    lines = RunFolder(path).read_log()
    left: dict[str, Any] = {
        "log": [{key: value for key, value in line.items() if key != "time_s"} for line in lines]
    }
    for file in sorted(path.rglob("*.safetensors")):
        left[str(file.relative_to(path))] = file.read_bytes()
    for file in sorted(path.rglob("state.json")):
        state = json.loads(file.read_text(encoding="utf-8"))
        del state["sha256"], state["progress"]["time_s"], state["progress"]["sums"]
        left[str(file.relative_to(path))] = state
    return left


# -- out of memory ----------------------------------------------------------------------------

FULL = "DefaultCPUAllocator: {}: you tried to allocate 9 bytes."


@pytest.mark.parametrize(
    ("error", "most_rows", "n_parts", "accumulate"),
    [
        (MemoryError("Unable to allocate 9 GB"), 7, 2, 1),
        (torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 MiB"), 3, 4, 1),
        (RuntimeError(FULL.format("can't allocate memory")), 4, 2, 2),
        (RuntimeError(FULL.format("not enough memory")), 1, 8, 1),
        (RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling .."), 1, 8, 3),
    ],
)
def test_out_of_memory_makes_the_same_updates_of_smaller_parts(
    tmp_path, error, most_rows, n_parts, accumulate
):
    settings = replace(SETTINGS, accumulate=accumulate)
    whole = trainer_in(tmp_path / "whole", settings=settings, dropout=0.0)
    whole.train(never)
    trainer = trainer_in(tmp_path / "run", Fragile(most_rows, error), settings, dropout=0.0)
    trainer.train(never)
    assert trainer.progress.parts == n_parts
    for name, tensor in weights(whole).items():
        torch.testing.assert_close(weights(trainer)[name], tensor, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(trainer.task.carried, whole.task.carried)
    assert trainer.task.n == whole.task.n == 12 * accumulate
    log, other = (one.folder.read_log() for one in (whole, trainer))
    for line, its in zip(log, other, strict=True):
        assert its["points"] == line["points"] == 8 * accumulate * line["step"]
        assert its.get("loss", 0) == pytest.approx(line.get("loss", 0), abs=1e-4)
    assert [f"in {n} parts" in text for n, text in zip((2, 4, 8), said(trainer), strict=False)]
    assert len(said(trainer)) == n_parts.bit_length() - 1
    assert all("out of memory after step" in text for text in said(trainer))
    rows = [n_rows for n, n_rows in trainer.task.seen if n > 4 + accumulate]
    assert set(rows) == {8 // n_parts}


def test_an_update_that_was_begun_again_leaves_no_trace(tmp_path):
    """Gradients, random state and BatchNorm's statistics are those of one attempt."""
    once = trainer_in(tmp_path / "once", batch_norm=True)
    for step in range(5):
        once.progress.parts = 1 if step < 4 else 2
        once.train_step()
    drawn_next = torch.rand(1)
    again = trainer_in(tmp_path / "again", Fragile(most_rows=4), batch_norm=True)
    for _ in range(5):
        again.train_step()
    assert torch.equal(torch.rand(1), drawn_next)
    assert again.progress.parts == 2
    for name, tensor in weights(once).items():
        assert torch.equal(weights(again)[name], tensor), name
    assert torch.equal(again.task.carried, once.task.carried)
    assert again.progress.counts == once.progress.counts == {"points": 40}


@pytest.mark.parametrize("step", [3, 4, 5, 6, 10])
def test_in_parts_stopped_or_killed_and_resumed_equals_never_stopped(tmp_path, step):
    whole = trainer_in(tmp_path / "whole", Fragile(most_rows=2))
    whole.train(never)
    first = trainer_in(tmp_path / "killed", Fragile(most_rows=2, kill_at=step + 1))
    with pytest.raises(KilledError):
        first.train(never)
    again = trainer_in(tmp_path / "killed", Fragile(most_rows=2))
    assert again.resume()
    again.train(never)
    assert everything(tmp_path / "killed") == everything(tmp_path / "whole")
    first = trainer_in(tmp_path / "stopped", Fragile(most_rows=2))
    first.train(lambda: first.progress.step >= step)
    again = trainer_in(tmp_path / "stopped", Fragile(most_rows=2))
    assert again.resume()
    assert again.progress.parts == (4 if step >= 5 else 1)
    again.train(never)
    assert bool(said(again)) == (step < 5)  # what is known is not said again
    for name, tensor in weights(whole).items():
        assert torch.equal(weights(again)[name], tensor), name


def test_one_row_that_is_too_large_is_an_error_and_the_last_checkpoint_is_whole(tmp_path):
    trainer = trainer_in(tmp_path / "run", Fragile(most_rows=0))
    with pytest.raises(HeadwayError, match="row by row; it does not after step 4 .9 GB.*smaller"):
        trainer.train(never)
    assert trainer.progress.parts == 8
    saved = checkpoint.read_newest(trainer.folder.checkpoints, pytest.fail)
    assert saved is not None
    assert saved.step == 3


def test_other_errors_of_torch_are_as_they_were(tmp_path):
    trainer = trainer_in(tmp_path / "run", Fragile(7, RuntimeError("shapes cannot be multiplied")))
    with pytest.raises(RuntimeError, match="shapes cannot"):
        trainer.train(never)
    assert trainer.progress.parts == 1
    assert said(trainer) == []


def test_torchs_own_refusal_of_memory_is_known():
    with pytest.raises(RuntimeError) as refused:
        torch.empty(1 << 60, dtype=torch.uint8)
    assert out_of_memory(refused.value)
    with pytest.raises(MemoryError) as refused_by_numpy:
        np.empty(1 << 60, np.uint8)
    assert out_of_memory(refused_by_numpy.value)


def test_progress_of_earlier_versions_has_whole_batches_and_the_full_rate():
    progress = Progress(**upgraded({"step": 3, "counts": {"points": 4}}))
    assert (progress.parts, progress.rate_share) == (1, 1.0)


# -- numbers that are not finite --------------------------------------------------------------


def nan_at(*steps: int, times: int = 1, value: float = math.nan) -> Callable[[int, int], float]:
    """Spoils the loss of these steps, so many times that each is made."""
    return lambda n, time_: value if n in steps and time_ <= times else 1.0


@pytest.mark.parametrize(
    ("step", "goes_to", "value"),
    [(2, 0, math.nan), (3, 0, math.inf), (5, 3, math.nan), (6, 3, math.inf), (12, 9, math.nan)],
)
def test_a_loss_that_is_not_finite_goes_back_once_with_half_the_rate(
    tmp_path, step, goes_to, value
):
    trainer = trainer_in(tmp_path / "run", Fragile(spoil=nan_at(step, value=value)))
    trainer.train(never)
    [text] = said(trainer)
    assert "The loss must stay finite; it is " in text
    assert f"goes back to step {goes_to}, with half the learning rate" in text
    assert trainer.progress.step == 12
    # By other means: stopped there, and gone on with half the rate.
    expected = trainer_in(tmp_path / "expected")
    if goes_to:
        expected.train(lambda: expected.progress.step >= goes_to)
    expected.progress.rate_share = 0.5
    expected.train(never)
    for name, tensor in weights(expected).items():
        assert torch.equal(weights(trainer)[name], tensor), name
    rates = {
        line["step"]: line["learning_rate"] for line in trainer.folder.read_log() if "loss" in line
    }
    for at, rate in rates.items():
        assert rate == SETTINGS.rate(at) * (0.5 if at > goes_to else 1.0)
    assert sorted(rates) == [2, 3, 4, 6, 8, 9, 10, 12]


def test_weights_that_are_not_finite_are_never_saved(tmp_path):
    """The loss of step 6 is finite, its gradient is not: what it leaves must not be validated."""

    class Overflowing(Fragile):
        def loss(self, model: nn.Module, batch: Batch) -> Tensor:
            found = super().loss(model, batch)
            if self.n == 6 and self.times[6] == 1:
                found.register_hook(lambda gradient: gradient * math.inf)
            return found

    trainer = trainer_in(tmp_path / "run", Overflowing())
    trainer.train(never)
    [text] = said(trainer)
    assert "The weights must stay finite; they are not at step 6" in text
    assert "goes back to step 3" in text
    for file in (tmp_path / "run").rglob("*.safetensors"):
        assert all(tensor.isfinite().all() for tensor in load_file(file).values()), file


def test_the_second_time_it_stops(tmp_path):
    trainer = trainer_in(tmp_path / "run", Fragile(spoil=nan_at(5, times=2)))
    with pytest.raises(HeadwayError, match="must stay finite; it is nan at step 6.*learning-rate"):
        trainer.train(never)
    assert len(said(trainer)) == 1
    again = trainer_in(tmp_path / "run", Fragile(spoil=nan_at(5, times=2)))
    assert again.resume()
    assert again.progress.rate_share == 0.5
    with pytest.raises(HeadwayError, match="must stay finite"):
        again.train(never)
    saved = checkpoint.read_newest(trainer.folder.checkpoints, pytest.fail)
    assert saved is not None
    assert saved.step == 3
    assert all(tensor.isfinite().all() for tensor in saved.weights.values())


@pytest.mark.parametrize("step", [2, 5])
@pytest.mark.parametrize("kill_at", [0, 4, 7, 11])
def test_killed_after_it_went_back_and_resumed_equals_never_killed(tmp_path, step, kill_at):
    whole = trainer_in(tmp_path / "whole", Fragile(spoil=nan_at(step)))
    whole.train(never)
    first = trainer_in(tmp_path / "run", Fragile(spoil=nan_at(step)))
    say = first.reporter.say

    def kill_later(message: str) -> None:
        say(message)
        first.task.kill_at = kill_at

    def kill(message: str) -> None:
        raise KilledError

    first.reporter.say = kill_later if kill_at else kill  # type: ignore[method-assign]
    with pytest.raises(KilledError):
        first.train(never)
    # Killed before it was stored, it finds the same again; the numbers are spoilt only once, then.
    again = trainer_in(tmp_path / "run", Fragile(spoil=nan_at(*[step] if not kill_at else [])))
    assert again.resume() == bool(kill_at or step > 3)
    again.train(never)
    assert everything(tmp_path / "run") == everything(tmp_path / "whole")


def test_stops_on_the_way_do_not_change_where_it_goes_back_to(tmp_path):
    whole = trainer_in(tmp_path / "whole", Fragile(spoil=nan_at(9)))
    whole.train(never)
    path = tmp_path / "run"
    for step in (2, 7, 8, 12):
        trainer = trainer_in(path, Fragile(spoil=nan_at(9)))
        trainer.resume()
        trainer.train(lambda: trainer.progress.step >= step)  # noqa: B023
    assert said(trainer) == said(whole)
    assert "goes back to step 6" in said(trainer)[0]
    for name, tensor in weights(whole).items():
        assert torch.equal(weights(trainer)[name], tensor), name


def test_a_stop_at_a_step_that_is_not_finite_saves_what_it_went_back_to(tmp_path):
    trainer = trainer_in(tmp_path / "run", Fragile(spoil=nan_at(5)))
    trainer.train(lambda: trainer.progress.step in (5, 4) and trainer.task.n >= 4)
    saved = checkpoint.read_newest(trainer.folder.checkpoints, pytest.fail)
    assert saved is not None
    assert all(tensor.isfinite().all() for tensor in saved.weights.values())


# -- a full disk ------------------------------------------------------------------------------


class Disk:
    """Says how much is free; the pauses pass in no time, and in each of them something happens."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.free, self.n_pauses, self.now = 10**12, 0, 0.0
        self.in_pause: Callable[[int], None] = lambda n: None
        monkeypatch.setattr(
            shutil, "disk_usage", lambda _: SimpleNamespace(total=1, free=self.free)
        )
        monkeypatch.setattr(recovery.time, "sleep", self.sleep)
        monkeypatch.setattr(recovery.time, "monotonic", lambda: self.now)

    def sleep(self, seconds: float) -> None:
        self.n_pauses, self.now = self.n_pauses + 1, self.now + seconds
        assert self.n_pauses < 10_000, "it hangs"
        self.in_pause(self.n_pauses)


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Disk:
    return Disk(monkeypatch)


def fill_at(trainer: Trainer[Fragile], disk: Disk, step: int, free: int) -> None:
    next_batch = trainer.task.next_batch

    def filling() -> Batch:
        if trainer.task.n + 1 == step:
            disk.free = free
        return next_batch()

    trainer.task.next_batch = filling  # type: ignore[method-assign]


@pytest.mark.parametrize("step", [2, 3, 6, 12])
def test_training_pauses_while_the_disk_is_full_and_goes_on(tmp_path, disk, step):
    trainer_in(tmp_path / "whole").train(never)
    trainer = trainer_in(tmp_path / "run")
    fill_at(trainer, disk, step, free=1000)

    def more_room(n: int) -> None:
        if n == 100:
            disk.free = 10**12

    disk.in_pause = more_room
    trainer.train(never)
    assert disk.n_pauses >= 100
    [full] = said(trainer)
    assert f"the disk is full: 1.0 MB are needed in {tmp_path / 'run'}, 0.0 MB are free" in full
    assert f"pauses at step {step}" in full
    assert everything(tmp_path / "run") == everything(tmp_path / "whole")
    assert trainer.progress.time_s < 1, "the pause is no time of training"


def test_a_pause_ends_when_it_is_asked_to_stop(tmp_path, disk):
    trainer = trainer_in(tmp_path / "run")
    fill_at(trainer, disk, 6, free=1000)
    with pytest.raises(StoppedError, match=r"step 6 while .* full; the last checkpoint is step 3"):
        trainer.train(lambda: disk.n_pauses >= 7)
    assert disk.n_pauses == 7
    assert StoppedError.exit_status == 130
    saved = checkpoint.read_newest(trainer.folder.checkpoints, pytest.fail)
    assert saved is not None
    assert saved.step == 3
    disk.free = 10**12
    again = trainer_in(tmp_path / "run")
    assert again.resume()
    again.train(never)
    trainer_in(tmp_path / "whole").train(never)
    assert everything(tmp_path / "run") == everything(tmp_path / "whole")


def failing_sync(
    monkeypatch: pytest.MonkeyPatch, folder: Path, code: int, fails: Callable[[int], bool]
) -> list[int]:
    """Syncing a checkpoint fails where `fails` says so of its number; returns a list of those."""
    from headway.core import disk as real

    sync, calls = real.sync, list[int]()

    def sync_or_not(path: Path) -> None:
        if ".part" in str(path) and "step-" in str(path):
            assert len(list(folder.glob("checkpoints/.*.part"))) == 1, "leftovers"
            calls.append(1)
            if fails(len(calls)):
                raise OSError(code, os.strerror(code))
        sync(path)

    monkeypatch.setattr(real, "sync", sync_or_not)
    return calls


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT])
def test_a_write_that_fails_for_a_while_is_done_again(tmp_path, disk, monkeypatch, code):
    trainer_in(tmp_path / "whole").train(never)
    trainer = trainer_in(tmp_path / "run")
    disk.free = 1_700_000  # more than is needed, not twice as much
    calls = failing_sync(monkeypatch, tmp_path / "run", code, lambda n: 20 <= n < 25)
    trainer.train(never)
    assert len(calls) > 25
    assert ["full" in one for one in said(trainer)] == [True]
    assert everything(tmp_path / "run") == everything(tmp_path / "whole")


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT])
def test_a_disk_that_has_room_and_refuses_for_good_ends_it(tmp_path, disk, monkeypatch, code):
    trainer = trainer_in(tmp_path / "run")
    failing_sync(monkeypatch, tmp_path / "run", code, lambda n: n > 12)
    with pytest.raises(DiskError, match="its disk is full"):
        trainer.train(never)
    assert recovery.PATIENCE_S <= disk.now <= recovery.PATIENCE_S + 10
    assert len(said(trainer)) == 1
    saved = checkpoint.read_newest(trainer.folder.checkpoints, pytest.fail)
    assert saved is not None
    assert saved.step == 3


def test_what_is_no_full_disk_is_not_waited_for(tmp_path, disk, monkeypatch):
    trainer = trainer_in(tmp_path / "run")
    failing_sync(monkeypatch, tmp_path / "run", errno.EIO, lambda n: True)
    with pytest.raises(DiskError, match="Input/output error"):
        trainer.train(never)
    assert (disk.n_pauses, said(trainer)) == (0, [])


def test_half_a_line_of_the_log_is_written_again(tmp_path, disk, monkeypatch):
    trainer = trainer_in(tmp_path / "run")
    log, failures = RunFolder.log, [1]

    def half(folder: RunFolder, line: dict[str, Any]) -> None:
        if line["step"] == 4 and failures:
            failures.clear()
            with folder.metrics.open("a") as file:
                file.write(json.dumps(line)[:15])
            raise DiskError(folder.metrics, OSError(errno.ENOSPC, "full"))
        log(folder, line)

    monkeypatch.setattr(RunFolder, "log", half)
    trainer.train(never)
    lines = trainer.folder.metrics.read_text(encoding="utf-8").splitlines()
    steps = [json.loads(line)["step"] for line in lines]
    assert steps == [2, 3, 3, 4, 6, 6, 8, 9, 9, 10, 12, 12]


def test_a_signal_ends_a_real_pause(tmp_path, monkeypatch):
    trainer = trainer_in(tmp_path / "run")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(total=1, free=10))
    listener = trainer.reporter
    with console.stop_on_signal(listener.say) as stop_asked:
        begun = time.monotonic()
        monkeypatch.setattr(
            listener, "say", lambda text: "full" in text and signal.raise_signal(signal.SIGTERM)
        )
        with pytest.raises(StoppedError, match="nothing is saved yet"):
            trainer.train(stop_asked)
    assert time.monotonic() - begun < recovery.LOOK_AGAIN_S


# -- bounds -----------------------------------------------------------------------------------


def test_the_log_of_a_long_training_is_bounded():
    for max_steps in (1, 5000, 100_000, 10**7):
        settings = replace(SETTINGS, max_steps=max_steps, log_every=20)
        assert settings.log_interval >= 20
        assert max_steps / settings.log_interval <= 5001
    assert replace(SETTINGS, max_steps=100_000, log_every=20).log_interval == 20
    assert replace(SETTINGS, max_steps=10**6, log_every=20).log_interval == 200


def test_the_number_of_checkpoints_is_bounded(tmp_path):
    settings = replace(SETTINGS, max_steps=60, checkpoint_every=1, average=3)
    trainer = trainer_in(tmp_path / "run", settings=settings)
    trainer.task.validate = lambda model: Validation(  # type: ignore[method-assign]
        1.0, -abs(trainer.progress.step - 20.0), "bleu"
    )
    most, most_full = 0, 0

    def look() -> bool:
        nonlocal most, most_full
        folder = trainer.folder.checkpoints
        most = max(most, len(checkpoint.steps(folder)))
        most_full = max(most_full, len(checkpoint.resumable(folder)))
        return False

    trainer.train(look)
    assert trainer.progress.best_step == 20
    assert most_full == 2
    assert most == 3 + 3  # up to the best, and the last ones


def test_without_a_terminal_there_is_a_line_every_half_minute(monkeypatch):
    now, lines = [0.0], list[str]()
    monkeypatch.setattr(console.time, "monotonic", lambda: now[0])
    reporter = console.ConsoleReporter(10**6)
    reporter.live = False
    monkeypatch.setattr(reporter, "say", lines.append)
    for step in range(1, 3_601):  # an hour
        now[0] = float(step)
        reporter.step(Progress(step=step), loss=1.0, speed=2.0, unit="points", last_step=10**6)
    assert 100 <= len(lines) <= 120


# -- damaged checkpoints ----------------------------------------------------------------------


def finished(path: Path) -> Trainer[Fragile]:
    trainer = trainer_in(path)
    scores = {3: 1.0, 6: 2.0, 9: 7.0, 12: 3.0}
    trainer.task.validate = lambda model: Validation(  # type: ignore[method-assign]
        1.0, scores[trainer.progress.step], "bleu"
    )
    trainer.train(never)
    return trainer


def harm(file: Path, how: str) -> None:
    whole = file.read_bytes()
    if how == "gone":
        file.unlink()
    else:
        file.write_bytes(whole[:-3] if how == "cut" else whole[:-1] + bytes([whole[-1] ^ 1]))


@pytest.mark.parametrize("how", ["gone", "cut", "flipped"])
@pytest.mark.parametrize("step", [3, 6, 12])
def test_a_damaged_candidate_is_left_out_and_that_is_said(tmp_path, step, how):
    trainer = finished(tmp_path / "run")
    folder = trainer.folder.checkpoints
    harm(checkpoint.folder_of(folder, step) / checkpoint.WEIGHTS, how)
    seen: list[dict[str, Tensor]] = []

    def score(model: nn.Module) -> Validation:
        seen.append({name: p.detach().clone() for name, p in model.named_parameters()})
        return Validation(1.0, float(len(seen)), "bleu")

    trainer.choose(score)
    assert [f"step {step}" in text for text in said(trainer)] == [True]
    whole = {
        step: load_file(checkpoint.folder_of(folder, step) / checkpoint.WEIGHTS)
        for step in {3, 6, 9, 12} - {step}
    }
    last = [one for one in (3, 6, 9, 12) if one != step]
    up_to_best = [one for one in (3, 6, 9) if one != step]
    means = [
        {name: sum(whole[one][name] for one in some) / len(some) for name in whole[9]}
        for some in (last, up_to_best, [last[-1]], [9])
    ]
    for mean in means:
        assert any(all(torch.allclose(one[name], mean[name]) for name in mean) for one in seen)
    model = load_file(trainer.folder.model)
    assert all(torch.equal(model[name], seen[-1][name]) for name in model)


def test_when_the_best_is_lost_for_good_the_rest_is_chosen_from(tmp_path):
    trainer = finished(tmp_path / "run")
    for step in (3, 6, 9):
        harm(checkpoint.folder_of(trainer.folder.checkpoints, step) / checkpoint.WEIGHTS, "cut")
    harm(trainer.folder.model, "gone")
    last = load_file(checkpoint.folder_of(trainer.folder.checkpoints, 12) / checkpoint.WEIGHTS)
    assert "step 12" in trainer.choose(lambda model: Validation(1.0, 1.0, "bleu"))
    model = load_file(trainer.folder.model)
    assert all(torch.equal(model[name], last[name]) for name in last)
    assert len(said(trainer)) == 3


def test_when_nothing_is_whole_it_is_an_error_that_names_a_file(tmp_path):
    trainer = finished(tmp_path / "run")
    for step in (3, 6, 9, 12):
        harm(checkpoint.folder_of(trainer.folder.checkpoints, step) / checkpoint.WEIGHTS, "cut")
    harm(trainer.folder.model, "gone")
    with pytest.raises(RunError, match=r"step-\d+"):
        trainer.choose(lambda model: Validation(1.0, 1.0, "bleu"))
