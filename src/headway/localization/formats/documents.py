"""A file in memory that is filled in by edits: what no translation replaces stays as it was."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, AnyStr, NamedTuple

from headway.localization.formats.units import Unit
from headway.localization.placeholders.segments import Segment

EXACT = 100
"""Percentage of a match with the very text."""


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
    gaps: Sequence[Unit] = ()
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


class KeyedText(NamedTuple):
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
        texts: Sequence[KeyedText] = (),
    ) -> None:
        """`restored` makes the file's own bytes of `data`; with any translation come `also`.

        `texts` are those of a file of one language. XML can hold everything: it writes by number
        what its encoding lacks.
        """
        self.source_language, self.target_language = languages
        self.can_hold, self.texts = can_hold, texts
        self._data, self._restored, self._units, self._also = data, restored, units, also
        around = ["", *(unit.source for unit in units), ""]
        self.gaps: Sequence[Unit] = [
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
