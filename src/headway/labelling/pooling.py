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


def shares(encoded: Encoded, how: Pooling) -> Float[Tensor, "batch length"]:
    """How much of that vector is of each place: of `max` the share of numbers that are largest."""
    if how == "max":
        hidden = encoded.features.masked_fill(~encoded.visible[:, :, None], -torch.inf)
        largest = nn.functional.one_hot(hidden.argmax(1), hidden.shape[1])  # [batch, d, length]
        return largest.float().mean(1)
    seen = encoded.visible.float()
    if how == "first":
        seen = torch.zeros_like(seen).index_fill(1, torch.tensor(0, device=seen.device), 1.0)
    return seen / seen.sum(1, keepdim=True).clamp(min=1)


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
