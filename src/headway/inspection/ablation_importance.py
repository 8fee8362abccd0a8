"""The importance of every head and sub-layer to one text, by ablation: how much less likely the
translation becomes without it."""

from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any, NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from headway.core.embedding import project
from headway.inspection.ablation import Sublayer, layers_of, passed_by, silenced, sublayers

ROWS = 16
"""Passes that are computed together."""
MOST_WORK = 1e12
"""Multiplications for one text, of which a machine with two cores does some 5e10 in a second."""
_TOKENS = 512
"""Whose logits are in memory at a time."""


class AblatedSublayer(NamedTuple):
    """A sub-layer, and what becomes of the text without it or its heads."""

    name: str
    """Such as `decoder.1.cross`."""
    fall: float
    """Of the log-probability (nats) of the whole translation, without the sub-layer."""
    heads: list[float]
    """The same without one of its heads; none of a feed-forward."""


def too_expensive(model: nn.Module, source: Sequence[int], fed: Sequence[int]) -> bool:
    """Whether all passes together would keep a reader waiting."""
    n_rows = sum(1 + _n_heads(one) for one in _all(model).values())
    n_parameters = sum(parameter.numel() for parameter in model.parameters())
    return n_rows * (len(source) + len(fed)) * n_parameters > MOST_WORK


@torch.inference_mode()
def ablation_importance(
    model: nn.Module, source: Sequence[int], fed: Sequence[int], wanted: Sequence[int]
) -> list[AblatedSublayer]:
    """Of every sub-layer of a Transformer. `wanted` follows each token that is fed, at last the end
    marker. One pass each, a few together."""
    places = _all(model)
    rows = [(name, head) for name, one in places.items() for head in range(-1, _n_heads(one))]
    log_probs: list[float] = []
    for begin in range(0, len(rows), ROWS):
        some = rows[begin : begin + ROWS]
        with ExitStack() as stack:
            for name, sublayer in places.items():
                _switch(stack, sublayer, [head if name == of else None for of, head in some])
            log_probs += log_probs_of(model, source, fed, wanted, len(some)).tolist()
    [whole] = log_probs_of(model, source, fed, wanted, 1).tolist()
    falls = {row: whole - log_prob for row, log_prob in zip(rows, log_probs, strict=True)}
    return [
        AblatedSublayer(name, falls[name, -1], [falls[name, head] for head in range(_n_heads(one))])
        for name, one in places.items()
    ]


def log_probs_of(
    model: Any, source: Sequence[int], fed: Sequence[int], wanted: Sequence[int], n_rows: int
) -> Float[Tensor, " rows"]:
    """Of the whole target, in so many rows of the same text."""
    device = model.output_weight.device

    def row(ids: Sequence[int]) -> Int[Tensor, "rows length"]:
        return torch.tensor(ids, device=device).expand(n_rows, -1)

    features = model.features(row(source), row(fed)) if source else model.read(row(fed)).features
    truth, found = row(wanted).flatten(), list[Tensor]()
    for some, next_ids in zip(
        features.flatten(0, 1).split(_TOKENS), truth.split(_TOKENS), strict=True
    ):
        logits = project(some, model.output_weight, model.output_bias).float()
        found.append(logits.gather(1, next_ids[:, None]).squeeze(1) - logits.logsumexp(1))
    return torch.cat(found).view(n_rows, -1).sum(1)


def _all(model: nn.Module) -> dict[str, Sublayer]:
    return {
        f"{path}.{one.name}": one
        for path, layer in layers_of(model).items()
        for one in sublayers(layer)
    }


def _n_heads(sublayer: Sublayer) -> int:
    return 0 if sublayer.attention is None else sublayer.attention.heads


def _switch(stack: ExitStack, sublayer: Sublayer, heads: Sequence[int | None]) -> None:
    """For each row of a batch a head that is off, -1 for the whole sub-layer, or None."""
    passed = torch.tensor([head == -1 for head in heads])
    if passed.any():
        stack.enter_context(passed_by(sublayer.around, passed))
    if sublayer.attention is not None:
        number = torch.tensor([-1 if head is None else head for head in heads])
        off = number[:, None] == torch.arange(sublayer.attention.heads)
        if off.any():
            stack.enter_context(silenced(sublayer.attention, off))
