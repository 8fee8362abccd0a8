"""One vector of a text from those of its places, and logits of its labels from that."""

from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn

from headway.core.dropout import Dropout
from headway.nn.encoder import Encoded

Pooling = Literal["mean", "max", "first"]


def pooled(encoded: Encoded, how: Pooling) -> Float[Tensor, "batch d_output"]:
    """The mean or the largest of the real places, or the first one, which is the begin marker's."""
    features, visible = encoded.features, encoded.visible[:, :, None]
    if how == "first":
        return features[:, 0]
    if how == "max":
        return features.masked_fill(~visible, -torch.inf).amax(1)
    return (features * visible).sum(1) / visible.sum(1).clamp(min=1)


class PoolingHead(nn.Module):
    """Pooling, dropout, one matrix."""

    def __init__(self, d_input: int, n_labels: int, *, pooling: Pooling, dropout: float) -> None:
        super().__init__()
        self.pooling = pooling
        self.dropout = Dropout(dropout)
        self.to_labels = nn.Linear(d_input, n_labels)

    def forward(self, encoded: Encoded) -> Float[Tensor, "batch labels"]:
        """Logits."""
        x = pooled(encoded, self.pooling).to(self.to_labels.weight.dtype)
        return self.to_labels(self.dropout(x))
