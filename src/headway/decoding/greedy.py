"""Greedy search: always the most likely next token."""

from collections.abc import Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor

from headway.decoding.hypothesis import Hypothesis
from headway.decoding.rollout import roll_out
from headway.models.interfaces import StepDecoder


def most_likely(log_probs: Float[Tensor, "rows vocabulary"]) -> Int[Tensor, " rows"]:
    """Each row's most likely token; among equals the lowest id."""
    return log_probs.max(dim=1).indices


@torch.no_grad()
def greedy(
    decoder: StepDecoder,
    source: Int[Tensor, "batch length"] | None,
    *,
    begin: int,
    end: int,
    max_lengths: Int[Tensor, " batch"],
    length_penalty: float = 0.0,
    forbidden: Sequence[int] = (),
    want_attention: bool = False,
) -> list[list[Hypothesis]]:
    """One hypothesis for each sentence, the same as beam search with a beam of 1.

    `max_lengths` counts tokens before the end marker, which is forced after them; `forbidden`
    tokens are never written. The length penalty changes only the score that is reported.
    """
    return roll_out(
        decoder,
        source,
        most_likely,
        begin=begin,
        end=end,
        max_lengths=max_lengths,
        copies=1,
        length_penalty=length_penalty,
        forbidden=forbidden,
        want_attention=want_attention,
    )
