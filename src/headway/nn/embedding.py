"""Token embeddings, and the output projection that shares their matrix (section 3.4)."""

import math

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

FLOAT32_ONLY = (nn.Embedding,)
"""Modules whose weights stay float32 when a model computes in bfloat16: the gradient of a frequent
token's row is a sum over hundreds of positions, which eight bits of mantissa cannot hold."""


class TokenEmbedding(nn.Embedding):
    """A look-up (equal to one-hot times matrix), multiplied by sqrt(d_model).

    The padding row is zero and a padded position sends no gradient into it.
    """

    def __init__(self, n_tokens: int, d_model: int, *, padding: int) -> None:
        super().__init__(n_tokens, d_model, padding_idx=padding)
        self.scale = math.sqrt(d_model)

    def reset_parameters(self) -> None:
        """Rows of length about 1, so that the scaled ones match the positions' size."""
        nn.init.normal_(self.weight, std=self.embedding_dim**-0.5)
        self._fill_padding_idx_with_zero()

    def forward(self, ids: Int[Tensor, "batch length"]) -> Float[Tensor, "batch length d_model"]:
        """Embeddings in float32."""
        return super().forward(ids) * self.scale


def project(
    features: Float[Tensor, "*shape d_model"],
    weight: Float[Tensor, "vocabulary d_model"],
    bias: Float[Tensor, " vocabulary"] | None = None,
) -> Float[Tensor, "*shape vocabulary"]:
    """Logits over the vocabulary: features times the (shared) embedding matrix.

    The paper's has no bias; some models of others have one.
    """
    bias = None if bias is None else bias.to(features.dtype)
    return F.linear(features, weight.to(features.dtype), bias)


def compute_dtype(model: nn.Module) -> torch.dtype:
    """The type that a model computes in: that of its first linear layer."""
    for module in model.modules():
        if isinstance(module, nn.Linear):
            return module.weight.dtype
    return torch.float32
