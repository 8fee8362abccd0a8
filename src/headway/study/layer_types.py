"""The kinds of layer that table 1 of Vaswani et al. 2017 compares, as this package has them.

Attention is equation 1 alone, between vectors that are there: as in the table, its four projections
(8 n d^2 operations) are a row of their own.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

from jaxtyping import Float
from torch import Tensor, nn

from headway.core.attention import MultiHeadAttention
from headway.earlier_translators.convolution import Convolution, SeparableConvolution
from headway.nn.recurrent import Recurrence, RecurrentLayer
from headway.nn.windowed import WindowedAttention

HEAD = 64
"""Numbers of a head, as in the paper."""


class PathLength(NamedTuple):
    """The two constants of the table."""

    kernel: int = 3
    """k: positions that a convolution sees at once; odd."""
    window: int = 64
    """r: positions to each side that restricted attention sees."""


class SelfAttentionLayer(nn.Module):
    """One layer of self-attention: equation 1 alone, or with its four projections."""

    def __init__(self, d: int, *, window: int = 0, projects: bool = False) -> None:
        super().__init__()
        heads = max(1, d // HEAD)
        each = d // heads
        self.attention = (
            WindowedAttention(d, heads, window=window, causal=False, d_k=each, d_v=each)
            if window
            else MultiHeadAttention(d, heads, d_k=each, d_v=each)
        )
        if not projects:
            for name in ("to_query", "to_key", "to_value", "to_output"):
                setattr(self.attention, name, nn.Identity())

    def forward(self, x: Float[Tensor, "batch n d"]) -> Float[Tensor, "batch n d"]:
        """Every position gathers what it needs."""
        return self.attention(x, x)


class Recurrent(nn.Module):
    """One recurrent layer that begins with nothing."""

    def __init__(self, d: int, *, recurrence: Recurrence) -> None:
        super().__init__()
        self.layer = RecurrentLayer(recurrence, d, d)

    def before(self, x: Float[Tensor, "batch n d"]) -> tuple[Tensor, ...]:
        """Nothing is remembered."""
        blank = x.new_zeros(len(x), x.shape[2])
        return (blank,) * len(self.layer.cell.remembers)

    def forward(self, x: Float[Tensor, "batch n d"]) -> Float[Tensor, "batch n d"]:
        """Step after step."""
        return self.layer(x, self.before(x))[0]


class LayerType(NamedTuple):
    """A row of table 1."""

    title: str
    build: Callable[[int, PathLength, int], nn.Module]
    """From d, and the number of the layer from 0: only dilated convolutions differ by it. They see
    what is before them alone, as in a decoder, and layers of k, k^2, .. reach every distance."""
    cost: str
    """Operations of a layer, in the paper's words."""
    operations: Callable[[int, int, PathLength], float]
    """The same as a number, multiplications and additions, from n and d."""
    in_n: int
    """The exponent of n in it, where n is large."""
    in_d: int
    """The exponent of d, where d is large."""
    sequential: str
    path: str
    longest: Callable[[int, PathLength], int]
    """Steps on the longest of the shortest paths between two of n positions."""


def dilated_layers(n: int, reach: PathLength) -> int:
    """Dilated layers that reach from one end of n positions to the other: log_k n."""
    return math.ceil(math.log(n, reach.kernel) - 1e-9)


def middle_layer(n: int, reach: PathLength) -> int:
    """The number of the middle one of them, the lower of two: the layer that is measured."""
    return (dilated_layers(n, reach) - 1) // 2


def hops(n: int, each: int) -> int:
    """Steps of at most `each` positions from the first of n positions to the last."""
    return -(-(n - 1) // max(1, each))


LAYER_TYPES: dict[str, LayerType] = {
    "attention": LayerType(
        "self-attention",
        lambda d, reach, layer: SelfAttentionLayer(d), "n^2 d",
        lambda n, d, reach: 4 * n * n * d, 2, 1, "O(1)", "O(1)",
        lambda n, reach: min(1, n - 1),
    ),
    "projected": LayerType(
        "self-attention with its projections",
        lambda d, reach, layer: SelfAttentionLayer(d, projects=True), "n^2 d + n d^2",
        lambda n, d, reach: 4 * n * n * d + 8 * n * d * d, 2, 2, "O(1)", "O(1)",
        lambda n, reach: min(1, n - 1),
    ),
    "windowed": LayerType(
        "self-attention (restricted)",
        lambda d, reach, layer: SelfAttentionLayer(d, window=reach.window), "r n d",
        lambda n, d, reach: 4 * n * min(n, 2 * reach.window + 1) * d, 1, 1, "O(1)", "O(n/r)",
        lambda n, reach: hops(n, reach.window),
    ),
    "rnn": LayerType(
        "recurrent (Elman)",
        lambda d, reach, layer: Recurrent(d, recurrence="rnn"), "n d^2",
        lambda n, d, reach: 4 * n * d * d, 1, 2, "O(n)", "O(n)",
        lambda n, reach: n - 1,
    ),
    "lstm": LayerType(
        "recurrent (LSTM)",
        lambda d, reach, layer: Recurrent(d, recurrence="lstm"), "n d^2",
        lambda n, d, reach: 16 * n * d * d, 1, 2, "O(n)", "O(n)",
        lambda n, reach: n - 1,
    ),
    "convolution": LayerType(
        "convolutional",
        lambda d, reach, layer: Convolution(d, d, reach.kernel), "k n d^2",
        lambda n, d, reach: 2 * reach.kernel * n * d * d, 1, 2, "O(1)", "O(n/k)",
        lambda n, reach: hops(n, (reach.kernel - 1) // 2),
    ),
    "dilated": LayerType(
        "convolutional (dilated)",
        lambda d, reach, layer: Convolution(
            d, d, reach.kernel, dilation=reach.kernel**layer, causal=True
        ), "k n d^2",
        lambda n, d, reach: 2 * reach.kernel * n * d * d, 1, 2, "O(1)", "O(log_k n)",
        dilated_layers,
    ),
    "separable": LayerType(
        "convolutional (separable)",
        lambda d, reach, layer: SeparableConvolution(d, d, reach.kernel), "k n d + n d^2",
        lambda n, d, reach: 2 * reach.kernel * n * d + 2 * n * d * d, 1, 2, "O(1)", "O(n/k)",
        lambda n, reach: hops(n, (reach.kernel - 1) // 2),
    ),
}  # fmt: skip
"""By the names that `--layers` takes."""
