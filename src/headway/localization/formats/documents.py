"""A file in memory that is filled in by edits: what no translation replaces stays as it was."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, AnyStr, NamedTuple

from headway.localization.placeholders.segments import Segment

EXACT = 100
"""Percentage of a match with the very text."""


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


Translations = Sequence[tuple[Segment | None, int | None]]
"""For each gap of a unit a translation, and the percentage of its match if a memory had it."""


class Edit(NamedTuple):
    """What stands from `start` up to `end` becomes `written`."""

    start: int
    end: int
    written: Any
    """Bytes in a document of bytes, text in one of text."""
    tag: tuple[int, int] = (0, 0)
    """Of a change in an attribute: its tag, which may be a code of a text that is replaced."""


class EditableUnit(NamedTuple):
    """A unit of a file, and what translations of its gaps change in the file."""

    source: str
    gaps: Sequence[Gap] = ()
    reason: str = ""
    """Why it has no gaps: `translated`, `missing_language`, `blank_side`, .."""
    edits: Callable[[Translations], Iterable[Edit]] = lambda _: ()
    known: Translations = ()
    """Of one without gaps: what is filled in in any case."""


@dataclass(frozen=True)
class Counts:
    """What a file holds besides its gaps: units by what was done with them."""

    units: int = 0
    left: dict[str, int] = field(default_factory=dict)
    """Units without a gap, by reason."""


class Keyed(NamedTuple):
    """A text of a file of one language."""

    key: str
    text: str
    line: int
    remarks: tuple[str, ...] = ()


class Document:
    """A file that can be filled in, of whatever kind; its data are bytes (XML, PO) or text."""

    def __init__(
        self,
        data: Any,
        restored: Callable[[Any], bytes],
        units: Sequence[EditableUnit],
        languages: tuple[str | None, str | None],
        *,
        also: Sequence[Edit] = (),
        can_hold: Callable[[Segment], bool] = lambda _: True,
        texts: Sequence[Keyed] = (),
    ) -> None:
        """`restored` makes the file's own bytes of `data`; with any translation come `also`.

        `texts` are those of a file of one language. XML can hold everything: it writes by number
        what its encoding lacks.
        """
        self.source_language, self.target_language = languages
        self.can_hold, self.texts = can_hold, texts
        self._data, self._restored, self._units, self._also = data, restored, units, also
        around = ["", *(unit.source for unit in units), ""]
        self.gaps: Sequence[Gap] = [
            replace(gap, before=around[number], after=around[number + 2])
            for number, unit in enumerate(units)
            for gap in unit.gaps
        ]
        left = Counter(unit.reason for unit in units if unit.reason)
        self.counts = Counts(len(units), dict(left))

    def filled(
        self, translations: Sequence[Segment | None], percents: Sequence[int | None] = ()
    ) -> bytes:
        """The whole file with a translation in each gap; None leaves a gap as it is.

        Each is marked as made by a machine in the way that the format has for it; where `percents`
        has a number, as taken from a memory, with so good a match.
        """
        edits: list[Edit] = []
        percents = percents or (None,) * len(translations)
        given = iter(list(zip(translations, percents, strict=True)))
        for unit in self._units:
            some = unit.known or list(islice(given, len(unit.gaps)))
            if any(translation is not None for translation, _ in some):
                edits += unit.edits(some)
        also = self._also if edits else ()
        return self._restored(edited(self._data, [*edits, *also]))

    def completed(self, known: Mapping[str, str]) -> "Document":
        """The same with the translations that are known by their keys: only the rest has gaps."""
        units = list[EditableUnit]()
        for unit in self._units:
            text = known.get(unit.gaps[0].key, "") if unit.gaps else ""
            if text and text != unit.gaps[0].source.text:
                there = [(Segment((text,)), EXACT)]
                units.append(unit._replace(gaps=(), reason="translated", known=there))
            else:
                units.append(unit)
        languages = self.source_language, self.target_language
        whole = Document(self._data, self._restored, units, languages, can_hold=self.can_hold)
        if only := len(known.keys() - {gap.key for gap in self.gaps}):
            whole.counts.left["only_in_target"] = only
        return whole


def edited(data: AnyStr, edits: Iterable[Edit]) -> AnyStr:
    """All edits done; those at one place stay in order, and none overlap: but one with a `tag` may
    lie in another, whose codes are then written with the tag as it has become."""
    outer, inside = list[Edit](), dict[tuple[int, tuple[int, int]], list[Edit]]()
    for edit in sorted(edits, key=lambda edit: edit[:2]):
        if outer and edit.start < outer[-1].end:
            assert edit.tag[1], "edits overlap"
            inside.setdefault((len(outer) - 1, edit.tag), []).append(edit)
        else:
            outer.append(edit)
    for (number, (start, end)), some in inside.items():
        tag = _replaced(data, start, end, some)
        written = outer[number].written.replace(data[start:end], tag)
        outer[number] = outer[number]._replace(written=written)
    return _replaced(data, 0, len(data), outer)


def _replaced(data: AnyStr, start: int, end: int, edits: Sequence[Edit]) -> AnyStr:
    """A part of the data with edits done that are in order."""
    pieces: list[AnyStr] = []
    for edit in edits:
        pieces += data[start : edit.start], edit.written
        start = edit.end
    pieces.append(data[start:end])
    return data[:0].join(pieces)
