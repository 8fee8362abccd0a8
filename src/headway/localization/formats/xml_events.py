"""XML read piece by piece, safely: nothing is fetched, nothing grows without bound."""

from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from xml.parsers import expat

from headway.core.errors import DataError

MAX_DEPTH = 100
"""Levels of elements in elements."""
MAX_UNIT_BYTES = 1 << 20
"""The longest unit, tag or comment: none is held in memory beyond that."""

_REMEDY = (
    "Mend that place (&lt; and &amp; stand for < and &); or, where the file is cut off, copy or "
    "export it again."
)


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
        units: Container[str] = (),
        texts: Container[str] = (),
        *,
        namespaces: bool = False,
    ) -> None:
        """The outermost element is a `root`; units are elements of these names that lie in no
        other, and text is read in `texts` only. With `namespaces`, those of others are kept."""
        self.root: XmlElement | None = None
        self.namespace = ""
        """Of the outermost element."""
        self._path, self._root, self._units, self._texts = path, root, units, texts
        self._parser = parser = expat.ParserCreate("utf-8", " " if namespaces else None)
        parser.buffer_text = True
        parser.StartDoctypeDeclHandler = self._doctype
        parser.SkippedEntityHandler = self._skipped_entity
        parser.StartElementHandler, parser.EndElementHandler = self._start, self._end
        self._n_fed = self._depth = 0
        self._open: XmlElement | None = None
        self._unit: XmlElement | None = None
        self._text: XmlElement | None = None
        self._complete: list[XmlElement] = []

    def read(self, chunks: Iterable[bytes]) -> Iterator[XmlElement]:
        """Each unit of a file in UTF-8.

        Raises DataError: it is no XML, or XML of a kind that is refused, with the line and a
        remedy.
        """
        for chunk in chunks:
            self._parse(chunk, last=False)
            complete, self._complete = self._complete, []
            yield from complete
        self._parse(b"", last=True)
        yield from self._complete

    def _parse(self, chunk: bytes, *, last: bool) -> None:
        try:
            self._parser.Parse(chunk, last)
        except expat.ExpatError as error:
            raise DataError(
                f"a file of this kind is well-formed XML; {self._path}:{error.lineno} is not "
                f"({expat.ErrorString(error.code)}, column {error.offset + 1}). "
                f"{_REMEDY}"
            ) from None
        self._n_fed += len(chunk)
        starts = [self._unit.start] if self._unit is not None else []
        if self._n_fed - min([self._parser.CurrentByteIndex, *starts]) > MAX_UNIT_BYTES:
            raise self._refusal(
                f"a unit, tag or comment has at most {MAX_UNIT_BYTES >> 20} MiB",
                "lies in a longer one",
                "Remove it, or close the quote or the comment that was left open",
            )

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        parser, around = self._parser, self._open
        if not 0 < self._depth < MAX_DEPTH:
            self._check(name.rpartition(" ")[2])
        self._depth += 1
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
        if self._text is None and self._unit is not None and name in self._texts:
            self._text = element
        if self._text is not None:
            parser.CharacterDataHandler = element.parts.append

    def _end(self, _name: str) -> None:
        element, parser = self._open, self._parser
        assert element, "what ends has begun"
        self._depth -= 1
        element.end, self._open = parser.CurrentByteIndex, element.around
        if element is self._text:
            parser.CharacterDataHandler = self._text = None
        elif self._text is not None and element.around is not None:
            parser.CharacterDataHandler = element.around.parts.append
        if element is self._unit:
            self._complete.append(element)
            self._unit = None

    def _refusal(self, rule: str, given: str, remedy: str) -> DataError:
        return DataError(
            f"{rule}; {self._path}:{self._parser.CurrentLineNumber} {given}. {remedy}."
        )

    def _check(self, found: str) -> None:
        """Refuse an outermost element of another kind, and one that lies too deep."""
        if self._depth >= MAX_DEPTH:
            raise self._refusal(
                f"elements lie at most {MAX_DEPTH} levels deep",
                f"has <{found}> at level {self._depth + 1}",
                "Remove what lies deeper",
            )
        if found != self._root:
            raise self._refusal(
                f"a file of this kind begins with <{self._root}>",
                f"begins with <{found}>",
                "Give it the suffix of what it is, or export it again",
            )

    def _doctype(
        self, _name: str, _system: str | None, _public: str | None, has_subset: int
    ) -> None:
        if has_subset:
            raise self._refusal(
                "a document type is only named, and nothing is declared in it",
                "begins a list of declarations [..]",
                "Remove the part in brackets, and write the characters that its entities stand for",
            )

    def _skipped_entity(self, name: str, _is_parameter: int) -> None:
        raise self._refusal(
            "only the entities of XML itself are known (&amp; &lt; &gt; &quot; &apos;)",
            f"has &{name};",
            "Write the character itself",
        )


def check_xml(path: Path, root: str, chunks: Iterable[bytes], *, namespaces: bool = False) -> None:
    """Refuse what is no XML of this kind; raises DataError as `XmlUnits.read`."""
    for _ in XmlUnits(path, root, namespaces=namespaces).read(chunks):
        pass
