"""What passes through a flow (`headway.filling`): a unit to translate, and what became of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from headway.localization.formats.documents import Width
from headway.localization.placeholders.segments import Segment

MODEL = "model"
MEMORY = "memory"
FUZZY = "fuzzy"
KEPT = "kept"

DOUBTFUL = "doubtful"
"""Why an outcome has no segment: its confidence was below what was asked for."""


@dataclass(frozen=True)
class Unit:
    """A text to be translated: a line, or a gap of a translation file."""

    source: Segment
    file: str = ""
    """Its file as it is shown; empty where there is none."""
    line: int = 0
    """Line of the file, from 1, that it begins on; 0 where there is none."""
    key: str = ""
    """What tells it from others of the same text (`msgctxt`, `resname`, ..); empty for nothing."""
    before: str | None = None
    """Source text of the unit before it; empty for the first one, None where that is unknown."""
    after: str | None = None
    """Source text of the unit behind it; empty for the last one, None where that is unknown."""
    there: Segment | None = None
    """A translation that stands there already, and is to be replaced."""
    width: Width | None = None
    """How long its translation may be."""
    accelerator: str = ""
    """How its file writes accelerators (`&File`), where it has them."""
    form: str = ""
    """The plural form that its translation must be, where its text stands for several of them."""


class Flag(NamedTuple):
    """Something about a translation that a person should look at."""

    name: str
    """In snake case: `too_short`, `loop`, `copy`, `uncovered`, `number`, `code`, `script`, .."""
    confidence: float
    """How sure it is that something is wrong, 0 to 1."""
    why: str
    """A short sentence for the user, with what was found."""


class Match(NamedTuple):
    """What a translation memory knows for a unit."""

    source: Segment
    target: Segment
    """Numbers and codes that differ are put right already: `repaired` says that it was so."""
    percent: int
    """How like the unit its source is, 0 to 100; 100 is the same text with the same codes."""
    place: str = ""
    """Where it stands: `old.tmx:17`."""
    in_context: bool = False
    """The units beside it, or its key, are the same too."""
    repaired: bool = False
    differs: str = ""
    """In what it is not the unit: `words, numbers`; empty where nobody has said."""


class SegmentAlternative(NamedTuple):
    """One of the n best translations of a unit."""

    segment: Segment
    score: float | None
    """Log-probability divided by the length penalty, summed over the sentences of the unit."""
    picks: tuple[int, ...] = ()
    """Which of the n best of each piece of the unit it is made of, from 0."""


@dataclass(frozen=True)
class Outcome:
    unit: Unit
    segment: Segment | None
    """What goes into its place; None leaves it as it is, and `why_not` says why."""
    origin: str = ""
    """`MODEL`, `MEMORY` (an exact match), `FUZZY` (a near one), `KEPT` (nothing to translate);
    empty where nothing was made."""
    percent: int | None = None
    """Of the match that was taken."""
    flags: tuple[Flag, ...] = ()
    confidence: float | None = None
    """That nothing is wrong with it, 0 to 1; None where nothing has looked."""
    complete: bool = True
    """Every code stands where the model put it; otherwise some were put at the end."""
    why_not: str = ""
    rejected: Segment | None = None
    """What was made and not trusted enough to be written."""
    n_best: tuple[SegmentAlternative, ...] = ()
    """Best first, where more than one was asked for."""
    score: float | None = None
    """Of what the model wrote, as in `SegmentAlternative`."""
    near: tuple[Match, ...] = ()
    """Near matches, best first."""
    evidence: Sequence[Any] = ()
    """What the model said of each piece: a `TranslatedPiece` each."""

    @property
    def target(self) -> Segment | None:
        """What was made for it, whether it is written or not."""
        return self.rejected if self.segment is None else self.segment
