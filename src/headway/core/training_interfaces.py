"""What passes between the training loop and others: a task to learn, and who hears how it goes."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol, TypeVar, runtime_checkable

from torch import Tensor, nn

Item = TypeVar("Item")
Result = TypeVar("Result")


class World:
    """The processes that make one training: this one alone. A task that shares its validation out
    has a `world`, which is set where there are others (`headway.distributed`)."""

    rank, size = 0, 1

    def divided(
        self, work: Callable[[Sequence[Item]], Sequence[Result]], items: Sequence[Item]
    ) -> Sequence[Result]:
        """What `work` makes of items, one result each: every process is given a share of them."""
        return work(items)


ALONE = World()


class Batch(NamedTuple):
    """What one loss is over; only its task knows the rows."""

    rows: Any
    units: int
    """What the loss is a mean over: how many target tokens, examples, .. are in it."""
    counts: Mapping[str, int]
    """What metrics.jsonl adds up, such as {"source_tokens": 310, "target_tokens": 290}."""


class TaskState(NamedTuple):
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
    best_rank: float = float("-inf")
    """The highest score so far, or what the task ranks by."""
    lowest_loss: float = float("inf")
    """Of a validation."""
    since_best: int = 0
    """Validations since the best one."""
    sums: dict[str, float] = field(default_factory=lambda: {"loss": 0.0, "units": 0, "time_s": 0})
    """Since the last line of metrics.jsonl."""
    decay_start: int = 0
    """The step at which patience ran out and the rate began to come down; 0 = not yet."""
    finished: bool = False
    parts: int = 1
    """In how many each batch is learned, as it did not fit into memory: a power of two."""
    rate_share: float = 1.0
    """Of the learning rate; less since a loss was not finite."""
    planned_s: float = 0.0
    """`time_s` when the end was last planned anew."""


@runtime_checkable
class Task(Protocol):
    """What is learned."""

    unit: str
    """What losses are means over, in words: "target tokens"."""
    counted: tuple[str, ...]
    """The names of `Batch.counts`."""

    def next_batch(self) -> Batch:
        """Take the next batch."""

    def loss(self, model: nn.Module, batch: Batch) -> Tensor:
        """What is to be minimized, summed over the batch's units; carries the gradient."""

    def split_batch(self, batch: Batch, n: int) -> Sequence[Batch]:
        """Its rows in `n` batches or as many as it has rows, cut as by `torch.tensor_split`; their
        losses add up to its own. What is carried from batch to batch has rows on its first axis."""

    def validate(self, model: nn.Module) -> Validation:
        """Measure on held-out data."""

    def state_dict(self) -> TaskState: ...
    def load_state_dict(self, state: TaskState) -> None: ...


@runtime_checkable
class Reporter(Protocol):
    """Who is told how it goes: some updates were made, at `speed` units a second; the weights were
    validated; or anything else worth a line."""

    def step(
        self, progress: Progress, *, loss: float, speed: float, unit: str, last_step: int
    ) -> None: ...
    def validation(self, progress: Progress, result: Validation, *, best: bool) -> None: ...
    def say(self, message: str) -> None: ...


class Callback(NamedTuple):
    """What hangs on a training from outside; each is given the trainer."""

    on_error: Callable[[Any, Exception], bool] = lambda trainer, error: False
    """Puts right what went wrong, so that it is done again; False where that is not its matter."""
    on_validation: Callable[[Any], None] = lambda trainer: None
    """After each validation, before its checkpoint is written."""
    state_dict: Callable[[Any], dict[str, Any]] = lambda trainer: {}
    """What a checkpoint's state.json has of it."""
    load_state_dict: Callable[[Any, dict[str, Any]], None] = lambda trainer, state: None
    """Is given all of a state.json, before anything else is taken from that."""
