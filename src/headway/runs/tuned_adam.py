"""The optimizer of a training in which not all weights learn alike: some stay, for good or for a
while, some learn more slowly, some learn only what an adapter adds to them."""

import ctypes
import math
import re
from collections.abc import Mapping
from contextlib import suppress
from copy import deepcopy
from typing import Any

import torch
from torch import Tensor, nn

from headway.core.errors import ConfigError
from headway.core.optimizer import FlatAdam, copy_weights
from headway.core.training_interfaces import Callback
from headway.nn import lora
from headway.operations.frozen import all_parameters, freeze, in_words, trunk_of
from headway.operations.time_budget import PlannedTraining

OUTPUT = ("output_weight", "output_bias")


class TunedAdam(FlatAdam):
    """A `FlatAdam` for a model of which parts stay (`freeze`), for a share of the updates
    (`unfreeze_at`), learn more slowly the further they are from the head (`layer_decay`), or have
    adapters (`lora_rank`).

    What stays is held once in float32, by `model` and `eval_model` together. Weights that adapters
    change are given with these laid in, under their own names.
    """

    def __init__(
        self,
        model: nn.Module,
        dtype: torch.dtype,
        *,
        betas: tuple[float, float],
        epsilon: float,
        eval_model: nn.Module,
        training: PlannedTraining,
    ) -> None:
        self.model, self.training = model, training
        self.adapted = prepare(model, training)
        super().__init__(model, dtype, betas=betas, epsilon=epsilon)
        self.own = own = dict(eval_model.named_parameters())
        matrices = {f"{name}.weight" for name in self.adapted}
        for name in self.frozen_masters.keys() - matrices:
            own[name].data = self.frozen_masters[name]
        for name in matrices:
            own[name].data = torch.empty_like(own[name])  # written when adapters are laid in
        self.merged = {name: own[f"{name}.weight"].data for name in self.adapted}
        self.shares: Tensor | None = None
        if training.layer_decay < 1:
            rates = rate_shares(model, training.layer_decay)
            each = [torch.full((s.numel(),), rates[n]) for n, s in self.shapes.items()]
            self.shares = torch.cat(each).to(self.masters.device)
        self.unfreeze_step, self.waits = unfreeze_step(training), False
        self.refreeze()

    def step(self, learning_rate: float, clip_norm: float) -> Tensor:
        """See `FlatAdam`; an update is shortened by the share of each weight."""
        before = None if self.shares is None else self.masters.detach().clone()
        norm = super().step(learning_rate, clip_norm)
        if self.shares is not None and before is not None:
            self.masters.data.copy_(before.lerp(self.masters.data, self.shares))
            self.rounded.copy_(self.masters.data[: self.n_rounded])
        self.refreeze()
        return norm

    def refreeze(self) -> None:
        """Have parts stay until their step. They have a place among what is learned; without
        gradients Adam leaves them as they are, to the bit."""
        if not self.training.unfreeze_at:
            return
        before, n_updates = self.waits, int(self.steps)
        self.waits = n_updates < self.unfreeze_step
        if self.waits and not before:
            freeze(self.model, self.training.freeze)
        elif before and not self.waits:
            self.model.train().requires_grad_(True)

    # -- adapters -----------------------------------------------------------------------------

    def weights(self) -> dict[str, Tensor]:
        """See `FlatAdam`; adapters are laid into their matrices."""
        found = super().weights()
        for name in self.adapted:
            down, up = (found.pop(f"{name}.{part}") for part in (lora.DOWN, lora.UP))
            weight = found[f"{name}.weight"]
            found[f"{name}.weight"] = lora.merge(weight, down, up, self.merged[name])
        return found

    def state_dict(self) -> dict[str, Tensor]:
        """See `FlatAdam`; with adapters, and their matrices as they are without them."""
        state, own = super().state_dict(), super().weights()
        for name in self.adapted:
            for part in ("weight", lora.DOWN, lora.UP):
                state[f"adapted.{name}.{part}"] = own[f"{name}.{part}"]
        return state

    def load_state_dict(self, weights: Mapping[str, Tensor], state: Mapping[str, Tensor]) -> None:
        """See `FlatAdam`."""
        changed = {f"{name}.weight": weights[f"{name}.weight"].clone() for name in self.adapted}
        super().load_state_dict({**weights, **changed}, state)
        self.round()
        self.refreeze()

    def take(self, weights: Mapping[str, Tensor]) -> None:
        """See `FlatAdam`; adapters stay, and their matrices become these."""
        learned = super().weights()
        for name in self.adapted:
            del learned[f"{name}.{lora.DOWN}"], learned[f"{name}.{lora.UP}"]
        for name, held in self.frozen_masters.items():
            found = weights.get(name)
            if found is not None and (found.shape, found.dtype) == (held.shape, held.dtype):
                self.stay_as(name, learned.pop(name), found)
        copy_weights(weights, learned)
        self.round()
        give_back_memory()

    def stay_as(self, name: str, held: Tensor, found: Tensor) -> None:
        """Have a weight stay as it was `found`: not copied on a CPU, as it may be pages of a file,
        which take no memory of the process."""
        if found.device != held.device:
            held.copy_(found)
            return
        self.frozen_masters[name] = found
        self.frozen[name].data = found.to(self.frozen[name].dtype)
        if self.own[name].data_ptr() == held.data_ptr():
            self.own[name].data = found


def give_back_memory() -> None:
    """Have the system get what tensors no longer need: glibc keeps it, although a model that was
    drawn and replaced is never needed again."""
    with suppress(OSError, AttributeError):  # another C library
        ctypes.CDLL(None).malloc_trim(0)


def twin(model: nn.Module) -> nn.Module:
    """The same once more, in parameters of its own, whose numbers are the model's until either is
    given others: so a large model is never in memory twice."""
    own = {id(p): nn.Parameter(p.detach(), requires_grad=False) for p in model.parameters()}
    return deepcopy(model, own)


# -- who stays, and how fast the others learn -------------------------------------------------


def stacks_of(model: nn.Module) -> list[Mapping[str, str]]:
    """Where the trunk is, and what writes; nothing of a model that does not say."""
    found = (trunk_of(model), getattr(model, "writer", {}))
    return [places for places in found if places]


def prepare(model: nn.Module, training: PlannedTraining) -> list[str]:
    """Have the model learn only what it is to learn from the first update to the last; the names of
    the matrices that have adapters.

    Raises ConfigError for parts that it has not.
    """
    adapted = []
    still = training.freeze and not training.unfreeze_at
    frozen = freeze(model, training.freeze) if still else []
    if training.lora_rank:
        stacks = tuple(f"{places['layers']}." for places in stacks_of(model))
        first = {place.partition(".")[0] for one in stacks_of(model) for place in one.values()}
        for name, parameter in all_parameters(model):
            if name.partition(".")[0] in first:
                parameter.requires_grad_(False)
        adapted = lora.lay(model, training.lora_rank, stacks, frozen)
    return adapted


def rate_shares(model: nn.Module, decay: float) -> dict[str, float]:
    """Of the learning rate, for each parameter: 1 for the head and the last norm, `decay` for the
    layer below it, its square for the next, .. and what reads the input has the least. One that
    several share has the least of theirs.

    Raises ConfigError for a model that has no trunk.
    """
    saved = {id(parameter): name for name, parameter in model.named_parameters()}
    shares = dict.fromkeys(saved.values(), 1.0)
    if not stacks_of(model):
        raise ConfigError(
            "layers learn more slowly the further they are from the head where a model has a "
            "trunk; this type has none. Leave --training.layer-decay out."
        )
    for places in stacks_of(model):
        first = tuple(f"{place.partition('.')[0]}." for place in places.values())
        top = tuple(f"{places[one]}." for one in ("norm", *OUTPUT) if one in places)
        every = ((f"{name}.", saved[id(p)]) for name, p in all_parameters(model))
        names = {name: own for name, own in every if name.startswith(first)}
        layer = re.compile(rf"{re.escape(places['layers'])}\.(\d+)\.")
        numbers = {name: int(found[1]) for name in names if (found := layer.match(name))}
        n_layers = 1 + max(numbers.values(), default=-1)
        for name, own in names.items():
            if not name.startswith(top):
                shares[own] = min(shares[own], decay ** (n_layers - numbers.get(name, -1)))
    return shares


def unfreeze_step(training: PlannedTraining) -> int:
    """The first update after which frozen parts learn."""
    return math.ceil(training.unfreeze_at * training.end())


def replan(trainer: Any, _state: Any = None) -> None:
    """Have parts stay for a share of what is planned now."""
    trainer.optimizer.unfreeze_step = unfreeze_step(trainer.settings)
    trainer.optimizer.refreeze()


UNFREEZE = Callback(on_validation=replan, load_state_dict=replan)
"""For a training whose parts stay for a share of its updates."""


def described_tuning(model: nn.Module, training: PlannedTraining) -> str:
    """What learns and what stays, in words."""
    parts = list(training.freeze)
    if training.lora_rank:
        parts.append(f"all but adapters of rank {training.lora_rank} and what stands on the trunk")
    said = in_words(model, parts) if parts else ""
    if training.unfreeze_at:
        said += f"; all after update {unfreeze_step(training):,} of {training.end():,}"
    if training.layer_decay < 1:
        shares = sorted({*rate_shares(model, training.layer_decay).values()})
        said += f"{'; ' * bool(said)}learning rates from {shares[0]:.3g} to 1 of the peak, by layer"
    return said
