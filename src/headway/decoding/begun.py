"""Outputs that begin with given tokens: what a person has typed already, for search to go on from.

The tokens are scored as ever: a text has the score that it has, whoever began it. So a beginning
that search would have written by itself changes nothing.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from headway.core.interfaces import State, Step, StepDecoder


class BegunState(NamedTuple):
    """A decoder's state, and how many tokens it has been asked for."""

    inner: State
    n_written: int

    def select(self, rows: Int[Tensor, " kept"]) -> "BegunState":
        """See `headway.core.interfaces.State`."""
        return self._replace(inner=self.inner.select(rows))


class Begun:
    """A `StepDecoder` whose every output begins with `beginning`."""

    def __init__(self, decoder: StepDecoder, beginning: Sequence[int], unwritten: int) -> None:
        """`unwritten` is a token that search forbids."""
        self.decoder, self.beginning, self.unwritten = decoder, list(beginning), unwritten

    @property
    def longest(self) -> int | None:
        """See `StepDecoder`."""
        return self.decoder.longest

    def start(
        self,
        source: Int[Tensor, "rows source"] | None,
        prefix: Int[Tensor, "rows prefix"] | None = None,
    ) -> BegunState:
        """See `StepDecoder`."""
        return BegunState(self.decoder.start(source, prefix), 0)

    def step(
        self, state: BegunState, last: Int[Tensor, " rows"], want_attention: bool = False
    ) -> Step:
        """See `StepDecoder`."""
        logits, after, attention = self.decoder.step(state.inner, last, want_attention)
        n = state.n_written
        if n < len(self.beginning):
            logits = self._only(logits, self.beginning[n])
        return Step(logits, BegunState(after, n + 1), attention)

    def _only(
        self, logits: Float[Tensor, "rows vocabulary"], token: int
    ) -> Float[Tensor, "rows vocabulary"]:
        """This token with its probability; all that is left goes to the one that is never written,
        so that to normalize them again changes nothing."""
        log_prob = logits.log_softmax(1)[:, token]
        found = torch.full_like(logits, -torch.inf)
        found[:, token] = log_prob
        found[:, self.unwritten] = torch.log(-torch.expm1(log_prob))
        return found


def unbegun(decoder: StepDecoder) -> tuple[StepDecoder, list[int]]:
    """A decoder that begins as it likes, and what its outputs were to begin with, if anything."""
    if type(decoder) is Begun:
        return decoder.decoder, decoder.beginning
    return decoder, []
