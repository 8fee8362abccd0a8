"""What search and training ask of a model: a protocol, never a class.

Every model that generates text (Transformer, recurrent, convolutional, decoder-only) is a
`StepDecoder`. Search in `headway.decoding` knows nothing else about it.
"""

from typing import Any, NamedTuple, Protocol, runtime_checkable

from jaxtyping import Float, Int
from torch import Tensor


@runtime_checkable
class State(Protocol):
    """What a decoder remembers between steps, one row per hypothesis."""

    def select(self, rows: Int[Tensor, " kept"]) -> "State":
        """The state of the given rows, in that order; a row may repeat or vanish."""
        ...


class Step(NamedTuple):
    """One decoding step for every row."""

    log_probs: Float[Tensor, "rows vocabulary"]
    """Log-probabilities of the next token, in float32."""
    state: Any
    """The `State` after the token that was fed."""
    attention: Float[Tensor, "rows source"] | None
    """Weights on the source positions (last layer, mean over heads) if they were asked for."""


@runtime_checkable
class StepDecoder(Protocol):
    """A model that writes its output token by token."""

    def start(
        self,
        source: Int[Tensor, "rows source"] | None,
        prefix: Int[Tensor, "rows prefix"] | None = None,
    ) -> State:
        """Read the source once (padded, end of sentence included), and a prefix if there is one."""
        ...

    def step(self, state: Any, last: Int[Tensor, " rows"], want_attention: bool = False) -> Step:
        """Feed each row's last token (the begin marker at first) and score the next one."""
        ...


@runtime_checkable
class Seq2Seq(StepDecoder, Protocol):
    """A model that is trained on pairs and writes translations."""

    output_weight: Tensor
    """[vocabulary, d_model]: features times its transpose are the logits."""

    def features(
        self, source: Int[Tensor, "batch source"], target: Int[Tensor, "batch target"]
    ) -> Float[Tensor, "batch target d_model"]:
        """One vector per target position, from the source and the target before it."""
        ...
