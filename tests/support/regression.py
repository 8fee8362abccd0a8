"""A task small enough to be learned hundreds of times, and what its trainings leave behind."""

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from headway.core.dropout import Dropout
from headway.core.run_folder import RunFolder
from headway.core.trainer import Progress, Trainer
from headway.core.training_interfaces import Batch, TaskState, Validation
from headway.operations.time_budget import PlannedTraining
from headway.runs import fine_tuning

SETTINGS = PlannedTraining(
    max_steps=12, checkpoint_every=3, log_every=2, warmup_steps=4, learning_rate=0.05,
    batch_tokens=1, patience=0, average=2, dropout_warmup=8,
)  # fmt: skip


class KilledError(BaseException):
    """Stands for kill -9."""


class Regression:
    """Batch n is made from n; the model has dropout, so the random state matters as well."""

    def __init__(
        self,
        scores: list[float] | None = None,
        kill_at: int = 0,
        losses: list[float] | None = None,
        noise: float = 0.0,
    ) -> None:
        self.n, self.scores, self.kill_at = 0, scores, kill_at
        self.losses, self.noise, self.n_validations = losses, noise, 0
        self.carried = torch.zeros(())

    unit = "points"
    counted = ("source_tokens", "target_tokens")

    def next_batch(self) -> Batch:
        self.n += 1
        if self.n == self.kill_at:
            raise KilledError
        x = torch.sin(torch.arange(8.0).view(4, 2) * self.n)
        return Batch(x, units=4, counts={"source_tokens": 3, "target_tokens": 4})

    def loss(self, model: nn.Module, batch: Batch) -> Tensor:
        x = batch.rows
        self.carried = self.carried + x.sum()
        return (model(x).float() - x.sum(1, keepdim=True)).square().sum()

    def split_batch(self, batch: Batch, n: int) -> list[Batch]:
        return [Batch(rows, len(rows), {}) for rows in batch.rows.tensor_split(n) if len(rows)]

    def validate(self, model: nn.Module) -> Validation:
        assert not model.training
        assert torch.is_inference_mode_enabled()
        torch.rand(5)  # a validation may draw random numbers
        self.n_validations += 1
        weights = list(model.parameters())
        score, loss = -sum(weight.float().abs().sum().item() for weight in weights), 1.25
        number = (self.n // SETTINGS.checkpoint_every) - 1
        if self.scores is not None:
            score = self.scores[number]
        if self.losses is not None:
            loss = self.losses[number]
        return Validation(loss, score, "bleu", noise=self.noise)

    def state_dict(self) -> TaskState:
        return TaskState({"n": self.n}, {"carried": self.carried})

    def load_state_dict(self, state: TaskState) -> None:
        self.n, self.carried = state.countable["n"], state.tensors["carried"]


class Listener:
    """Remembers what it is told."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.best: list[bool] = []

    def step(
        self, progress: Progress, *, loss: float, speed: float, unit: str, last_step: int
    ) -> None:
        assert math.isfinite(loss)

    def validation(self, progress: Progress, result: Validation, *, best: bool) -> None:
        self.best.append(best)

    def say(self, message: str) -> None:
        self.said.append(message)


def network() -> nn.Module:
    torch.manual_seed(5)
    return nn.Sequential(nn.Linear(2, 6), Dropout(0.3), nn.Tanh(), nn.Linear(6, 1))


def never() -> bool:
    return False


def choose(trainer: Trainer[Regression]) -> str:
    """By the measure of the validations."""
    choose = fine_tuning.choose if trainer.initial_steps else Trainer.choose
    return choose(trainer, trainer.task.validate)


def untimed(log: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{key: value for key, value in line.items() if key != "time_s"} for line in log]


def everything(path: Path) -> dict[str, Any]:
    """All that a run leaves behind, but for times."""
    folder = RunFolder(path)
    left: dict[str, Any] = {"log": untimed(folder.read_log())}
    for file in sorted(path.rglob("*.safetensors")):
        left[str(file.relative_to(path))] = file.read_bytes()
    for file in sorted(path.rglob("state.json")):
        state = json.loads(file.read_text(encoding="utf-8"))
        del state["sha256"], state["progress"]["time_s"], state["progress"]["sums"]
        left[str(file.relative_to(path))] = state
    return left


def stop_after(n: int, trainer: Trainer[Regression]) -> Callable[[], bool]:
    """A wish to stop once `n` updates are made; it stays a wish."""
    return lambda: trainer.progress.step >= n
