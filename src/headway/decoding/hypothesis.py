"""What every search shares: hypotheses, how they are scored, limited, and read back."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor


class Hypothesis(NamedTuple):
    """One finished output."""

    ids: list[int]
    """Its tokens, without the begin marker and without the end marker."""
    score: float
    """`log_prob` divided by the length penalty: what hypotheses are ranked by."""
    log_prob: float
    """Log-probability (nats) of the tokens and of the end marker."""
    token_log_probs: list[float]
    """Its summands: one for each token, then one for the end marker."""
    attention: Float[Tensor, "length source"] | None
    """For each of those, the weights on the source positions (of the padded batch), on the CPU."""


def penalty(length: int | Tensor, alpha: float) -> float | Tensor:
    """((5 + length) / 6) ** alpha (Wu et al. 2016, GNMT, eq. 14); the end marker is counted."""
    return ((5.0 + length) / 6.0) ** alpha


def length_limits(
    source_lengths: Int[Tensor, " batch"], max_extra_length: int, model_limit: int | None = None
) -> Int[Tensor, " batch"]:
    """How many tokens each output may have before its end marker.

    Source length + `max_extra_length`; less where the decoder can be fed only `model_limit` tokens
    in all, the begin marker included.
    """
    limits = source_lengths + max_extra_length
    return limits if model_limit is None else limits.clamp(max=model_limit - 1)


def ranked(hypotheses: Iterable[Hypothesis]) -> list[Hypothesis]:
    """Best score first; among equals the order stays."""
    return sorted(hypotheses, key=lambda hypothesis: -hypothesis.score)


class Permissions:
    """Which tokens may come next: never a forbidden one, and at the limit only the end marker.

    A hypothesis that reaches its limit is therefore closed by the end marker, at the
    log-probability that the model gives to it: every hypothesis is a whole sequence under the
    model. Nothing is renormalized over the tokens that remain.
    """

    def __init__(self, forbidden: Sequence[int], end: int, max_lengths: Int[Tensor, " batch"]):
        self.forbidden = torch.tensor(forbidden, dtype=torch.long, device=max_lengths.device)
        self.end = end
        self.shortest_limit = int(max_lengths.min())

    def apply_(
        self,
        log_probs: Float[Tensor, "rows vocabulary"],
        limits: Int[Tensor, " rows"],
        n_written: int,
    ) -> Float[Tensor, "rows vocabulary"]:
        """Set to -inf, in place, whatever may not follow `n_written` tokens."""
        if n_written >= self.shortest_limit:
            must_end = (limits <= n_written).unsqueeze(1)
            end_log_probs = log_probs[:, self.end].clone()
            log_probs.masked_fill_(must_end, -torch.inf)
            log_probs[:, self.end] = end_log_probs
        return log_probs.index_fill_(1, self.forbidden, -torch.inf)


class Trace:
    """Every choice of a search, step by step; hypotheses are read from it backwards, at the end.

    The choices of step t each continue one choice of step t - 1, their parent, with a token.
    """

    def __init__(self) -> None:
        self.parents: list[Int[Tensor, " choices"]] = []
        self.tokens: list[Int[Tensor, " choices"]] = []
        self.log_probs: list[Float[Tensor, " choices"]] = []
        self.attention: list[Float[Tensor, "choices source"]] = []

    def append(
        self,
        parents: Int[Tensor, " choices"],
        tokens: Int[Tensor, " choices"],
        log_probs: Float[Tensor, " choices"],
        attention: Float[Tensor, "choices source"] | None,
    ) -> None:
        """Remember the choices of one step (at the first step parents mean nothing)."""
        self.parents.append(parents)
        self.tokens.append(tokens)
        self.log_probs.append(log_probs)
        if attention is not None:
            self.attention.append(attention)

    def read(
        self, steps: Int[Tensor, " found"], choices: Int[Tensor, " found"], alpha: float
    ) -> list[Hypothesis]:
        """The hypotheses whose end markers are these `choices` of these `steps` (from 0)."""
        if not steps.numel():
            return []
        n_steps = int(steps.max()) + 1
        tokens, log_probs, attention = [], [], []
        for step in reversed(range(n_steps)):
            here = torch.where(steps >= step, choices, 0)  # 0: anything, it is cut off below
            tokens.append(self.tokens[step][here])
            log_probs.append(self.log_probs[step][here])
            if self.attention:
                attention.append(self.attention[step][here])
            choices = torch.where(steps >= step, self.parents[step][here], choices)
        all_tokens = torch.stack(tokens[::-1], 1).tolist()
        all_log_probs = torch.stack(log_probs[::-1], 1).tolist()
        maps = torch.stack(attention[::-1], 1).float().cpu() if attention else None
        found = []
        for i, last in enumerate(steps.tolist()):
            token_log_probs = all_log_probs[i][: last + 1]
            log_prob = sum(token_log_probs)
            score = log_prob / penalty(last + 1, alpha)
            weights = None if maps is None else maps[i, : last + 1].clone()
            found.append(
                Hypothesis(all_tokens[i][:last], score, log_prob, token_log_probs, weights)
            )
        return found
