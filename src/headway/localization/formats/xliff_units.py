"""The units of an XLIFF file (1.0 to 1.2, and 2.x), with where they stand."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from headway.localization.formats.inline import Gathered, InlineText, Mark, Role
from headway.localization.formats.xliff_states import is_trusted, not_yet_translated
from headway.localization.formats.xml_events import XmlEvents
from headway.localization.placeholders.segments import Code, Width

XML = "http://www.w3.org/XML/1998/namespace "
"""In front of `lang` and `space`, as the parser names them."""

_SIZE = "urn:oasis:names:tc:xliff:sizerestriction:2.0 sizeRestriction"
_UNITS = frozenset("char byte glyph pixel point dlgunit twip".split())
"""Units of width (1.2) of which a character takes at least one; `pixel` where none is said."""
_NUMBER = re.compile("[0-9]{1,9}")
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


class Studio(NamedTuple):
    """`sdl:seg`: what Trados Studio says of a segment."""

    attributes: Mapping[str, str]
    start: int
    """Byte at which it begins."""


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
    studio: Mapping[str, Studio] = field(default_factory=dict)
    """What Trados Studio says of its segments, by `mid`."""

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
        return not (copied and not_yet_translated(self._state))

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
        qualifier = self.target.attributes.get("state-qualifier") if self.target else None
        approved = self.attributes.get("approved") == "yes"
        sub_state = self.attributes.get("subState", "")
        return is_trusted(self._state, qualifier, sub_state, approved=approved)

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


class _Level(NamedTuple):
    """What holds in an open element and all that lies in it."""

    name: str
    """Without its namespace; empty for an element of another standard."""
    translate: bool
    preserve: bool
    """White space is text and no layout."""


class XliffUnits:
    """Gathers the units of a file while its events come in."""

    def __init__(self, path: Path, data: bytes = b"") -> None:
        """`data` is the UTF-8 that will be read, if codes shall keep how they are written."""
        self.root_start = 0
        self.root: Mapping[str, str] = {}
        """Attributes of `xliff`."""
        self.second = False
        """Version 2 or later."""
        self._events = XmlEvents(path, "xliff", namespaces=True)
        self._events.tell(self._start, self._end)
        self._inline = InlineText(self._events, self._role, data)
        self._namespace = ""
        self._levels: list[_Level] = []
        self._languages = "", ""
        self._natives: dict[str, str] = {}
        self._unit: XliffUnit | None = None
        self._complete: list[XliffUnit] = []
        self._around: Mapping[str, str] = {}
        self._notes: list[str] = []
        self._note: list[str] | None = None

    def read(self, chunks: Iterable[bytes]) -> Iterator[XliffUnit]:
        """Each unit, in order.

        Raises:
            DataError: as `XmlEvents.run`.
        """
        for _ in self._events.run(chunks):
            complete, self._complete = self._complete, []
            yield from complete

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if self._inline.active:
            self._inline.start(name, attributes)
            return
        if not self._levels:
            self._namespace = name.removesuffix("xliff")
            self.root, self.root_start = attributes, self._events.position
            version = attributes.get("version", "")
            self.second = version.startswith("2") or ":document:2" in self._namespace
            self._languages = attributes.get("srcLang", ""), attributes.get("trgLang", "")
        local, above = (
            self._local(name),
            self._levels[-1] if self._levels else _Level("", True, False),
        )
        level = _Level(
            local,
            attributes.get("translate", "yes" if above.translate else "no") != "no",
            attributes.get(XML + "space", "preserve" if above.preserve else "") == "preserve",
        )
        self._levels.append(level)
        if local == "file" and not self.second:
            names = ("source-language", "target-language")
            self._languages = attributes.get(names[0], ""), attributes.get(names[1], "")
        elif local == "unit" and self.second:
            self._events.unit_begins()
            self._natives = self._inline.natives = {}
            self._around, self._notes = attributes, []
        elif local == ("segment" if self.second else "trans-unit"):
            self._begin_unit(attributes, level)
        elif local == "note" and self._about_unit(above.name):
            self._note = []
            self._events.parser.CharacterDataHandler = self._note.append
        elif name == _STUDIO + "seg" and self._unit is not None:
            studio = Studio(attributes, self._events.position)
            self._unit.studio = {**self._unit.studio, attributes.get("id", ""): studio}
        elif self._is_text(local, above.name):
            self._element = attributes, self._events.position
            self._inline.unwrap = not level.preserve
            self._inline.begin()

    def _begin_unit(self, attributes: dict[str, str], level: _Level) -> None:
        if not self.second:
            self._events.unit_begins()
            self._around, self._notes = {}, []
        line, start = self._events.line, self._events.position
        names = (attributes.get("resname") or attributes.get("id", ""), self._around.get("id", ""))
        self._unit = XliffUnit(
            line,
            start,
            attributes,
            self._languages,
            level.translate,
            key="/".join(name for name in reversed(names) if name),
            notes=self._notes,
            width=_width({**self._around, **attributes}),
        )

    def _is_text(self, name: str, around: str) -> bool:
        """Not the `target` of an `alt-trans`, nor the `source` of a match."""
        if self.second:
            return (around == "segment" and name in ("source", "target")) or (
                around == "originalData" and name == "data"
            )
        return around == "trans-unit" and name in ("source", "seg-source", "target")

    def _end(self, name: str) -> None:
        gathered = None
        if self._inline.active:
            gathered = self._inline.end()
            if gathered is None:
                return
        local = self._levels.pop().name
        if self._note is not None:
            self._end_note(local, self._note)
        if gathered is not None:
            element = Element(gathered, *self._element, self._events.position)
            self._end_text(local, element)
        elif local in ("trans-unit", "segment") and self._unit is not None:
            self._complete.append(self._unit)
            self._unit = None
        if local == ("unit" if self.second else "trans-unit"):
            self._events.unit_ends()

    def _about_unit(self, above: str) -> bool:
        """Whether a note that lies in `above` is one of a unit."""
        levels = [level.name for level in self._levels[-3:-2]]
        return above == "trans-unit" or (above == "notes" and levels == ["unit"])

    def _end_note(self, name: str, pieces: list[str]) -> None:
        if name == "note":
            self._events.parser.CharacterDataHandler = self._note = None
            if text := " ".join("".join(pieces).split()):
                self._notes.append(text)

    def _end_text(self, name: str, element: Element) -> None:
        if name == "data":
            if "id" in element.attributes:
                self._natives[element.attributes["id"]] = element.content.text
        elif self._unit is None:
            return
        elif name == "source":
            self._unit.source = element
        elif name == "seg-source":
            self._unit.seg_source = element
        else:
            self._unit.target = element

    def _local(self, name: str) -> str:
        """The name of one of XLIFF's own elements."""
        local = name.removeprefix(self._namespace)
        return "" if " " in local else local

    def _role(self, name: str, attributes: Mapping[str, str]) -> Role:
        local = self._local(name)
        if local in ("g", "pc"):
            return Role.PAIR
        if local != "mrk":
            return Role.WHOLE
        if attributes.get("mtype") == "seg":
            return Role.MARK
        protected = attributes.get("mtype") == "protected" or attributes.get("translate") == "no"
        return Role.WHOLE if protected else Role.PAIR
