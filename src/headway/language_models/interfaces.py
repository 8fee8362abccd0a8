"""What training, scoring and search ask of a language model: protocols, never a class."""

from typing import NamedTuple, Protocol, runtime_checkable

from jaxtyping import Float, Int
from torch import Tensor

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
