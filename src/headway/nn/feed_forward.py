"""The position-wise feed-forward network (section 3.3)."""

from collections.abc import Callable
from typing import Literal

import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from headway.nn.dropout import Dropout

Activation = Literal["relu", "gelu", "swiglu"]
ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": F.relu,
    "gelu": F.gelu,
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
