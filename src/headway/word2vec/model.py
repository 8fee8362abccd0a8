"""CBOW and skip-gram as a model: two matrices. `headway.word2vec.updates` learns them."""

from typing import Literal

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from headway.word2vec.settings import Word2VecConfig

Direction = Literal["cbow", "skip-gram"]


class Word2Vec(nn.Module):
    """Q, a vector for each word, and the vectors of the outputs that they are multiplied with.

    `vectors` is drawn from the uniform distribution between -1/2d and 1/2d, `outputs` is zero, as
    in word2vec. With hierarchical softmax row i of `outputs` is inner node i of the tree. `counts`
    says how often each word occurred: noise and tree follow from it.
    """

    def __init__(
        self,
        config: Word2VecConfig,
        *,
        direction: Direction,
        vocabulary_size: int,
        padding: int = 0,
    ) -> None:
        super().__init__()
        self.config, self.direction = config, direction
        shape = (vocabulary_size, config.d_model)
        self.vectors = nn.Parameter(torch.empty(shape))
        nn.init.uniform_(self.vectors, -0.5 / config.d_model, 0.5 / config.d_model)
        self.outputs = nn.Parameter(torch.zeros(shape))
        self.counts: Int[Tensor, " vocabulary"]
        self.register_buffer("counts", torch.zeros(vocabulary_size, dtype=torch.int64))

    def forward(self, context: Int[Tensor, "batch words"]) -> Float[Tensor, "batch vocabulary"]:
        """Logits of every output by the mean of the vectors of a context (CBOW), or of the one word
        that is given (skip-gram). Under negative sampling they tell true words from noise: with
        them as a softmax, log P(noise) is to be added."""
        return self.vectors[context].mean(1) @ self.outputs.T
