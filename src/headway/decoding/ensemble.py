"""Several models that write one output: at every step the mean of their probabilities."""

import math
from collections.abc import Sequence
from typing import NamedTuple, cast

import torch
from jaxtyping import Float, Int
from torch import Tensor

from headway.core.interfaces import Seq2Seq, State, Step, StepDecoder
from headway.core.subwords import SpecialIds
from headway.decoding.forced import log_probs_over


class EnsembleState(NamedTuple):
    """What each member remembers; row i of all of them is the same hypothesis."""

    members: tuple[State, ...]

    def select(self, rows: Int[Tensor, " kept"]) -> "EnsembleState":
        """See `headway.core.interfaces.State`."""
        return EnsembleState(tuple(one.select(rows) for one in self.members))


class EnsembleDecoder:
    """A `StepDecoder` of models that share a vocabulary: the next token has the mean of the
    probabilities that they give it, as fairseq's ensembles (Ott et al. 2019) and Sockeye's."""

    def __init__(self, members: Sequence[StepDecoder]) -> None:
        self.members = tuple(members)

    @property
    def longest(self) -> int | None:
        """The shortest of theirs; see `StepDecoder`."""
        return min((one.longest for one in self.members if one.longest is not None), default=None)

    def start(
        self,
        source: Int[Tensor, "rows source"] | None,
        prefix: Int[Tensor, "rows prefix"] | None = None,
    ) -> EnsembleState:
        """See `StepDecoder`."""
        return EnsembleState(tuple(one.start(source, prefix) for one in self.members))

    def step(
        self, state: EnsembleState, last: Int[Tensor, " rows"], want_attention: bool = False
    ) -> Step:
        """See `StepDecoder`; attention is the mean of theirs, None where a member has none."""
        steps = [
            one.step(its, last, want_attention)
            for one, its in zip(self.members, state.members, strict=True)
        ]
        looks = [step.attention for step in steps if step.attention is not None]
        return Step(
            mean_of_softmax([step.logits for step in steps]),
            EnsembleState(tuple(step.state for step in steps)),
            torch.stack(looks).mean(0) if len(looks) == len(steps) else None,
        )


def mean_of_softmax(
    logits: Sequence[Float[Tensor, "rows tokens"]],
) -> Float[Tensor, "rows tokens"]:
    """The logarithm of the mean of their probabilities, in the memory of the first; a few rows at a
    time, for the cache. What is less likely than a float32 can say has the least that it can."""
    least = torch.finfo(logits[0].dtype).tiny
    for whole, *others in zip(*(one.split(16) for one in logits), strict=True):
        whole.copy_(whole.softmax(1))
        for one in others:
            whole.add_(one.softmax(1))
        whole.div_(len(logits)).clamp_(min=least).log_()
    return logits[0]


def members_of(decoder: StepDecoder) -> tuple[StepDecoder, ...]:
    """The models of an ensemble; a decoder that is none by itself."""
    return decoder.members if type(decoder) is EnsembleDecoder else (decoder,)


def ensemble_log_probs_over(
    decoder: StepDecoder,
    sources: Sequence[Sequence[int]],
    targets: Sequence[Sequence[int]],
    special: SpecialIds,
    device: torch.device,
) -> list[list[float]]:
    """`log_probs_over` of a model, or of the mean of an ensemble's."""
    each = [
        log_probs_over(cast(Seq2Seq, one), sources, targets, special, device)
        for one in members_of(decoder)
    ]
    if len(each) == 1:
        return each[0]
    rows = zip(*each, strict=True)
    n = math.log(len(each))
    return [(torch.tensor(row).logsumexp(0) - n).tolist() for row in rows]
