"""Other positions than the paper's: relative, rotary, or none at all."""

import math
from collections.abc import Callable
from functools import cache

import torch
from jaxtyping import Complex, Float, Int
from torch import Tensor, nn

from headway.core.attention import MultiHeadAttention, ReadyMask, attention_weights
from headway.core.embedding import sinusoids


class NoPositions(nn.Module):
    """For models whose attention itself knows positions (relative, rotary), or none at all."""

    def forward(
        self, x: Float[Tensor, "batch length d_model"], first: int = 0
    ) -> Float[Tensor, "batch length d_model"]:
        """Unchanged."""
        return x


class RelativePositions(nn.Module):
    """A learned key per distance, clipped at `reach` (Shaw et al. 2018, eq. 4, keys only).

    Differs from Shaw et al.: no learned values per distance (eq. 3), which their ablation
    (table 3) shows to add nothing on top of the keys.
    """

    def __init__(self, d_k: int, reach: int = 16) -> None:
        super().__init__()
        self.reach = reach
        self.keys = nn.Parameter(torch.empty(2 * reach + 1, d_k))
        nn.init.xavier_uniform_(self.keys)

    def forward(
        self, query: Float[Tensor, "batch heads query d_k"], *, n_keys: int
    ) -> Float[Tensor, "batch heads query key"]:
        """The term q . a[clip(j - i)] / sqrt(d_k) of every score."""
        i = torch.arange(query.shape[2], device=query.device)
        j = torch.arange(n_keys, device=query.device)
        return self.at(query, (j - i[:, None])[None, None])

    def at(
        self,
        query: Float[Tensor, "batch heads query d_k"],
        distance: Int[Tensor, "#batch 1 #query key"],
    ) -> Float[Tensor, "batch heads query key"]:
        """The same where each key stands at the given distance behind the query, j - i."""
        column = distance.clamp(-self.reach, self.reach) + self.reach
        by_distance = (query / math.sqrt(query.shape[-1])) @ self.keys.T  # [.., query, distances]
        return by_distance.gather(-1, column.expand(*query.shape[:3], -1))


LEAST_TURNS = 512
"""Positions in the shortest table of rotations; a longer text has one of twice as many."""


@cache
def turns(n_positions: int, d_k: int, device: torch.device) -> Complex[Tensor, "positions pairs"]:
    """cos + i sin of each position's angles, made once for all layers and tokens: a table that is
    copied to a GPU waits for all that runs there."""
    with torch.inference_mode(False):  # training, too, may use what was made for decoding
        table = sinusoids(n_positions, d_k).to(device)
        return torch.complex(table[:, 1::2], table[:, 0::2])


def rotate(
    x: Float[Tensor, "batch heads length d_k"], first: int = 0
) -> Float[Tensor, "batch heads length d_k"]:
    """Turn each pair of coordinates by an angle proportional to its position (Su et al. 2021).

    The product of a rotated query and a rotated key depends on their distance only.
    """
    end, n_positions = first + x.shape[2], LEAST_TURNS
    while n_positions < end:
        n_positions *= 2
    turn = turns(n_positions, x.shape[3], x.device)[first:end]
    pairs = torch.view_as_complex(x.float().unflatten(-1, (-1, 2)).contiguous())
    # One product of complex numbers: forward and backward a quarter of what four real ones take.
    return torch.view_as_real(pairs * turn).flatten(-2).to(x.dtype)


class PositionedAttention(MultiHeadAttention):
    """Attention that knows positions: `rotary` turns queries and keys by theirs, given the first,
    and `relative` adds to the scores."""

    def __init__(
        self,
        d_model: int,
        heads: int,
        *,
        d_k: int,
        d_v: int,
        dropout: float = 0.0,
        rotary: Callable[..., Tensor] | None = None,
        relative: RelativePositions | None = None,
    ) -> None:
        super().__init__(d_model, heads, d_k=d_k, d_v=d_v, dropout=dropout)
        self.rotary, self.relative = rotary, relative
        if relative is not None:  # first among the parameters, which are drawn in their order
            self._modules = {"relative": self._modules.pop("relative"), **self._modules}

    def projected(
        self, x: Float[Tensor, "batch query d_model"], memory: Float[Tensor, "batch key d_model"]
    ) -> tuple[
        Float[Tensor, "batch heads query d_k"],
        Float[Tensor, "batch heads key d_k"],
        Float[Tensor, "batch heads key d_v"],
    ]:
        """Queries, keys and values of every head."""
        query, key, value = super().projected(x, memory)
        if self.rotary is not None:
            query, key = self.rotary(query), self.rotary(key)
        return query, key, value

    def prepared(
        self,
        query: Float[Tensor, "batch heads query d_k"],
        key: Float[Tensor, "batch heads key d_k"],
        mask: ReadyMask | None = None,
    ) -> tuple[Float[Tensor, "batch heads query d_k"], ReadyMask | None]:
        """Queries as they are multiplied with the keys; the mask with what distances add."""
        if self.relative is None:
            return query, mask
        return query, with_bias(mask, self.relative(query, n_keys=key.shape[2]))

    def gather(
        self,
        query: Float[Tensor, "batch heads query d_k"],
        key: Float[Tensor, "batch heads key d_k"],
        value: Float[Tensor, "batch heads key d_v"],
        mask: ReadyMask | None = None,
    ) -> Float[Tensor, "batch heads query d_v"]:
        """Equation 1 in every head."""
        query, mask = self.prepared(query, key, mask)
        return super().gather(query, key, value, mask)

    def weights(
        self,
        x: Float[Tensor, "batch query d_model"],
        memory: Float[Tensor, "batch key d_model"],
        mask: ReadyMask | None = None,
    ) -> Float[Tensor, "batch heads query key"]:
        """How much every position of `x` takes of `memory`: without dropout, by equation 1."""
        query, key, _ = self.projected(x, memory)
        query, mask = self.prepared(query, key, mask)
        return attention_weights(query, key, mask)

    def at_step(
        self, query: Tensor, key: Tensor, hidden: Tensor, distance: Tensor, position: int
    ) -> tuple[Tensor, Tensor, Tensor]:
        """See `MultiHeadAttention`."""
        if (turn := self.rotary) is not None:
            query, key = (
                turn(part.flatten(0, 1).unsqueeze(2), position).view_as(part)
                for part in (query, key)
            )
        if self.relative is not None:
            hidden = hidden + self.relative.at(query, distance[:, None, None]).flatten(0, 1)
        return query, key, hidden


def with_bias(mask: ReadyMask | None, bias: Float[Tensor, "batch heads query key"]) -> ReadyMask:
    """A mask that also adds `bias` to the scores."""
    if mask is None:
        return ReadyMask(bias, torch.ones(1, 1, 1, 1, dtype=torch.bool, device=bias.device))
    return mask._replace(hidden=bias.to(mask.hidden.dtype) + mask.hidden)
