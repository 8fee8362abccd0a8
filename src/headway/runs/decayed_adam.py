"""The optimizer of a training whose weights decay (`training.weight_decay`), when they do, and the
optimizer of any training that is not the plain one."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from headway.core.optimizer import FlatAdam
from headway.core.training_interfaces import Callback
from headway.operations.time_budget import PlannedTraining
from headway.runs.settings import presets_of_type
from headway.runs.task_spec import Run
from headway.runs.tuned_adam import UNFREEZE, TunedAdam

OF_FEW_PAIRS, OF_OFTEN_SEEN = 0.3, 0.1
"""Decay of weights that is fitted (docs/lab-notes.md)."""


class DecayedAdam(FlatAdam):
    """A `FlatAdam` with decoupled weight decay (Loshchilov and Hutter 2019): before each update a
    matrix loses the learning rate times `weight_decay` of itself. Embeddings are matrices; biases
    and norms stay."""

    def __init__(
        self,
        model: nn.Module,
        dtype: torch.dtype,
        *,
        betas: tuple[float, float],
        epsilon: float,
        weight_decay: float,
    ) -> None:
        super().__init__(model, dtype, betas=betas, epsilon=epsilon)
        each = [torch.full((s.numel(),), float(len(s) > 1)) for s in self.shapes.values()]
        self.decaying = torch.cat(each).to(self.masters.device)
        self.weight_decay = weight_decay

    def step(self, learning_rate: float, clip_norm: float) -> Tensor:
        """See `FlatAdam`."""
        now = self.masters.data
        now.addcmul_(now, self.decaying, value=-learning_rate * self.weight_decay)
        return super().step(learning_rate, clip_norm)


def fit_decay(run: Run, training: PlannedTraining, *, few: bool) -> PlannedTraining:
    """Weights of a Transformer decay that sees few pairs often, or any 100 times, unless something
    was said of it.

    Not where parts learn apart, and not of another type of model, of which it was not measured.
    """
    usual = presets_of_type(run.spec, run.spec.default_model) if run.spec.begun_at_pairs else ()
    given = "weight_decay" in run.given.get("training", {})
    if training.in_parts or given or run.preset not in usual:
        return training
    decay = OF_FEW_PAIRS if few else OF_OFTEN_SEEN
    often = "few pairs, which will be seen about 10" if few else "the corpus will be seen about 100"
    run.say(f"weight decay {decay}: {often} times or more")
    return replace(training, weight_decay=decay)


def other_optimizer(
    eval_model: nn.Module, training: PlannedTraining, callbacks: Sequence[Callback]
) -> dict[str, Any]:
    """What `headway.core.learning.trainer_of` is given where not all weights learn alike, or they
    decay."""
    if training.weight_decay:
        return {"of_kind": partial(DecayedAdam, weight_decay=training.weight_decay)}
    kind = partial(TunedAdam, eval_model=eval_model, training=training)
    return {"of_kind": kind, "callbacks": (*callbacks, UNFREEZE)}
