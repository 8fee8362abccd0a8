"""What makes a GPU busier: batches made ahead, layers compiled by torch (`training.compile`), and
batches of one shape asked for at once."""

import os
import shutil
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from headway.core.dropout import Dropout
from headway.core.errors import ConfigError
from headway.core.layers import Layer
from headway.operations.captured import Captured
from headway.operations.prefetching import prefetch
from headway.operations.time_budget import PlannedTraining


def accelerate(model: nn.Module, task: Any, training: PlannedTraining) -> None:
    """Whatever was asked for, and what always pays on a GPU."""
    one_shape = bool(getattr(training, "pack_length", 0))
    if training.compile:
        compile_layers(model, one_shape=one_shape)
    if next(model.parameters()).is_cuda:
        prefetch(task)
        if one_shape and not training.in_parts:  # what learns is recorded once, and stays so
            replay(model, task)


class CompiledDropout(Dropout):
    """A dropout that a compiler can take in: its probability is a tensor, so that a strength that
    grows compiles nothing anew. Its random numbers are others than those of `Dropout`."""

    def __init__(self, probability: float, device: torch.device) -> None:
        self.dropped = torch.tensor(probability, device=device)
        super().__init__(probability)

    @property
    def strength(self) -> float:
        """See `Dropout`."""
        return self._strength

    @strength.setter
    def strength(self, strength: float) -> None:
        if strength != getattr(self, "_strength", self.probability):
            self.dropped.fill_(strength)
        self._strength = strength

    def forward(self, x: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
        """See `Dropout`."""
        if not (self.training and self.probability):
            return x
        kept = torch.rand_like(x, dtype=torch.float32) >= self.dropped
        return x * (kept / (1 - self.dropped)).to(x.dtype)


def compile_layers(model: nn.Module, *, one_shape: bool, backend: str = "inductor") -> None:
    """Have the layers of a model compiled when they are first used; their names stay.

    With batches of `one_shape` each kind of layer is compiled for it, else for any shape. Raises
    ConfigError for a model that is not made of the Transformer's layers, or without a compiler.
    """
    layers = [module for module in model.modules() if isinstance(module, Layer)]
    if not layers:
        raise ConfigError(
            f"training.compile is for models made of the Transformer's layers; got "
            f"{type(model).__name__}. Leave it out."
        )
    device = next(model.parameters()).device
    compilers = os.environ.get("CXX", "g++"), "clang++"
    if device.type == "cpu" and backend == "inductor" and not any(map(shutil.which, compilers)):
        raise ConfigError(
            f"training.compile needs a C++ compiler; found neither {' nor '.join(compilers)}. "
            "Install g++, or leave it out."
        )
    # Its compiler hears of deterministic mode by this call alone.
    torch.use_deterministic_algorithms(torch.are_deterministic_algorithms_enabled())
    for layer in layers:
        strengths_in_tensors(layer)
        how: dict[str, Any] = {"dynamic": not one_shape, "backend": backend}
        layer.compile(**how)


def strengths_in_tensors(model: nn.Module) -> None:
    """Give it dropouts that can grow where what it does is compiled, or recorded."""
    device = next(model.parameters()).device
    for parent in [*model.modules()]:
        for name, part in parent.named_children():
            if type(part) is Dropout:
                setattr(parent, name, CompiledDropout(part.probability, device))


def replay(model: nn.Module, task: Any) -> None:
    """Have a task's losses, of batches of one shape, recorded once and replayed from then on."""
    strengths_in_tensors(model)
    task.loss_of = Captured(model, task.loss_of)
