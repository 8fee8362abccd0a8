"""Low-rank adapters (LoRA, Hu et al. 2021): what is learned beside matrices that stay as they are.

A matrix W of the projections of attention and of the feed-forward becomes W + 2 B A, where A and B
have few rows and columns: the paper's alpha is twice the rank. B begins as zeros, so nothing is
changed at first. Laid into W it costs nothing in use.
"""

import math
from collections.abc import Container
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from headway.core.attention import MultiHeadAttention
from headway.core.errors import ConfigError
from headway.core.layers import FeedForward

SCALE = 2.0
"""alpha / rank."""
DOWN, UP = "lora_down", "lora_up"
"""What a matrix calls its A, `[rank, inputs]`, and its B, `[outputs, rank]`."""


def adaptable(model: nn.Module, places: tuple[str, ...]) -> dict[str, nn.Linear]:
    """The projections of attention and feed-forward below some places, by name."""
    found = {}
    for name, module in model.named_modules():
        if isinstance(module, MultiHeadAttention | FeedForward) and f"{name}.".startswith(places):
            for own, child in module.named_children():
                if isinstance(child, nn.Linear):
                    found[f"{name}.{own}"] = child
    return found


def lay(
    model: nn.Module, rank: int, places: tuple[str, ...], frozen: Container[str] = ()
) -> list[str]:
    """Give the projections below some places adapters, drawn from torch's generator; their names.
    Those whose weights are `frozen` get none.

    Raises ConfigError where there are none, or where the rank is no less than their size.
    """
    found = adaptable(model, places)
    matrices = {name: one for name, one in found.items() if f"{name}.weight" not in frozen}
    if not matrices:
        none = "all of them are frozen" if found else "this type of model has none"
        raise ConfigError(
            "adapters are laid on the projections of attention and feed-forward; "
            f"{none}. Leave --training.lora-rank out."
        )
    most = min(min(matrix.weight.shape) for matrix in matrices.values())
    if rank > most:
        raise ConfigError(
            f"the rank of adapters is at most the size of the matrices, {most}; got {rank}. Try 8."
        )
    for matrix in matrices.values():
        adapt(matrix, rank)
    return list(matrices)


def adapt(matrix: nn.Linear, rank: int) -> None:
    """Give one matrix an adapter; it stays as it is itself."""
    down = matrix.weight.new_empty(rank, matrix.in_features)
    up = matrix.weight.new_empty(matrix.out_features, rank)
    nn.init.kaiming_uniform_(down, a=math.sqrt(5))
    matrix.register_parameter(DOWN, nn.Parameter(down))
    matrix.register_parameter(UP, nn.Parameter(nn.init.zeros_(up)))
    matrix.register_forward_hook(_adapted)


def _adapted(matrix: Any, inputs: tuple[Tensor], output: Tensor) -> Tensor:
    low = F.linear(inputs[0], matrix.lora_down)
    return torch.add(output, F.linear(low, matrix.lora_up), alpha=SCALE)


def merge(weight: Tensor, down: Tensor, up: Tensor, out: Tensor) -> Tensor:
    """W + 2 B A, written into `out`."""
    return torch.addmm(weight, up, down, alpha=SCALE, out=out)
