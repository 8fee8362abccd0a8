"""A model in one file, as docs/architecture.md says how: the mean of the source, the last word."""

from dataclasses import dataclass
from typing import Self

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from headway.core.embedding import TokenEmbedding, project
from headway.core.errors import ConfigError
from headway.core.interfaces import Step


@dataclass(frozen=True)
class BagConfig:
    """Section [model]."""

    d_model: int = 16


@dataclass(frozen=True)
class BagState:
    """The mean of each row's source."""

    source: Float[Tensor, "rows d_model"]

    def select(self, rows: Int[Tensor, " kept"]) -> Self:
        return type(self)(self.source[rows])


class Bag(nn.Module):
    """The next word from the mean of the source words and the word before."""

    longest = None
    output_bias = None

    def __init__(self, config: BagConfig, *, vocabulary_size: int, padding: int = 0) -> None:
        super().__init__()
        self.padding = padding
        self.embedding = TokenEmbedding(vocabulary_size, config.d_model, padding=padding)
        self.to_features = nn.Linear(2 * config.d_model, config.d_model)
        self.output_weight = self.embedding.weight

    def mean(self, source: Int[Tensor, "batch source"]) -> Float[Tensor, "batch d_model"]:
        """Padding is zero in the embedding."""
        n_real = (source != self.padding).sum(1, keepdim=True)
        return self.embedding(source).sum(1) / n_real

    def next(
        self, source: Float[Tensor, "batch d_model"], target: Int[Tensor, "batch target"]
    ) -> Float[Tensor, "batch target d_model"]:
        words = self.embedding(target)
        both = torch.cat([source[:, None].expand_as(words), words], dim=-1)
        return self.to_features(both.to(self.to_features.weight.dtype)).tanh()

    def features(
        self, source: Int[Tensor, "batch source"], target: Int[Tensor, "batch target"]
    ) -> Float[Tensor, "batch target d_model"]:
        return self.next(self.mean(source), target)

    def start(
        self,
        source: Int[Tensor, "rows source"] | None,
        prefix: Int[Tensor, "rows prefix"] | None = None,
    ) -> BagState:
        if source is None:
            raise ConfigError("A bag needs a source to start from; got none.")
        return BagState(self.mean(source))

    def step(
        self, state: BagState, last: Int[Tensor, " rows"], want_attention: bool = False
    ) -> Step:
        features = self.next(state.source, last[:, None])[:, 0]
        return Step(project(features, self.output_weight).float(), state, None)
