"""Convolutions over a sequence: each position is made of its neighbours within a kernel's reach.

Positions are the second axis, as everywhere: `[batch, length, d]`. The shifted copies of the input
lie side by side in one product, which on a CPU is faster than torch's own convolution.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from headway.core.dropout import Dropout
from headway.core.errors import ConfigError
from headway.core.kv_cache import kept_sentences

HALF = math.sqrt(0.5)
"""A sum of two parts is multiplied by it, so that its variance stays that of one (Gehring et al.
2017, section 3.4)."""


def gated(x: Float[Tensor, "*batch doubled"]) -> Float[Tensor, "*batch d_output"]:
    """Gated linear unit (Dauphin et al. 2017): of x = [A B] it is A * sigmoid(B).

    The gate decides how much passes; A itself stays linear, so that its gradient does not fade.
    """
    values, gates = x.chunk(2, dim=-1)
    return values * gates.sigmoid()


class Convolution(nn.Module):
    """y_t = W [x_(t-l) .. x_(t+r)] + b, of `kernel` inputs that lie `dilation` positions apart.

    Centred (l = r), or `causal`: r = 0, so that y_t sees nothing behind position t. Beyond both
    ends there are zeros.
    """

    def __init__(
        self, d_input: int, d_output: int, kernel: int, *, dilation: int = 1, causal: bool = False
    ) -> None:
        super().__init__()
        refuse_lopsided(kernel, causal)
        self.dilation, self.causal = dilation, causal
        self.reach = (kernel - 1) * dilation
        """Distance between the first and the last input of an output."""
        self.mix = nn.Linear(self.width(d_input, kernel), d_output)

    def width(self, d_input: int, kernel: int) -> int:
        """Numbers that `mix` is given for one output."""
        return kernel * d_input

    def combined(
        self, inputs: Sequence[Float[Tensor, "*batch d_input"]]
    ) -> Float[Tensor, "*batch d_output"]:
        """The output of `kernel` inputs, the leftmost first."""
        return self.mix(torch.cat([*inputs], -1))

    def forward(
        self,
        x: Float[Tensor, "batch length d_input"],
        real: Float[Tensor, "batch length 1"] | None = None,
    ) -> Float[Tensor, "batch length d_output"]:
        """All positions at once; those that are not `real` (0, else 1) count as zeros."""
        if real is not None:
            x = x * real
        left = self.reach if self.causal else self.reach // 2
        padded = F.pad(x, (0, 0, left, self.reach - left))
        firsts = range(0, self.reach + 1, self.dilation)
        return self.combined([padded[:, first : first + x.shape[1]] for first in firsts])

    def blank(self, n_rows: int, d_input: int) -> Float[Tensor, "rows reach d_input"]:
        """What stands before the first position."""
        return self.mix.weight.new_zeros(n_rows, self.reach, d_input)

    def step(
        self, x: Float[Tensor, "rows d_input"], past: Float[Tensor, "rows reach d_input"]
    ) -> tuple[Float[Tensor, "rows d_output"], Float[Tensor, "rows reach d_input"]]:
        """One more position of a causal one, and the past of the next: the last `reach` inputs."""
        assert self.causal
        seen = torch.cat([past, x[:, None]], 1)
        return self.combined(seen[:, :: self.dilation].unbind(1)), seen[:, 1:]


class SeparableConvolution(Convolution):
    """First each column by itself over the positions, then all columns of a position: k d + d^2
    weights in place of k d^2 (Chollet 2017).
    """

    def __init__(
        self, d_input: int, d_output: int, kernel: int, *, dilation: int = 1, causal: bool = False
    ) -> None:
        super().__init__(d_input, d_output, kernel, dilation=dilation, causal=causal)
        self.columns = nn.Parameter(torch.empty(kernel, d_input))
        nn.init.normal_(self.columns, std=kernel**-0.5)

    def width(self, d_input: int, kernel: int) -> int:
        """One number for each column."""
        return d_input

    def combined(
        self, inputs: Sequence[Float[Tensor, "*batch d_input"]]
    ) -> Float[Tensor, "*batch d_output"]:
        """The output of `kernel` inputs, the leftmost first."""
        [total, *others] = (x * column for x, column in zip(inputs, self.columns, strict=True))
        for other in others:
            total = total + other
        return self.mix(total)


class GatedBlock(nn.Module):
    """x + v(W [x around here] + b), v being the gated linear unit (Gehring et al. 2017, section
    3.2)."""

    def __init__(self, d_model: int, kernel: int, *, causal: bool, dropout: float = 0.0) -> None:
        super().__init__()
        self.convolution = Convolution(d_model, 2 * d_model, kernel, causal=causal)
        self.dropout = Dropout(dropout)

    def forward(
        self,
        x: Float[Tensor, "batch length d_model"],
        real: Float[Tensor, "batch length 1"] | None = None,
    ) -> Float[Tensor, "batch length d_model"]:
        """All positions at once."""
        return (x + gated(self.convolution(self.dropout(x), real))) * HALF

    def step(
        self, x: Float[Tensor, "rows d_model"], past: Float[Tensor, "rows reach d_model"]
    ) -> tuple[Float[Tensor, "rows d_model"], Float[Tensor, "rows reach d_model"]]:
        """One more position of a causal one, and the past of the next."""
        y, past = self.convolution.step(x, past)
        return (x + gated(y)) * HALF, past


@dataclass(frozen=True)
class ConvolutionState:
    """What a decoder of convolutions remembers between steps; one row per hypothesis."""

    source: Any
    """What was made of the sentences, a tuple of tensors and `select` for some of the sentences."""
    past: tuple[Float[Tensor, "rows _ d_input"], ...]
    """The last inputs of each layer's convolution."""
    length: int = 0
    """Tokens fed to each row so far."""

    def select(self, rows: Int[Tensor, " kept"]) -> "ConvolutionState":
        """The state of the given rows; see `headway.core.interfaces.State`."""
        sentences = kept_sentences(rows, len(self.past[0]), len(self.source[0]))
        source = self.source if sentences is None else self.source.select(sentences)
        return replace(self, source=source, past=tuple(part[rows] for part in self.past))


def refuse_lopsided(kernel: int, causal: bool) -> None:
    """Raise ConfigError for a centred kernel that has no centre."""
    if not causal and kernel % 2 == 0:
        raise ConfigError(
            "kernel must be odd, so that it reaches as far to the left as to the right; got "
            f"{kernel}. Try kernel={kernel + 1}."
        )
