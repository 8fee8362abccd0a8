"""The units of an XLIFF file (1.0 to 1.2, and 2.x), with where they stand and how far they are."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from headway.localization.formats.documents import EXACT
from headway.localization.formats.inline import Gathered, InlineText, Role
from headway.localization.formats.units import Width
from headway.localization.formats.xml_events import XmlElement, XmlUnits

XML = "http://www.w3.org/XML/1998/namespace "
"""In front of `lang` and `space`, as the parser names them."""

_SIZE = "urn:oasis:names:tc:xliff:sizerestriction:2.0 sizeRestriction"
_UNITS = frozenset("char byte glyph pixel point dlgunit twip".split())
"""Units of width (1.2) of which a character takes at least one; `pixel` where none is said."""
_NUMBER = re.compile("[0-9]{1,9}")
_SIDES = ("source", "seg-source", "target")


_NOT_YET_TRANSLATED = frozenset(("new", "needs-translation", "initial"))
_NOT_TRUSTED = _NOT_YET_TRANSLATED | frozenset(
    "needs-adaptation needs-l10n needs-work rejected".split()
)
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
    source: Gathered | None = None
    target: Gathered | None = None
    seg_source: XmlElement | None = None
    """The source once more, with marks around its segments."""
    half_done: bool = False
    """Some segments of the target are empty, or not there yet, and others are translated."""
    key: str = ""
    """Its name in its file: `resname` or `id`; from version 2 on those of the unit and segment."""
    notes: Sequence[str] = ()
    width: Width | None = None
    """The longest translation that is allowed, of the whole unit."""

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
        if self.source is None or self.target is None or not self.target.written:
            return False
        copied = self.target.text == self.source.text
        return not (copied and self._state in _NOT_YET_TRANSLATED)

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
    def _state(self) -> str | None:
        """Of the target, from version 2 on of the segment."""
        of_target = self.target.attributes.get("state") if self.target else None
        return of_target or self.attributes.get("state")


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
        source, target = (
            self._gathered(one) if one else None for one in map(sides.get, ("source", "target"))
        )
        marks, wanted = (_marks(sides.get(name)) for name in ("target", "seg-source"))
        notes = [one for group in around.inner("notes") for one in group.inner("note")]
        languages = ("srcLang", "trgLang") if second else ("source-language", "target-language")
        return XliffUnit(
            element.line,
            element.start,
            element.attributes,
            (element.inherited(languages[0]) or "", element.inherited(languages[1]) or ""),
            element.inherited("translate") != "no",
            source,
            target,
            None if second else sides.get("seg-source"),
            bool(marks) and (len(marks) < len(wanted) or not all(m.text.strip() for m in marks)),
            "/".join(filter(None, names)),
            [one.note for one in (notes if second else element.inner("note")) if one.note],
            _width({**around.attributes, **element.attributes}),
        )

    def _gathered(self, element: XmlElement) -> Gathered:
        """White space is layout unless `xml:space` preserves it."""
        unwrap = element.inherited(XML + "space") != "preserve"
        return self._inline.gathered(element, unwrap=unwrap)


def _marks(side: XmlElement | None) -> list[XmlElement]:
    """What is around the segments of a side."""
    return [one for one in side.below() if _role(one) is Role.MARK] if side else []


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
