"""What models of text alone have in common: how they score it, and how a prompt is begun."""

from abc import ABC, abstractmethod

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from headway.core.embedding import project
from headway.core.errors import ConfigError
from headway.language_models.interfaces import Carried, Read, Scored

CHUNK = 512
"""Tokens whose logits are made at a time: memory does not grow with tokens x vocabulary."""


class TextModel(nn.Module, ABC):
    """A `NeuralLanguageModel`, but for what it makes of a text: `read`."""

    output_weight: Float[Tensor, "vocabulary d_features"]
    output_bias: Float[Tensor, " vocabulary"] | None

    @abstractmethod
    def read(self, fed: Int[Tensor, "batch length"], carried: Carried | None = None) -> Read:
        """See `NeuralLanguageModel`."""

    def logits(
        self, features: Float[Tensor, "*shape d_features"]
    ) -> Float[Tensor, "*shape vocabulary"]:
        """For the token after each."""
        return project(features, self.output_weight, self.output_bias)

    def forward(self, fed: Int[Tensor, "batch length"]) -> Float[Tensor, "batch length vocabulary"]:
        """Logits for the token after each; nothing stands before the first."""
        return self.logits(self.read(fed).features)

    @torch.no_grad()
    def log_probs(
        self,
        fed: Int[Tensor, "batch length"],
        wanted: Int[Tensor, "batch length"],
        carried: Carried | None = None,
    ) -> Scored:
        """See `LanguageModel`; without gradient."""
        features, after = self.read(fed, carried)
        found = [features.new_zeros(0, dtype=torch.float32)]
        rows = zip(features.flatten(0, 1).split(CHUNK), wanted.flatten().split(CHUNK), strict=True)
        for some, truth in rows:
            logits = self.logits(some).float()
            found.append(logits.gather(1, truth[:, None]).squeeze(1) - logits.logsumexp(1))
        return Scored(torch.cat(found).view(wanted.shape), after)


def prompt(
    source: Int[Tensor, "rows source"] | None,
    prefix: Int[Tensor, "rows prefix"] | None,
    like: Float[Tensor, "*shape"],
) -> Int[Tensor, "rows prefix"]:
    """The prefix that a text goes on from; one row of nothing where there is none.

    Raises ConfigError for a source: there is none to read.
    """
    if source is not None:
        raise ConfigError("A language model reads no source; got one. Give it a prefix instead.")
    if prefix is None:
        return torch.zeros(1, 0, dtype=torch.long, device=like.device)
    return prefix
