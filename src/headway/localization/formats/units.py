"""What passes through a flow (`headway.filling`): a unit to translate, and what became of it."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from headway.localization.placeholders.segments import Segment

MODEL = "model"
MEMORY = "memory"
FUZZY = "fuzzy"

DOUBTFUL = "doubtful"
"""Why an outcome has no segment: its confidence was below what was asked for."""


class Width(NamedTuple):
    most: int
    unit: str = "char"
    """`char`, `byte` (in UTF-8), or what the file says: `pixel`, ..., of which every character
    takes at least one."""

    def fits(self, text: str) -> bool:
        """False where a text is sure to be too long."""
        return (len(text.encode()) if self.unit == "byte" else len(text)) <= self.most


class PluralForm(NamedTuple):
    """Which of the plural forms of a text belongs in a gap."""

    form: int
    """From 0, in the order of the target language."""
    n_forms: int
    number: int | float
    """A number that takes this form: what stands for `%d` may be thought of as it."""
    name: str = ""
    """Of the form, as in CLDR: `one`, `few`, `other`; empty where the file gives none."""
    own_source: bool = True
    """Its source text is that of no other form."""

    @property
    def key(self) -> str:
        """The same for the same form of other messages."""
        return f"form {self.form} of {self.n_forms}, as for {self.number:g}"


def plural_forms(sources: Sequence[Any], numbers: Sequence[int | float]) -> list[PluralForm]:
    """The forms of one message, of which each has a source text, and a number that takes it."""
    times = Counter(sources)
    return [
        PluralForm(form, len(sources), number, own_source=times[source] == 1)
        for form, (source, number) in enumerate(zip(sources, numbers, strict=True))
    ]


def learned_form(forms: Sequence[PluralForm | None]) -> int:
    """Which translation of a message is the one to learn from, by its plural forms.

    The first whose source text is that of no other; else the last: of a text that stands for many
    numbers the translation for many.
    """
    own = (n for n, plural in enumerate(forms) if plural is None or plural.own_source)
    return next(own, len(forms) - 1)


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
    width: Width | None = None
    """How long its translation may be."""
    accelerator: str = ""
    """How its file writes accelerators (`&File`), where it has them."""
    plural: PluralForm | None = None
    """Which of the plural forms of a text its translation is to be."""

    @property
    def form(self) -> str:
        """The plural form that a translation of its text must be of; empty where any will do."""
        return self.plural.key if self.plural and not self.plural.own_source else ""


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
    """Numbers and codes that differ are put right already."""
    percent: int
    """How like the unit its source is, 0 to 100; 100 is the same text with the same codes."""
    place: str = ""
    """Where it stands: `old.tmx:17`."""
    differs: str = ""
    """In what it is not the unit: `words, numbers`; empty where nobody has said."""
    adapted: str = ""
    """Numbers and codes that were put right: `2 -> 3`."""
    not_adapted: str = ""
    """Those that differ and could not be."""


@dataclass(frozen=True)
class Outcome:
    unit: Unit
    segment: Segment | None
    """What goes into its place; None leaves it as it is, and `why_not` says why."""
    origin: str = ""
    """`MODEL`, `MEMORY` (an exact match), `FUZZY` (a near one); empty where nothing was made."""
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
    score: float | None = None
    """Log-probability divided by the length penalty, summed over the sentences of the unit."""
    near: tuple[Match, ...] = ()
    """Near matches, best first."""
    evidence: Sequence[Any] = ()
    """What the model said of each piece: a `TranslatedPiece` each."""

    @property
    def target(self) -> Segment | None:
        """What was made for it, whether it is written or not."""
        return self.rejected if self.segment is None else self.segment
