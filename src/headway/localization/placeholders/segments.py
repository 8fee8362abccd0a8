"""What stands in a unit of a translation file: text with codes in it, and the gaps to be filled."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Protocol, runtime_checkable

EXACT = 100
"""Percentage of a match with the very text."""


class Code(NamedTuple):
    """A piece of markup inside a text, which must arrive in its translation once and unchanged."""

    text: str
    """As a reader and a model see it: the code that the markup stands for (`<b>`, `%s`), or the
    tag itself in short (`<x id="1"/>`, `<g id="1">`, `</g>`)."""
    raw: str = ""
    """As the file writes it, escaped; written into the target as it is."""


@dataclass(frozen=True)
class Segment:
    parts: tuple[str | Code, ...] = ()

    @classmethod
    def of(cls, parts: Iterable[str | Code]) -> "Segment":
        """Texts that stand side by side are one, and empty ones none."""
        joined: list[str | Code] = []
        for part in parts:
            if isinstance(part, str) and joined and isinstance(last := joined[-1], str):
                joined[-1] = last + part
            elif part or isinstance(part, Code):
                joined.append(part)
        return cls(tuple(joined))

    def with_codes(self, find: Callable[[str], Iterable[tuple[int, int]]]) -> "Segment":
        """The same with these stretches of its texts as codes, too."""
        parts: list[str | Code] = []
        for part in self.parts:
            if isinstance(part, Code):
                parts.append(part)
                continue
            place = 0
            for start, end in find(part):
                parts += [part[place:start], Code(part[start:end])]
                place = end
            parts.append(part[place:])
        return Segment.of(parts)

    @property
    def text(self) -> str:
        """All of it as plain text, codes included: what a model learns from."""
        return "".join(part if isinstance(part, str) else part.text for part in self.parts)

    @property
    def codes(self) -> list[Code]:
        return [part for part in self.parts if isinstance(part, Code)]

    @property
    def wordless(self) -> bool:
        """Nothing here that a model could translate: no letters outside of the codes."""
        return not any(
            sign.isalpha() for part in self.parts if isinstance(part, str) for sign in part
        )

    @property
    def blank(self) -> bool:
        """Nothing here to translate: no letters or digits outside of the codes."""
        written = "".join(part for part in self.parts if isinstance(part, str))
        return not any(character.isalnum() for character in written)


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


def learned_form(forms: Sequence[PluralForm | None]) -> int:
    """Which translation of a message is the one to learn from, by its plural forms.

    The first whose source text is that of no other; else the last: of a text that stands for many
    numbers the translation for many.
    """
    own = (n for n, plural in enumerate(forms) if plural is None or plural.own_source)
    return next(own, len(forms) - 1)


@dataclass(frozen=True)
class Gap:
    """A place in a file that a translation belongs in."""

    source: Segment
    line: int
    """Line of the file, from 1, that the unit begins on."""
    filled: bool = False
    """A translation stands there already (asked for with `overwrite`)."""
    key: str = ""
    """What tells it from others of the same text (`msgctxt`, `resname`, ..); empty for nothing."""
    before: str | None = None
    """Source text of the unit before it in the file, gap or not; empty for the first one."""
    after: str | None = None
    """Source text of the unit behind it; empty for the last one. None: nobody has looked."""
    there: Segment | None = None
    """The translation that stands there already."""
    width: Width | None = None
    """The longest translation that the file allows."""
    plural: PluralForm | None = None
    remarks: tuple[str, ...] = ()
    """Notes that stand with it, and `state: NAME`."""

    @property
    def form(self) -> str:
        """The plural form that a translation of its text must be of; empty where any will do."""
        return self.plural.key if self.plural and not self.plural.own_source else ""

    @property
    def max_width(self) -> int | None:
        """Characters that its translation may have at most: `width`, where one takes a unit."""
        return self.width.most if self.width else None


@dataclass(frozen=True)
class Counts:
    """What a file holds besides its gaps: units by what was done with them."""

    units: int = 0
    left: dict[str, int] = field(default_factory=dict)
    """Units without a gap, by reason: `translated`, `missing_language`, `blank_side`, ..."""


def gaps_and_counts(
    units: Sequence[tuple[str, Sequence[Gap], str]],
) -> tuple[Sequence[Gap], Counts]:
    """All gaps with what stands before and after each; units are a source, its gaps, and why it has
    none."""
    around = ["", *(source for source, _, _ in units), ""]
    gaps = [
        replace(gap, before=around[number], after=around[number + 2])
        for number, (_, some, _) in enumerate(units)
        for gap in some
    ]
    left = Counter(reason for _, _, reason in units if reason)
    return gaps, Counts(len(units), dict(left))


def with_percents(
    translations: Sequence[Segment | None], percents: Sequence[int | None]
) -> list[tuple[Segment | None, int | None]]:
    """What `Document.filled` is given, gap by gap."""
    return list(zip(translations, percents or (None,) * len(translations), strict=True))


@runtime_checkable
class Document(Protocol):
    """A file that can be filled in: every byte that no translation replaces stays as it is."""

    @property
    def gaps(self) -> Sequence[Gap]:
        """What can be filled in, in the order of the file."""

    @property
    def counts(self) -> Counts:
        """All units, and those that are left alone."""

    @property
    def source_language(self) -> str | None:
        """What is translated, as far as the file says it."""

    @property
    def target_language(self) -> str | None:
        """What is filled in, as far as the file says it."""

    def can_hold(self, translation: Segment, /) -> bool: ...

    def filled(
        self, translations: Sequence[Segment | None], percents: Sequence[int | None] = ()
    ) -> bytes:
        """The whole file with a translation in each gap; None leaves a gap as it is.

        Each is marked as made by a machine in the way that the format has for it; where `percents`
        has a number, as taken from a memory, with so good a match.
        """
        ...


def as_segment(text: str, source: Segment) -> Segment:
    """A translation for the place of `source`: where it has a code of the source, that code itself.

    A code that stands there more often than in the source is plain text the further times.
    """
    waiting: dict[str, list[Code]] = {}
    for code in source.codes:
        waiting.setdefault(code.text, []).append(code)
    names = sorted(filter(None, waiting), key=len, reverse=True)
    if not names:
        return Segment((text,) if text else ())
    parts: list[str | Code] = []
    for piece in re.split(f"({'|'.join(map(re.escape, names))})", text):
        if codes := waiting.get(piece):
            parts.append(codes.pop(0))
        elif piece:
            parts.append(piece)
    return Segment(tuple(parts))
