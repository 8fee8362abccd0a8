"""Scaled dot-product attention, its many heads, and who may look at whom (section 3.2).

One convention for masks everywhere: boolean, True = may look; they broadcast against attention
scores `[batch, heads, query, key]`.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, Protocol, TypeVar, runtime_checkable

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from headway.core.dropout import Dropout


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
    bias: Float[Tensor, "#batch #heads #query key"] | None = None,
) -> Float[Tensor, "batch heads query key"]:
    """softmax(Q K^T / sqrt(d_k)) over the visible keys (Vaswani et al. 2017, eq. 1).

    The division keeps the variance of a score at 1 for any d_k, so that softmax does not saturate
    and gradients do not vanish. `mask` says which key each query may look at; `bias` is added to
    the scores. A query that sees no key gets weights of zero, not NaN.
    """
    scores = (query / math.sqrt(query.shape[-1])) @ key.transpose(-2, -1)
    if bias is not None:
        scores = scores + bias.to(scores.dtype)
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
    bias: Float[Tensor, "#batch #heads #query key"] | None = None,
) -> Float[Tensor, "batch heads query d_v"]:
    """Equation 1 word for word: the weights times the values."""
    return attention_weights(query, key, mask, bias) @ value


def attend(
    query: Float[Tensor, "batch heads query d_k"],
    key: Float[Tensor, "batch heads key d_k"],
    value: Float[Tensor, "batch heads key d_v"],
    mask: ReadyMask | None = None,
    bias: Float[Tensor, "#batch #heads query key"] | None = None,
) -> Float[Tensor, "batch heads query d_v"]:
    """Equation 1 in one kernel of torch's, which never writes the weights to memory.

    Not in bfloat16 on a CPU, where its backward is about 2.3 times slower.
    """
    added = None if bias is None else bias.to(query.dtype)
    if mask is not None:
        added = mask.hidden if added is None else added + mask.hidden
    if query.dtype == torch.bfloat16 and not query.is_cuda:
        context = attend_explicitly(query, key, value, None, added)
    else:
        added = added if added is None else added.expand(*query.shape[:-1], key.shape[-2])
        context = F.scaled_dot_product_attention(query, key, value, attn_mask=added)
    return context if mask is None else context * mask.sees_any


Seen = TypeVar("Seen")


@runtime_checkable
class DistanceBias(Protocol):
    """What is added to the score of a query and a key by how far they stand apart."""

    @property
    def keys(self) -> Tensor:
        """What is learned, for each distance: [distances, d_k]."""
        ...

    def __call__(
        self, query: Float[Tensor, "batch heads query d_k"], *, n_keys: int
    ) -> Float[Tensor, "batch heads query key"]:
        """Of queries at 0 .. and keys at 0 .. n_keys - 1."""
        ...

    def at(
        self,
        query: Float[Tensor, "batch heads query d_k"],
        distance: Int[Tensor, "#batch 1 #query key"],
    ) -> Float[Tensor, "batch heads query key"]:
        """The same where each key stands at the given distance behind the query, j - i."""
        ...


class MultiHeadAttention(nn.Module):
    """h attentions side by side, each in its own projection (section 3.2.2).

    `d_k` and `d_v` are d_model / heads in the paper, and may be set. In the paper attention knows
    no positions; `rotary` may turn queries and keys by theirs, given the first, and `relative` adds
    to the scores.
    """

    def __init__(
        self,
        d_model: int,
        heads: int,
        *,
        d_k: int,
        d_v: int,
        dropout: float = 0.0,
        rotary: Callable[..., Tensor] | None = None,
        relative: DistanceBias | None = None,
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

    def forward(
        self,
        x: Float[Tensor, "batch query d_model"],
        memory: Float[Tensor, "batch key d_model"],
        mask: ReadyMask | None = None,
    ) -> Float[Tensor, "batch query d_model"]:
        """Every position of `x` gathers what it needs from `memory`.

        Self-attention when `memory` is `x`, cross-attention when it is what an encoder gave.
        """
        query, key, value, bias = self.projected(x, memory)
        context = self.gather(query, key, value, mask, bias)
        return self.to_output(context.transpose(1, 2).flatten(2))

    def gather(
        self,
        query: Float[Tensor, "batch heads query d_k"],
        key: Float[Tensor, "batch heads key d_k"],
        value: Float[Tensor, "batch heads key d_v"],
        mask: ReadyMask | None = None,
        bias: Float[Tensor, "#batch #heads query key"] | None = None,
    ) -> Float[Tensor, "batch heads query d_v"]:
        """Equation 1 in every head; in training, dropout may fall on the weights."""
        if self.training and self.dropout.probability:
            return self.dropout(attention_weights(query, key, mask, bias)) @ value
        return attend(query, key, value, mask, bias)

    def weights(
        self,
        x: Float[Tensor, "batch query d_model"],
        memory: Float[Tensor, "batch key d_model"],
        mask: ReadyMask | None = None,
    ) -> Float[Tensor, "batch heads query key"]:
        """How much every position of `x` takes of `memory`: without dropout, by equation 1."""
        query, key, _, bias = self.projected(x, memory)
        return attention_weights(query, key, mask, bias)

    window = 0
    """Positions to each side that it sees; 0 = all."""

    def recent(self, state: Seen) -> Seen:
        """What the next step of decoding may see of what came before: all of it."""
        return state

    @staticmethod
    def past(
        length: int, device: torch.device | str | None = None
    ) -> Bool[Tensor, "1 1 query key"] | None:
        """The mask that hides the future from it."""
        return causal_mask(length, device)

    def projected(
        self, x: Float[Tensor, "batch query d_model"], memory: Float[Tensor, "batch key d_model"]
    ) -> tuple[
        Float[Tensor, "batch heads query d_k"],
        Float[Tensor, "batch heads key d_k"],
        Float[Tensor, "batch heads key d_v"],
        Float[Tensor, "batch heads query key"] | None,
    ]:
        """Queries, keys and values of every head, and what relative positions add to the scores."""
        key, value = self.split(self.to_key(memory)), self.split(self.to_value(memory))
        query = self.split(self.to_query(x))
        if self.rotary is not None:
            query, key = self.rotary(query), self.rotary(key)
        bias = None if self.relative is None else self.relative(query, n_keys=key.shape[2])
        return query, key, value, bias

    def split(
        self, x: Float[Tensor, "batch length joined"]
    ) -> Float[Tensor, "batch heads length d_head"]:
        """One long vector per position cut into one short vector per head."""
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)


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

    handles = [attention.register_forward_hook(note) for attention in attentions]
    try:
        yield maps
    finally:
        for handle in handles:
            handle.remove()
