"""Text with elements in it: gathered from XML as a segment, and written back as XML."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple, Protocol

from headway.localization.formats.documents import Edit
from headway.localization.formats.markup import escaped
from headway.localization.formats.xml_events import XmlElement
from headway.localization.placeholders.segments import Code, Segment

START_TAG = re.compile(rb"""<[^<>"'/\s]++(?:[^<>"']++|"[^"]*"|'[^']*')*+>""")
"""A whole start tag or empty tag of well-formed XML."""
_END_TAG = re.compile(rb"</[^>]*>")
_INDENTATION_BYTES = 1_000

_LINE_BREAK = re.compile(r"(?<![ \t])[ \t]*[\r\n][ \t\r\n]*")
_LINE_BREAK_FIRST = re.compile(r"\A[ \t]*[\r\n]")
_LINE_BREAK_LAST = re.compile(r"[\r\n][ \t]*\Z")
_NAME = re.compile(r"<([^\s/>]+)")
_IDENTITIES = ("id", "i", "x", "mid", "rid", "startRef")


class Role(Enum):
    """What an element inside of a segment is."""

    PAIR = "two codes, with text to translate between them"
    WHOLE = "one code, with all that stands in it"
    MARK = "no code: what stands in it is text as around it"


class Gathered(NamedTuple):
    """An element whose text may be translated."""

    parts: Sequence[str | Code]
    written: bool
    """There is text in it, be it native code."""
    attributes: Mapping[str, str]
    start: int
    """Byte at which it begins."""
    end: int
    """Byte at which its end tag begins, or behind its empty tag."""

    @property
    def segment(self) -> Segment:
        return Segment(tuple(self.parts))

    @property
    def text(self) -> str:
        if len(self.parts) == 1 and isinstance(self.parts[0], str):
            return self.parts[0]
        return "".join([part if isinstance(part, str) else part.text for part in self.parts])


@dataclass
class InlineText:
    """How the elements of a kind of file are taken where they stand in a text."""

    role: Callable[[XmlElement], Role]
    data: bytes = b""
    """The UTF-8 that was read, if codes shall keep how they are written."""
    natives: Mapping[str, str] = field(default_factory=dict)
    """What codes stand for, by the name under which they refer to it."""

    def gathered(self, element: XmlElement, *, unwrap: bool = False) -> Gathered:
        """The text and the codes in an element; to `unwrap`: line breaks are only layout."""
        parts, native = self._inside(element)
        parts = _unwrapped(parts) if unwrap else parts
        written = native or _has_text(parts)
        return Gathered(parts, written, element.attributes, element.start, element.end)

    def _inside(self, element: XmlElement) -> tuple[list[str | Code], bool]:
        """The parts in an element, and whether a code among them holds what it stands for."""
        parts, native = list[str | Code](), False
        for part in element.parts:
            if isinstance(part, str):
                parts.append(part)
                continue
            role = self.role(part)
            if role is Role.WHOLE:
                parts.append(self._whole(part, part.text))
                native |= bool(part.text.strip())
                continue
            inside, held = self._inside(part)
            native |= held
            if role is Role.MARK:
                pass
            elif inside:
                inside = [self._tag(part, "Start"), *inside, self._tag(part, "End")]
            else:  # nothing between the two: they are one code
                inside = [self._whole(part, "", native="")]
            parts += inside
        return parts, native

    def _whole(self, element: XmlElement, text: str, native: str = "dataRef") -> Code:
        end = behind(self.data, element) if self.data else 0
        shown = self.natives.get(element.attributes.get(native, ""), _shown(element, "/>"))
        return Code(text or shown, self.data[element.start : end].decode())

    def _tag(self, element: XmlElement, side: str) -> Code:
        start = side == "Start"
        pattern, place = (START_TAG, element.start) if start else (_END_TAG, element.end)
        found = pattern.match(self.data, place)
        shown = _shown(element, ">") if start else f"</{_local(element)}>"
        known = self.natives.get(element.attributes.get(f"dataRef{side}", ""), shown)
        return Code(known, found[0].decode() if found else "")


def _local(element: XmlElement) -> str:
    return element.name.rpartition(" ")[2]


def _shown(element: XmlElement, ending: str) -> str:
    """The tag in short: its name and what tells it from others."""
    found = [element.attributes[name] for name in _IDENTITIES if name in element.attributes][:1]
    identity = "".join(f' id="{value}"' for value in found)
    return f"<{_local(element)}{identity}{ending}"


def _has_text(parts: Sequence[str | Code]) -> bool:
    return any(isinstance(part, str) and not part.isspace() for part in parts)


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


# -- written back -----------------------------------------------------------------------------


class Located(Protocol):
    """An element, or what was gathered from one: where it begins, and where its end was told."""

    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...


def start_tag(data: bytes, start: int) -> bytes:
    """The tag that begins there."""
    found = START_TAG.match(data, start)
    assert found, "an element begins with its tag"
    return found[0]


def behind(data: bytes, element: Located) -> int:
    """The byte behind an element."""
    return element_end(data, element.start, element.end)


def element_end(data: bytes, start: int, end_event: int) -> int:
    """The byte behind an element, from those at which its start tag begins and its end was told."""
    first = START_TAG.match(data, start)
    if first is None or (first[0].endswith(b"/>") and first.end() == end_event):
        return end_event
    last = _END_TAG.match(data, end_event)
    return last.end() if last else end_event


def with_tag(
    data: bytes, element: Located, text: bytes, attributes: Mapping[str, str | None]
) -> Edit:
    """An element with this in it, and these attributes changed."""
    tag = start_tag(data, element.start)
    opening = opened(with_attributes(tag, attributes))
    closing = b"</%b>" % tag_name(tag)
    return Edit(element.start, behind(data, element), opening + text + closing)


def changed_tag(data: bytes, start: int, attributes: Mapping[str, str | None]) -> Edit:
    """The tag that begins there, with these attributes changed."""
    tag = start_tag(data, start)
    return Edit(start, start + len(tag), with_attributes(tag, attributes))


def with_attributes(tag: bytes, values: Mapping[str, str | None]) -> bytes:
    """A start tag or empty tag with these attributes set, or left out where they are None; the
    values need no escaping."""
    for name, value in values.items():
        written = b"" if value is None else f' {name}="{value}"'.encode()
        # with other values blanked out, so that none is taken for an attribute
        masked = re.sub(
            rb"\"[^\"]*\"|'[^']*'", lambda v: v[0][:1] + b"_" * (len(v[0]) - 2) + v[0][-1:], tag
        )
        pattern = rb"(?<!\s)\s++%b\s*+=\s*+(\"_*\"|'_*')" % re.escape(name.encode())
        found = re.search(pattern, masked)
        if found and value is None:
            tag = tag[: found.start()] + tag[found.end() :]
        elif found:
            start = found.start() + found[0].index(name.encode())
            tag = tag[:start] + written[1:] + tag[found.end() :]
        else:
            inside = tag.removesuffix(b">").removesuffix(b"/").rstrip()
            tag = inside + written + tag[len(inside) :]
    return tag


def opened(tag: bytes) -> bytes:
    """An empty tag as a start tag; a start tag as it is."""
    return tag[:-2].rstrip() + b">" if tag.endswith(b"/>") else tag


def tag_name(tag: bytes) -> bytes:
    """The name in a tag, with its prefix."""
    found = re.match(rb"</?([^\s/>]+)", tag)
    assert found, "a tag has a name"
    return found[1]


def indentation(data: bytes, position: int) -> bytes:
    """The white space in front of a tag, if nothing else stands between it and another tag."""
    near = data[max(0, position - _INDENTATION_BYTES) : position]
    before = near.rstrip(b" \t\r\n")
    return near[len(before) :] if before.endswith(b">") else b""


def as_xml(translation: Segment, source: Segment, newline: bytes = b"\n") -> bytes:
    """A translation as it stands in an element: escaped, its codes as the file writes them.

    White space around the source stands around the translation too. Where paired codes would not
    lie in one another, which is no XML, the source's codes follow behind the text instead.
    """
    parts = translation.parts
    if not nested(translation):
        parts = (translation.outside_codes.rstrip(), *source.codes)
    written = "".join(
        part.raw or _escaped(part.text) if isinstance(part, Code) else _escaped(part)
        for part in parts
    )
    first, last = (
        next((part for part in some if isinstance(part, str)), "")
        for some in (source.parts[:1], source.parts[-1:])
    )
    before, after = first[: len(first) - len(first.lstrip())], last[len(last.rstrip()) :]
    written = (
        (_escaped(before) if not written[:1].isspace() else "")
        + written
        + (_escaped(after) if not written[-1:].isspace() else "")
    )
    return written.encode().replace(b"\n", newline)


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
    return escaped(text).replace("\r", "&#13;")
