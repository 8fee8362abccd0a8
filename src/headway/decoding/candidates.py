"""Continuations of hypotheses that may still hold all that is wanted, and which of them live on."""

from collections.abc import Hashable, Sequence
from typing import NamedTuple, Protocol, runtime_checkable

ASTRAY = 1.0
"""Nats that a token costs which is written while the model looks elsewhere. Of 200 terms on 300
lines of Multi30k, 0 cost the rest of the text 0.2 BLEU, and 4 more; 1 cost nothing."""
UNLIKELIER = 2.0
"""Nats that a missing token is expected to cost."""


@runtime_checkable
class Judged(Protocol):
    """What a token counts for in the choice between hypotheses, beside its log-probability."""

    @property
    def astray(self) -> float:
        """How little it fits to where the model looks, from 0."""

    @property
    def at_least(self) -> float:
        """The log-probability that it counts for at least, being part of something missing: for the
        first part, that of what it replaces. It is paid back where the whole is not written."""

    @property
    def goes_on(self) -> bool:
        """It goes on with something that was begun."""

    @property
    def completes(self) -> bool:
        """With it something is complete."""

    @property
    def loses(self) -> bool:
        """It joins on to something that was complete, which is then none."""


class Hope(NamedTuple):
    """A hypothesis, and what it was given for something that it has begun."""

    state: Hashable
    credit: float = 0.0
    complete: bool = False


class Candidate(NamedTuple):
    """A continuation of a hypothesis that may still hold all that is wanted."""

    total: float
    place: int
    """Row within its sentence times vocabulary, plus token."""
    after: Hope
    missing: int


def weighed(hope: Hope, log_prob: float, after: Hashable, judged: Judged) -> tuple[Hope, float]:
    """What a token counts for, and what its hypothesis then owes."""
    credit = max(0.0, judged.at_least - log_prob)
    value = log_prob + credit - ASTRAY * judged.astray
    if judged.goes_on and not hope.complete:
        credit += hope.credit
    elif not hope.complete or judged.loses:
        value -= hope.credit
    return Hope(after, credit, judged.completes), value


def shared_out(viable: Sequence[Candidate], count: int) -> list[Candidate]:
    """At most `count`, best first: as many of each number of missing tokens as can be; where there
    are more numbers than places, those with the best prospects."""
    banks: dict[int, list[Candidate]] = {}
    for one in viable:  # best first
        banks.setdefault(one.missing, []).append(one)
    turn = sorted(banks, key=lambda missing: UNLIKELIER * missing - banks[missing][0].total)
    kept: list[Candidate] = []
    depth = 0
    while len(kept) < min(count, len(viable)):
        kept += [banks[missing][depth] for missing in turn if depth < len(banks[missing])]
        depth += 1
    return sorted(kept[:count], key=lambda one: (-one.total, one.place))
