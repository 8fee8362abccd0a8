"""Scaled dot-product attention and its many heads (Vaswani et al. 2017, section 3.2)."""

import math
from typing import NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from headway.nn.dropout import Dropout
from headway.nn.masks import ReadyMask
from headway.nn.positions import RelativePositions, rotate

AttentionMaps = list[Float[Tensor, "batch heads query key"]]
"""Where attention weights are collected when somebody wants to look at them, layer by layer."""


def attention_weights(
    query: Float[Tensor, "batch heads query d_k"],
    key: Float[Tensor, "batch heads key d_k"],
    mask: ReadyMask | None = None,
    bias: Float[Tensor, "#batch #heads query key"] | None = None,
) -> Float[Tensor, "batch heads query key"]:
    """softmax(Q K^T / sqrt(d_k)) over the visible keys (Vaswani et al. 2017, eq. 1).

    The division keeps the variance of a score at 1 for any d_k, so that softmax does not saturate
    and gradients do not vanish. `mask` says which key each query may look at; `bias` is added to
    the scores. A query that sees no key gets weights of zero, not NaN.
    """
    scores = (query / math.sqrt(query.shape[-1])) @ key.transpose(-2, -1)
    if bias is not None:
        scores = scores + bias.to(scores.dtype)
    if mask is None:
        return softmax(scores)
    return softmax(scores + mask.hidden) * mask.sees_any


def softmax(
    scores: Float[Tensor, "*batch query key"],
) -> Float[Tensor, "*batch query key"]:
    """Over the keys, computed in float32: more exact, and on a CPU faster than in bfloat16."""
    return scores.softmax(-1, dtype=torch.float32).to(scores.dtype)


def attend_explicitly(
    query: Float[Tensor, "batch heads query d_k"],
    key: Float[Tensor, "batch heads key d_k"],
    value: Float[Tensor, "batch heads key d_v"],
    mask: ReadyMask | None = None,
    bias: Float[Tensor, "#batch #heads query key"] | None = None,
) -> Float[Tensor, "batch heads query d_v"]:
    """Equation 1 word for word: the weights times the values."""
    return attention_weights(query, key, mask, bias) @ value


def attend_fused(
    query: Float[Tensor, "batch heads query d_k"],
    key: Float[Tensor, "batch heads key d_k"],
    value: Float[Tensor, "batch heads key d_v"],
    mask: ReadyMask | None = None,
    bias: Float[Tensor, "#batch #heads query key"] | None = None,
) -> Float[Tensor, "batch heads query d_v"]:
    """Equation 1 in one kernel of torch's, which never writes the weights to memory."""
    added = None if bias is None else bias.to(query.dtype)
    if mask is not None:
        added = mask.hidden if added is None else added + mask.hidden
    if added is not None:
        added = added.expand(*query.shape[:-1], key.shape[-2])
    context = F.scaled_dot_product_attention(query, key, value, attn_mask=added)
    return context if mask is None else context * mask.sees_any


def attend(
    query: Float[Tensor, "batch heads query d_k"],
    key: Float[Tensor, "batch heads key d_k"],
    value: Float[Tensor, "batch heads key d_v"],
    mask: ReadyMask | None = None,
    bias: Float[Tensor, "#batch #heads query key"] | None = None,
) -> Float[Tensor, "batch heads query d_v"]:
    """Equation 1 by whichever kernel is fast here; they are equal but for rounding.

    The fused one, except in bfloat16 on a CPU, where its backward is about 2.3 times slower.
    """
    slow = query.dtype == torch.bfloat16 and not query.is_cuda
    kernel = attend_explicitly if slow else attend_fused
    return kernel(query, key, value, mask, bias)


def attend_by_products(
    query: Float[Tensor, "*batch query d_k"],
    key: Float[Tensor, "*batch key d_k"],
    value: Float[Tensor, "*batch key d_v"],
    added: Float[Tensor, "*batch #query key"],
) -> tuple[Float[Tensor, "*batch query d_v"], Float[Tensor, "*batch query key"]]:
    """Equation 1 for the few queries of a decoding step, heads in the batch axis; the weights too.

    Two plain products and a softmax: with so few queries the fused kernel is slower. `added` goes
    on top of the scores: minus infinity where nothing may be seen.
    """
    scale = 1 / math.sqrt(query.shape[-1])
    weights = softmax(torch.baddbmm(added.to(query.dtype), query, key.transpose(1, 2), alpha=scale))
    return weights @ value, weights


class KeysAndValues(NamedTuple):
    """What queries look at: one key and one value per position and head."""

    keys: Float[Tensor, "*batch heads key d_k"]
    values: Float[Tensor, "*batch heads key d_v"]

    def select(self, rows: Int[Tensor, " kept"]) -> "KeysAndValues":
        """The given rows of `[layers, rows, heads, key, ..]`, in that order."""
        return KeysAndValues(self.keys.index_select(1, rows), self.values.index_select(1, rows))


EVEN = 16
"""Decoding attends to a multiple of so many keys, the last ones hidden: with fewer, torch's batched
products take a path that is several times slower, and softmax is not vectorized."""


def evened(n_keys: int) -> int:
    """`n_keys` rounded up to a multiple of `EVEN`."""
    return -(-n_keys // EVEN) * EVEN


class Slots(NamedTuple):
    """Where the rows of a decoding step keep their tokens.

    The rows of a sentence share its keys and values: each token of each row has a slot, and a row
    sees those of the tokens that it continues. So nothing moves when search reorders rows.
    """

    first: int
    """The first slot of this step; it takes one for each row of a sentence."""
    position: int
    """Of this step's tokens in their texts."""
    positions: Int[Tensor, " slots"]
    """Of the token in each slot, this step's included."""
    hidden: Float[Tensor, "batch each slots"]
    """0 where a row may look, else minus infinity, for every head."""


class FusedProjection(NamedTuple):
    """Several linear layers side by side, as one product."""

    weight: Float[Tensor, "outputs d_model"]
    bias: Float[Tensor, " outputs"]


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
        self.sizes = (heads * d_k, heads * d_k, heads * d_v)
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

    def keys_and_values(self, memory: Float[Tensor, "batch key d_model"]) -> KeysAndValues:
        """Project what will be looked at."""
        keys = self.split(self.to_key(memory))
        if self.rotary:
            keys = rotate(keys)
        return KeysAndValues(keys, self.split(self.to_value(memory)))

    def forward(
        self,
        x: Float[Tensor, "batch query d_model"],
        memory: KeysAndValues,
        mask: ReadyMask | None = None,
        *,
        look: AttentionMaps | None = None,
    ) -> Float[Tensor, "batch query d_model"]:
        """Every position of `x` gathers what it needs from `memory`.

        Weights are appended to `look` if it is given.
        """
        query = self.split(self.to_query(x))
        if self.rotary:
            query = rotate(query)
        bias = None
        if self.relative is not None:
            bias = self.relative(query, n_keys=memory.keys.shape[2])
        if look is None and not (self.training and self.dropout.probability):
            context = attend(query, memory.keys, memory.values, mask, bias)
        else:
            weights = attention_weights(query, memory.keys, mask, bias)
            if look is not None:
                look.append(weights)
            context = self.dropout(weights) @ memory.values
        return self.to_output(context.transpose(1, 2).flatten(2))

    def fused(self) -> FusedProjection:
        """Queries, keys and values in one product, from the parameters as they are now."""
        projections = (self.to_query, self.to_key, self.to_value)
        weight = torch.cat([projection.weight for projection in projections])
        return FusedProjection(weight, torch.cat([projection.bias for projection in projections]))

    def step_back(
        self,
        x: Float[Tensor, "rows d_model"],
        past: KeysAndValues,
        slots: "Slots",
        fused: FusedProjection,
    ) -> Float[Tensor, "rows d_model"]:
        """Self-attention of one token per row to itself and to those that its row continues.

        Their keys and values are written into `past`, which has room for them; see `Slots`.
        """
        n_sentences = past.keys.shape[0]
        query, key, value = (
            self.fold(part, n_sentences) for part in F.linear(x, *fused).split(self.sizes, dim=-1)
        )
        if self.rotary:
            query, key = (self.rotated(part, slots.position) for part in (query, key))
        here = slice(slots.first, slots.first + key.shape[2])
        past.keys[:, :, here] = key
        past.values[:, :, here] = value
        added = slots.hidden
        if self.relative is not None:
            i, j = slots.positions[here][-1:, None], slots.positions[None]
            added = added + self.relative.at(query, i, j).flatten(0, 1)
        n_seen = len(slots.positions)
        context, _ = attend_by_products(
            query.flatten(0, 1),
            past.keys[:, :, :n_seen].flatten(0, 1),
            past.values[:, :, :n_seen].flatten(0, 1),
            added,
        )
        return self.to_output(self.unfold(context, n_sentences))

    def step_across(
        self,
        x: Float[Tensor, "rows d_model"],
        memory: KeysAndValues,
        hidden: Float[Tensor, "joined 1 key"],
        look: AttentionMaps | None = None,
    ) -> Float[Tensor, "rows d_model"]:
        """Cross-attention of one token per row; `hidden` is each sentence's mask for every head."""
        n_sentences = memory.keys.shape[0]
        context, weights = attend_by_products(
            self.fold(self.to_query(x), n_sentences).flatten(0, 1),
            memory.keys.flatten(0, 1),
            memory.values.flatten(0, 1),
            hidden,
        )
        if look is not None:  # [sentences, heads, rows of each, key]
            look.append(weights.unflatten(0, (n_sentences, self.heads)))
        return self.to_output(self.unfold(context, n_sentences))

    def fold(
        self, x: Float[Tensor, "rows joined"], n_sentences: int
    ) -> Float[Tensor, "sentences heads each d_head"]:
        """The rows of one sentence as so many queries to the same keys: none is copied for them."""
        return x.view(n_sentences, -1, self.heads, x.shape[1] // self.heads).transpose(1, 2)

    def unfold(
        self, x: Float[Tensor, "batch each d_v"], n_sentences: int
    ) -> Float[Tensor, "rows joined"]:
        """Back to one long vector per row."""
        by_row = x.unflatten(0, (n_sentences, self.heads)).transpose(1, 2)
        return by_row.reshape(-1, self.sizes[2])

    @staticmethod
    def rotated(
        x: Float[Tensor, "sentences heads each d_k"], position: int
    ) -> Float[Tensor, "sentences heads each d_k"]:
        """Every row's token stands at the same position."""
        return rotate(x.unsqueeze(3).flatten(0, 1), position).squeeze(2).view_as(x)
