"""What the training loop asks of every use: batches of examples, their loss, their validation.

What differs from use to use is a `Criterion`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from headway.core.batching import BatchStream, TokenBatches
from headway.core.dropout import check_dropout
from headway.core.rows import pad
from headway.core.subwords import SpecialIds
from headway.core.training_interfaces import ALONE, Batch, TaskState, Validation
from headway.operations.time_budget import PlannedTraining
from headway.runs.settings import Settings

Tensors = tuple[Tensor, ...]
"""What a batch is to a model and its criterion: inputs and targets, the examples on the first
axis."""


class Example(NamedTuple):
    """Something to be read, and what is to be said of it."""

    input: NDArray[Any]
    """Ids with their markers, `[length]`; of a picture its pixels."""
    target: Any
    """As the criterion wants it."""


@runtime_checkable
class Criterion(Protocol):
    """What is learned of examples: how they become tensors, their loss, how well they are known."""

    unit: str
    """What losses are means over, in words: "examples", "tags"."""

    def tensors(
        self, examples: Sequence[Example], random: np.random.Generator | None = None
    ) -> Tensors:
        """A batch, padded, on the CPU. `random` is given in training, for what is drawn anew each
        time an example is seen: hidden places, shifted pictures; it depends on the seed and on
        which batch it is, and nothing else."""
        ...

    def units(self, tensors: Tensors) -> int:
        """Over how many a batch's loss is a sum."""
        ...

    def loss(self, model: nn.Module, tensors: Tensors) -> Tensor:
        """Summed over the units; carries the gradient."""
        ...

    def count(self, model: nn.Module, tensors: Tensors) -> Sequence[int | float]:
        """What is counted of a validation batch: nats, units, .."""
        ...

    def validation(self, counted: Sequence[int | float]) -> Validation:
        """Measured on all validation examples, given the sums of what was counted."""
        ...


@dataclass(frozen=True)
class LabelledTraining(PlannedTraining):
    """Section [training] of what labels texts."""

    label_smoothing: float = 0.0
    """Share of the probability that is spread over all labels."""
    word_dropout: float = 0.1
    """Share of tokens that are read as the unknown one, others each time (Iyyer et al. 2015)."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_dropout(self.word_dropout, "word_dropout", remedy="Try 0.1.")


class ExamplesTask:
    """A `headway.core.training_interfaces.Task` over examples in memory."""

    counted = ("examples",)
    world = ALONE

    def __init__(
        self,
        criterion: Criterion,
        train: Sequence[Example],
        valid: Sequence[Example],
        settings: Settings,
        device: torch.device,
    ) -> None:
        self.criterion, self.train, self.valid = criterion, train, valid
        self.device, self.seed, self.unit = device, settings.runtime.seed, criterion.unit
        learned, held = (
            TokenBatches(
                [lengths(some)], batch_tokens=settings.training.batch_tokens, seed=self.seed
            )
            for some in (train, valid)
        )
        self.stream, self.valid_batches = BatchStream(learned), held.epoch(0)

    def next_batch(self) -> Batch:
        """See `headway.core.training_interfaces.Task`."""
        chosen = self.stream.next()
        random = np.random.default_rng([self.seed, self.stream.epoch, self.stream.index])
        return self.batch(self.criterion.tensors([self.train[int(i)] for i in chosen], random))

    def batch(self, tensors: Tensors) -> Batch:
        """Tensors of examples as the loop wants them, on the device."""
        placed = tuple(tensor.to(self.device) for tensor in tensors)
        return Batch(placed, self.criterion.units(placed), {"examples": len(placed[0])})

    def loss(self, model: nn.Module, batch: Batch) -> Tensor:
        """See `headway.core.training_interfaces.Task`."""
        return self.criterion.loss(model, batch.rows)

    def split_batch(self, batch: Batch, n: int) -> list[Batch]:
        """See `headway.core.training_interfaces.Task`."""
        parts = zip(*(tensor.tensor_split(n) for tensor in batch.rows), strict=True)
        return [self.batch(part) for part in parts if len(part[0])]

    def validate(self, model: nn.Module) -> Validation:
        """On all validation examples."""

        def counts(batches: Sequence[NDArray[Any]]) -> list[Sequence[int | float]]:
            examples = ([self.valid[int(i)] for i in chosen] for chosen in batches)
            placed = (self.batch(self.criterion.tensors(some)).rows for some in examples)
            return [self.criterion.count(model, tensors) for tensors in placed]

        counted = self.world.divided(counts, self.valid_batches)
        return self.criterion.validation(sums(counted))

    def state_dict(self) -> TaskState:
        """See `headway.core.training_interfaces.Task`."""
        return TaskState(self.stream.state_dict(), {})

    def load_state_dict(self, state: TaskState) -> None:
        """See `headway.core.training_interfaces.Task`."""
        self.stream.load_state_dict(state.countable)


def sums(counted: Iterable[Sequence[int | float]]) -> list[int | float]:
    """Of what was counted of each batch."""
    return [sum(column) for column in zip(*counted, strict=True)]


def lengths(examples: Sequence[Example]) -> NDArray[np.int32]:
    """Of what is read of each: `[examples]`."""
    return np.fromiter((len(one.input) for one in examples), np.int32, len(examples))


def padded(examples: Sequence[Example], padding: int) -> Tensor:
    """The ids of some examples: `[examples, length]`."""
    return torch.from_numpy(pad([one.input for one in examples], padding))


def with_unknown(
    ids: Tensor, special: SpecialIds, share: float, random: np.random.Generator
) -> Tensor:
    """Ids of which a share is the unknown one, and no marker."""
    chosen = torch.from_numpy(random.random(ids.shape) < share)
    markers = torch.tensor((special.padding, special.decoder_begin, special.end))
    return ids.masked_fill(chosen & ~torch.isin(ids, markers), special.unknown)
