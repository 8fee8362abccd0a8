"""Where hypotheses look that must hold something, and what they would write in its place."""

from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple, Protocol, runtime_checkable

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

_NONE = -1
"""Fills up the rivals of a thing that has fewer than another one."""


@runtime_checkable
class Spanned(Protocol):
    """What `Looks` asks of an acceptor: see `headway.decoding.constrained.Acceptor`."""

    @property
    def spans(self) -> Sequence[Sequence[int]]: ...

    @property
    def rivals(self) -> Sequence[Sequence[int]]: ...


class Look(NamedTuple):
    """For each thing that is wanted, what one hypothesis says of it at one step."""

    shares: list[float]
    """How much of attention lies on its span, against the place outside of it that has most."""
    rivals: list[float]
    """The log-probability of its likeliest rival."""


class Looks:
    """The spans and rivals of all sentences, in tensors: looked up for all of them at once."""

    def __init__(self, wanted: Mapping[int, Spanned], device: torch.device) -> None:
        """`wanted` by the sentence's number; one without any spans has no looks."""
        spanned = {i: one for i, one in wanted.items() if any(one.spans)}
        spans = [list(span) for one in spanned.values() for span in one.spans]
        rivals = [
            torch.tensor([*tokens, _NONE])
            for one in spanned.values()
            for tokens in one.rivals or [()] * len(one.spans)
        ]
        ends = accumulate(len(one.spans) for one in spanned.values())
        self._things = {
            i: range(end - len(one.spans), end)
            for (i, one), end in zip(spanned.items(), ends, strict=True)
        }
        length = 1 + max((place for span in spans for place in span), default=0)
        self._inside = torch.zeros(len(spans), length, dtype=torch.bool, device=device)
        for row, span in zip(self._inside, spans, strict=True):
            row[span] = True
        none = [torch.tensor([_NONE])]
        padded = pad_sequence(rivals or none, batch_first=True, padding_value=_NONE)
        self._rivals = padded.to(device)

    def of(
        self,
        steered: Sequence[tuple[int, int]],
        scores: Float[Tensor, "rows tokens"],
        attention: Float[Tensor, "rows source"] | None,
        width: int,
    ) -> dict[int, list[Look]]:
        """For each of these sentences (its place in the batch, its number) a look for each of its
        `width` rows."""
        known = [(at, i) for at, i in steered if i in self._things]
        if attention is None or not known:
            return {}
        pairs = [(at, thing) for at, i in known for thing in self._things[i]]
        place, thing = torch.tensor(pairs, device=attention.device).unbind(1)
        rows = place.unsqueeze(1) * width + torch.arange(width, device=attention.device)
        shares = _shares(attention[rows], self._inside[thing]).mT.tolist()
        tokens = self._rivals[thing].unsqueeze(1)  # [things, 1, rivals]
        likely = scores[rows.unsqueeze(2), tokens.clamp(min=0)]
        likeliest = likely.masked_fill(tokens == _NONE, -torch.inf).amax(2).mT.tolist()
        looks: dict[int, list[Look]] = {}
        first = 0
        for _, i in known:
            own = slice(first, first + len(self._things[i]))
            by_row = zip(shares, likeliest, strict=True)
            looks[i] = [Look(share[own], rival[own]) for share, rival in by_row]
            first = own.stop
        return looks


def _shares(
    attention: Float[Tensor, "things width source"], inside: Tensor
) -> Float[Tensor, "things width"]:
    """How much of attention lies inside of each span, against the highest place outside."""
    n_beyond = attention.shape[2] - inside.shape[1]
    within = torch.nn.functional.pad(inside, (0, n_beyond)).unsqueeze(1)  # [things, 1, source]
    on_span = attention.masked_fill(~within, 0.0).sum(2)
    elsewhere = attention.masked_fill(within, 0.0).amax(2)
    return torch.where(on_span > 0, on_span / (on_span + elsewhere), 0.0)
