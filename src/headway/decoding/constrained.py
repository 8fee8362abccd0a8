"""Constrained beam search: hypotheses that lack something may not end, and are kept for it.

After Hokamp and Liu 2017 and Post and Vilar 2018: hypotheses compete with those that lack as much,
so that one which has just written something unlikely that is wanted is not lost to one which has
not. What is wanted is an `Acceptor`'s to say; search knows only how many tokens are missing.
"""

from collections.abc import Hashable, Sequence
from itertools import groupby
from typing import Protocol, runtime_checkable

import torch
from jaxtyping import Float, Int
from torch import Tensor

from headway.decoding.beam import beam_search, best
from headway.decoding.candidates import Candidate, shared_out
from headway.decoding.hypothesis import Hypothesis, Rules
from headway.models.interfaces import State, StepDecoder
from headway.text.terms.automaton import Tables


@runtime_checkable
class Acceptor(Protocol):
    """What one output must hold, read token by token.

    Its states are small and hashable. From each with something missing there is a token in
    `onward` that leaves at least one token less missing.
    """

    def start(self, limit: int) -> Hashable:
        """Before the first token; what cannot be written in `limit` tokens is not asked for."""
        ...

    def after(self, state: Hashable, token: int) -> Hashable:
        """The state once this token is written, which may be any but the end marker."""
        ...

    def missing(self, state: Hashable) -> int:
        """So many tokens suffice to write what is missing; 0: the output may end here."""
        ...

    def onward(self, state: Hashable) -> Sequence[int]:
        """Tokens that begin, or go on with, something missing."""
        ...

    @property
    def longest(self) -> int:
        """Tokens that outputs have at most, should the search allow more."""
        ...

    def tables(self, limit: int) -> Tables | None:
        """The same for the compiled engine, from `start(limit)` on; None where it is not for it."""
        ...


@torch.no_grad()
def constrained_search(
    decoder: StepDecoder,
    state: State,
    last: Int[Tensor, " batch"],
    rules: Rules,
    wanted: Sequence[Acceptor | None],
) -> list[list[Hypothesis]]:
    """Beam search in which sentence i's outputs are those that `wanted[i]` accepts.

    What `wanted[i].start` asks for within the sentence's limit is held by every hypothesis,
    whatever the width of the beam. A sentence with None is searched for as by `beam_search`, with
    the same hypotheses.
    """
    shorter = own_limits(rules.max_lengths, wanted)
    steering = Steering(wanted, rules := rules._replace(max_lengths=shorter))
    return beam_search(decoder, state, last, rules, steering.choose)


def own_limits(
    limits: Int[Tensor, " batch"], wanted: Sequence[Acceptor | None]
) -> Int[Tensor, " batch"]:
    """The limits of each sentence, those of its acceptor respected."""
    both = zip(limits.tolist(), wanted, strict=True)
    return limits.new_tensor([n if one is None else min(n, one.longest) for n, one in both])


class Steering:
    """Chooses which continuations of a sentence's hypotheses live on."""

    def __init__(self, wanted: Sequence[Acceptor | None], rules: Rules) -> None:
        """`wanted`: for each sentence, as in `constrained_search`."""
        self.wanted, self.end = wanted, rules.end
        self.states: dict[int, list[Hashable | None]] = {}
        """For each sentence with something wanted, those of its hypotheses, in order; None for one
        that has ended."""
        for i, limit in enumerate(rules.max_lengths.tolist()):
            if (acceptor := wanted[i]) is not None:
                self.states[i] = [acceptor.start(limit)]

    def choose(
        self,
        scores: Float[Tensor, "rows tokens"],
        before: Float[Tensor, "sentences width"],
        count: int,
        sentence: Int[Tensor, " sentences"],
        room: Int[Tensor, " sentences"],
    ) -> tuple[Float[Tensor, "sentences count"], Int[Tensor, "sentences count"]]:
        """As `headway.decoding.beam.best`; `room`: tokens that may be written before the end."""
        width = before.shape[1]
        steered = [(at, i) for at, i in enumerate(sentence.tolist()) if i in self.states]
        closed = [
            at * width + row
            for at, i in steered
            for row, state in enumerate(self.states[i])
            if state is not None and self._acceptor(i).missing(state)
        ]
        if closed:
            scores[torch.tensor(closed, device=scores.device), self.end] = -torch.inf
        total, place = best(scores, before, count)
        left = room.tolist()
        steered = [
            (at, i)
            for at, i in steered
            if left[at] <= 0 or not self._complete(i, total[at], place[at], scores.shape[1])
        ]
        if not steered:
            return total, place
        offers = self._offers(scores, before, count, steered)
        for (at, i), offered in zip(steered, offers, strict=True):
            viable = self._viable(i, offered, scores.shape[1], left[at], count)
            kept = shared_out(viable, total.shape[1])
            n_short = total.shape[1] - len(kept)
            new = [one.total for one in kept] + [-torch.inf] * n_short
            total[at] = torch.tensor(new, dtype=total.dtype)
            place[at] = torch.tensor([one.place for one in kept] + [0] * n_short)
            self.states[i] = [one.after for one in kept] + [None] * n_short
        return total, place

    def _complete(
        self, i: int, total: Float[Tensor, " count"], place: Int[Tensor, " count"], n_tokens: int
    ) -> bool:
        """Whether a sentence that lacks nothing goes on to lack nothing with the likeliest
        continuations: then there is nothing to steer."""
        acceptor, states = self._acceptor(i), self.states[i]
        if any(state is not None and acceptor.missing(state) for state in states):
            return False
        new: list[Hashable | None] = []
        for value, at in zip(total.tolist(), place.tolist(), strict=True):
            row, token = divmod(at, n_tokens)
            if value == -torch.inf or token == self.end:
                new.append(None)
                continue
            new.append(state := acceptor.after(states[row], token))
            if acceptor.missing(state):
                return False
        self.states[i] = new
        return True

    def _acceptor(self, i: int) -> Acceptor:
        acceptor = self.wanted[i]
        assert acceptor is not None
        return acceptor

    def _offers(
        self,
        scores: Float[Tensor, "rows tokens"],
        before: Float[Tensor, "sentences width"],
        count: int,
        steered: Sequence[tuple[int, int]],
    ) -> list[dict[int, tuple[float, float]]]:
        """For each steered sentence places, with what its hypothesis has and what the token adds.

        Of each hypothesis these are the likeliest tokens, and those that go on with what is missing
        or, where nothing is, the end.
        """
        width, n_tokens = before.shape[1], scores.shape[1]
        rows = [at * width + row for at, _ in steered for row in range(width)]
        likely = scores[torch.tensor(rows, device=scores.device)].topk(min(count, n_tokens))
        wished = [
            (at * width + row, token)
            for at, i in steered
            for row, state in enumerate(self.states[i])
            if state is not None
            for token in self._acceptor(i).onward(state) or (self.end,)
        ]
        where = torch.tensor(wished, dtype=torch.long, device=scores.device).view(-1, 2).unbind(1)
        each = zip(wished, scores[where].tolist(), strict=True)
        by_row = {row: list(some) for row, some in groupby(each, key=lambda one: one[0][0])}
        values, tokens, totals = likely.values.tolist(), likely.indices.tolist(), before.tolist()
        offers = []
        for n, (at, _) in enumerate(steered):
            found: dict[int, tuple[float, float]] = {}
            for row in range(width):
                so_far, base = totals[at][row], row * n_tokens
                if so_far == -torch.inf:
                    continue
                here = slice(n * width + row, n * width + row + 1)
                for token, value in zip(tokens[here][0], values[here][0], strict=True):
                    found[base + token] = so_far, value
                for (_, token), value in by_row.get(at * width + row, []):
                    found[base + token] = so_far, value
            offers.append(found)
        return offers

    def _viable(
        self,
        i: int,
        offered: dict[int, tuple[float, float]],
        n_tokens: int,
        room: int,
        count: int,
    ) -> list[Candidate]:
        """Those that leave room for what is missing, best first; of each number of missing tokens
        `count` are looked for."""
        acceptor, states = self._acceptor(i), self.states[i]
        viable: list[Candidate] = []
        banks: dict[int, int] = {}
        """How many lack so many tokens."""
        for place, (before, log_prob) in sorted(offered.items(), key=_likeliest):
            if log_prob == -torch.inf:
                continue
            row, token = divmod(place, n_tokens)
            state, ends = states[row], token == self.end
            after = None if ends else acceptor.after(state, token)
            missing = 0 if ends else acceptor.missing(after)
            if not ends and missing >= room:
                continue
            banks[missing] = banks.get(missing, 0) + 1
            if banks[missing] > count:  # the likeliest came first
                continue
            total = before + log_prob
            viable.append(Candidate(total, place, after, missing))
        return sorted(viable, key=lambda one: (-one.total, one.place))


def _likeliest(offered: tuple[int, tuple[float, float]]) -> float:
    _, (before, log_prob) = offered
    return -before - log_prob
