"""What is asked of a search and what it gives: settings, a request, hypotheses and their scores."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from headway.core.errors import ConfigError, HeadwayError, refuse_below
from headway.core.interfaces import StepDecoder
from headway.core.subwords import SpecialIds


@dataclass(frozen=True)
class DecodingSettings:
    """The `[decoding]` section. Raises `ConfigError` where a value makes no sense."""

    method: Literal["beam", "greedy"] = "beam"
    """`beam` search, or `greedy`: the likeliest token each time."""
    beam: int = 5
    """Hypotheses kept after each step (the paper uses 4)."""
    length_penalty: float = 1.0
    """Scores are log-probability / ((5 + length) / 6) ** length_penalty; 0 ranks by probability.
    The paper's 0.6 left the small models' translations a tenth too short."""
    n_best: int = 1
    """Hypotheses returned for each sentence, best first."""
    max_extra_length: int = 50
    """The output may be this many tokens longer than the source (section 6.1 of the paper)."""

    @property
    def rows(self) -> int:
        """Hypotheses that are written side by side for each sentence."""
        return self.beam if self.method == "beam" else self.n_best

    def __post_init__(self) -> None:
        refuse_below(self, {"beam": 1, "n_best": 1, "max_extra_length": 0}, above="decoding.")
        if self.length_penalty < 0:
            raise ConfigError(
                f"decoding.length_penalty must not be negative; got {self.length_penalty}. "
                "0 ranks by probability, 0.6 is the paper's value, more prefers longer output."
            )
        if self.n_best > {"beam": self.beam, "greedy": 1}.get(self.method, math.inf):
            raise ConfigError(
                "decoding.n_best must not exceed decoding.beam, nor 1 in greedy search; got "
                f"{self.n_best} of {self.method} {self.beam}. Try method beam, beam {self.n_best}."
            )


class Hypothesis(NamedTuple):
    """One finished output."""

    ids: list[int]
    """Its tokens, without the begin marker and without the end marker."""
    score: float
    """`log_prob` divided by the length penalty: what hypotheses are ranked by."""
    log_prob: float
    """Log-probability (nats) of the tokens and of the end marker."""
    token_log_probs: list[float]
    """Its summands: one for each token, then one for the end marker.

    Greedy search leaves these three out (NaN, NaN, none) where no scores are wanted."""
    attention: Float[Tensor, "length source"] | None
    """For each of those, the weights on the source positions (of the padded batch), on the CPU."""


BATCH_TOKENS = 8192
Ids = Sequence[int] | np.ndarray[Any, np.dtype[Any]]


class SearchRequest(NamedTuple):
    """How many outputs are to be searched for."""

    special: SpecialIds
    settings: DecodingSettings
    device: torch.device
    want_scores: bool = True
    """Without, greedy search computes no probability."""
    want_attention: bool = False
    done: Callable[[int], None] = lambda n: None
    """Hears how many more sentences are finished."""
    batch_tokens: int = BATCH_TOKENS
    """The most source tokens of a batch, padding included, times hypotheses of each sentence."""
    least_tokens: int = 0
    """As how many each sentence counts at least."""
    generator: torch.Generator | None = None
    """What a method that draws takes its random numbers from; None for the process's."""


Decode = Callable[[StepDecoder, Sequence[Ids], SearchRequest], list[list[Hypothesis]]]
"""`headway.core.search.decode_all`, or what is given in its place."""


class Rules(NamedTuple):
    """What every search obeys."""

    settings: DecodingSettings
    """Their length penalty changes only the reported score in greedy search and sampling."""
    end: int
    """The end marker."""
    max_lengths: Int[Tensor, " batch"]
    """Tokens before the end marker, which is forced behind them; see `length_limits`."""
    forbidden: Sequence[int] = ()
    """Tokens that are never written: padding, begin, unknown."""
    want_attention: bool = False
    want_scores: bool = True
    """False: greedy search never computes a probability."""


def penalty(length: int | Tensor, alpha: float) -> float | Tensor:
    """((5 + length) / 6) ** alpha (Wu et al. 2016, GNMT, eq. 14); the end marker is counted."""
    return ((5.0 + length) / 6.0) ** alpha


def length_limits(
    source_lengths: Int[Tensor, " batch"], max_extra_length: int, model_limit: int | None = None
) -> Int[Tensor, " batch"]:
    """How many tokens each output may have before its end marker: as many as its source and
    `max_extra_length`; fewer where the decoder is fed at most `model_limit`, `<s>` included."""
    limits = source_lengths + max_extra_length
    return limits if model_limit is None else limits.clamp(max=model_limit - 1)


def ranked(hypotheses: Iterable[Hypothesis]) -> list[Hypothesis]:
    """Best score first; among equals as they were."""
    return sorted(hypotheses, key=lambda hypothesis: -hypothesis.score)


def scored(
    ids: list[int], token_log_probs: list[float], rules: Rules, attention: Tensor | None = None
) -> Hypothesis:
    """A finished hypothesis; raises `HeadwayError` if it has no finite log-probability."""
    log_prob = sum(token_log_probs)
    if not math.isfinite(log_prob):
        raise diverged()
    if not rules.want_scores:
        log_prob, token_log_probs = math.nan, []
    score = float(log_prob / penalty(len(ids) + 1, rules.settings.length_penalty))
    return Hypothesis(ids, score, log_prob, token_log_probs, attention)


def diverged() -> HeadwayError:
    """What is said of a model that gives no numbers."""
    return HeadwayError(
        "A model must give every sentence an output of finite log-probability; this one did "
        "not: its weights are damaged or its training diverged. Go back to an earlier "
        "checkpoint, or train again at a lower learning rate."
    )
