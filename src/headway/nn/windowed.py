"""Restricted self-attention (section 4, table 1): each position looks at its neighbourhood only.

Queries stand in blocks, and each block meets the keys that any of them may see. The cost is then
O(n r d) in time and O(n r) in memory. A text that is short beside the window has all its n x n
scores computed at once, where these are no more than those of its blocks.
"""

from collections.abc import Callable
from dataclasses import replace

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor

from headway.core.attention import MultiHeadAttention, ReadyMask, causal_mask
from headway.core.kv_cache import StackState
from headway.nn.positions import PositionedAttention, RelativePositions, with_bias

LEAST_BLOCK = 16
"""Queries in a block, at least: smaller products are slower than what they save."""


def band(
    length: int, window: int, *, causal: bool, device: torch.device | str | None = None
) -> Bool[Tensor, "1 1 query key"]:
    """Who sees whom, written out: position i the positions i - window to i + window, or up to i."""
    position = torch.arange(length, device=device)
    near = ((position[:, None] - position).abs() <= window)[None, None]
    return near & causal_mask(length, device) if causal else near


class WindowedAttention(PositionedAttention):
    """Self-attention of position i to i - window .. i + window; where `causal`, to .. i.

    Its parameters are those of `MultiHeadAttention`, and so are its results under a band mask. It
    hides the future by itself: it is given a mask for padding, or none.
    """

    def __init__(
        self,
        d_model: int,
        heads: int,
        *,
        window: int,
        causal: bool,
        d_k: int,
        d_v: int,
        dropout: float = 0.0,
        rotary: Callable[..., Tensor] | None = None,
        relative: RelativePositions | None = None,
    ) -> None:
        super().__init__(
            d_model, heads, d_k=d_k, d_v=d_v, dropout=dropout, rotary=rotary, relative=relative
        )
        self.window, self.causal = window, causal
        self.block = max(LEAST_BLOCK, -(-window // 2))

    def gather(
        self,
        query: Float[Tensor, "batch heads length d_k"],
        key: Float[Tensor, "batch heads length d_k"],
        value: Float[Tensor, "batch heads length d_v"],
        mask: ReadyMask | None = None,
    ) -> Float[Tensor, "batch heads length d_v"]:
        """Equation 1 within each block: as many keys as one of its queries may see, and the block's
        own length more; or at once under the band, where that makes no more scores."""
        n_rows, _, length, _ = query.shape
        n_blocks = -(-length // self.block)
        after = 0 if self.causal else self.window
        seen = self.window + self.block + after
        if length * length <= n_blocks * self.block * seen:
            return super().gather(query, key, value, self.whole(query, mask))
        padding = (0, 0, self.window, after + n_blocks * self.block - length)

        def blocks(x: Tensor, size: int) -> Tensor:
            cut = x.unfold(2, size, self.block)  # [batch, heads, blocks, d, size]
            return cut.permute(0, 2, 1, 4, 3).flatten(0, 1)  # [batch * blocks, heads, size, d]

        offset = torch.arange(seen, device=query.device) - self.window
        distance = offset - torch.arange(self.block, device=query.device)[:, None]
        near = (distance >= -self.window) & (distance <= after)  # [block, seen]
        real = F.pad(self.real_keys(mask, query), padding[2:]).unfold(2, seen, self.block)
        real = real.expand(n_rows, -1, -1, -1).reshape(-1, 1, 1, seen)
        queries = blocks(F.pad(query, (0, 0, 0, n_blocks * self.block - length)), self.block)
        visible = ReadyMask.of(near & real, query.dtype)
        if self.relative is not None:
            visible = with_bias(visible, self.relative.at(queries, distance[None, None]))
        context = MultiHeadAttention.gather(
            self,
            queries,
            blocks(F.pad(key, padding), seen),
            blocks(F.pad(value, padding), seen),
            visible,
        )
        joined = context.unflatten(0, (n_rows, n_blocks)).transpose(1, 2).flatten(2, 3)
        return joined[:, :, :length]

    def whole(
        self, query: Float[Tensor, "batch heads length d_k"], mask: ReadyMask | None
    ) -> ReadyMask:
        """For the square of all scores: the window as a mask."""
        length = query.shape[2]
        visible = band(length, self.window, causal=self.causal, device=query.device)
        visible = visible & self.real_keys(mask, query)[:, :, None]
        return ReadyMask.of(visible, query.dtype)

    def real_keys(
        self, mask: ReadyMask | None, query: Float[Tensor, "batch heads length d_k"]
    ) -> Bool[Tensor, "#batch 1 length"]:
        """Which keys are no padding."""
        if mask is None:
            return torch.ones(1, 1, query.shape[2], dtype=torch.bool, device=query.device)
        assert mask.hidden.shape[1:3] == (1, 1), "windowed attention is given a mask of keys"
        return ((mask.hidden == 0) & mask.sees_any)[:, :, 0]

    def weights(
        self,
        x: Float[Tensor, "batch query d_model"],
        memory: Float[Tensor, "batch key d_model"],
        mask: ReadyMask | None = None,
    ) -> Float[Tensor, "batch heads query key"]:
        """For those who look: the whole square, zeros outside of the window."""
        return super().weights(x, memory, self.whole(self.split(self.to_query(x)), mask))

    def recent(self, state: StackState) -> StackState:
        """Older tokens are hidden; their slots are given up once they are as many as those that
        are seen, so that the cache does not grow."""
        if state.length <= self.window:
            return state
        near = state.positions[:, : state.visible.shape[1]] >= state.length - self.window
        each = len(state.visible) // state.n_sentences
        visible = state.visible & near.repeat_interleave(each, 0)
        seen = visible.unflatten(0, (-1, each)).any(1)
        used = int(seen.sum(1).max())
        if state.used < 2 * used:
            return replace(state, visible=visible)
        slots = seen.int().sort(dim=1, descending=True, stable=True).indices[:, :used]
        everyone = torch.arange(state.n_sentences, device=slots.device)
        return replace(
            state,
            cache=state.cache.moved(everyone, slots, each),
            used=used,
            positions=state.positions.gather(1, slots),
            visible=visible.gather(1, slots.repeat_interleave(each, 0)),
        )
