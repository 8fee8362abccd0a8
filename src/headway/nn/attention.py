"""Scaled dot-product attention and its many heads (Vaswani et al. 2017, section 3.2)."""

import math
from typing import NamedTuple, Self

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from headway.nn.dropout import Dropout
from headway.nn.masks import additive
from headway.nn.positions import RelativePositions, rotate

Weights = list[Float[Tensor, "batch heads query key"]]
"""Where attention weights are collected when somebody wants to look at them."""


def attention_weights(
    query: Float[Tensor, "batch heads query d_k"],
    key: Float[Tensor, "batch heads key d_k"],
    visible: Bool[Tensor, "#batch #heads #query key"] | None = None,
    bias: Float[Tensor, "#batch #heads query key"] | None = None,
) -> Float[Tensor, "batch heads query key"]:
    """softmax(Q K^T / sqrt(d_k)) over the visible keys (Vaswani et al. 2017, eq. 1).

    The division keeps the variance of a score at 1 for any d_k, so that softmax does not saturate
    and gradients do not vanish. `visible[b, h, i, j]` is True where query i may look at key j;
    `bias` is added to the scores. A query that sees no key gets weights of zero, not NaN.
    """
    scores = (query / math.sqrt(query.shape[-1])) @ key.transpose(-2, -1)
    if bias is not None:
        scores = scores + bias.to(scores.dtype)
    if visible is None:
        return softmax(scores)
    sees_any = visible.any(-1, keepdim=True)
    scores = scores + additive(visible | ~sees_any, scores.dtype)
    return softmax(scores) * sees_any


def softmax(
    scores: Float[Tensor, "batch heads query key"],
) -> Float[Tensor, "batch heads query key"]:
    """Over the keys, computed in float32: more exact, and on a CPU faster than in bfloat16."""
    return scores.softmax(-1, dtype=torch.float32).to(scores.dtype)


def attend_explicitly(
    query: Float[Tensor, "batch heads query d_k"],
    key: Float[Tensor, "batch heads key d_k"],
    value: Float[Tensor, "batch heads key d_v"],
    visible: Bool[Tensor, "#batch #heads #query key"] | None = None,
    bias: Float[Tensor, "#batch #heads query key"] | None = None,
) -> Float[Tensor, "batch heads query d_v"]:
    """Equation 1 word for word: the weights times the values."""
    return attention_weights(query, key, visible, bias) @ value


def attend_fused(
    query: Float[Tensor, "batch heads query d_k"],
    key: Float[Tensor, "batch heads key d_k"],
    value: Float[Tensor, "batch heads key d_v"],
    visible: Bool[Tensor, "#batch #heads #query key"] | None = None,
    bias: Float[Tensor, "#batch #heads query key"] | None = None,
) -> Float[Tensor, "batch heads query d_v"]:
    """Equation 1 in one kernel of torch's, which never writes the weights to memory."""
    mask, sees_any = None if bias is None else bias.to(query.dtype), None
    if visible is not None:
        sees_any = visible.any(-1, keepdim=True)
        hidden = additive(visible | ~sees_any, query.dtype)
        mask = hidden if mask is None else mask + hidden
    if mask is not None:
        mask = mask.expand(*query.shape[:-1], key.shape[-2])
    context = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
    return context if sees_any is None else context * sees_any


def attend(
    query: Float[Tensor, "batch heads query d_k"],
    key: Float[Tensor, "batch heads key d_k"],
    value: Float[Tensor, "batch heads key d_v"],
    visible: Bool[Tensor, "#batch #heads #query key"] | None = None,
    bias: Float[Tensor, "#batch #heads query key"] | None = None,
) -> Float[Tensor, "batch heads query d_v"]:
    """Equation 1 by whichever kernel is fast here; they are equal but for rounding.

    The fused one, except in bfloat16 on a CPU, where its backward is about 2.3 times slower.
    """
    slow = query.dtype == torch.bfloat16 and not query.is_cuda
    kernel = attend_explicitly if slow else attend_fused
    return kernel(query, key, value, visible, bias)


class KeysAndValues(NamedTuple):
    """What queries look at: one key and one value per position and head."""

    keys: Float[Tensor, "batch heads key d_k"]
    values: Float[Tensor, "batch heads key d_v"]

    def append(self, other: Self) -> "KeysAndValues":
        """Later positions put behind these: the cache of step-by-step decoding grows so."""
        return KeysAndValues(
            torch.cat([self.keys, other.keys], dim=2), torch.cat([self.values, other.values], dim=2)
        )

    def select(self, rows: Int[Tensor, " kept"]) -> "KeysAndValues":
        """The given rows of the batch, in that order."""
        return KeysAndValues(self.keys.index_select(0, rows), self.values.index_select(0, rows))


class MultiHeadAttention(nn.Module):
    """h attentions side by side, each in its own projection (section 3.2.2).

    Self-attention when `memory` comes from `x` itself, cross-attention when it comes from the
    encoder. `d_k` and `d_v` are d_model / heads in the paper, and may be set.
    """

    def __init__(
        self,
        d_model: int,
        heads: int,
        *,
        d_k: int,
        d_v: int,
        dropout: float = 0.0,
        rotary: bool = False,
        relative: RelativePositions | None = None,
    ) -> None:
        super().__init__()
        self.heads = heads
        self.rotary = rotary
        self.relative = relative
        self.to_query = nn.Linear(d_model, heads * d_k)
        self.to_key = nn.Linear(d_model, heads * d_k)
        self.to_value = nn.Linear(d_model, heads * d_v)
        self.to_output = nn.Linear(heads * d_v, d_model)
        self.dropout = Dropout(dropout)

    def split(
        self, x: Float[Tensor, "batch length joined"]
    ) -> Float[Tensor, "batch heads length d_head"]:
        """One long vector per position cut into one short vector per head."""
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def keys_and_values(
        self, memory: Float[Tensor, "batch key d_model"], first: int = 0
    ) -> KeysAndValues:
        """Project what will be looked at; `first` is the position of its first token."""
        keys = self.split(self.to_key(memory))
        if self.rotary:
            keys = rotate(keys, first)
        return KeysAndValues(keys, self.split(self.to_value(memory)))

    def forward(
        self,
        x: Float[Tensor, "batch query d_model"],
        memory: KeysAndValues,
        visible: Bool[Tensor, "#batch #heads #query key"] | None = None,
        *,
        first: int = 0,
        look: Weights | None = None,
    ) -> Float[Tensor, "batch query d_model"]:
        """Every position of `x` gathers what it needs from `memory`.

        `first` is the position of x's first token (not 0 when decoding with a cache). Weights are
        appended to `look` if it is given.
        """
        query = self.split(self.to_query(x))
        if self.rotary:
            query = rotate(query, first)
        bias = None
        if self.relative is not None:
            bias = self.relative(query, n_keys=memory.keys.shape[2], first=first)
        if look is None and not (self.training and self.dropout.probability):
            context = attend(query, memory.keys, memory.values, visible, bias)
        else:
            weights = attention_weights(query, memory.keys, visible, bias)
            if look is not None:
                look.append(weights)
            context = self.dropout(weights) @ memory.values
        return self.to_output(context.transpose(1, 2).flatten(2))
