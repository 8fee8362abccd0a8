"""A recurrent encoder that reads both ways, so that each place knows what follows it as well.

Schuster and Paliwal 1997; in translation since Bahdanau et al. 2015, section 3.2.
"""

from collections.abc import Iterator
from typing import NamedTuple, cast

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from headway.core.dropout import Dropout
from headway.nn.recurrent import Recurrence, RecurrentLayer


class BothWays(NamedTuple):
    """What an encoder makes of a source."""

    outputs: Float[Tensor, "batch source d_model"]
    """Half from the left, half from the right."""
    summary: Float[Tensor, "batch d_model"]
    """After the last token read each way: the last from the left, the first from the right."""


class TwoWayLayer(nn.Module):
    """One layer: half of its units read from the left, half from the right."""

    def __init__(self, recurrence: Recurrence, d_input: int, d_model: int) -> None:
        super().__init__()
        self.from_left = RecurrentLayer(recurrence, d_input, d_model // 2)
        self.from_right = RecurrentLayer(recurrence, d_input, d_model // 2)

    def forward(
        self, x: Float[Tensor, "batch source d_input"], mirror: Int[Tensor, "batch source"]
    ) -> Float[Tensor, "batch source d_model"]:
        """`mirror` is where each place is found when real tokens are read backwards."""
        right = self.read(self.from_right, mirrored(x, mirror))
        return torch.cat([self.read(self.from_left, x), mirrored(right, mirror)], dim=-1)

    def read(self, layer: RecurrentLayer, x: Float[Tensor, "batch source d_input"]) -> Tensor:
        """One way; nothing is remembered at first."""
        blank = x.new_zeros(len(x), layer.from_hidden.in_features)
        return layer(x, tuple(blank for _ in layer.cell.remembers))[0]


class TwoWayEncoder(nn.Module):
    """Such layers one upon another, with dropout before each and behind the last."""

    def __init__(
        self, recurrence: Recurrence, d_input: int, d_model: int, n_layers: int, *, dropout: float
    ) -> None:
        super().__init__()
        self.layers = nn.ModuleList(
            TwoWayLayer(recurrence, d_model if n else d_input, d_model) for n in range(n_layers)
        )
        self.dropout = Dropout(dropout)

    def __iter__(self) -> Iterator[TwoWayLayer]:
        return cast("Iterator[TwoWayLayer]", iter(self.layers))

    def forward(
        self, x: Float[Tensor, "batch source d_input"], visible: Bool[Tensor, "batch source"]
    ) -> BothWays:
        """Padding stands behind the real tokens and cannot be told from nothing at all."""
        n_real = visible.sum(1)
        mirror = mirror_of(n_real, visible.shape[1])
        for layer in self:
            x = layer(self.dropout(x), mirror)
        last = (n_real - 1).clamp(min=0)
        left, right = x.chunk(2, dim=-1)
        rows = torch.arange(len(x), device=x.device)
        return BothWays(self.dropout(x), torch.cat([left[rows, last], right[:, 0]], dim=-1))


def mirror_of(n_real: Int[Tensor, " batch"], length: int) -> Int[Tensor, "batch source"]:
    """Places of each row's real tokens from the last to the first, then those of its padding."""
    place = torch.arange(length, device=n_real.device).expand(len(n_real), -1)
    return torch.where(place < n_real[:, None], n_real[:, None] - 1 - place, place)


def mirrored(
    x: Float[Tensor, "batch source d"], mirror: Int[Tensor, "batch source"]
) -> Float[Tensor, "batch source d"]:
    """Each row's places in the order of `mirror`; twice gives the row back."""
    return x.gather(1, mirror[:, :, None].expand(-1, -1, x.shape[-1]))
