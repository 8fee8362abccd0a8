"""XML read piece by piece, safely: nothing is fetched, nothing grows without bound."""

from collections.abc import Callable, Iterable, Iterator
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
