"""Checkpoints written while training goes on are those that would have been written at once."""

import errno
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
import torch.distributed
from faulty_disk import SOURCE
from torch import Tensor, nn

from headway.core import checkpoint, disk
from headway.core.disk import DiskError
from headway.core.errors import StoppedError
from headway.core.run_folder import RunFolder
from headway.core.training_interfaces import Batch, Progress, TaskState, Validation
from headway.distributed.checkpoints import strays
from headway.distributed.trainer import DistributedTrainer
from headway.distributed.world import ProcessGroup
from headway.operations import recovery
from headway.operations.time_budget import PlannedTraining
from headway.runs.gradient import trainer_of

SETTINGS = PlannedTraining(
    max_steps=12, checkpoint_every=3, log_every=1, warmup_steps=4, learning_rate=0.05,
    batch_tokens=1, patience=0, average=2, keep_all=True,
)  # fmt: skip
ALONE = {
    "RANK": "0", "WORLD_SIZE": "1", "LOCAL_WORLD_SIZE": "1",
    "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "0",
}  # fmt: skip
"""What torchrun sets where it starts one process; port 0 is any that is free."""


class Sines:
    """Eight points a batch, made from its number."""

    unit, counted = "points", ("points",)

    def __init__(self) -> None:
        self.n, self.carried, self.before_batch = 0, torch.zeros(1, 1), lambda n: None
        self.spoilt = 0

    def next_batch(self) -> Batch:
        self.n += 1
        self.before_batch(self.n)
        return Batch(torch.sin(torch.arange(16.0).view(8, 2) * self.n), 8, {"points": 8})

    def loss(self, model: nn.Module, batch: Batch) -> Tensor:
        self.carried += batch.rows.abs().sum()  # in place
        found = (model(batch.rows) - batch.rows.sum(1, keepdim=True)).square().sum()
        if self.n == self.spoilt:
            self.spoilt = 0
            return found * float("nan")
        return found

    def split_batch(self, batch: Batch, n: int) -> list[Batch]:
        return [Batch(rows, len(rows), {}) for rows in batch.rows.tensor_split(n) if len(rows)]

    def validate(self, model: nn.Module) -> Validation:
        return Validation(1.0, float(self.n), "bleu")

    def state_dict(self) -> TaskState:
        return TaskState({"n": self.n}, {"carried": self.carried})

    def load_state_dict(self, state: TaskState) -> None:
        self.n, self.carried = state.countable["n"], state.tensors["carried"].clone()


class Listener:
    """Remembers what is said."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def step(self, progress: Progress, **how: Any) -> None:
        pass

    def validation(self, progress: Progress, result: Validation, *, best: bool) -> None:
        pass

    def say(self, message: str) -> None:
        self.said.append(message)


def network() -> nn.Module:
    torch.manual_seed(5)
    return nn.Sequential(nn.Linear(2, 6), nn.BatchNorm1d(6), nn.Tanh(), nn.Linear(6, 1))


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> Iterator[ProcessGroup]:
    """A process group of this process."""
    for name, value in ALONE.items():
        monkeypatch.setenv(name, value)
    group = ProcessGroup()
    yield group
    group.watch.closed.set()
    if torch.distributed.is_initialized():
        group.leave()


Build = Callable[[str], Any]


@pytest.fixture
def trainer_in(tmp_path: Path, world: ProcessGroup) -> Build:
    """What builds a trainer of a run with this name, as a fresh process would."""
    return lambda name: trainer_of_run(tmp_path / name, world)


def trainer_of_run(path: Path, world: ProcessGroup) -> Any:
    path.mkdir(exist_ok=True)
    return trainer_of(
        network(), network(), Sines(), RunFolder(path), SETTINGS,
        dtype=torch.float32, reporter=Listener(),
        trainer=partial(DistributedTrainer, world=world, seed=3),
    )  # fmt: skip


def never() -> bool:
    return False


def written_late(trainer: Any, n_batches: int = 2) -> list[int]:
    """Hold the writer back until so many more batches are taken; returns the steps whose checkpoint
    was then not yet to be seen. That of a stop, or at the end, is not held back."""
    gate, late, due = threading.Event(), list[int](), list[int]()
    write = trainer.write

    def held_back(saved: checkpoint.Checkpoint) -> None:
        if trainer.writer:
            trainer.writer.settle(trainer)
            if saved.step in (3, 6, 9):
                gate.clear()
                due[:] = [saved.step]
                trainer.writer.thread.submit(gate.wait, 60)
        write(saved)

    def let_go(n: int) -> None:
        if due and n >= due[0] + n_batches:
            step = due.pop()
            if not checkpoint.folder_of(trainer.folder.checkpoints, step).exists():
                late.append(step)
            gate.set()

    trainer.write, trainer.task.before_batch = held_back, let_go
    return late


def files(path: Path) -> dict[str, bytes]:
    return {
        str(file.relative_to(path)): file.read_bytes()
        for file in sorted(path.rglob("*.safetensors"))
    }


def test_what_is_written_later_is_what_was_then(tmp_path, trainer_in):
    """Against a second writer, which writes every checkpoint before the next update."""
    trainer, other = trainer_in("run"), tmp_path / "at-once"
    late = written_late(trainer)
    write = trainer.write

    def at_once(saved: checkpoint.Checkpoint) -> None:
        checkpoint.write(other, *saved)
        write(saved)

    trainer.write = at_once
    trainer.train(never)
    assert late == [3, 6, 9], "training went on"
    run = trainer.folder.checkpoints
    assert checkpoint.steps(run) == [3, 6, 9, 12]
    assert checkpoint.resumable(run) == [9, 12]
    for file in run.glob("*/*"):
        assert file.read_bytes() == (other / file.relative_to(run)).read_bytes(), file
    best = trainer.progress.best_step
    model = checkpoint.folder_of(other, best) / checkpoint.WEIGHTS
    assert trainer.folder.model.read_bytes() == model.read_bytes()


def test_stopped_and_resumed_equals_never_stopped(tmp_path, trainer_in):
    trainer_in("whole").train(never)
    first = trainer_in("run")
    written_late(first)
    first.train(lambda: first.progress.step >= 4)
    assert checkpoint.resumable(first.folder.checkpoints) == [3, 5]
    again = trainer_in("run")
    assert again.resume()
    again.train(never)
    assert files(tmp_path / "run") == files(tmp_path / "whole")


def test_after_nan_it_goes_back_to_the_checkpoint_that_was_being_written(trainer_in):
    trainer = trainer_in("run")
    assert written_late(trainer) == []
    trainer.task.spoilt = 8
    trainer.train(never)
    [said] = trainer.reporter.said
    assert "goes back to step 6" in said
    assert trainer.progress.step == 12


# -- a disk that refuses ----------------------------------------------------------------------


@pytest.fixture
def room(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """How much is free."""
    usage = SimpleNamespace(total=1, free=10**12)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    monkeypatch.setattr(recovery, "LOOK_AGAIN_S", 0.01)
    monkeypatch.setattr(recovery, "_ASK_S", 0.01)
    return usage


def fill_while_writing(trainer: Any, room: SimpleNamespace, step: int) -> None:
    """The disk is full when the checkpoint of this step is written."""
    written_late(trainer, 1)
    before = trainer.task.before_batch

    def filling(n: int) -> None:
        if n == step + 1:
            room.free = 1000
        before(n)

    trainer.task.before_batch = filling


def test_training_pauses_for_what_the_writer_could_not_write(tmp_path, trainer_in, room):
    trainer_in("whole").train(never)
    trainer = trainer_in("run")
    fill_while_writing(trainer, room, 6)

    def asked() -> bool:
        if trainer.reporter.said:  # it pauses, and asks whether it is to stop
            room.free = 10**12
        return False

    trainer.train(asked)
    assert all("the disk is full" in said for said in trainer.reporter.said)
    assert trainer.reporter.said
    assert files(tmp_path / "run") == files(tmp_path / "whole")
    assert trainer.folder.read_log()[-1]["step"] == 12


def test_a_pause_for_the_writer_ends_when_it_is_asked_to_stop(tmp_path, trainer_in, room):
    trainer_in("whole").train(never)
    trainer = trainer_in("run")
    fill_while_writing(trainer, room, 6)
    with pytest.raises(StoppedError, match="the disk is full; the last checkpoint is step 3"):
        trainer.train(lambda: bool(trainer.reporter.said))
    room.free = 10**12
    again = trainer_in("run")
    assert again.resume()
    again.train(never)
    assert files(tmp_path / "run") == files(tmp_path / "whole")


def test_what_is_no_full_disk_reaches_the_training_at_the_next_checkpoint(trainer_in, monkeypatch):
    trainer = trainer_in("run")
    sync = disk.sync

    def fails(path: Path) -> None:
        if ".step-6." in str(path):
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        sync(path)

    monkeypatch.setattr(disk, "sync", fails)
    with pytest.raises(DiskError, match="Input/output error"):
        trainer.train(never)
    assert trainer.progress.step == 9
    saved = checkpoint.read_newest(trainer.folder.checkpoints, pytest.fail)
    assert saved is not None
    assert saved.step == 3


# -- replicas ---------------------------------------------------------------------------------


def test_one_bit_makes_a_stray(world, monkeypatch):
    weights = torch.randn(100)
    assert strays(weights, world) == []
    other = weights.clone()
    other.view(torch.int32)[70] ^= 1
    for mine, expected in ((other, [0]), (weights, [])):
        first = int(weights.view(torch.int64).sum())
        monkeypatch.setattr(world, "from_first", lambda own: first)  # noqa: B023
        assert strays(mine, world) == expected


# -- kills ------------------------------------------------------------------------------------


SUPPORT = Path(__file__).parent.parent / "support"


def killed_while_it_writes(path: Path, n_synced: int) -> int:
    """How a process that trains in this folder ends if it is killed instead of its n-th fsync."""
    child = os.fork()
    if not child:
        signal.alarm(30)
        sync, left = disk.sync, [n_synced]

        def killing(file: Path) -> None:
            left[0] -= 1
            if not left[0]:
                os.kill(os.getpid(), signal.SIGKILL)
            sync(file)

        disk.sync = killing
        try:
            trainer_of_run(path, ProcessGroup()).train(never)
        finally:
            os._exit(1)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


KILLS = (3, 26, 45)


def test_killed_while_it_writes_and_resumed_equals_never_killed(tmp_path):
    # By a fresh process, as torch.distributed's threads are not there in a forked one.
    command = [sys.executable, __file__, str(tmp_path)]
    environment = {**os.environ, **ALONE, "PYTHONPATH": f"{SOURCE}:{SUPPORT}"}
    ends = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=100, check=False
    )
    assert ends.stdout.split() == [str(-signal.SIGKILL)] * len(KILLS), ends.stderr
    for n_synced in KILLS:
        assert files(tmp_path / f"run{n_synced}") == files(tmp_path / "whole"), n_synced
    assert not list(tmp_path.rglob("*.part"))


if __name__ == "__main__":
    for at in KILLS:
        print(killed_while_it_writes(Path(sys.argv[1]) / f"run{at}", at))
    one_alone = ProcessGroup()
    trainer_of_run(Path(sys.argv[1]) / "whole", one_alone).train(never)
    for at in KILLS:
        again = trainer_of_run(Path(sys.argv[1]) / f"run{at}", one_alone)
        again.resume()
        again.train(never)
    sys.stdout.flush()
    os._exit(0)
