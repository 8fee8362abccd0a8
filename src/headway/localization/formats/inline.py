"""Text with elements in it: gathered from XML as a segment, and written back as XML."""

import re
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import NamedTuple

from headway.localization.formats.documents import Edit
from headway.localization.formats.xml_edits import opened, tag_name
from headway.localization.formats.xml_events import XmlEvents
from headway.localization.placeholders.segments import Code, Segment

START_TAG = re.compile(rb"""<[^<>"'/\s]++(?:[^<>"']++|"[^"]*"|'[^']*')*+>""")
"""A whole start tag or empty tag of well-formed XML."""
END_TAG = re.compile(rb"</[^>]*>")

_LINE_BREAK = re.compile(r"(?<![ \t])[ \t]*[\r\n][ \t\r\n]*")
_LINE_BREAK_FIRST = re.compile(r"\A[ \t]*[\r\n]")
_LINE_BREAK_LAST = re.compile(r"[\r\n][ \t]*\Z")
_NAME = re.compile(r"<([^\s/>]+)")
_IDENTITIES = ("id", "i", "x", "mid", "rid", "startRef")
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "\r": "&#13;"})


class Role(Enum):
    """What an element inside of a segment is."""

    PAIR = "two codes, with text to translate between them"
    WHOLE = "one code, with all that stands in it"
    MARK = "no code: it only says where a part of the segment begins and ends"


class Mark(NamedTuple):
    """A part of a segment that is translated by itself."""

    name: str
    """Its `mid`."""
    segment: Segment
    written: bool
    start: int
    """Byte at which its start tag begins."""
    end: int
    """Byte at which its end tag begins, or behind its empty tag."""


class Gathered(NamedTuple):
    parts: Sequence[str | Code]
    written: bool
    """There is text in it, be it native code."""
    marks: Sequence[Mark] = ()

    @property
    def segment(self) -> Segment:
        return Segment(tuple(self.parts))

    @property
    def text(self) -> str:
        if len(self.parts) == 1 and isinstance(self.parts[0], str):
            return self.parts[0]
        return "".join([part if isinstance(part, str) else part.text for part in self.parts])


class InlineText:
    """Gathers the text and the codes of one segment after the other."""

    def __init__(
        self,
        events: XmlEvents,
        role: Callable[[str, Mapping[str, str]], Role],
        data: bytes = b"",
    ) -> None:
        """`data` is the UTF-8 that is being read, if codes shall keep how they are written."""
        self.active = False
        """Between `begin` and the end of the segment."""
        self.natives: Mapping[str, str] = {}
        """What codes stand for, by the name under which they refer to it."""
        self.unwrap = False
        """Line breaks are only layout."""
        self._events, self._role, self._data = events, role, data
        self._open: list[_Open] = []
        self._inside_whole = 0
        self._n_native = 0
        self._marks: list[Mark] = []

    def begin(self) -> None:
        self.active = True
        self._plain = True
        self._parts: list[str | Code] = []
        self._events.parser.CharacterDataHandler = self._parts.append

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        if self._inside_whole:
            self._inside_whole += 1
            return
        self._plain = False
        role = self._role(name, attributes)
        if role is Role.MARK and any(element.role is Role.MARK for element in self._open):
            role = Role.PAIR
        element = _Open(
            name.rpartition(" ")[2],
            role,
            attributes,
            self._events.position,
            len(self._parts),
            self._n_native,
        )
        self._open.append(element)
        if role is Role.PAIR:
            self._parts.append(
                Code(
                    self.natives.get(attributes.get("dataRefStart", ""), element.shown(">")),
                    self._raw(START_TAG, element.position),
                )
            )
        elif role is Role.WHOLE:
            self._inside_whole = 1

    def end(self) -> Gathered | None:
        """The segment ends, and is given; or an element inside of it does."""
        if not self._open:
            return self._finish()
        self._end_element()
        return None

    def _end_element(self) -> None:
        if self._inside_whole > 1:
            self._inside_whole -= 1
            return
        element = self._open.pop()
        behind = self._parts[element.n_before :]
        if element.role is Role.MARK:
            name = element.attributes.get("mid", "")
            written = self._n_native > element.n_native or _has_text(behind)
            segment = Segment(tuple(_unwrapped(behind) if self.unwrap else behind))
            self._marks.append(
                Mark(name, segment, written, element.position, self._events.position)
            )
        elif element.role is Role.WHOLE:
            self._inside_whole = 0
            text = "".join(part for part in behind if isinstance(part, str))
            self._n_native += bool(text.strip())
            native = self.natives.get(element.attributes.get("dataRef", ""), element.shown("/>"))
            self._replace(behind, Code(text or native, self._element(element.position)))
        elif len(behind) == 1:  # nothing between the two: they are one code
            self._replace(behind, Code(element.shown("/>"), self._element(element.position)))
        else:
            text = self.natives.get(element.attributes.get("dataRefEnd", ""), f"</{element.name}>")
            self._parts.append(Code(text, self._raw(END_TAG, self._events.position)))

    def _finish(self) -> Gathered:
        self.active = False
        self._events.parser.CharacterDataHandler = None
        parts = _unwrapped(self._parts) if self.unwrap else self._parts
        if self._plain:  # most are; the rest would change nothing
            return Gathered(parts, _has_text(parts))
        gathered = Gathered(parts, self._n_native > 0 or _has_text(parts), self._marks)
        self._n_native, self._marks = 0, []
        return gathered

    def _replace(self, last: list[str | Code], code: Code) -> None:
        del self._parts[len(self._parts) - len(last) :]
        self._parts.append(code)

    def _raw(self, tag: re.Pattern[bytes], position: int) -> str:
        found = tag.match(self._data, position)
        return found[0].decode("utf-8") if found else ""

    def _element(self, start: int) -> str:
        if not self._data:
            return ""
        return self._data[start : element_end(self._data, start, self._events.position)].decode()


class _Open(NamedTuple):
    """An element inside of a segment that is not closed yet."""

    name: str
    role: Role
    attributes: Mapping[str, str]
    position: int
    n_before: int
    """Parts of the segment in front of it."""
    n_native: int
    """Codes in front of it that hold what they stand for."""

    def shown(self, ending: str) -> str:
        """The tag in short: its name and what tells it from others."""
        found = [self.attributes[name] for name in _IDENTITIES if name in self.attributes][:1]
        identity = "".join(f' id="{value}"' for value in found)
        return f"<{self.name}{identity}{ending}"


def _has_text(parts: Sequence[str | Code]) -> bool:
    return any(map(_is_text, parts))


def _is_text(part: str | Code) -> bool:
    return isinstance(part, str) and not part.isspace()


def _unwrapped(parts: Sequence[str | Code]) -> list[str | Code]:
    """Line breaks and the indentation around them are one space, and none at either end."""
    if not parts:
        return []
    lines = [part if isinstance(part, Code) else _LINE_BREAK.sub(" ", part) for part in parts]
    for place, side in ((0, _LINE_BREAK_FIRST), (-1, _LINE_BREAK_LAST)):
        outer, line = parts[place], lines[place]
        if isinstance(outer, str) and isinstance(line, str) and side.search(outer):
            lines[place] = line.lstrip(" ") if place == 0 else line.rstrip(" ")
    return [line for line in lines if line]


def element_end(data: bytes, start: int, end_event: int) -> int:
    """The byte behind an element, from those at which its start tag begins and its end was told."""
    first = START_TAG.match(data, start)
    if first is None or (first[0].endswith(b"/>") and first.end() == end_event):
        return end_event
    last = END_TAG.match(data, end_event)
    return last.end() if last else end_event


def element_with(data: bytes, start: int, end: int, text: bytes) -> Edit:
    """The element that begins at `start`, and whose end was told at `end`, with this in it."""
    tag = START_TAG.match(data, start)
    assert tag, "an element begins with its tag"
    behind = element_end(data, start, end)
    return Edit(start, behind, opened(tag[0]) + text + b"</%b>" % tag_name(tag[0]))


def as_xml(translation: Segment, source: Segment) -> str:
    """A translation as it stands in an element: escaped, its codes as the file writes them.

    White space around the source stands around the translation too. Where paired codes would not
    lie in one another, which is no XML, the source's codes follow behind the text instead.
    """
    parts = translation.parts
    if not nested(translation):
        text = "".join(part for part in parts if isinstance(part, str))
        parts = (text.rstrip(), *source.codes)
    written = "".join(
        part.raw or _escaped(part.text) if isinstance(part, Code) else _escaped(part)
        for part in parts
    )
    before, behind = _outer_space(source.parts)
    return (
        (_escaped(before) if not written[:1].isspace() else "")
        + written
        + (_escaped(behind) if not written[-1:].isspace() else "")
    )


def nested(segment: Segment) -> bool:
    """Whether each code that opens is closed again, the innermost first."""
    opened: list[str] = []
    for code in segment.codes:
        name = _NAME.match(code.raw)
        if code.raw.startswith("</"):
            if not opened or opened.pop() != code.raw[2:].rstrip("> \t\r\n"):
                return False
        elif name and START_TAG.fullmatch(code.raw.encode()) and not code.raw.endswith("/>"):
            opened.append(name[1])
    return not opened


def _escaped(text: str) -> str:
    return _NOT_XML.sub("", text).translate(_ESCAPES)


def _outer_space(parts: tuple[str | Code, ...]) -> tuple[str, str]:
    first = parts[0] if parts and isinstance(parts[0], str) else ""
    last = parts[-1] if parts and isinstance(parts[-1], str) else ""
    return first[: len(first) - len(first.lstrip())], last[len(last.rstrip()) :]
