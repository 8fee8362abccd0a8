"""Where a model looks: the weights of all its attentions in one pass."""

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple, Protocol, runtime_checkable

import torch
from jaxtyping import Float, Int
from torch import Tensor

from headway.core.attention import MultiHeadAttention
from headway.core.transformer import Transformer


class AttentionWeights(NamedTuple):
    """All weights of one pass; first axis is the layer."""

    encoder: Float[Tensor, "layers batch heads source source"]
    decoder: Float[Tensor, "layers batch heads target target"]
    cross: Float[Tensor, "layers batch heads target source"]


@runtime_checkable
class AttentionModel(Protocol):
    """A model whose attention can be looked at."""

    def look(
        self, source: Int[Tensor, "batch source"], target: Int[Tensor, "batch target"]
    ) -> AttentionWeights:
        """The attention weights of every layer and head in one pass."""
        ...


def look(
    model: Transformer | AttentionModel,
    source: Int[Tensor, "batch source"],
    target: Int[Tensor, "batch target"],
) -> AttentionWeights:
    """The attention weights of every layer and head in one pass; no layers where a Transformer's
    decoder has no cross-attention."""
    if not isinstance(model, Transformer):
        return model.look(source, target)
    across = [one.cross_attention for one in model.decoder if one.cross_attention is not None]
    with (
        watched(one.self_attention for one in model.encoder) as encoder,
        watched(one.self_attention for one in model.decoder) as decoder,
        watched(across) as cross,
    ):
        model.features(source, target)
    none = encoder[0].new_zeros(0, *decoder[0].shape[:3], source.shape[1])
    return AttentionWeights(
        torch.stack(encoder), torch.stack(decoder), torch.stack(cross) if cross else none
    )


@contextmanager
def watched(
    attentions: Iterable[MultiHeadAttention],
) -> Iterator[list[Float[Tensor, "batch heads query key"]]]:
    """While it is open, the weights of every pass through the `attentions` are noted, in order.

    They are computed once more from what went in: without dropout, and by the equation itself.
    """
    maps: list[Tensor] = []

    def note(attention: Any, given: tuple[Any, ...], _: Tensor) -> None:
        maps.append(attention.weights(*given))

    with ExitStack() as hooks:
        for attention in attentions:
            hooks.enter_context(attention.register_forward_hook(note))
        yield maps
