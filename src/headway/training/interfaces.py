"""What passes between the training loop and others: a task to learn, and who hears how it goes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol, runtime_checkable

from torch import Tensor, nn


class Batch(NamedTuple):
    """What one loss is over; only its task knows the rows."""

    rows: Any
    units: int
    """What the loss is a mean over: how many target tokens, examples, .. are in it."""
    counts: Mapping[str, int]
    """What metrics.jsonl adds up, such as {"source_tokens": 310, "target_tokens": 290}."""


class Position(NamedTuple):
    """Where in the data the next batch begins, and what is carried there from the ones before."""

    countable: dict[str, Any]
    """Ready for JSON."""
    tensors: dict[str, Tensor]
    """Such as the state that a recurrent model carries from batch to batch."""


class Validation(NamedTuple):
    """How good the weights are now."""

    loss: float
    """Nats per unit, not smoothed."""
    score: float
    """What the best checkpoint is chosen by; higher is better."""
    score_name: str


@runtime_checkable
class Task(Protocol):
    """What is learned."""

    unit: str
    """What losses are means over, in words: "target tokens"."""
    counted: tuple[str, ...]
    """The names of `Batch.counts`."""

    def next_batch(self) -> Batch:
        """Take the next batch."""
        ...

    def loss(self, model: nn.Module, batch: Batch) -> Tensor:
        """What is to be minimized, summed over the batch's units; carries the gradient."""
        ...

    def validate(self, model: nn.Module) -> Validation:
        """Measure on held-out data."""
        ...

    def position(self) -> Position:
        """Where the next batch begins."""
        ...

    def go_to(self, position: Position) -> None:
        """Continue there."""
        ...


@dataclass
class Progress:
    """Everything countable about a training; lives in each checkpoint's state.json."""

    step: int = 0
    """Optimizer updates made."""
    time_s: float = 0.0
    counts: dict[str, int] = field(default_factory=dict)
    """The sums of `Batch.counts`."""
    validated: list[int] = field(default_factory=list)
    best_step: int = 0
    best_score: float = float("-inf")
    since_best: int = 0
    """Validations since the best one."""
    sums: dict[str, float] = field(default_factory=lambda: {"loss": 0.0, "units": 0, "time_s": 0})
    """Since the last line of metrics.jsonl."""
    landing: int = 0
    """The step at which patience ran out and the rate began to come down; 0 = not yet."""
    finished: bool = False

    @classmethod
    def of(cls, stored: Mapping[str, Any]) -> "Progress":
        """As state.json has it; the first version counted two kinds of token by fixed names."""
        known = dict(stored)
        if "counts" not in known:
            known["counts"] = {name: known.pop(name) for name in ("source_tokens", "target_tokens")}
            loss, units, time_s = (known["sums"][name] for name in ("loss", "tokens", "time_s"))
            known["sums"] = {"loss": loss, "units": units, "time_s": time_s}
        return cls(**known)


@runtime_checkable
class Reporter(Protocol):
    """Who is told how it goes."""

    def step(
        self, progress: Progress, *, loss: float, speed: float, unit: str, last_step: int
    ) -> None:
        """Some updates were made, at `speed` units a second."""
        ...

    def validation(self, progress: Progress, result: Validation, *, best: bool) -> None:
        """The weights were validated."""
        ...

    def say(self, message: str) -> None:
        """Anything else worth a line."""
        ...
