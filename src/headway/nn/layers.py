"""Layers and stacks of them (figure 1): whole texts in one pass, or token by token with a cache."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, Self, cast

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn.functional import pad

from headway.nn.attention import (
    EVEN,
    AttentionMaps,
    FusedProjection,
    KeysAndValues,
    MultiHeadAttention,
    Slots,
    evened,
)
from headway.nn.dropout import Dropout
from headway.nn.feed_forward import FeedForward
from headway.nn.masks import ReadyMask, additive, causal_mask

Norm = Literal["post", "pre"]


class Residual(nn.Module):
    """The connection around every sub-layer, with its LayerNorm (sections 3.1 and 5.4).

    `post`, as in the paper: LayerNorm(x + dropout(sublayer(x))). `pre` normalizes before the
    sub-layer instead: x + dropout(sublayer(LayerNorm(x))); the stack then needs one more norm at
    its end.
    """

    def __init__(self, d_model: int, *, norm: Norm, dropout: float, epsilon: float = 1e-5) -> None:
        super().__init__()
        self.norm_first = norm == "pre"
        self.norm = nn.LayerNorm(d_model, eps=epsilon)
        self.dropout = Dropout(dropout)

    def forward(
        self, x: Float[Tensor, "*batch d_model"], sublayer: Callable[[Tensor], Tensor]
    ) -> Float[Tensor, "*batch d_model"]:
        """Run the sub-layer and add its output to what went in."""
        if self.norm_first:
            return x + self.dropout(sublayer(self.norm(x)))
        return self.norm(x + self.dropout(sublayer(x)))


class Layer(nn.Module):
    """Self-attention, perhaps cross-attention, then feed-forward (figure 1).

    Without `cross_attention` it is the encoder's layer, and that of a decoder that stands alone
    (then its stack gets a causal mask); with it, it is the decoder's.
    """

    def __init__(
        self,
        d_model: int,
        self_attention: MultiHeadAttention,
        feed_forward: FeedForward,
        cross_attention: MultiHeadAttention | None = None,
        *,
        norm: Norm,
        dropout: float,
        epsilon: float = 1e-5,
    ) -> None:
        super().__init__()

        def residual() -> Residual:
            return Residual(d_model, norm=norm, dropout=dropout, epsilon=epsilon)

        self.self_attention = self_attention
        self.cross_attention = cross_attention
        self.feed_forward = feed_forward
        self.around_self_attention = residual()
        self.around_cross_attention = None if cross_attention is None else residual()
        self.around_feed_forward = residual()

    def forward(
        self,
        x: Float[Tensor, "batch length d_model"],
        mask: ReadyMask | None = None,
        source: KeysAndValues | None = None,
        source_mask: ReadyMask | None = None,
        *,
        look: "Look | None" = None,
    ) -> tuple[Float[Tensor, "batch length d_model"], KeysAndValues]:
        """All positions at once; the output, and the keys and values that a cache begins with."""
        own: list[KeysAndValues] = []
        seen = Look(None, None) if look is None else look

        def look_around(y: Tensor) -> Tensor:
            own.append(self.self_attention.keys_and_values(y))
            return self.self_attention(y, own[0], mask, look=seen.own)

        x = self.around_self_attention(x, look_around)
        if self.cross_attention is not None and self.around_cross_attention is not None:
            across = self.cross_attention
            x = self.around_cross_attention(
                x, lambda y: across(y, source, source_mask, look=seen.cross)
            )
        return self.around_feed_forward(x, self.feed_forward), own[0]

    def step(
        self,
        x: Float[Tensor, "rows d_model"],
        past: KeysAndValues,
        slots: Slots,
        fused: FusedProjection,
        source: "MaskedSource | None",
        look: AttentionMaps | None = None,
    ) -> Float[Tensor, "rows d_model"]:
        """One token for each row; see `MultiHeadAttention.step_back` and `step_across`."""
        x = self.around_self_attention(
            x, lambda y: self.self_attention.step_back(y, past, slots, fused)
        )
        if source is not None:
            across = cast(MultiHeadAttention, self.cross_attention)
            x = cast(Residual, self.around_cross_attention)(
                x, lambda y: across.step_across(y, source.memory, source.hidden, look)
            )
        return self.around_feed_forward(x, self.feed_forward)


class MaskedSource(NamedTuple):
    """What one layer's cross-attention looks at in a decoding step."""

    memory: KeysAndValues
    hidden: Float[Tensor, "batch 1 source"]
    """0 or minus infinity, for every head."""


@dataclass(frozen=True)
class Look:
    """Where a stack's weights are collected, one tensor a layer."""

    own: AttentionMaps | None
    cross: AttentionMaps | None


class Cache:
    """Keys and values of `[layers, sentences, heads, capacity, ..]`; room grows by doubling.

    Slots from `filled` on are free. Of several states that share a cache only the first one that
    goes on writes into it; any other finds its place taken and goes on in a copy.
    """

    def __init__(self, memory: KeysAndValues, filled: int) -> None:
        self.memory, self.filled = memory, filled

    @classmethod
    def empty(cls, attention: MultiHeadAttention, n_layers: int, n_rows: int, like: Tensor) -> Self:
        """For the first tokens of `n_rows` texts; device and type are those of `like`."""
        shape = (n_layers, n_rows, attention.heads, 0)
        d_k, d_v = (attention.sizes[kind] // attention.heads for kind in (0, 2))
        return cls(KeysAndValues(like.new_empty(*shape, d_k), like.new_empty(*shape, d_v)), 0)

    def with_room(self, used: int, n_more: int) -> "Cache":
        """A cache that holds the first `used` slots and may be written to behind them."""
        capacity = self.memory.keys.shape[3]
        if self.filled == used and used + n_more <= capacity:
            return self
        capacity = max(EVEN, evened(capacity))
        while capacity < used + n_more:
            capacity *= 2

        def copied(part: Tensor) -> Tensor:
            roomy = part.new_zeros(*part.shape[:3], capacity, part.shape[4])
            roomy[:, :, :, :used] = part[:, :, :, :used]
            return roomy

        return Cache(KeysAndValues(*map(copied, self.memory)), used)

    def fill(self, layers: Sequence[KeysAndValues]) -> None:
        """Write the keys and values of a prefix."""
        self.filled = layers[0].keys.shape[2]
        for number, (keys, values) in enumerate(layers):
            self.memory.keys[number, :, :, : self.filled] = keys
            self.memory.values[number, :, :, : self.filled] = values

    def select(self, sentences: Int[Tensor, " kept"], used: int) -> "Cache":
        """The first `used` slots of the given sentences, in that order."""

        def selected(part: Tensor) -> Tensor:
            part = part[:, :, :, : max(EVEN, evened(used))]
            return part.index_select(1, sentences)

        return Cache(KeysAndValues(*map(selected, self.memory)), used)

    def gather(self, sentences: Int[Tensor, " rows"], slots: Int[Tensor, "rows length"]) -> "Cache":
        """For each row the given slots of its sentence, in a cache in which it is alone."""

        def gathered(part: Tensor) -> Tensor:
            own = part[:, sentences[:, None], :, slots]  # [rows, length, layers, heads, d]
            return own.permute(2, 0, 3, 1, 4).contiguous()

        return Cache(KeysAndValues(*map(gathered, self.memory)), slots.shape[1])


@dataclass(frozen=True)
class StackState:
    """What a stack remembers between steps; one row per hypothesis.

    Rows that stand together and continue the same source share its keys and values, and those of
    their own tokens: they are kept once per sentence, and not copied as long as search reorders
    hypotheses only within sentences (see `headway.nn.attention.Slots`).
    """

    fused: tuple[FusedProjection, ...]
    cache: Cache
    length: int
    """Tokens fed to each row so far."""
    used: int
    """Slots of the cache that are taken."""
    positions: Int[Tensor, " slots"]
    """Of the token in each slot; there may be more slots than used ones."""
    visible: Bool[Tensor, "rows slots"]
    """The slots of the tokens that each row continues: `length` of them."""
    source: KeysAndValues | None = None
    """Of `[layers, sentences, heads, source, ..]`; each sentence has as many rows as any other."""
    source_hidden: Float[Tensor, "sentences source"] | None = None
    """The mask of the source, to be added."""
    n_source: int = 0
    """Positions of the source as it was given; those behind them are hidden."""

    @property
    def n_sentences(self) -> int:
        """Groups of rows that share a cache."""
        return self.cache.memory.keys.shape[1]

    def select(self, rows: Int[Tensor, " kept"]) -> "StackState":
        """The state of the given rows; see `headway.models.interfaces.State`."""
        sentence = rows // (len(self.visible) // self.n_sentences)
        together = sentence.unique_consecutive()
        visible = self.visible.index_select(0, rows)
        width = len(rows) // len(together)
        if not torch.equal(together.repeat_interleave(width), sentence):
            # Some sentences have more rows than others: from now on each row is on its own.
            slots = visible.nonzero()[:, 1].view(len(rows), self.length)
            state = replace(
                self,
                cache=self.cache.gather(sentence, slots),
                used=self.length,
                positions=torch.arange(self.length, device=rows.device),
                visible=visible.new_ones(len(rows), self.length),
            )
            return state._with_source_of(sentence)
        if len(together) == self.n_sentences and bool((together.diff() == 1).all()):
            return replace(self, visible=visible)
        state = replace(self, cache=self.cache.select(together, self.used), visible=visible)
        return state._with_source_of(together)

    def _with_source_of(self, sentences: Int[Tensor, " kept"]) -> "StackState":
        if self.source is None:
            return self
        hidden = self.source_hidden
        hidden = None if hidden is None else hidden.index_select(0, sentences)
        return replace(self, source=self.source.select(sentences), source_hidden=hidden)


class Stack(nn.ModuleList):
    """Layers one upon another, named by their numbers."""

    def __init__(self, layers: Iterable[Layer]) -> None:
        super().__init__(layers)

    def __iter__(self) -> Iterator[Layer]:
        return cast("Iterator[Layer]", super().__iter__())

    def __getitem__(self, number: int) -> Layer:  # type: ignore[override]
        return cast(Layer, super().__getitem__(number))

    def forward(
        self,
        x: Float[Tensor, "batch length d_model"],
        visible: Bool[Tensor, "#batch 1 #length length"] | None = None,
        source: Float[Tensor, "batch source d_model"] | None = None,
        source_visible: Bool[Tensor, "#batch 1 1 source"] | None = None,
        *,
        look: Look | None = None,
        keep: Callable[[KeysAndValues], None] = lambda own: None,
    ) -> Float[Tensor, "batch length d_model"]:
        """All positions at once; `source` is what layers with cross-attention look at.

        `keep` is given each layer's keys and values.
        """
        mask = None if visible is None else ReadyMask.of(visible, x.dtype)
        source_mask = None if source_visible is None else ReadyMask.of(source_visible, x.dtype)
        for layer in self:
            across = layer.cross_attention
            memory = None if across is None else across.keys_and_values(cast(Tensor, source))
            x, own = layer(x, mask, memory, source_mask, look=look)
            keep(own)
        return x

    def start(
        self,
        n_rows: int,
        source: Float[Tensor, "rows source d_model"] | None = None,
        source_visible: Bool[Tensor, "rows 1 1 source"] | None = None,
        prefix: Float[Tensor, "rows prefix d_model"] | None = None,
    ) -> StackState:
        """A state behind the `prefix`, if any, which is read in one pass.

        Projections are fused, and the source's made, once for all steps.
        """
        fused = tuple(layer.self_attention.fused() for layer in self)
        like = fused[0].weight
        cache = Cache.empty(self[0].self_attention, len(self), n_rows, like)
        if prefix is not None:
            own: list[KeysAndValues] = []
            visible = causal_mask(prefix.shape[1], prefix.device)
            self(prefix, visible, source, source_visible, keep=own.append)
            cache = cache.with_room(0, prefix.shape[1])
            cache.fill(own)
        length = cache.filled
        positions = torch.arange(length, device=like.device)
        seen = torch.ones(n_rows, length, dtype=torch.bool, device=like.device)
        state = StackState(fused, cache, length, length, positions, seen)
        if source is None or source_visible is None:
            return state
        memories = [
            cast(MultiHeadAttention, layer.cross_attention).keys_and_values(source)
            for layer in self
        ]
        mask = ReadyMask.of(source_visible, source.dtype)
        n_more = evened(source.shape[1]) - source.shape[1]
        keys, values = (
            pad(torch.stack(kind), (0, 0, 0, n_more)) for kind in zip(*memories, strict=True)
        )
        return replace(
            state,
            source=KeysAndValues(keys, values * mask.sees_any),
            n_source=source.shape[1],
            source_hidden=pad(mask.hidden[:, 0, 0], (0, n_more), value=-torch.inf),
        )

    def step(
        self,
        x: Float[Tensor, "rows d_model"],
        state: StackState,
        look: AttentionMaps | None = None,
    ) -> tuple[Float[Tensor, "rows d_model"], StackState]:
        """One more token for each row; cross-attention's weights go to `look`, as
        `[sentences, heads, rows of each, source]`, the source with padding of its own."""
        heads, used, length = self[0].self_attention.heads, state.used, state.length
        each = len(x) // state.n_sentences
        cache = state.cache.with_room(used, each)
        n_more = evened(used + each) - len(state.positions)
        positions, visible = pad(state.positions, (0, n_more)), pad(state.visible, (0, n_more))
        positions[used : used + each] = length
        itself = torch.eye(each, dtype=torch.bool, device=x.device)
        visible.unflatten(0, (-1, each))[:, :, used : used + each] = itself
        hidden = additive(visible, x.dtype).unflatten(0, (-1, each)).repeat_interleave(heads, 0)
        slots = Slots(used, length, positions, hidden)
        sources: list[MaskedSource | None] = [None] * len(self)
        if state.source is not None and state.source_hidden is not None:
            hidden = state.source_hidden.repeat_interleave(heads, 0).unsqueeze(1)
            memories = map(KeysAndValues, *state.source)  # layer by layer
            sources = [MaskedSource(memory, hidden) for memory in memories]
        pasts = map(KeysAndValues, *cache.memory)
        for layer, past, fused, source in zip(self, pasts, state.fused, sources, strict=True):
            x = layer.step(x, past, slots, fused, source, look)
        cache.filled = used + each
        after = replace(
            state,
            cache=cache,
            length=length + 1,
            used=used + each,
            positions=positions,
            visible=visible,
        )
        return x, after
