"""Resources of .NET (`.resx`): the texts among them are to be translated."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from headway.text.formats.inline import START_TAG, Gathered, InlineText, Role, as_xml, element_end
from headway.text.formats.segments import Gap
from headway.text.formats.xml_documents import Translations, Unit, XmlDocument
from headway.text.formats.xml_edits import Edit, line_end, opened, tag_name
from headway.text.formats.xml_encoding import read_contents, utf8_chunks
from headway.text.formats.xml_events import XmlEvents
from headway.text.language_names import named_language


class _Resource(NamedTuple):
    name: str
    line: int
    value: Gathered
    start: int
    """Byte at which the `value` begins."""
    end: int
    """Byte at which its end tag begins, or behind its empty tag."""
    remarks: tuple[str, ...]


def read_texts(path: Path) -> Iterator[tuple[str, str, int, tuple[str, ...]]]:
    """Each text with its name, its line and its comment."""
    for one in _Resources(path).read(utf8_chunks(path)):
        yield one.name, one.value.text, one.line, one.remarks


def open_document(
    path: Path, _source_language: str | None, target_language: str | None, _overwrite: bool
) -> XmlDocument:
    """A file of one language, all of whose texts become those of another.

    Raises:
        DataError: as `read_contents` and `XmlEvents.run`.
    """
    for _ in _Resources(path).read(utf8_chunks(path)):
        pass  # what is to be refused is, before all of it is in memory
    contents = read_contents(path)
    units = [
        _unit(contents.data, one) for one in _Resources(path, contents.data).read([contents.data])
    ]
    return XmlDocument(contents, units, (named_language(path), target_language))


def _unit(data: bytes, one: _Resource) -> Unit:
    segment = one.value.segment
    if segment.blank:
        return Unit(segment.text, reason="blank_side")

    def edits(translations: Translations) -> list[Edit]:
        texts = (as_xml(new, segment).encode() for new, _ in translations if new is not None)
        return [
            inside(data, one.start, one.end, text.replace(b"\n", line_end(data))) for text in texts
        ]

    gap = Gap(segment, one.line, key=one.name, remarks=one.remarks)
    return Unit(segment.text, (gap,), edits=edits)


def inside(data: bytes, start: int, end: int, text: bytes) -> Edit:
    """The element that begins at `start`, and whose end was told at `end`, with this in it."""
    tag = START_TAG.match(data, start)
    assert tag, "an element begins with its tag"
    behind = element_end(data, start, end)
    return Edit(start, behind, opened(tag[0]) + text + b"</%b>" % tag_name(tag[0]))


class _Resources:
    """Gathers the texts of a file while its events come in."""

    def __init__(self, path: Path, data: bytes = b"") -> None:
        self._events = XmlEvents(path, "root")
        self._events.tell(self._start, self._end)
        self._inline = InlineText(self._events, lambda _name, _attributes: Role.PAIR, data)
        self._open: list[str] = []
        self._name = ""
        self._line = 0
        self._comment: list[str] | None = None
        self._value: tuple[Gathered, int, int] | None = None
        self._remarks: tuple[str, ...] = ()
        self._start_of_value = 0
        self._complete: list[_Resource] = []

    def read(self, chunks: Iterable[bytes]) -> Iterator[_Resource]:
        for _ in self._events.run(chunks):
            complete, self._complete = self._complete, []
            yield from complete

    def _start(self, name: str, attributes: Mapping[str, str]) -> None:
        if self._inline.active:
            self._inline.start(name, dict(attributes))
            return
        self._open.append(name)
        if self._open == ["root", "data"]:
            self._events.unit_begins()
            named = attributes.get("name", "")
            other = "type" in attributes or "mimetype" in attributes or named.startswith(">>")
            self._name = "" if other else named
            self._line, self._value, self._remarks = self._events.line, None, ()
        elif self._open == ["root", "data", "value"] and self._name:
            self._start_of_value = self._events.position
            self._inline.begin()
        elif self._open == ["root", "data", "comment"]:
            self._comment = []
            self._events.parser.CharacterDataHandler = self._comment.append

    def _end(self, name: str) -> None:
        if self._inline.active:
            gathered = self._inline.end()
            if gathered is None:
                return
            self._value = gathered, self._start_of_value, self._events.position
        self._open.pop()
        if name == "comment" and self._comment is not None:
            self._events.parser.CharacterDataHandler = None
            text = " ".join("".join(self._comment).split())
            self._comment, self._remarks = None, (text,) if text else ()
        elif self._open == ["root"] and name == "data":
            self._events.unit_ends()
            if self._name and self._value:
                one = _Resource(self._name, self._line, *self._value, self._remarks)
                self._complete.append(one)
