"""The one door to decoding: `search` does what the settings say."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from jaxtyping import Int
from torch import Tensor

from headway.decoding.beam import beam_search
from headway.decoding.greedy import greedy
from headway.decoding.hypothesis import Hypothesis, length_limits
from headway.decoding.sampling import sample
from headway.decoding.settings import DecodingSettings
from headway.errors import HeadwayError
from headway.models.interfaces import StepDecoder

__all__ = ["METHODS", "Hypothesis", "length_limits", "search"]


METHODS: dict[
    str,
    tuple[
        Callable[..., list[list[Hypothesis]]],
        Callable[[DecodingSettings, torch.Generator | None], dict[str, Any]],
    ],
] = {
    "beam": (beam_search, lambda settings, _: {"beam": settings.beam, "n_best": settings.n_best}),
    "greedy": (greedy, lambda settings, _: {}),
    "sampling": (
        sample,
        lambda settings, generator: {
            "n_best": settings.n_best,
            "temperature": settings.temperature,
            "top_k": settings.top_k,
            "top_p": settings.top_p,
            "generator": generator,
        },
    ),
}
"""Each method of `DecodingSettings`: its function, and what it takes from the settings."""


def search(
    decoder: StepDecoder,
    source: Int[Tensor, "batch length"] | None,
    settings: DecodingSettings,
    *,
    begin: int,
    end: int,
    max_lengths: Int[Tensor, " batch"],
    forbidden: Sequence[int] = (),
    want_attention: bool = False,
    generator: torch.Generator | None = None,
) -> list[list[Hypothesis]]:
    """For each sentence of a padded batch its hypotheses, best first.

    `max_lengths` (see `length_limits`) and `source` are on the decoder's device; `forbidden` names
    tokens that are never written (padding, begin, unknown). Sampling draws from `generator`;
    without one, from a new one seeded with `settings.seed`, so that every call draws alike.

    Raises `HeadwayError` where a sentence gets no output of finite log-probability.
    """
    if generator is None:
        generator = torch.Generator(max_lengths.device).manual_seed(settings.seed)
    method, options = METHODS[settings.method]
    found = method(
        decoder,
        source,
        begin=begin,
        end=end,
        max_lengths=max_lengths,
        length_penalty=settings.length_penalty,
        forbidden=forbidden,
        want_attention=want_attention,
        **options(settings, generator),
    )
    if not all(hypotheses and math.isfinite(hypotheses[0].log_prob) for hypotheses in found):
        raise HeadwayError(
            "A model must give every sentence an output of finite log-probability; this one did "
            "not: its weights are damaged or its training diverged. Go back to an earlier "
            "checkpoint, or train again at a lower learning rate."
        )
    return found
