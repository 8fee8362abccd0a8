"""Layers and stacks of them (figure 1): feed-forward, residual connections, and all together."""

from collections.abc import Callable, Iterator
from typing import Literal, cast

import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor, nn

from headway.core.attention import MultiHeadAttention, ReadyMask
from headway.core.dropout import Dropout

Norm = Literal["post", "pre"]
Activation = Literal["relu", "gelu", "gelu_tanh", "swish", "swiglu"]
ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": F.relu,
    "gelu": F.gelu,
    "gelu_tanh": nn.GELU("tanh"),  # of GPT-2 and the first BERT
    "swish": F.silu,
    "swiglu": F.silu,
}


class FeedForward(nn.Module):
    """FFN(x) = max(0, x W1 + b1) W2 + b2 (eq. 2), the same at every position.

    That is two convolutions of kernel size 1. With `swiglu` the inner layer is gated
    (Shazeer 2020): silu(x W1) * (x W3), then W2.
    """

    def __init__(
        self, d_model: int, d_ff: int, *, activation: Activation = "relu", dropout: float = 0.0
    ) -> None:
        super().__init__()
        self.activate = ACTIVATIONS[activation]
        self.to_inner = nn.Linear(d_model, d_ff)
        self.to_gate = nn.Linear(d_model, d_ff) if activation == "swiglu" else None
        self.to_output = nn.Linear(d_ff, d_model)
        self.dropout = Dropout(dropout)

    def forward(self, x: Float[Tensor, "*batch d_model"]) -> Float[Tensor, "*batch d_model"]:
        """Out to d_ff and back."""
        inner = self.activate(self.to_inner(x))
        if self.to_gate is not None:
            inner = inner * self.to_gate(x)
        return self.to_output(self.dropout(inner))


class Residual(nn.Module):
    """The connection around every sub-layer, with its LayerNorm (sections 3.1 and 5.4).

    `post`, as in the paper: LayerNorm(x + dropout(sublayer(x))). `pre`:
    x + dropout(sublayer(LayerNorm(x))); the stack then needs one more norm at its end.
    """

    def __init__(self, d_model: int, *, norm: Norm, dropout: float, epsilon: float = 1e-5) -> None:
        super().__init__()
        self.norm_first = norm == "pre"
        self.norm: nn.Module = nn.LayerNorm(d_model, eps=epsilon)
        self.dropout = Dropout(dropout)

    def forward(
        self, x: Float[Tensor, "*batch d_model"], sublayer: Callable[[Tensor], Tensor]
    ) -> Float[Tensor, "*batch d_model"]:
        """Run the sub-layer and add its output to what went in."""
        if self.norm_first:
            return x + self.dropout(sublayer(self.norm(x)))
        return self.norm(x + self.dropout(sublayer(x)))


class Layer(nn.Module):
    """Self-attention, in the decoder cross-attention, then feed-forward (figure 1)."""

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
        source: Float[Tensor, "batch source d_model"] | None = None,
        source_mask: ReadyMask | None = None,
    ) -> Float[Tensor, "batch length d_model"]:
        """All positions at once; `source` is what cross-attention looks at."""
        x = self.around_self_attention(x, lambda y: self.self_attention(y, y, mask))
        across, around = self.cross_attention, self.around_cross_attention
        if across is not None and around is not None:
            x = around(x, lambda y: across(y, source, source_mask))
        return self.around_feed_forward(x, self.feed_forward)


class Stack(nn.ModuleList):
    """Layers one upon another, named by their numbers; token by token: `headway.core.kv_cache`."""

    def __iter__(self) -> Iterator[Layer]:
        return cast("Iterator[Layer]", super().__iter__())

    def forward(
        self,
        x: Float[Tensor, "batch length d_model"],
        visible: Bool[Tensor, "#batch 1 #length length"] | None = None,
        source: Float[Tensor, "batch source d_model"] | None = None,
        source_visible: Bool[Tensor, "#batch 1 #length source"] | None = None,
    ) -> Float[Tensor, "batch length d_model"]:
        """All positions at once; `source` is what layers with cross-attention look at."""
        mask = None if visible is None else ReadyMask.of(visible, x.dtype)
        source_mask = None if source_visible is None else ReadyMask.of(source_visible, x.dtype)
        for layer in self:
            x = layer(x, mask, source, source_mask)
        return x


def alignment_layer(n_layers: int) -> int:
    """The decoder layer whose cross-attention says which source word a token stands for: the one
    before the last (Garg et al. 2019, section 3.1); never the first, unless it is the only one."""
    return max(n_layers - 2, min(1, n_layers - 1))
