"""Who may look at whom. One convention everywhere: boolean, True = may look.

Shapes broadcast against attention scores `[batch, heads, query, key]`.
"""

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
