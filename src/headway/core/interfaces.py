"""What search and training ask of a model: protocols, never a class."""

from typing import Any, NamedTuple, Protocol, runtime_checkable

from jaxtyping import Float, Int
from torch import Tensor


@runtime_checkable
class State(Protocol):
    """What a decoder remembers between steps, one row per hypothesis."""

    def select(self, rows: Int[Tensor, " kept"]) -> "State":
        """The state of the given rows, in that order; a row may repeat or vanish."""


class Step(NamedTuple):
    """One decoding step for every row."""

    logits: Float[Tensor, "rows vocabulary"]
    """Unnormalized log-probabilities of the next token, in float32: any constant may be added to a
    row. They are the caller's, who may write into them."""
    state: Any
    """The `State` after the token that was fed."""
    attention: Float[Tensor, "rows source"] | None
    """Weights on the source, if asked for: the mean of a layer's heads."""


@runtime_checkable
class StepDecoder(Protocol):
    """A model that writes its output token by token."""

    @property
    def longest(self) -> int | None:
        """The most tokens that it can read as a source, the end marker included, and the most
        that it can be fed, the begin marker included; None where there is no end."""

    def start(
        self,
        source: Int[Tensor, "rows source"] | None,
        prefix: Int[Tensor, "rows prefix"] | None = None,
    ) -> State:
        """Read the source once (padded, end of sentence included), and then a prefix: the begin
        marker and the first tokens of the output, the last one not yet."""

    def step(self, state: Any, last: Int[Tensor, " rows"], want_attention: bool = False) -> Step:
        """Feed each row's last token (the begin marker at first) and score the next one."""


@runtime_checkable
class Seq2Seq(Protocol):
    """A model that is trained on pairs. Logits are features times `output_weight`'s transpose, plus
    `output_bias` where there is one."""

    @property
    def output_weight(self) -> Float[Tensor, "vocabulary d_model"]: ...
    @property
    def output_bias(self) -> Float[Tensor, " vocabulary"] | None: ...

    def features(
        self, source: Int[Tensor, "batch source"], target: Int[Tensor, "batch target"]
    ) -> Float[Tensor, "batch target d_model"]:
        """One vector per target position, from the source and the target before it."""


NEEDS_SOURCE = "An encoder-decoder model needs a source to start from; got none."
"""What a model of pairs says where it is to be started without one."""
