"""Scaled dot-product attention, its many heads, and who may look at whom (section 3.2).

One convention for masks everywhere: boolean, True = may look; they broadcast against attention
scores `[batch, heads, query, key]`.
"""

import math
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel

from headway.core.dropout import Dropout

ON_GPU = [SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]


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
        cls, visible: Bool[Tensor, "#batch #heads #query key"], dtype: torch.dtype = torch.float32
    ) -> "ReadyMask":
        """`visible[b, h, i, j]` is True where query i may look at key j."""
        sees_any = visible.any(-1, keepdim=True)
        return cls(additive(visible | ~sees_any, dtype), sees_any)


def attention_weights(
    query: Float[Tensor, "batch heads query d_k"],
    key: Float[Tensor, "batch heads key d_k"],
    mask: ReadyMask | None = None,
) -> Float[Tensor, "batch heads query key"]:
    """softmax(Q K^T / sqrt(d_k)) over the visible keys (Vaswani et al. 2017, eq. 1).

    The division keeps the variance of a score at 1 for any d_k, so that softmax does not saturate
    and gradients do not vanish. A query that sees no key gets weights of zero, not NaN.
    """
    scores = (query / math.sqrt(query.shape[-1])) @ key.transpose(-2, -1)
    return masked_softmax(scores, mask)


def masked_softmax(
    scores: Float[Tensor, "batch heads query key"], mask: ReadyMask | None
) -> Float[Tensor, "batch heads query key"]:
    """Over the visible keys; zeros where there is none."""
    if mask is None:
        return softmax(scores)
    return softmax(scores + mask.hidden) * mask.sees_any


def softmax(scores: Float[Tensor, "*batch query key"]) -> Float[Tensor, "*batch query key"]:
    """Over the keys, computed in float32: more exact, and on a CPU faster than in bfloat16."""
    return scores.softmax(-1, dtype=torch.float32).to(scores.dtype)


def attend_explicitly(
    query: Float[Tensor, "batch heads query d_k"],
    key: Float[Tensor, "batch heads key d_k"],
    value: Float[Tensor, "batch heads key d_v"],
    mask: ReadyMask | None = None,
) -> Float[Tensor, "batch heads query d_v"]:
    """Equation 1 word for word: the weights times the values."""
    return attention_weights(query, key, mask) @ value


def attend(
    query: Float[Tensor, "batch heads query d_k"],
    key: Float[Tensor, "batch heads key d_k"],
    value: Float[Tensor, "batch heads key d_v"],
    mask: ReadyMask | None = None,
) -> Float[Tensor, "batch heads query d_v"]:
    """Equation 1 in one kernel of torch's, which never writes the weights to memory.

    Not in bfloat16 on a CPU, where its backward is about 2.3 times slower; and on a GPU not by
    cuDNN, which plans 13 ms for every new shape.
    """
    hidden = None if mask is None else mask.hidden.expand(*query.shape[:-1], key.shape[-2])
    if query.dtype == torch.bfloat16 and not query.is_cuda:
        scores = (query / math.sqrt(query.shape[-1])) @ key.transpose(-2, -1)
        context = softmax(scores if hidden is None else scores + hidden) @ value
    elif query.is_cuda:
        with sdpa_kernel(ON_GPU):
            context = F.scaled_dot_product_attention(query, key, value, attn_mask=hidden)
    else:
        context = F.scaled_dot_product_attention(query, key, value, attn_mask=hidden)
    return context if mask is None else context * mask.sees_any


class MultiHeadAttention(nn.Module):
    """h attentions side by side, each in its own projection (section 3.2.2).

    `d_k` and `d_v` are d_model / heads in the paper, and may be set. It knows no positions; kinds
    that do, and windows, are `headway.nn.positions` and `headway.nn.windowed`.
    """

    def __init__(
        self, d_model: int, heads: int, *, d_k: int, d_v: int, dropout: float = 0.0
    ) -> None:
        super().__init__()
        self.heads = heads
        self.to_query = nn.Linear(d_model, heads * d_k)
        self.to_key = nn.Linear(d_model, heads * d_k)
        self.to_value = nn.Linear(d_model, heads * d_v)
        self.to_output = nn.Linear(heads * d_v, d_model)
        self.dropout = Dropout(dropout)

    def forward(
        self,
        x: Float[Tensor, "batch query d_model"],
        memory: Float[Tensor, "batch key d_model"],
        mask: ReadyMask | None = None,
    ) -> Float[Tensor, "batch query d_model"]:
        """Every position of `x` gathers what it needs from `memory`.

        Self-attention when `memory` is `x`, cross-attention when it is what an encoder gave.
        """
        context = self.gather(*self.projected(x, memory), mask)
        return self.to_output(context.transpose(1, 2).flatten(2))

    def gather(
        self,
        query: Float[Tensor, "batch heads query d_k"],
        key: Float[Tensor, "batch heads key d_k"],
        value: Float[Tensor, "batch heads key d_v"],
        mask: ReadyMask | None = None,
    ) -> Float[Tensor, "batch heads query d_v"]:
        """Equation 1 in every head; in training, dropout may fall on the weights."""
        if self.training and self.dropout.probability:
            return self.dropout(attention_weights(query, key, mask)) @ value
        return attend(query, key, value, mask)

    def weights(
        self,
        x: Float[Tensor, "batch query d_model"],
        memory: Float[Tensor, "batch key d_model"],
        mask: ReadyMask | None = None,
    ) -> Float[Tensor, "batch heads query key"]:
        """How much every position of `x` takes of `memory`: without dropout, by equation 1."""
        query, key, _ = self.projected(x, memory)
        return attention_weights(query, key, mask)

    def projected(
        self, x: Float[Tensor, "batch query d_model"], memory: Float[Tensor, "batch key d_model"]
    ) -> tuple[
        Float[Tensor, "batch heads query d_k"],
        Float[Tensor, "batch heads key d_k"],
        Float[Tensor, "batch heads key d_v"],
    ]:
        """Queries, keys and values of every head."""
        key, value = self.split(self.to_key(memory)), self.split(self.to_value(memory))
        query = self.split(self.to_query(x))
        return query, key, value

    def split(
        self, x: Float[Tensor, "batch length joined"]
    ) -> Float[Tensor, "batch heads length d_head"]:
        """One long vector per position cut into one short vector per head."""
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    # What `headway.core.kv_cache` asks of it at a step of decoding, for kinds that know positions.

    def recent(self, state: Any) -> Any:
        """The `StackState` as it is seen from the next token: all of it."""
        return state

    def at_step(
        self, query: Tensor, key: Tensor, hidden: Tensor, distance: Tensor, position: int
    ) -> tuple[Tensor, Tensor, Tensor]:
        """`[sentences, heads, each, d_k]` twice of tokens at `position`, and what is added to their
        scores, `[sentences * heads, each, slots]`; `distance` of each slot, `[sentences, slots]`.
        """
        return query, key, hidden
