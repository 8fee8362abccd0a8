"""One vector of a word from those of all layers, as a task wants it (Peters et al. 2018, eq. 1)."""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn


class ScalarMix(nn.Module):
    """gamma * sum over layers j of softmax(s)_j h_j; s and gamma are learned.

    At first it is the layers' mean.
    """

    def __init__(self, n_layers: int, *, norm: bool = False) -> None:
        """`norm`: each layer's vectors are brought to mean 0 and variance 1 first."""
        super().__init__()
        self.weights = nn.Parameter(torch.zeros(n_layers))
        self.gamma = nn.Parameter(torch.ones(()))
        self.norm = norm

    def forward(
        self, layers: Float[Tensor, "layers *shape d_model"]
    ) -> Float[Tensor, "*shape d_model"]:
        """Differs from the original, whose norm is over all words of a sentence: here each vector
        is normalized by itself, so that batch-mates and padding do not matter."""
        if self.norm:
            layers = F.layer_norm(layers, layers.shape[-1:])
        return self.gamma * torch.tensordot(self.weights.softmax(0), layers, 1)
