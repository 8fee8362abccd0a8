"""XML read piece by piece, safely: nothing is fetched, nothing grows without bound."""

from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from xml.parsers import expat

from headway.core.errors import DataError

MAX_DEPTH = 100
"""Levels of elements in elements."""
MAX_UNIT_BYTES = 1 << 20
"""The longest unit, tag or comment: none is held in memory beyond that."""

_CUT_OFF = "The file seems to be cut off: copy or download it again."
_REMEDIES = {
    expat.errors.XML_ERROR_NO_ELEMENTS: _CUT_OFF,
    expat.errors.XML_ERROR_UNCLOSED_TOKEN: _CUT_OFF,
    expat.errors.XML_ERROR_UNCLOSED_CDATA_SECTION: _CUT_OFF,
    expat.errors.XML_ERROR_INVALID_TOKEN: (
        "Remove the character there if XML does not allow it; write &lt; and &amp; for < and &."
    ),
    expat.errors.XML_ERROR_UNDEFINED_ENTITY: "Write the character itself.",
    expat.errors.XML_ERROR_TAG_MISMATCH: "Close each element before the one around it.",
}
_OTHER_REMEDY = "Mend that place, or export the file again."


class XmlEvents:
    """Tells a reader of one kind of file what begins and what ends.

    The reader calls `tell` once, `unit_begins` and `unit_ends` for each unit, and takes what it has
    gathered after each step of `run`.
    """

    def __init__(self, path: Path, root: str, *, namespaces: bool = False) -> None:
        """The outermost element is a `root`; with `namespaces`, names are `uri name`."""
        self.path = path
        self._root = root
        self.parser = expat.ParserCreate("utf-8", " " if namespaces else None)
        self.parser.buffer_text = True
        self.parser.StartDoctypeDeclHandler = self._doctype
        self.parser.SkippedEntityHandler = self._skipped_entity
        self._n_fed = 0
        self._unit_start: int | None = None

    @property
    def line(self) -> int:
        """Line of the file, from 1, on which the tag at hand begins."""
        return self.parser.CurrentLineNumber

    @property
    def position(self) -> int:
        """Byte, in UTF-8 without a byte order mark, at which the tag at hand begins.

        At the end of an element that is one empty tag (`<x/>`), it is the byte behind that tag.
        """
        return self.parser.CurrentByteIndex

    def unit_begins(self) -> None:
        """From here on something is gathered, until `unit_ends`."""
        self._unit_start = self.parser.CurrentByteIndex

    def unit_ends(self) -> None:
        self._unit_start = None

    def tell(
        self, on_start: Callable[[str, dict[str, str]], None], on_end: Callable[[str], None]
    ) -> None:
        """Call these with the name (and the attributes) of what begins and what ends."""
        depth = 0

        def start(name: str, attributes: dict[str, str]) -> None:
            nonlocal depth
            if not 0 < depth < MAX_DEPTH:
                self._check(name, depth)
            depth += 1
            on_start(name, attributes)

        def end(name: str) -> None:
            nonlocal depth
            depth -= 1
            on_end(name)

        self.parser.StartElementHandler, self.parser.EndElementHandler = start, end

    def run(self, chunks: Iterable[bytes]) -> Iterator[None]:
        """Read UTF-8, stopping after each chunk.

        Raises:
            DataError: it is no XML, or XML of a kind that is refused, with the line and a remedy.
        """
        for chunk in chunks:
            self._parse(chunk, last=False)
            yield
        self._parse(b"", last=True)
        yield

    def refusal(self, rule: str, given: str, remedy: str) -> DataError:
        return DataError(f"{rule}; {self.path}:{self.line} {given}. {remedy}.")

    def _parse(self, chunk: bytes, *, last: bool) -> None:
        try:
            self.parser.Parse(chunk, last)
        except expat.ExpatError as error:
            raise DataError(
                f"a file of this kind is well-formed XML; {self.path}:{error.lineno} is not "
                f"({expat.ErrorString(error.code)}, column {error.offset + 1}). "
                f"{_REMEDIES.get(expat.ErrorString(error.code), _OTHER_REMEDY)}"
            ) from None
        self._n_fed += len(chunk)
        pending_from = self.parser.CurrentByteIndex
        if self._unit_start is not None:
            pending_from = min(pending_from, self._unit_start)
        if self._n_fed - pending_from > MAX_UNIT_BYTES:
            raise self.refusal(
                f"a unit, tag or comment has at most {MAX_UNIT_BYTES >> 20} MiB",
                "lies in a longer one",
                "Remove it, or close the quote or the comment that was left open",
            )

    def _check(self, name: str, depth: int) -> None:
        """Refuse an outermost element of another kind, and one that lies too deep."""
        found = name.rpartition(" ")[2]
        if depth >= MAX_DEPTH:
            raise self.refusal(
                f"elements lie at most {MAX_DEPTH} levels deep",
                f"has <{found}> at level {depth + 1}",
                "Remove what lies deeper",
            )
        if found != self._root:
            raise self.refusal(
                f"a file of this kind begins with <{self._root}>",
                f"begins with <{found}>",
                "Give it the suffix of what it is, or export it again",
            )

    def _doctype(
        self, _name: str, _system: str | None, _public: str | None, has_subset: int
    ) -> None:
        if has_subset:
            raise self.refusal(
                "a document type is only named, and nothing is declared in it",
                "begins a list of declarations [..]",
                "Remove the part in brackets, and write the characters that its entities stand for",
            )

    def _skipped_entity(self, name: str, _is_parameter: int) -> None:
        raise self.refusal(
            "only the entities of XML itself are known (&amp; &lt; &gt; &quot; &apos;)",
            f"has &{name};",
            "Write the character itself",
        )


def check_xml(path: Path, root: str, chunks: Iterable[bytes], *, namespaces: bool = False) -> None:
    """Refuse what is no XML of this kind; raises DataError as `XmlEvents.run`."""
    events = XmlEvents(path, root, namespaces=namespaces)
    events.tell(lambda _name, _attributes: None, lambda _name: None)
    for _ in events.run(chunks):
        pass


@dataclass(slots=True, eq=False)
class XmlElement:
    name: str
    """Without the namespace of the outermost element; one of another is `uri name`."""
    attributes: dict[str, str]
    around: "XmlElement | None"
    """The element that it lies in."""
    line: int
    start: int
    """Byte at which its start tag begins."""
    end: int = -1
    """Byte at which its end tag begins, or behind its empty tag."""
    parts: "list[str | XmlElement]" = field(default_factory=list)
    """Elements and texts in it, in order."""

    def inner(self, *names: str) -> "list[XmlElement]":
        """The elements of these names that lie directly in it."""
        return [part for part in self.parts if isinstance(part, XmlElement) and part.name in names]

    def below(self) -> "Iterator[XmlElement]":
        """All elements in it, at any depth."""
        for part in self.parts:
            if isinstance(part, XmlElement):
                yield part
                yield from part.below()

    @property
    def text(self) -> str:
        """All text in it, at any depth."""
        return "".join(part if isinstance(part, str) else part.text for part in self.parts)

    @property
    def note(self) -> str:
        """The same in one line."""
        return " ".join(self.text.split())

    def inherited(self, attribute: str) -> str | None:
        """As the nearest element around it has it, or it itself."""
        element: XmlElement | None = self
        while element is not None and attribute not in element.attributes:
            element = element.around
        return element.attributes[attribute] if element is not None else None


class XmlUnits:
    """Units of a file, each as a tree, one after the other; nothing else is kept."""

    def __init__(
        self,
        path: Path,
        root: str,
        units: Container[str],
        texts: Container[str],
        *,
        namespaces: bool = False,
    ) -> None:
        """Elements of the names `units` that lie in no other; text is read in `texts` only."""
        self.root: XmlElement | None = None
        self.namespace = ""
        self._units, self._texts = units, texts
        self._events = XmlEvents(path, root, namespaces=namespaces)
        self._events.tell(self._start, self._end)
        self._parser = self._events.parser
        self._open: XmlElement | None = None
        self._unit: XmlElement | None = None
        self._text: XmlElement | None = None
        self._complete: list[XmlElement] = []

    def read(self, chunks: Iterable[bytes]) -> Iterator[XmlElement]:
        """Each unit; raises DataError as `XmlEvents.run`."""
        for _ in self._events.run(chunks):
            complete, self._complete = self._complete, []
            yield from complete

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        parser, around = self._parser, self._open
        if around is None:
            self.namespace = name[: name.rfind(" ") + 1]
        name = name.removeprefix(self.namespace)
        element = XmlElement(
            name, attributes, around, parser.CurrentLineNumber, parser.CurrentByteIndex
        )
        self._open = element
        if around is None:
            self.root = element
        elif self._unit is not None:
            around.parts.append(element)
        elif name in self._units:
            self._unit = element
            self._events.unit_begins()
        if self._text is not None:
            parser.CharacterDataHandler = element.parts.append
        elif self._unit is not None and name in self._texts:
            self._text = element
            parser.CharacterDataHandler = element.parts.append

    def _end(self, _name: str) -> None:
        element, parser = self._open, self._parser
        assert element, "what ends has begun"
        element.end, self._open = parser.CurrentByteIndex, element.around
        if element is self._text:
            parser.CharacterDataHandler = self._text = None
        elif self._text is not None and element.around is not None:
            parser.CharacterDataHandler = element.around.parts.append
        if element is self._unit:
            self._complete.append(element)
            self._unit = None
            self._events.unit_ends()
