"""Continuations of hypotheses that may still hold all that is wanted, and which of them live on."""

from collections.abc import Hashable, Sequence
from typing import NamedTuple

UNLIKELIER = 2.0
"""Nats that a missing token is expected to cost."""


class Candidate(NamedTuple):
    """A continuation of a hypothesis that may still hold all that is wanted."""

    total: float
    place: int
    """Row within its sentence times vocabulary, plus token."""
    after: Hashable | None
    """The state of what is wanted behind it; None behind the end."""
    missing: int


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
