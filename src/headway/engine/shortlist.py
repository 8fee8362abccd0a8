"""What an output may be written with, by its source: a few hundred tokens of the whole vocabulary.

After Jean et al. 2015: each token of the source brings its likeliest translations and itself, and
some tokens are allowed everywhere. The product with the vocabulary, the largest of a small model,
is then taken over these alone, and so are probabilities.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Int
from torch import Tensor

from headway.core.interfaces import State, Step, StepDecoder

Tokens = np.ndarray[Any, np.dtype[np.int32]]


class Shortlist(NamedTuple):
    """Arrays that say what may be written."""

    likely: Int[np.ndarray, "vocabulary n"]
    """Of each token of the source, of markers none; the end marker stands where none is."""
    everywhere: Bool[np.ndarray, " vocabulary"]
    """Markers among them."""

    def of(self, source: Iterable[int]) -> Bool[np.ndarray, " vocabulary"]:
        """Whether each token may be written for this source."""
        ids = np.fromiter(map(int, source), np.int64)
        allowed = self.everywhere.copy()
        allowed[self.likely[ids]] = True
        allowed[ids] = True
        return allowed

    def tokens(self, source: Iterable[int]) -> Tokens:
        """Those that may be, in the order of their ids."""
        return np.flatnonzero(self.of(source)).astype(np.int32)


class ShortlistedState(NamedTuple):
    """A decoder's state, and what each row may write."""

    inner: State
    hidden: Bool[Tensor, "rows vocabulary"]

    def select(self, rows: Int[Tensor, " kept"]) -> "ShortlistedState":
        """See `headway.core.interfaces.State`."""
        return ShortlistedState(self.inner.select(rows), self.hidden.index_select(0, rows))


class Shortlisted:
    """A `StepDecoder` whose every output is written from its source's shortlist."""

    def __init__(self, decoder: StepDecoder, shortlist: Shortlist) -> None:
        self.decoder, self.shortlist = decoder, shortlist

    @property
    def longest(self) -> int | None:
        """See `StepDecoder`."""
        return self.decoder.longest

    def start(
        self,
        source: Int[Tensor, "rows source"] | None,
        prefix: Int[Tensor, "rows prefix"] | None = None,
    ) -> ShortlistedState:
        """See `StepDecoder`."""
        sources: Sequence[list[int]] = [] if source is None else source.tolist()
        allowed = torch.from_numpy(np.stack([self.shortlist.of(ids) for ids in sources]))
        inner = self.decoder.start(source, prefix)
        return ShortlistedState(inner, ~allowed if source is None else (~allowed).to(source.device))

    def step(
        self, state: ShortlistedState, last: Int[Tensor, " rows"], want_attention: bool = False
    ) -> Step:
        """See `StepDecoder`."""
        logits, after, attention = self.decoder.step(state.inner, last, want_attention)
        logits = logits.masked_fill(state.hidden, -torch.inf)
        return Step(logits, ShortlistedState(after, state.hidden), attention)


def opened(decoder: StepDecoder) -> tuple[StepDecoder, Shortlist | None]:
    """A decoder that may write all there is, and the shortlist that it was given, if any."""
    if type(decoder) is Shortlisted:
        return decoder.decoder, decoder.shortlist
    return decoder, None
