"""A task small enough for many trainings by several processes: who saw which rows is remembered."""

import math
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from headway.core.batching import BatchStream, TokenBatches
from headway.core.dropout import Dropout
from headway.core.run_folder import RunFolder
from headway.core.trainer import Progress, Trainer
from headway.core.training_interfaces import ALONE, Batch, TaskState, Validation, World
from headway.distributed.trainer import DistributedTrainer
from headway.operations.time_budget import PlannedTraining
from headway.runs.gradient import trainer_of

N_ROWS, LANES = 64, 8
SETTINGS = PlannedTraining(
    max_steps=16, checkpoint_every=4, log_every=2, warmup_steps=4, learning_rate=0.02,
    batch_tokens=3 * LANES, patience=0, average=2,
)  # fmt: skip
INPUTS = torch.sin(torch.arange(N_ROWS * 3.0).view(N_ROWS, 3))


class SharedRows:
    """Rows of three numbers, of which a batch has eight; what is carried is a sum for each lane."""

    unit, counted = "points", ("points",)
    world: World = ALONE

    def __init__(
        self,
        lanes: int = LANES,
        on_loss: Callable[[int, Tensor], float | None] = lambda n, rows: None,
        score: Callable[[int], float] = float,
    ) -> None:
        """`on_loss` is given the number of the batch and some of its rows; it may raise, or say
        what the loss is to be multiplied by. `score` is given the number of the batch."""
        sides = [np.full(N_ROWS, 2, np.int32)]
        self.stream = BatchStream(TokenBatches(sides, batch_tokens=3 * lanes, seed=7))
        self.n, self.on_loss, self.score = 0, on_loss, score
        self.seen: list[tuple[int, list[int]]] = []
        self.carried = torch.zeros(lanes)

    def next_batch(self) -> Batch:
        self.n += 1
        return self.batch(torch.from_numpy(self.stream.next()), 0)

    def batch(self, rows: Tensor, first: int) -> Batch:
        return Batch((self.n, first, rows), len(rows), {"points": len(rows)})

    def loss(self, model: nn.Module, batch: Batch) -> Tensor:
        n, first, rows = batch.rows
        x, lanes = INPUTS[rows], slice(first, first + len(rows))
        self.carried = self.carried.clone()
        self.carried[lanes] += x.sum(1)
        before = self.carried[lanes, None]
        found = (model(torch.cat([x, before.tanh()], 1)).float() - x.prod(1, True)).square().sum()
        factor = self.on_loss(n, rows)
        self.seen.append((n, rows.tolist()))
        return found if factor is None else found * factor

    def split_batch(self, batch: Batch, n: int) -> list[Batch]:
        _, first, rows = batch.rows
        parts = []
        for part in rows.tensor_split(n):
            parts.append(self.batch(part, first))
            first += len(part)
        return [part for part in parts if part.units]

    def validate(self, model: nn.Module) -> Validation:
        assert all(weight.isfinite().all() for weight in model.parameters())
        return Validation(1.0, self.score(self.n), "bleu")

    def state_dict(self) -> TaskState:
        return TaskState({"n": self.n, **self.stream.state_dict()}, {"carried": self.carried})

    def load_state_dict(self, state: TaskState) -> None:
        self.n, self.carried = state.countable["n"], state.tensors["carried"].clone()
        self.stream.load_state_dict(state.countable)


class Told:
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


def network(dropout: float) -> nn.Module:
    torch.manual_seed(5)
    return nn.Sequential(nn.Linear(4, 8), Dropout(dropout), nn.Tanh(), nn.Linear(8, 1))


def trainer_in(
    path: Path,
    world: Any = None,
    task: SharedRows | None = None,
    settings: PlannedTraining = SETTINGS,
    dropout: float = 0.0,
) -> Trainer[SharedRows]:
    """As a fresh process would build it; without a `world` that of one process."""
    path.mkdir(exist_ok=True, parents=True)
    models = [network(dropout) for _ in range(2)]
    torch.manual_seed(6)
    how = {"trainer": partial(DistributedTrainer, world=world, seed=3)} if world else {}
    return trainer_of(
        *models, task or SharedRows(), RunFolder(path), settings,
        dtype=torch.float32, reporter=Told(), **how,
    )  # fmt: skip


def weights(trainer: Trainer[SharedRows]) -> dict[str, Any]:
    """Copies, as arrays: they pass through pipes."""
    return {name: one.detach().numpy().copy() for name, one in trainer.optimizer.weights().items()}
