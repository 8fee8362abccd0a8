"""The units of an XLIFF file (1.0 to 1.2, and 2.x), with where they stand and how far they are."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from headway.localization.formats.documents import EXACT
from headway.localization.formats.inline import Gathered, InlineText, Mark, Role
from headway.localization.formats.units import Width
from headway.localization.formats.xml_events import XmlElement, XmlUnits
from headway.localization.placeholders.segments import Code

XML = "http://www.w3.org/XML/1998/namespace "
"""In front of `lang` and `space`, as the parser names them."""

_SIZE = "urn:oasis:names:tc:xliff:sizerestriction:2.0 sizeRestriction"
_UNITS = frozenset("char byte glyph pixel point dlgunit twip".split())
"""Units of width (1.2) of which a character takes at least one; `pixel` where none is said."""
_NUMBER = re.compile("[0-9]{1,9}")
_SIDES = ("source", "seg-source", "target")
_STUDIO = "http://sdl.com/FileTypes/SdlXliff/1.0 "
_MEMOQ = "MQXliff "


class Element(NamedTuple):
    """`source`, `seg-source` or `target`."""

    content: Gathered
    attributes: Mapping[str, str]
    start: int
    """Byte at which it begins."""
    end: int
    """Byte at which its end tag begins, or behind its empty tag."""


_NOT_YET_TRANSLATED = frozenset(("new", "needs-translation", "initial", "NotStarted"))
_NOT_TRUSTED = _NOT_YET_TRANSLATED | frozenset(
    "needs-adaptation needs-l10n needs-work rejected "
    "Draft RejectedTranslation RejectedSignOff Unspecified "  # sdlxliff
    "PartiallyEdited Pretranslated AssembledFromFragments MachineTranslated Rejected".split()
)  # mqxliff
_FINISHED = frozenset(("translated", "signed-off", "final"))
_REVIEWED = frozenset(("reviewed", "final"))
_SUGGESTED = frozenset(
    "fuzzy-match mt-suggestion rejected-grammar rejected-inaccurate rejected-length "
    "rejected-spelling".split()
)
MADE_BY_MACHINE = "headway:machine-translated"
"""The `subState` of a segment (2.x) that nobody has gone over yet."""
_FUZZY = "headway:fuzzy-match"
_EXACT = "headway:exact-match"


@dataclass
class XliffUnit:
    """`trans-unit`, or from version 2 on `segment`."""

    line: int
    start: int
    """Byte at which it begins."""
    attributes: Mapping[str, str]
    languages: tuple[str, str]
    """Of its file: source and target, empty where they are not given."""
    translate: bool
    source: Element | None = None
    seg_source: Element | None = None
    """The source once more, with marks around its segments."""
    target: Element | None = None
    key: str = ""
    """Its name in its file: `resname` or `id`; from version 2 on those of the unit and segment."""
    notes: Sequence[str] = ()
    width: Width | None = None
    """The longest translation that is allowed, of the whole unit."""
    studio: Mapping[str, XmlElement] = field(default_factory=dict)
    """What Trados Studio says of its segments (`sdl:seg`), by `mid`."""

    @property
    def remarks(self) -> tuple[str, ...]:
        """Notes, and the state of the translation where there is one."""
        state = (f"state: {self._state}",) if self._state else ()
        return (*self.notes, *state)

    @property
    def translated(self) -> bool:
        """There is a translation, trusted or not.

        A copy of the source in a state that says that it is still to be translated is none.
        """
        if self.source is None or self.target is None or not self.target.content.written:
            return False
        copied = self.target.content.text == self.source.content.text
        return not (copied and self._state in _NOT_YET_TRANSLATED)

    @property
    def answers(self) -> Mapping[str, Mark]:
        """The target's marks by name, where it is cut as the source is; it may lack some of them.

        Empty where it is cut in another way, or lacks some and has words outside of the others.
        """
        if not (self.seg_source and self.target):
            return {}
        marks = self.target.content.marks
        names = {mark.name for mark in self.seg_source.content.marks}
        of_target = {mark.name: mark for mark in marks}
        n_inside = sum(_n_letters(mark.segment.parts) for mark in marks)
        less = of_target.keys() < names and n_inside >= _n_letters(self.target.content.parts)
        alike = names <= of_target.keys() or less
        return of_target if alike and len(of_target) == len(marks) else {}

    @property
    def half_done(self) -> bool:
        """Some of its segments are translated and others are still empty, or not there yet."""
        marks = self.target.content.marks if self.target else ()
        of_source = self.seg_source.content.marks if self.seg_source else ()
        blank = {mark.name for mark in of_source if mark.segment.blank}
        needed = {mark.name for mark in of_source} - blank if self.answers else set[str]()
        empty = (not mark.written and mark.name not in blank for mark in marks)
        return any(empty) or not needed <= self.answers.keys()

    @property
    def trusted(self) -> bool:
        """Nothing says that the translation is provisional, rejected, or that of another text.

        `needs-review-translation` and its like are trusted: there is a translation, which somebody
        else is to check. A suggestion (`state-qualifier`) is one no longer when it is approved or
        in a finished state. A state that is not known says nothing.
        """
        if self._state in _NOT_TRUSTED:
            return False
        if self.attributes.get("subState") in (MADE_BY_MACHINE, _FUZZY):
            return self._state in _REVIEWED
        qualifier = self.target.attributes.get("state-qualifier") if self.target else None
        approved = self.attributes.get("approved") == "yes"
        return qualifier not in _SUGGESTED or self._state in _FINISHED or approved

    @property
    def memoq(self) -> bool:
        return _MEMOQ + "status" in self.attributes

    def locked(self, mark: Mark | None) -> bool:
        """Nobody is to change the unit, or this segment of it."""
        if mark is None:
            return self.attributes.get(_MEMOQ + "locked", "no") not in ("no", "false", "")
        studio = self.studio.get(mark.name)
        return studio is not None and studio.attributes.get("locked") == "true"

    def segments(self) -> Iterator["XliffUnit"]:
        """Each segment as a unit of its own where Trados Studio says how far each is; else this."""
        source, target = (
            {mark.name: mark for mark in side.content.marks} if side else {}
            for side in (self.seg_source, self.target)
        )
        if not self.studio or not source.keys() & self.studio.keys():
            yield self
            return
        for name, mark in source.items():
            attributes = self.studio[name].attributes if name in self.studio else {}
            state = attributes.get("conf", "Unspecified")
            yield replace(
                self,
                attributes={**self.attributes, "state": state},
                source=_of_mark(mark),
                seg_source=None,
                target=_of_mark(target[name]) if name in target else None,
                studio={},
                key=f"{self.key}/{name}",
            )

    @property
    def _state(self) -> str | None:
        """Of the target, from version 2 on of the segment, in memoQ of the unit."""
        of_target = self.target.attributes.get("state") if self.target else None
        return of_target or self.attributes.get("state") or self.attributes.get(_MEMOQ + "status")


def _n_letters(parts: Sequence[str | Code]) -> int:
    return sum(sum(map(str.isalnum, part)) for part in parts if isinstance(part, str))


def _of_mark(mark: Mark) -> Element:
    """What a mark is around, as an element of its own."""
    return Element(Gathered(mark.segment.parts, mark.written), {}, mark.start, mark.end)


def _width(attributes: Mapping[str, str]) -> Width | None:
    """What a unit's attributes allow at most: the tightest where there are several."""
    unit = attributes.get("size-unit", "pixel")
    given = (
        (attributes.get(_SIZE, "").rpartition(",")[2].strip(), "char"),
        (attributes.get("maxbytes", ""), "byte"),
        (attributes.get("maxwidth", ""), unit if unit in _UNITS else ""),
    )
    found = [Width(int(most), unit) for most, unit in given if unit and _NUMBER.fullmatch(most)]
    return min(found, default=None)


class XliffUnits:
    """Reads the units of a file one after the other."""

    def __init__(self, path: Path, data: bytes = b"") -> None:
        """`data` is the UTF-8 that will be read, if codes shall keep how they are written."""
        self._units = XmlUnits(
            path, "xliff", ("trans-unit", "unit"), (*_SIDES, "note", "data"), namespaces=True
        )
        self._inline = InlineText(_role, data)

    @property
    def root(self) -> XmlElement:
        """`xliff`, once something was read."""
        assert self._units.root, "something was read"
        return self._units.root

    @property
    def second(self) -> bool:
        """Version 2 or later."""
        version = self.root.attributes.get("version", "")
        return version.startswith("2") or ":document:2" in self._units.namespace

    def read(self, chunks: Iterable[bytes]) -> Iterator[XliffUnit]:
        """Each unit, in order; from version 2 on each segment.

        Raises DataError as `XmlUnits.read`.
        """
        for unit in self._units.read(chunks):
            if not self.second:
                if unit.name == "trans-unit":
                    yield self._unit(unit, unit)
            elif unit.name == "unit":
                data = [one for group in unit.inner("originalData") for one in group.inner("data")]
                self._inline.natives = {}
                self._inline.natives = {
                    one.attributes["id"]: self._gathered(one).text
                    for one in data
                    if "id" in one.attributes
                }
                for segment in unit.below():
                    if segment.name == "segment":
                        yield self._unit(segment, unit)

    def _unit(self, element: XmlElement, around: XmlElement) -> XliffUnit:
        """A `trans-unit`, which stands alone, or a `segment` in a `unit`."""
        get, second = element.attributes.get, around is not element
        names = (around.attributes.get("id", "") * second, get("resname") or get("id", ""))
        sides = {one.name: one for one in element.inner(*_SIDES)}
        source, seg_source, target = (
            Element(self._gathered(one), one.attributes, one.start, one.end) if one else None
            for one in map(sides.get, _SIDES)
        )
        notes = [one for group in around.inner("notes") for one in group.inner("note")]
        languages = ("srcLang", "trgLang") if second else ("source-language", "target-language")
        return XliffUnit(
            element.line,
            element.start,
            element.attributes,
            (element.inherited(languages[0]) or "", element.inherited(languages[1]) or ""),
            element.inherited("translate") != "no",
            source,
            None if second else seg_source,
            target,
            "/".join(filter(None, names)),
            [one.note for one in (notes if second else element.inner("note")) if one.note],
            _width({**around.attributes, **element.attributes}),
            {
                one.attributes.get("id", ""): one
                for one in element.below()
                if one.name == _STUDIO + "seg"
            },
        )

    def _gathered(self, element: XmlElement) -> Gathered:
        """White space is layout unless `xml:space` preserves it."""
        unwrap = element.inherited(XML + "space") != "preserve"
        return self._inline.gathered(element, unwrap=unwrap)


def _role(element: XmlElement) -> Role:
    if element.name in ("g", "pc"):
        return Role.PAIR
    if element.name != "mrk":
        return Role.WHOLE
    kind, translate = (element.attributes.get(name) for name in ("mtype", "translate"))
    if kind == "seg":
        return Role.MARK
    return Role.WHOLE if kind == "protected" or translate == "no" else Role.PAIR


def of_target(percent: int | None) -> dict[str, str]:
    """Attributes of a new `target` (1.x): by a machine, or a match of so many percent."""
    if percent == EXACT:
        return {"state": "translated", "state-qualifier": "exact-match"}
    qualifier = "mt-suggestion" if percent is None else "fuzzy-match"
    return {"state": "needs-review-translation", "state-qualifier": qualifier}


def of_segment(percent: int | None) -> dict[str, str]:
    """Attributes of a `segment` (2.x) with a new target."""
    near = MADE_BY_MACHINE if percent is None else _FUZZY
    return {"state": "translated", "subState": _EXACT if percent == EXACT else near}


def of_studio(percent: int | None) -> dict[str, str]:
    """Attributes of a `sdl:seg` with a new translation; a person has to confirm it."""
    machine = {"conf": "Draft", "origin": "mt", "origin-system": "headway"}
    if percent is None:
        return machine
    return machine | {"origin": "tm", "percent": str(percent)}


def of_memoq(percent: int | None) -> dict[str, str]:
    """Attributes of a `trans-unit` of memoQ, without their prefix."""
    return {"status": "Pretranslated", "percent": str(percent or 0)}
