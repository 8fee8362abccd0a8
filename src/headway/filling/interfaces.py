"""What a flow asks of a memory, of terms and of checks; any object with these methods will do."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol, runtime_checkable

from headway.localization.formats.units import Flag, Match, Outcome, Unit
from headway.localization.placeholders.segments import Segment


@runtime_checkable
class MemoryLookup(Protocol):
    """A translation memory."""

    def exact(self, unit: Unit, /) -> Match | None:
        """The best match of 100%: in context if there is one; None if there is no match."""
        ...

    def near(self, unit: Unit, /) -> Sequence[Match]:
        """Matches below 100%, best first, only such as are worth being shown."""
        ...


@runtime_checkable
class TermChecker(Protocol):
    """Terms that hold. The translator was given them; this looks at what it made of them."""

    def lost(self, source: Segment, target: Segment, /) -> Sequence[Flag]:
        """A flag for each term of the source whose translation is not in the target."""
        ...


class Judgement(NamedTuple):
    flags: Sequence[Flag]
    confidence: float | None
    """That nothing is wrong with it, 0 to 1; None if that cannot be said."""


@runtime_checkable
class Checks(Protocol):
    """Looks at every translation, whoever made it."""

    def judge(self, outcome: Outcome, /) -> Judgement:
        """`outcome.segment` is there; `outcome.evidence` too where the model wrote it."""
        ...
