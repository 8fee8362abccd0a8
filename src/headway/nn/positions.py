"""Other positions than the paper's: relative, rotary, or none at all."""

import math
from functools import cache

import torch
from jaxtyping import Complex, Float, Int
from torch import Tensor, nn

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
