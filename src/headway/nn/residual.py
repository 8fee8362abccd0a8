"""The residual connection around every sub-layer, with its LayerNorm (sections 3.1 and 5.4)."""

from collections.abc import Callable
from typing import Literal

from jaxtyping import Float
from torch import Tensor, nn

from headway.nn.dropout import Dropout

Norm = Literal["post", "pre"]


class Residual(nn.Module):
    """`post`, as in the paper: LayerNorm(x + dropout(sublayer(x))).

    `pre` normalizes before the sub-layer instead: x + dropout(sublayer(LayerNorm(x))); the stack
    then needs one more norm at its end.
    """

    def __init__(self, d_model: int, *, norm: Norm, dropout: float) -> None:
        super().__init__()
        self.norm_first = norm == "pre"
        self.norm = nn.LayerNorm(d_model)
        self.dropout = Dropout(dropout)

    def forward(
        self,
        x: Float[Tensor, "batch length d_model"],
        sublayer: Callable[[Tensor], Tensor],
    ) -> Float[Tensor, "batch length d_model"]:
        """Run the sub-layer and add its output to what went in."""
        if self.norm_first:
            return x + self.dropout(sublayer(self.norm(x)))
        return self.norm(x + self.dropout(sublayer(x)))
