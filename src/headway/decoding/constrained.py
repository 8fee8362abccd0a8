"""Constrained beam search: hypotheses that lack something may not end, and are kept for it.

After Hokamp and Liu 2017 and Post and Vilar 2018: hypotheses compete with those that lack as much,
so that one which has just written something unlikely that is wanted is not lost to one which has
not. What is wanted is an `Acceptor`'s to say; search knows only how many tokens are missing.
"""

from collections.abc import Hashable, Sequence
from heapq import heappush, heappushpop
from itertools import groupby
from typing import Protocol, runtime_checkable

import torch
from jaxtyping import Float, Int
from torch import Tensor

from headway.decoding.beam import beam_search, best
from headway.decoding.candidates import Candidate, Hope, Judged, shared_out, weighed
from headway.decoding.hypothesis import Hypothesis, Rules
from headway.decoding.looks import Look, Looks
from headway.models.interfaces import State, StepDecoder


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
    def spans(self) -> Sequence[Sequence[int]]:
        """For each thing that is wanted the places of the source that it translates; it may be
        none."""
        ...

    @property
    def rivals(self) -> Sequence[Sequence[int]]:
        """For each thing the tokens that a plain search wrote in its place."""
        ...

    def judged(
        self, state: Hashable, token: int, shares: Sequence[float], rivals: Sequence[float]
    ) -> "Judged":
        """What speaks for and against a token: `shares` is how much the model looks at each span,
        `rivals` the log-probability of the likeliest rival of each thing."""
        ...

    @property
    def longest(self) -> int:
        """Tokens that outputs have at most, should the search allow more."""
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
    own = [None if one is None else one.longest for one in wanted]
    limits = zip(rules.max_lengths.tolist(), own, strict=True)
    shorter = [limit if longest is None else min(limit, longest) for limit, longest in limits]
    looking = rules._replace(want_attention=True, max_lengths=rules.max_lengths.new_tensor(shorter))
    steering = Steering(wanted, looking)
    found = beam_search(decoder, state, last, looking, steering.choose)
    if rules.want_attention:
        return found
    return [[one._replace(attention=None) for one in some] for some in found]


class Steering:
    """Chooses which continuations of a sentence's hypotheses live on."""

    def __init__(self, wanted: Sequence[Acceptor | None], rules: Rules) -> None:
        """`wanted`: for each sentence, as in `constrained_search`."""
        self.wanted, self.end = wanted, rules.end
        self.states: dict[int, list[Hope]] = {}
        """For each sentence with something wanted, those of its hypotheses, in order."""
        for i, limit in enumerate(rules.max_lengths.tolist()):
            if (acceptor := wanted[i]) is not None:
                self.states[i] = [Hope(acceptor.start(limit))]
        self.looks = Looks({i: self._acceptor(i) for i in self.states}, rules.max_lengths.device)
        self._wished: dict[int, dict[Hashable, frozenset[int]]] = {i: {} for i in self.states}

    def choose(
        self,
        scores: Float[Tensor, "rows tokens"],
        before: Float[Tensor, "sentences width"],
        count: int,
        sentence: Int[Tensor, " sentences"],
        room: Int[Tensor, " sentences"],
        attention: Float[Tensor, "rows source"] | None,
    ) -> tuple[Float[Tensor, "sentences count"], Int[Tensor, "sentences count"]]:
        """As `headway.decoding.beam.best`; `room`: tokens that may be written before the end."""
        width = before.shape[1]
        steered = [(at, i) for at, i in enumerate(sentence.tolist()) if i in self.states]
        closed = [
            at * width + row
            for at, i in steered
            for row, hope in enumerate(self.states[i])
            if self._acceptor(i).missing(hope.state)
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
        looks = self.looks.of(steered, scores, attention, width)
        for (at, i), offered in zip(steered, offers, strict=True):
            viable = self._viable(i, offered, scores.shape[1], left[at], looks.get(i), count)
            kept = shared_out(viable, total.shape[1])
            n_short = total.shape[1] - len(kept)
            new = [one.total for one in kept] + [-torch.inf] * n_short
            total[at] = torch.tensor(new, dtype=total.dtype)
            place[at] = torch.tensor([one.place for one in kept] + [0] * n_short)
            states = [one.after for one in kept]
            self.states[i] = states + states[:1] * n_short
        return total, place

    def _complete(
        self, i: int, total: Float[Tensor, " count"], place: Int[Tensor, " count"], n_tokens: int
    ) -> bool:
        """Whether a sentence that lacks nothing goes on to lack nothing with the likeliest
        continuations: then there is nothing to steer."""
        acceptor, states = self._acceptor(i), self.states[i]
        if any(acceptor.missing(hope.state) for hope in states):
            return False
        new = []
        for value, at in zip(total.tolist(), place.tolist(), strict=True):
            row, token = divmod(at, n_tokens)
            state = states[row].state
            if value > -torch.inf and token != self.end:
                if any(token in tokens for tokens in acceptor.rivals):
                    return False
                state = acceptor.after(state, token)
                if acceptor.missing(state):
                    return False
            new.append(Hope(state))
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
            for row, hope in enumerate(self.states[i])
            for token in self._acceptor(i).onward(hope.state) or (self.end,)
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
        looks: Sequence[Look] | None,
        count: int,
    ) -> list[Candidate]:
        """Those that leave room for what is missing, best first; of each number of missing tokens
        `count` are looked for."""
        acceptor, states, wished = self._acceptor(i), self.states[i], self._wished[i]
        viable: list[Candidate] = []
        banks: dict[int, list[float]] = {}
        """The `count` highest totals of each number of missing tokens, as heaps."""
        for hope in states:
            if hope.state not in wished:
                wished[hope.state] = frozenset(acceptor.onward(hope.state))
        for place, (before, log_prob) in sorted(offered.items(), key=_likeliest):
            if log_prob == -torch.inf:
                continue
            row, token = divmod(place, n_tokens)
            hope, ends = states[row], token == self.end
            after = hope.state if ends else acceptor.after(hope.state, token)
            missing = acceptor.missing(after)
            if not ends and missing >= room:
                continue
            bank = banks.setdefault(missing, [])
            # nothing but what is wished for counts for more than its probability
            full = len(bank) >= count
            if full and before + log_prob < bank[0] and token not in wished[hope.state]:
                continue
            then, value = Hope(after), log_prob
            if looks is not None and not ends:
                judged = acceptor.judged(hope.state, token, *looks[row])
                then, value = weighed(hope, log_prob, after, judged)
            heappushpop(bank, before + value) if full else heappush(bank, before + value)
            viable.append(Candidate(before + value, place, then, missing))
        return sorted(viable, key=lambda one: (-one.total, one.place))


def _likeliest(offered: tuple[int, tuple[float, float]]) -> float:
    _, (before, log_prob) = offered
    return -before - log_prob
