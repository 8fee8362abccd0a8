"""What every search shares: its settings, hypotheses, how they are scored, limited and read."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from headway.core.errors import ConfigError, HeadwayError, refuse_below


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


def normalize_(logits: Float[Tensor, "rows vocabulary"]) -> None:
    """Make log-probabilities of them, in place; on a CPU a few rows at a time, for its cache."""
    for piece in [logits] if logits.is_cuda else logits.split(16):
        piece.sub_(piece.logsumexp(1, keepdim=True))


def worth_leaving(n_going_on: int, n_rows: int) -> bool:
    """Whether those that are done should leave the batch: to move the others costs time too, so
    until an eighth is done all are carried along, and what the done ones write is not looked at."""
    return 8 * (n_rows - n_going_on) >= n_rows


def permit_(
    logits: Float[Tensor, "rows vocabulary"],
    rules: Rules,
    limits: Int[Tensor, " rows"],
    n_written: int,
) -> None:
    """Set to -inf, in place, whatever may not follow `n_written` tokens: what is never written, and
    for a row that reaches its limit everything but the end marker.

    That keeps the log-probability that the model gives to it: nothing is renormalized.
    """
    if (must_end := limits <= n_written).any():
        end_logits = logits[:, rules.end].clone()
        logits.masked_fill_(must_end.unsqueeze(1), -torch.inf)
        logits[:, rules.end] = end_logits
    for token in rules.forbidden:
        logits[:, token] = -torch.inf


class Choices(NamedTuple):
    """Those of one step."""

    parents: Int[Tensor, " choices"]
    """The choice of the step before that each continues; at the first step they mean nothing."""
    tokens: Int[Tensor, " choices"]
    log_probs: Float[Tensor, " choices"]
    attention: Float[Tensor, "choices source"] | None


class Trace:
    """Every choice of a search, step by step; hypotheses are read from it backwards, at the end."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.choices: list[Choices] = []

    def read(
        self, steps: Int[Tensor, " found"], choices: Int[Tensor, " found"]
    ) -> list[Hypothesis]:
        """The hypotheses whose end markers are these `choices` of these `steps` (from 0).

        Raises `HeadwayError` if one has no finite log-probability.
        """
        if not steps.numel():
            return []
        tokens, log_probs, attention = [], [], []
        for step in reversed(range(int(steps.max()) + 1)):
            made = self.choices[step]
            here = torch.where(steps >= step, choices, 0)  # 0: anything, it is cut off below
            tokens.append(made.tokens[here])
            log_probs.append(made.log_probs[here])
            if made.attention is not None:
                attention.append(made.attention[here])
            choices = torch.where(steps >= step, made.parents[here], choices)
        all_tokens = torch.stack(tokens[::-1], 1).tolist()
        all_log_probs = torch.stack(log_probs[::-1], 1).tolist()
        maps = torch.stack(attention[::-1], 1).float().cpu() if attention else None
        found = []
        for i, last in enumerate(steps.tolist()):
            weights = None if maps is None else maps[i, : last + 1].clone()
            ids, token_log_probs = all_tokens[i][:last], all_log_probs[i][: last + 1]
            found.append(scored(ids, token_log_probs, self.rules, weights))
        return found


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
