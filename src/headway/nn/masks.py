"""Who may look at whom. One convention everywhere: boolean, True = may look.

Shapes broadcast against attention scores `[batch, heads, query, key]`.
"""

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor


def padding_mask(ids: Int[Tensor, "batch key"], padding: int) -> Bool[Tensor, "batch 1 1 key"]:
    """True where a key is a real token: padding is hidden from every query."""
    return (ids != padding)[:, None, None, :]


def causal_mask(
    length: int, device: torch.device | str | None = None
) -> Bool[Tensor, "1 1 query key"]:
    """Lower triangular, diagonal included: position i may look at positions 0..i."""
    return torch.ones(length, length, dtype=torch.bool, device=device).tril()[None, None]


def additive(
    visible: Bool[Tensor, "*#shape"], dtype: torch.dtype = torch.float32
) -> Float[Tensor, "*#shape"]:
    """The same mask as a number to add to the scores: 0 where visible, minus infinity elsewhere."""
    hidden = torch.zeros(visible.shape, dtype=dtype, device=visible.device)
    return hidden.masked_fill_(~visible, float("-inf"))


class ReadyMask(NamedTuple):
    """A mask in the form that attention computes with: made once, used by every layer."""

    hidden: Float[Tensor, "#batch #heads #query key"]
    """To be added to the scores; a query that sees no key has zeros here, so that none is NaN."""
    sees_any: Bool[Tensor, "#batch #heads #query 1"]
    """To multiply the result by: a query that sees no key gets zeros."""

    @classmethod
    def of(
        cls,
        visible: Bool[Tensor, "#batch #heads #query key"],
        dtype: torch.dtype = torch.float32,
    ) -> "ReadyMask":
        """`visible[b, h, i, j]` is True where query i may look at key j."""
        sees_any = visible.any(-1, keepdim=True)
        return cls(additive(visible | ~sees_any, dtype), sees_any)
