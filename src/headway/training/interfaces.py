"""What passes between the training loop and others: a task to learn, and who hears how it goes."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

from torch import Tensor, nn

if TYPE_CHECKING:
    from headway.training.loop import Progress


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
    """What the best checkpoint is chosen by, unless there is a `rank`; higher is better."""
    score_name: str
    rank: float | None = None
    others: Mapping[str, float] = MappingProxyType({})
    """Whatever else metrics.jsonl is to have."""
    noise: float = 0.0
    """Of the rank: what differs by no more cannot be told apart, and the loss decides."""


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

    def halves(self, batch: Batch) -> Sequence[Batch]:
        """Its rows in two batches, whose losses add up to its own; itself alone if it has but one.

        Asked for where a batch does not fit into memory.
        """
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


@runtime_checkable
class Reporter(Protocol):
    """Who is told how it goes."""

    def step(
        self, progress: "Progress", *, loss: float, speed: float, unit: str, last_step: int
    ) -> None:
        """Some updates were made, at `speed` units a second."""
        ...

    def validation(self, progress: "Progress", result: Validation, *, best: bool) -> None:
        """The weights were validated."""
        ...

    def say(self, message: str) -> None:
        """Anything else worth a line."""
        ...
