"""Where a token stands: sinusoids (section 3.5), learned, relative, and rotary positions.

Attention alone is blind to order: without positions, permuting the input permutes the output.
"""

import math

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from headway.errors import UserError


def sinusoids(n_positions: int, d_model: int, first: int = 0) -> Float[Tensor, "positions d_model"]:
    """PE(pos, 2i) = sin(pos / 10000^(2i/d_model)), PE(pos, 2i+1) = cos of the same (section 3.5).

    Sine and cosine alternate. PE(pos + k) is the same rotation of PE(pos) for every pos, so that a
    fixed distance is a fixed linear map.
    """
    position = torch.arange(first, first + n_positions, dtype=torch.float64)[:, None]
    column = torch.arange(0, d_model, 2, dtype=torch.float64)
    angle = position / 10000 ** (column / d_model)  # [positions, d_model / 2]
    table = torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)
    return table[:, :d_model].float()


class SinusoidalPositions(nn.Module):
    """Adds the paper's table to the embeddings: a buffer, no parameter; it grows when needed."""

    table: Tensor

    def __init__(self, d_model: int, n_positions: int = 512) -> None:
        super().__init__()
        self.d_model = d_model
        self.register_buffer("table", sinusoids(n_positions, d_model), persistent=False)

    def forward(
        self, x: Float[Tensor, "batch length d_model"], first: int = 0
    ) -> Float[Tensor, "batch length d_model"]:
        """`first` is the position of x's first token."""
        end = first + x.shape[1]
        if end > self.table.shape[0]:
            longer = sinusoids(2 * end, self.d_model)
            self.table = longer.to(device=self.table.device, dtype=self.table.dtype)
        return x + self.table[first:end]


class LearnedPositions(nn.Module):
    """One learned vector per position (table 3, row E); it cannot pass its last position."""

    def __init__(self, d_model: int, n_positions: int) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.empty(n_positions, d_model))
        nn.init.normal_(self.table, std=d_model**-0.5)

    def forward(
        self, x: Float[Tensor, "batch length d_model"], first: int = 0
    ) -> Float[Tensor, "batch length d_model"]:
        """Add the learned vectors; raises UserError past the last one."""
        end = first + x.shape[1]
        if end > self.table.shape[0]:
            raise UserError(
                f"Learned positions end at {self.table.shape[0]} tokens; got {end}. "
                "Shorten the text, or train with --model.positions sinusoidal or a larger "
                "--model.max-length."
            )
        return x + self.table[first:end]


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
        return self.at(query, i[:, None], j[None, :])

    def at(
        self,
        query: Float[Tensor, "batch heads query d_k"],
        i: Int[Tensor, "#query 1"],
        j: Int[Tensor, "1 key"],
    ) -> Float[Tensor, "batch heads query key"]:
        """The same for queries at the positions `i` and keys at the positions `j`."""
        distance = (j - i).clamp(-self.reach, self.reach) + self.reach
        distance = distance.expand(query.shape[2], -1)
        by_distance = (query / math.sqrt(query.shape[-1])) @ self.keys.T  # [.., query, distances]
        return by_distance.gather(-1, distance.expand(*query.shape[:2], -1, -1))


def rotate(
    x: Float[Tensor, "batch heads length d_k"], first: int = 0
) -> Float[Tensor, "batch heads length d_k"]:
    """Turn each pair of coordinates by an angle proportional to its position (Su et al. 2021).

    The product of a rotated query and a rotated key depends on their distance only.
    """
    table = sinusoids(x.shape[2], x.shape[3], first).to(x.device)
    sin, cos = table[:, 0::2], table[:, 1::2]
    even, odd = x[..., 0::2].float(), x[..., 1::2].float()
    turned = torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1)
    return turned.flatten(-2).to(x.dtype)
