"""What training, scoring and search ask of a language model; what neural ones have in common."""

from abc import ABC, abstractmethod
from typing import NamedTuple, Protocol, runtime_checkable

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from headway.core.embedding import project
from headway.core.errors import ConfigError
from headway.core.loss import Loss, projected_label_smoothed

CHUNK = 512
"""Tokens whose logits are made at a time: memory does not grow with tokens x vocabulary."""

Carried = dict[str, Tensor]
"""What a model remembers of the text before: tensors by name, the batch on the first axis."""


class Scored(NamedTuple):
    """How likely each token of some text was."""

    log_probs: Float[Tensor, "batch length"]
    """Natural logarithms."""
    carried: Carried


@runtime_checkable
class LanguageModel(Protocol):
    """A model of text alone. It is a `headway.core.interfaces.StepDecoder` as well,
    whose `start` is given no source.

    A text is fed as `<s> w1 .. wn <s> v1 ..` and `w1 .. wn </s> v1 ..` is wanted: each line ends
    with `</s>`, and what is fed in its place is the begin marker of the next line.
    """

    @property
    def carries(self) -> bool:
        """Whether what is carried reaches back over all text before, as a recurrent state does."""
        ...

    @property
    def backward_half(self) -> "LanguageModel | None":
        """The same for texts from their end, of a model that reads both ways; else None."""
        ...

    def foretold(self, ids: Int[Tensor, "*shape"]) -> Int[Tensor, "*shape"]:
        """Each wanted token as the model can foretell it: those that it cannot are unknown."""
        ...

    def log_probs(
        self,
        fed: Int[Tensor, "batch length"],
        wanted: Int[Tensor, "batch length"],
        carried: Carried | None = None,
    ) -> Scored:
        """Of each wanted token, given what is fed up to its place and what was carried there.

        Without `carried` nothing stands before. Padding in `wanted` scores anything finite.
        """
        ...


class Read(NamedTuple):
    """What a neural language model makes of some text."""

    features: Float[Tensor, "batch length d_features"]
    carried: Carried


class StretchLoss(NamedTuple):
    """What is to be learned from a stretch of text."""

    loss: Loss
    carried: Carried


@runtime_checkable
class NeuralLanguageModel(LanguageModel, Protocol):
    """One that learns by gradient."""

    @property
    def output_weight(self) -> Float[Tensor, "vocabulary d_features"]:
        """Features times its transpose, plus the bias, are the logits."""
        ...

    @property
    def output_bias(self) -> Float[Tensor, " vocabulary"] | None:
        """None where the model has none."""
        ...

    def read(self, fed: Int[Tensor, "batch length"], carried: Carried | None = None) -> Read:
        """One vector after each token, from it and those before it; what is carried on is not
        part of the graph (truncated backpropagation)."""
        ...

    def loss(
        self,
        fed: Int[Tensor, "batch length"],
        wanted: Int[Tensor, "batch length"],
        carried: Carried | None,
        *,
        smoothing: float,
        padding: int,
    ) -> StretchLoss:
        """Cross-entropy summed over the wanted tokens that are not padding, with the graph."""
        ...


class TextModel(nn.Module, ABC):
    """A `NeuralLanguageModel`, but for what it makes of a text: `read`."""

    output_weight: Float[Tensor, "vocabulary d_features"]
    output_bias: Float[Tensor, " vocabulary"] | None

    @abstractmethod
    def read(self, fed: Int[Tensor, "batch length"], carried: Carried | None = None) -> Read:
        """See `NeuralLanguageModel`."""

    @property
    def backward_half(self) -> LanguageModel | None:
        """See `LanguageModel`: most read one way."""
        return None

    def foretold(self, ids: Int[Tensor, "*shape"]) -> Int[Tensor, "*shape"]:
        """See `LanguageModel`: most can foretell all of their vocabulary."""
        return ids

    def loss(
        self,
        fed: Int[Tensor, "batch length"],
        wanted: Int[Tensor, "batch length"],
        carried: Carried | None,
        *,
        smoothing: float,
        padding: int,
    ) -> StretchLoss:
        """See `NeuralLanguageModel`: of the next token, over the whole vocabulary."""
        features, after = self.read(fed, carried)
        loss = projected_label_smoothed(
            features,
            self.output_weight,
            wanted,
            output_bias=self.output_bias,
            smoothing=smoothing,
            padding=padding,
        )
        return StretchLoss(loss, after)

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
        wanted = self.foretold(wanted)
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
