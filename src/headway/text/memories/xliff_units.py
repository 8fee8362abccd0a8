"""The units of an XLIFF file (1.0 to 1.2, and 2.x), with where they stand."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from headway.text.memories.inline import Gathered, InlineText, Role
from headway.text.memories.xml_events import XmlEvents

XML = "http://www.w3.org/XML/1998/namespace "
"""In front of `lang` and `space`, as the parser names them."""

_NOT_YET_TRANSLATED = frozenset(("new", "needs-translation", "initial"))
_NOT_TRUSTED = _NOT_YET_TRANSLATED | {"needs-adaptation", "needs-l10n", "needs-work", "rejected"}
_FINISHED = frozenset(("translated", "signed-off", "final"))
_SUGGESTED = frozenset(
    "fuzzy-match mt-suggestion rejected-grammar rejected-inaccurate rejected-length "
    "rejected-spelling".split()
)
MADE_BY_MACHINE = "headway:machine-translated"
"""The `subState` of a segment (2.x) that nobody has gone over yet."""


class Element(NamedTuple):
    """`source`, `seg-source` or `target`."""

    content: Gathered
    attributes: Mapping[str, str]
    start: int
    """Byte at which it begins."""
    end: int
    """Byte at which its end tag begins, or behind its empty tag."""


@dataclass
class Unit:
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
    def half_done(self) -> bool:
        """Some of its segments are translated and others are still empty."""
        marks = self.target.content.marks if self.target else ()
        of_source = self.seg_source.content.marks if self.seg_source else ()
        blank = {mark.name for mark in of_source if mark.segment.blank}
        return any(not mark.written and mark.name not in blank for mark in marks)

    @property
    def trusted(self) -> bool:
        """Nothing says that the translation is provisional, rejected, or that of another text.

        `needs-review-translation` and its like are trusted: there is a translation, which somebody
        else is to check. A suggestion (`state-qualifier`) is one no longer when it is approved or
        in a finished state. A state that the standard does not know says nothing.
        """
        if self._state in _NOT_TRUSTED:
            return False
        if self.attributes.get("subState") == MADE_BY_MACHINE:
            return self._state in ("reviewed", "final")
        qualifier = self.target.attributes.get("state-qualifier") if self.target else None
        return (
            qualifier not in _SUGGESTED
            or self._state in _FINISHED
            or self.attributes.get("approved") == "yes"
        )

    @property
    def _state(self) -> str | None:
        """Of the target, or from version 2 on of the segment."""
        of_target = self.target.attributes.get("state") if self.target else None
        return of_target or self.attributes.get("state")


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
        self._unit: Unit | None = None
        self._complete: list[Unit] = []

    def read(self, chunks: Iterable[bytes]) -> Iterator[Unit]:
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
        elif local == ("segment" if self.second else "trans-unit"):
            self._begin_unit(attributes, level)
        elif self._is_text(local, above.name):
            self._element = attributes, self._events.position
            self._inline.unwrap = not level.preserve
            self._inline.begin()

    def _begin_unit(self, attributes: dict[str, str], level: _Level) -> None:
        if not self.second:
            self._events.unit_begins()
        line, start = self._events.line, self._events.position
        self._unit = Unit(line, start, attributes, self._languages, level.translate)

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
        if gathered is not None:
            element = Element(gathered, *self._element, self._events.position)
            self._end_text(local, element)
        elif local in ("trans-unit", "segment") and self._unit is not None:
            self._complete.append(self._unit)
            self._unit = None
        if local == ("unit" if self.second else "trans-unit"):
            self._events.unit_ends()

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
