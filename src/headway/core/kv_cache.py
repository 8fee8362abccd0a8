"""The same layers token by token: a step feeds one token to each row and looks back at a cache.

One row is one hypothesis. Rows that stand together and continue the same source, a sentence, share
its keys and values, and those of their own tokens: each token of each row has a slot in the cache
of its sentence, and a row sees those of the tokens that it continues. So nothing moves when search
reorders rows within sentences, and several rows are so many queries to the same keys.
"""

from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple, cast

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn.functional import pad

from headway.core.attention import MultiHeadAttention, ReadyMask, additive, softmax
from headway.core.layers import Residual, Stack, alignment_layer

EVEN = 16
"""A step attends to a multiple of so many keys, the last ones hidden: with fewer, torch's batched
products take a path that is several times slower, and softmax is not vectorized."""


def evened(n_keys: int) -> int:
    """`n_keys` rounded up to a multiple of `EVEN`."""
    return -(-n_keys // EVEN) * EVEN


def roomy(n_keys: int) -> int:
    """Room for `n_keys`, which grows by doubling."""
    return EVEN << (evened(n_keys) // EVEN - 1).bit_length()


class Cache:
    """Keys and values of the tokens fed so far, `[layers, sentences, heads, slots, d_k or d_v]`;
    slots from `filled` on are free.

    Of several states that share a cache only the first one that goes on writes into it; any other
    finds its place taken and goes on in a copy.
    """

    def __init__(self, keys: Tensor, values: Tensor, filled: int) -> None:
        self.keys, self.values, self.filled = keys, values, filled

    def moved(
        self, sentences: Int[Tensor, " kept"], slots: Int[Tensor, "kept used"], n_more: int
    ) -> "Cache":
        """The given slots of the given sentences, with room for `n_more`."""
        used, moved = slots.shape[1], []
        for part in (self.keys, self.values):
            shape = len(part), len(slots), part.shape[2], roomy(used + n_more), part.shape[4]
            moved.append(part.new_zeros(shape))
            found = part[:, sentences[:, None], :, slots]  # [kept, used, layers, heads, d]
            moved[-1][:, :, :, :used] = found.permute(2, 0, 3, 1, 4)
        return Cache(moved[0], moved[1], used)

    def select(self, sentences: Int[Tensor, " kept"], used: int) -> "Cache":
        """The first `used` slots of the given sentences."""
        end = max(EVEN, evened(used))
        parts = [x[:, :, :, :end].index_select(1, sentences) for x in (self.keys, self.values)]
        return Cache(parts[0], parts[1], used)

    def with_room(self, used: int, n_more: int) -> "Cache":
        """A cache that holds the first `used` slots and may be written to behind them."""
        if self.filled == used and used + n_more <= self.keys.shape[3]:
            return self
        free = (0, 0, 0, roomy(used + n_more) - used)
        keys, values = (pad(part[:, :, :, :used], free) for part in (self.keys, self.values))
        return Cache(keys, values, used)


class Source(NamedTuple):
    """What cross-attention looks at: made once for all steps."""

    columns: Float[Tensor, "layers sentences heads d_k source"]
    """The keys, column by column: batched products with them are twice as fast."""
    values: Float[Tensor, "layers sentences heads source d_v"]
    hidden: Float[Tensor, "sentences heads 1 source"]
    """0 or minus infinity, to be added to the scores."""
    length: int
    """Positions as they were given; those behind them are hidden."""

    def select(self, sentences: Int[Tensor, " kept"]) -> "Source":
        """That of the given sentences, in that order."""
        columns, values = (part.index_select(1, sentences) for part in self[:2])
        return Source(columns, values, self.hidden.index_select(0, sentences), self.length)


class FusedProjection(NamedTuple):
    """Queries, keys and values of one layer as one product, from its parameters as they are."""

    weight: Float[Tensor, "outputs d_model"]
    bias: Float[Tensor, " outputs"]
    sizes: list[int]

    @classmethod
    def of(cls, attention: MultiHeadAttention) -> "FusedProjection":
        """Side by side, in that order."""
        parts = (attention.to_query, attention.to_key, attention.to_value)
        weight, bias = (torch.cat([getattr(p, name) for p in parts]) for name in ("weight", "bias"))
        return cls(weight, bias, [part.out_features for part in parts])


def kept_sentences(
    rows: Int[Tensor, " kept"], n_rows: int, n_sentences: int
) -> Int[Tensor, " sentences"] | None:
    """The sentences of the rows that are kept, each with as many rows as any other; None where
    they are the same as before. `n_rows` of `n_sentences` there were."""
    sentence = rows // (n_rows // n_sentences)
    sentences = sentence.unique_consecutive()
    each = len(rows) // len(sentences)
    if not torch.equal(sentences.repeat_interleave(each), sentence):
        return sentence  # some have more rows: from now on each row is a sentence of its own
    same = torch.equal(sentences, torch.arange(n_sentences, device=rows.device))
    return None if same else sentences


@dataclass(frozen=True)
class StackState:
    """What a stack remembers between steps; one row per hypothesis."""

    fused: tuple[FusedProjection, ...]
    """One for each layer."""
    cache: Cache
    length: int
    """Tokens fed to each row so far."""
    used: int
    """Slots of the cache that are taken."""
    positions: Int[Tensor, "sentences slots"]
    """Of the token in each slot; there may be more slots than used ones."""
    visible: Bool[Tensor, "rows slots"]
    """The slots of the tokens that each row continues: `length` of them."""
    source: Source | None

    @property
    def n_sentences(self) -> int:
        """Groups of rows that share a cache; each has as many rows as any other."""
        return len(self.positions)

    def select(self, rows: Int[Tensor, " kept"]) -> "StackState":
        """The state of the given rows; see `headway.core.interfaces.State`."""
        visible = self.visible.index_select(0, rows)
        sentences = kept_sentences(rows, len(self.visible), self.n_sentences)
        if sentences is None:
            return replace(self, visible=visible)
        each = len(rows) // len(sentences)
        source = None if self.source is None else self.source.select(sentences)
        seen = visible.unflatten(0, (-1, each)).any(1)
        used = int(seen.sum(1).max())
        if used == self.used:
            cache, positions = self.cache.select(sentences, used), self.positions[sentences]
        else:  # only the slots that somebody sees move on, in their order
            slots = seen.int().sort(dim=1, descending=True, stable=True).indices[:, :used]
            cache = self.cache.moved(sentences, slots, each)
            positions = self.positions[sentences].gather(1, slots)
            visible = visible.gather(1, slots.repeat_interleave(each, 0))
        return replace(
            self, cache=cache, used=used, positions=positions, visible=visible, source=source
        )


def start(
    stack: Stack,
    n_rows: int,
    source: Float[Tensor, "rows source d_model"] | None = None,
    source_visible: Bool[Tensor, "rows 1 1 source"] | None = None,
) -> StackState:
    """Before the first token of `n_rows` texts; `source` is what cross-attention looks at."""
    fused = tuple(FusedProjection.of(layer.self_attention) for layer in stack)
    heads, like = next(iter(stack)).self_attention.heads, fused[0].weight
    d_k, d_v = (size // heads for size in fused[0].sizes[1:])
    keys, values = (like.new_empty(len(fused), n_rows, heads, 0, size) for size in (d_k, d_v))
    positions = torch.zeros(n_rows, 0, dtype=torch.long, device=like.device)
    seen = None
    if source is not None and source_visible is not None:
        seen = projected(stack, source, source_visible)
    return StackState(fused, Cache(keys, values, 0), 0, 0, positions, positions.bool(), seen)


def projected(
    stack: Stack,
    source: Float[Tensor, "rows source d_model"],
    source_visible: Bool[Tensor, "rows 1 1 source"],
) -> Source:
    """Keys and values for every layer's cross-attention."""
    mask = ReadyMask.of(source_visible, source.dtype)
    n_more = evened(source.shape[1]) - source.shape[1]
    keys, values = [], []
    for attention in (layer.cross_attention for layer in stack):
        assert attention is not None
        keys.append(attention.split(attention.to_key(source)))
        values.append(attention.split(attention.to_value(source)) * mask.sees_any)
    columns = pad(torch.stack(keys).transpose(3, 4), (0, n_more)).contiguous()
    hidden = pad(mask.hidden, (0, n_more), value=-torch.inf).repeat(1, keys[0].shape[1], 1, 1)
    padded = pad(torch.stack(values), (0, 0, 0, n_more))
    return Source(columns, padded, hidden, source.shape[1])


def step(
    stack: Stack, x: Float[Tensor, "rows d_model"], state: StackState
) -> tuple[
    Float[Tensor, "rows d_model"], StackState, Float[Tensor, "sentences heads each source"] | None
]:
    """One more token for each row; with it, where `alignment_layer` looked in the source."""
    first = next(iter(stack)).self_attention
    state = first.recent(state)
    used, each = state.used, len(x) // state.n_sentences
    cache = state.cache.with_room(used, each)
    n_more = evened(used + each) - state.visible.shape[1]
    positions, seen = pad(state.positions, (0, n_more)), pad(state.visible, (0, n_more))
    positions[:, used : used + each] = state.length
    itself = torch.eye(each, dtype=torch.bool, device=x.device)
    seen.unflatten(0, (-1, each))[:, :, used : used + each] = itself
    hidden = additive(seen, x.dtype).unflatten(0, (-1, each)).repeat_interleave(first.heads, 0)
    length, after_used = state.length + 1, used + each
    after = replace(
        state, cache=cache, length=length, used=after_used, positions=positions, visible=seen
    )
    looked: list[Tensor] = []
    for n, (layer, fused) in enumerate(zip(stack, state.fused, strict=True)):
        back = partial(look_back, layer.self_attention, fused, n, after, hidden)
        x = layer.around_self_attention(x, back)
        if state.source is not None:
            attention = cast(MultiHeadAttention, layer.cross_attention)
            across = partial(look_across, attention, n, state.source, looked)
            x = cast(Residual, layer.around_cross_attention)(x, across)
        x = layer.around_feed_forward(x, layer.feed_forward)
    cache.filled = after_used
    return x, after, looked[alignment_layer(len(looked))] if looked else None


def look_back(
    attention: MultiHeadAttention,
    fused: FusedProjection,
    n: int,
    state: StackState,
    hidden: Float[Tensor, "joined each slots"],
    x: Float[Tensor, "rows d_model"],
) -> Float[Tensor, "rows d_model"]:
    """Self-attention of layer `n`: each row's token to itself and to those that its row continues.

    Its key and value are written into the last slots of the cache. `hidden` is 0 where a row may
    look, else minus infinity, for every head.
    """
    keys, values = state.cache.keys[n], state.cache.values[n]
    projections = F.linear(x, fused.weight, fused.bias).split(fused.sizes, dim=-1)
    query, key, value = (by_sentence(part, keys) for part in projections)
    position = state.length - 1  # of every row's token
    distance = state.positions - position
    query, key, hidden = attention.at_step(query, key, hidden, distance, position)
    here = slice(state.used - key.shape[2], state.used)
    keys[:, :, here], values[:, :, here] = key, value
    n_seen = hidden.shape[2]
    context, _ = attend_by_products(query, keys[:, :, :n_seen], values[:, :, :n_seen], hidden)
    return attention.to_output(context)


def look_across(
    attention: MultiHeadAttention,
    n: int,
    source: Source,
    looked: list[Tensor],
    x: Float[Tensor, "rows d_model"],
) -> Float[Tensor, "rows d_model"]:
    """Cross-attention of layer `n` by each row's token; its weights are added to `looked`."""
    keys, values = source.columns[n].transpose(2, 3), source.values[n]
    query = by_sentence(attention.to_query(x), keys)
    context, weights = attend_by_products(query, keys, values, source.hidden.flatten(0, 1))
    looked.append(weights[..., : source.length])
    return attention.to_output(context)


def by_sentence(
    x: Float[Tensor, "rows joined"], keys: Float[Tensor, "sentences heads slots d_k"]
) -> Float[Tensor, "sentences heads each d_head"]:
    """The rows of one sentence as so many queries to the same keys: none is copied for them."""
    n_sentences, heads = keys.shape[:2]
    return x.view(n_sentences, -1, heads, x.shape[1] // heads).transpose(1, 2)


def attend_by_products(
    query: Float[Tensor, "sentences heads each d_k"],
    key: Float[Tensor, "sentences heads slots d_k"],
    value: Float[Tensor, "sentences heads slots d_v"],
    added: Float[Tensor, "*joined #each slots"],
) -> tuple[Float[Tensor, "rows joined"], Float[Tensor, "sentences heads each slots"]]:
    """Equation 1 for the few queries of a step, all heads side by side again; the weights too.

    Two plain products and a softmax: with so few queries the fused kernel is slower. `added` goes
    on top of the scores: minus infinity where nothing may be seen.
    """
    n_sentences, heads, _, d_k = query.shape
    query, key, value = (part.flatten(0, 1) for part in (query, key, value))
    scores = torch.baddbmm(added.to(query.dtype), query, key.transpose(1, 2), alpha=d_k**-0.5)
    weights = softmax(scores)
    context = (weights @ value).unflatten(0, (n_sentences, heads)).transpose(1, 2)
    return context.reshape(-1, heads * value.shape[2]), weights.unflatten(0, (n_sentences, heads))
