"""What goes in: token embeddings (section 3.4) and where each token stands (section 3.5)."""

import math

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from headway.core.errors import UserError

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


def output_matrix(embedding: nn.Embedding, *, tied: bool) -> Tensor:
    """The embedding's own (section 3.4), or a parameter besides, with rows of length about 1."""
    if tied:
        return embedding.weight
    matrix = nn.Parameter(torch.empty_like(embedding.weight))
    return nn.init.normal_(matrix, std=matrix.shape[1] ** -0.5)


def project(
    features: Float[Tensor, "*shape d_model"],
    weight: Float[Tensor, "vocabulary d_model"],
    bias: Float[Tensor, " vocabulary"] | None = None,
) -> Float[Tensor, "*shape vocabulary"]:
    """Logits over the vocabulary: features times the (shared) matrix; the paper's has no bias."""
    bias = None if bias is None else bias.to(features.dtype)
    return F.linear(features, weight.to(features.dtype), bias)


def sinusoids(n_positions: int, d_model: int) -> Float[Tensor, "positions d_model"]:
    """PE(pos, 2i) = sin(pos / 10000^(2i/d_model)), PE(pos, 2i+1) = cos of the same (section 3.5).

    PE(pos + k) is the same rotation of PE(pos) for every pos: a fixed distance is a linear map.
    """
    position = torch.arange(n_positions, dtype=torch.float64)[:, None]
    column = torch.arange(0, d_model, 2, dtype=torch.float64)
    angle = position / 10000 ** (column / d_model)  # [positions, d_model / 2]
    table = torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)
    return table[:, :d_model].float()


class SinusoidalPositions(nn.Module):
    """Adds the paper's table to the embeddings: a buffer, no parameter, as long as was needed."""

    table: Tensor

    def __init__(self, d_model: int) -> None:
        super().__init__()
        self.register_buffer("table", torch.empty(0, d_model), persistent=False)

    def forward(
        self, x: Float[Tensor, "batch length d_model"], first: int = 0
    ) -> Float[Tensor, "batch length d_model"]:
        """`first` is the position of x's first token."""
        end = first + x.shape[1]
        if end > self.table.shape[0]:
            longer = sinusoids(max(512, 2 * end), self.table.shape[1])
            self.table = longer.to(device=self.table.device, dtype=self.table.dtype)
        return x + self.table[first:end]


class LearnedPositions(nn.Module):
    """One learned vector per position (table 3, row E); it cannot pass its last position."""

    def __init__(self, d_model: int, n_positions: int) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.empty(n_positions, d_model))
        nn.init.normal_(self.table, std=d_model**-0.5)

    def forward(
        self, x: Float[Tensor, "batch length d_model"], first: int = 0
    ) -> Float[Tensor, "batch length d_model"]:
        """Add the learned vectors; raises UserError past the last one."""
        end = first + x.shape[1]
        if end > self.table.shape[0]:
            raise UserError(
                f"Learned positions end at {self.table.shape[0]} tokens; got {end}. "
                "Shorten the text, or train with a larger --model.max-length, or a Transformer "
                "with --model.positions sinusoidal."
            )
        return x + self.table[first:end]
