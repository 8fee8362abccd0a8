"""What is learned: the next token, all along a text."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import numpy as np
import torch
from jaxtyping import Int
from numpy.typing import NDArray
from torch import Tensor, nn

from headway.core.batching import BatchStream
from headway.core.errors import refuse_below, refuse_beyond
from headway.core.subwords import SpecialIds
from headway.core.training_interfaces import ALONE, Batch, TaskState, Validation
from headway.corpora.store import Store
from headway.corpora.streams import Stream, StreamBatches
from headway.language_models.interfaces import Carried, NeuralLanguageModel, StretchLoss
from headway.operations.time_budget import PlannedTraining

VALID_ROWS = 16
"""Lanes, or windows, of validation text that are read side by side."""


@dataclass(frozen=True)
class LanguageTraining(PlannedTraining):
    """Section [training]."""

    window: int = 0
    """Tokens of text in a row of a batch: all that a Transformer sees at once, and how far back
    the gradients of a recurrent model go (its state is carried further). 0: fitted."""
    valid_tokens: int = 50_000
    """At most so many tokens of validation text are scored at each checkpoint, from all over it."""
    label_smoothing: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        refuse_beyond(self, {"window": 1 << 20, "valid_tokens": 1 << 40}, above="training.")
        refuse_below(self, {"window": 0, "valid_tokens": 1}, above="training.")


class LaneRows(NamedTuple):
    """A batch: [rows, window] each."""

    fed: Int[Tensor, "rows window"]
    wanted: Int[Tensor, "rows window"]
    lanes: slice
    """Which of the lanes they are."""
    goes_on: bool
    """Whether each row goes on where it ended in the batch before."""


class LanguageTask:
    """Next-token cross-entropy on stretches of a stream; see `training.interfaces.Task`.

    With a model that `carries`, each row of a batch goes on where it ended in the one before, and
    the model's state is carried there. Without, a batch is windows from all over the text.
    """

    unit = "tokens"
    counted = ("tokens",)
    world = ALONE

    def __init__(
        self,
        train: Store,
        valid: Store,
        special: SpecialIds,
        training: LanguageTraining,
        *,
        carries: bool,
        seed: int,
        device: torch.device,
    ) -> None:
        self.special, self.device, self.carries = special, device, carries
        self.label_smoothing = training.label_smoothing
        begin, end = special.decoder_begin, special.end
        self.train = Stream(train["text"].ids, begin=begin, end=end)
        self.valid = Stream(valid["text"].ids, begin=begin, end=end)
        self.valid_tokens = training.valid_tokens
        self.batches = StreamBatches(
            len(self.train),
            batch_tokens=training.batch_tokens,
            length=training.window,
            seed=seed,
            in_lanes=carries,
        )
        self.stream = BatchStream(self.batches)
        self.window = training.window
        self.carried: Carried = {}

    def next_batch(self) -> Batch:
        """See `headway.core.training_interfaces.Task`."""
        starts = self.stream.next()
        stretch = self.train.stretch(starts, self.batches.length)
        fed, wanted = (torch.from_numpy(ids).to(self.device) for ids in stretch)
        goes_on = self.carries and self.stream.index > 1
        n_tokens = wanted.numel()
        rows = LaneRows(fed, wanted, slice(0, len(fed)), goes_on)
        return Batch(rows, n_tokens, {"tokens": n_tokens})

    def loss(self, model: nn.Module, batch: Batch) -> Tensor:
        """See `headway.core.training_interfaces.Task`."""
        rows: LaneRows = batch.rows
        carried = None
        if rows.goes_on:
            carried = {name: tensor[rows.lanes] for name, tensor in self.carried.items()}
        loss, after = self.cross_entropy(model, rows, carried, self.label_smoothing)
        if self.carries:
            self.remember(after, rows)
        return loss.smoothed

    def remember(self, after: Carried, rows: LaneRows) -> None:
        """Keep what is carried on from some lanes."""
        if len(rows.fed) == self.batches.n_rows:
            # As it comes back from a checkpoint: another layout may be added up in another order.
            self.carried = {name: tensor.contiguous() for name, tensor in after.items()}
            return
        for name, tensor in after.items():
            if name not in self.carried:
                shape = (self.batches.n_rows, *tensor.shape[1:])
                self.carried[name] = tensor.new_zeros(shape)
            self.carried[name] = self.carried[name].clone()
            self.carried[name][rows.lanes] = tensor

    def cross_entropy(
        self, model: nn.Module, rows: LaneRows, carried: Carried | None, smoothing: float
    ) -> StretchLoss:
        """The objective summed over some rows, and what is carried on from them."""
        return cast(NeuralLanguageModel, model).loss(
            rows.fed, rows.wanted, carried, smoothing=smoothing, padding=self.special.padding
        )

    def split_batch(self, batch: Batch, n: int) -> list[Batch]:
        """See `headway.core.training_interfaces.Task`."""
        rows: LaneRows = batch.rows
        parts, start = list[Batch](), rows.lanes.start
        for fed, wanted in zip(rows.fed.tensor_split(n), rows.wanted.tensor_split(n), strict=True):
            some = LaneRows(fed, wanted, slice(start, start := start + len(fed)), rows.goes_on)
            parts.append(Batch(some, wanted.numel(), {"tokens": wanted.numel()}))
        return [part for part in parts if part.units]

    def validate(self, model: nn.Module) -> Validation:
        """Nats per token of the validation text, and the perplexity."""
        nats = self.validation_loss(model)
        return Validation(nats, -nats, "log_prob", others={"perplexity": math.exp(min(nats, 700))})

    def validation_loss(self, model: nn.Module) -> float:
        """Nats per token: in lanes with a carried state, or in windows that stand alone.

        Of a text with more than `valid_tokens` each lane is the beginning of its share. The tokens
        that fill no whole row are left out, as in training.
        """
        size, n_read = self.window * VALID_ROWS, min(self.valid_tokens, len(self.valid))
        batches = StreamBatches(
            n_read, batch_tokens=size, length=self.window, seed=0, in_lanes=self.carries
        )
        n_rows, length = batches.n_rows, batches.length
        share = len(self.valid) // n_rows
        steps = range(0, n_read // n_rows - length + 1, length)

        def nats(some: Sequence[NDArray[Any]]) -> list[float]:
            return [nats_of(lanes) for lanes in some]

        def nats_of(lanes: NDArray[Any]) -> float:
            found, carried = 0.0, None
            for step in steps:
                stretch = self.valid.stretch(lanes * share + step, length)
                fed, wanted = (torch.from_numpy(ids).to(self.device) for ids in stretch)
                rows = LaneRows(fed, wanted, slice(0, len(fed)), False)
                loss, after = self.cross_entropy(model, rows, carried, 0.0)
                carried = after if self.carries else None
                found += float(loss.nll)
            return found

        groups = np.array_split(np.arange(n_rows), min(n_rows, self.world.size))
        return sum(self.world.divided(nats, groups)) / (len(steps) * n_rows * length)

    def state_dict(self) -> TaskState:
        """See `headway.core.training_interfaces.Task`."""
        state: dict[str, Any] = self.stream.state_dict()
        return TaskState(state, dict(self.carried))

    def load_state_dict(self, state: TaskState) -> None:
        """See `headway.core.training_interfaces.Task`."""
        self.stream.load_state_dict(state.countable)
        self.carried = {name: kept.to(self.device) for name, kept in state.tensors.items()}
