"""Glossaries in TBX, term base exchange: version 2 (`martif`) and 3 (`tbx`)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from headway.core.errors import DataError
from headway.core.lines import shown
from headway.languages.codes import same_language
from headway.localization.formats.xml_encoding import utf8_chunks
from headway.localization.formats.xml_events import XmlEvents
from headway.localization.terms.glossary import GlossaryRow

_ENTRIES = {"termEntry", "conceptEntry"}
_LANGUAGES = {"langSet", "langSec"}
_NOTES = {"note", "descrip"}
_REFUSED = ("deprecatedTerm", "supersededTerm")
"""Statuses of terms that are not to be used: `administrativeStatus`, `normativeAuthorization`."""


@dataclass
class _Entry:
    """One concept: its terms by language."""

    line: int
    terms: list[tuple[str, str]] = field(default_factory=list)
    """Language and term."""
    notes: list[str] = field(default_factory=list)


def read_tbx(
    path: Path, source_language: str | None, target_language: str | None
) -> Iterator[GlossaryRow]:
    """The terms of each concept in the two languages; several of one language are variants.

    Without languages they are the first two that the file has. Deprecated and superseded terms are
    left out.

    Raises:
        DataError: it is no TBX, or has no terms in one of the languages.
    """
    entries = list(_ConceptReader(path).read())
    languages = list(dict.fromkeys(name for entry in entries for name, _ in entry.terms))
    source = _chosen(languages, source_language, "source", path)
    target = _chosen(languages, target_language, "target", path, taken=source)
    for entry in entries:
        sources = [text for name, text in entry.terms if name in source]
        targets = [text for name, text in entry.terms if name in target]
        if not sources or not targets:
            continue
        escaped = (text.replace("|", "\\|") for text in targets)
        forms = "|".join(text.replace("|", "\\|") for text in sources[1:])
        place = f"{shown(path)}:{entry.line}"
        yield GlossaryRow(sources[0], "|".join(escaped), "; ".join(entry.notes), forms, place)


def _chosen(
    languages: list[str], wanted: str | None, side: str, path: Path, taken: Sequence[str] = ()
) -> list[str]:
    free = (name for name in languages if name not in taken)
    found = [name for name in free if wanted is None or same_language(name, wanted)]
    if not found:
        raise DataError(
            f"a glossary has terms in both languages of the run; {shown(path)} has "
            f"{', '.join(languages) or 'none'} for its {side} side, and {wanted or 'some'} is "
            "asked for. Give another glossary."
        )
    return found if wanted else found[:1]


class _ConceptReader:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._events = XmlEvents(path, _root(path))
        self._events.tell(self._start, self._end)
        self._events.parser.CharacterDataHandler = self._characters
        self._entry: _Entry | None = None
        self._complete: list[_Entry] = []
        self._language = ""
        self._text: list[str] | None = None

    def read(self) -> Iterator[_Entry]:
        for _ in self._events.run(utf8_chunks(self._path)):
            complete, self._complete = self._complete, []
            yield from complete

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if name in _ENTRIES:
            self._events.unit_begins()
            self._entry = _Entry(self._events.line)
            self._language = ""
        elif name in _LANGUAGES:
            self._language = attributes.get("xml:lang", "")
        elif name == "term" or name in _NOTES or name == "termNote":
            self._text = []

    def _end(self, name: str) -> None:
        text = "" if self._text is None else " ".join("".join(self._text).split())
        entry = self._entry
        if entry is None:
            return
        if name == "term":
            entry.terms += [(self._language, text)] * bool(text)
        elif name in _NOTES and not self._language:
            entry.notes += [text] * bool(text)
        elif name == "termNote" and text.startswith(_REFUSED) and entry.terms:
            entry.terms.pop()
        elif name in _ENTRIES:
            self._events.unit_ends()
            self._complete.append(entry)
            self._entry = None
        if name == "term" or name in _NOTES or name == "termNote":
            self._text = None

    def _characters(self, text: str) -> None:
        if self._text is not None:
            self._text.append(text)


def _root(path: Path) -> str:
    """`martif`, or `tbx` where that comes first."""
    head = next(iter(utf8_chunks(path)), b"")[:4096]
    return "tbx" if b"<tbx" in head else "martif"
