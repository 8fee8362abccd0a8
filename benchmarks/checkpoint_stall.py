"""How long training stands still for a checkpoint: written at once, and from a copy by a thread.

    python benchmarks/checkpoint_stall.py                    # 201 M parameters, 1 and 2 processes

Both ways take turns in one training (A B A B ..). What is counted is the time that the loop spends
in saving the best model and the checkpoint, by the clock and of the processor (other work may run
beside). Before each, the one before is waited for, which is not counted: where checkpoints are
further apart than writing one takes, nobody waits for that.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from headway.core.learning import ValidationLines
from headway.core.run_folder import RunFolder
from headway.core.runtime import cpu_name
from headway.core.training_interfaces import Batch, TaskState, Validation
from headway.distributed.trainer import DistributedTrainer
from headway.distributed.world import ProcessGroup
from headway.operations.time_budget import PlannedTraining
from headway.runs.gradient import trainer_of

AT_ONCE, ASIDE = "at once", "by a thread"


class Rows:
    """A few rows of noise, to be learned by heart."""

    unit, counted = "rows", ("rows",)

    def __init__(self, width: int) -> None:
        self.n, self.width = 0, width

    def next_batch(self) -> Batch:
        self.n += 1
        rows = torch.randn(4, self.width, generator=torch.Generator().manual_seed(self.n))
        return Batch(rows, 4, {"rows": 4})

    def loss(self, model: nn.Module, batch: Batch) -> Tensor:
        return model(batch.rows).square().sum() / self.width

    def split_batch(self, batch: Batch, n: int) -> list[Batch]:
        return [Batch(rows, len(rows), {}) for rows in batch.rows.tensor_split(n) if len(rows)]

    def validate(self, model: nn.Module) -> Validation:
        return Validation(1.0, float(self.n), "score")  # each is the best so far

    def state_dict(self) -> TaskState:
        return TaskState({"n": self.n}, {})

    def load_state_dict(self, state: TaskState) -> None:
        self.n = state.countable["n"]


class MeasuredTrainer(DistributedTrainer[Any]):
    """Every other checkpoint is written at once; times of both, and of updates."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self.kept: Any = None
        self.stood = dict[str, list[list[float]]]({ASIDE: [], AT_ONCE: []})
        self.spent_s = [0.0, 0.0]
        self.updates: dict[str, list[float]] = {"nothing is written": [], "it is written": []}
        self.writing: list[float] = []

    @property
    def way(self) -> str:
        """Of the next checkpoint."""
        return ASIDE if len(self.stood[ASIDE]) == len(self.stood[AT_ONCE]) else AT_ONCE

    def train_step(self) -> Tensor:
        under_way = self.kept and self.kept.under_way
        busy = bool(under_way and not under_way.written.done())
        begun = time.perf_counter()
        loss = super().train_step()
        self.updates["it is written" if busy else "nothing is written"].append(
            time.perf_counter() - begun
        )
        return loss

    def eval_step(self) -> Validation:
        self.kept = self.kept or self.writer
        if self.kept:
            self.kept.settle(self)
        self.writer = self.kept if self.way == ASIDE else None
        return super().eval_step()

    def save_model(self, weights: Any) -> None:
        with self.counted():
            super().save_model(weights)

    @contextmanager
    def counted(self) -> Iterator[None]:
        """Time by the clock, and of this thread."""
        begun = time.perf_counter(), time.thread_time()
        yield
        ended = time.perf_counter(), time.thread_time()
        self.spent_s = [n + b - a for n, a, b in zip(self.spent_s, begun, ended, strict=True)]

    def save(self) -> None:
        way = self.way
        with self.counted():
            super().save()
        self.stood[way].append(self.spent_s)
        self.spent_s = [0.0, 0.0]
        if self.writer:
            begun = time.perf_counter()
            self.writer.under_way.written.add_done_callback(
                lambda _: self.writing.append(time.perf_counter() - begun)
            )


def network(layers: int, width: int) -> nn.Module:
    torch.manual_seed(1)
    return nn.Sequential(*(nn.Linear(width, width) for _ in range(layers)))


def one_process(given: argparse.Namespace) -> None:
    """What torchrun starts."""
    torch.set_num_threads(1)
    world = ProcessGroup()
    settings = PlannedTraining(
        max_steps=2 * given.rounds * given.updates, checkpoint_every=given.updates, log_every=1000,
        warmup_steps=4, learning_rate=1e-5, batch_tokens=1, patience=0, average=1,
    )  # fmt: skip
    trainer: Any = trainer_of(
        network(given.layers, given.width), network(given.layers, given.width), Rows(given.width),
        RunFolder(given.folder), settings, dtype=torch.float32,
        reporter=ValidationLines(lambda _: None),
        trainer=partial(MeasuredTrainer, world=world, seed=1),
    )  # fmt: skip
    trainer.train(lambda: False)
    world.watch.closed.set()
    if world.rank == 0:
        found = {"stood": trainer.stood, "updates": trainer.updates, "writing": trainer.writing}
        print(json.dumps({**found, "parameters": trainer.optimizer.masters.numel()}))


def measured(n_processes: int, given: argparse.Namespace) -> dict[str, Any]:
    """Both ways in one training by so many processes."""
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        command = [
            sys.executable, "-m", "torch.distributed.run", "--standalone",
            "--nproc-per-node", str(n_processes), __file__, "--one", "--folder", folder,
            "--rounds", str(given.rounds), "--updates", str(given.updates),
            "--layers", str(given.layers), "--width", str(given.width),
        ]  # fmt: skip
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--processes", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--updates", type=int, default=20, help="between two checkpoints")
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--width", type=int, default=4096)
    parser.add_argument("--folder", type=Path, default=None, help="on the disk that is meant")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        one_process(given)
        return
    print(f"{cpu_name()}, torch {torch.__version__}, one thread a process\n")
    print("| processes | parameters | way | stands still, s (each) | of the processor, s (each) |")
    print("|---|---|---|---|---|")
    told = list[str]()
    for n_processes in given.processes:
        found = measured(n_processes, given)
        for way, stood in found["stood"].items():
            both = [
                f"**{statistics.median(some):.2f}** ({', '.join(f'{one:.2f}' for one in some)})"
                for some in zip(*stood, strict=True)
            ]
            print(f"| {n_processes} | {found['parameters']:,} | {way} | {' | '.join(both)} |")
        each = ", ".join(f"{one:.1f}" for one in found["writing"])
        beside = "; ".join(
            f"an update took {statistics.median(some):.2f} s while {when}"
            for when, some in found["updates"].items()
            if some
        )
        told.append(f"{n_processes}: the thread wrote for {each} s; {beside}")
    print("", *told, sep="\n")


if __name__ == "__main__":
    main()
