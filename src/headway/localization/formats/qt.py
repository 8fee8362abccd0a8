"""Translations of Qt (`.ts`): read for training, and filled in."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from headway.core.cleaning import Pair, Report
from headway.core.lines import shown
from headway.languages.codes import Languages
from headway.languages.plurals import forms_of
from headway.localization.formats.documents import (
    Edit,
    EditableDocument,
    EditableUnit,
    Translations,
)
from headway.localization.formats.inline import (
    START_TAG,
    Gathered,
    InlineText,
    Role,
    as_xml,
    element_end,
    element_with,
)  # fmt: skip
from headway.localization.formats.xml_edits import indentation, line_end, opened, with_attributes
from headway.localization.formats.xml_encoding import read_contents, utf8_chunks
from headway.localization.formats.xml_events import XmlEvents
from headway.localization.placeholders.segments import EXACT, Gap, PluralForm, Segment, learned_form

_GONE = frozenset(("vanished", "obsolete"))
_TYPE = re.compile(rb"""(?<!\s)\s++type\s*+=\s*+("[^"]*"|'[^']*')""")
_GATHERED = frozenset(
    (("source", "message"), ("translation", "message"), ("numerusform", "translation"))
)
"""What holds text, and what it lies in."""
_REMARKS = frozenset(("translatorcomment", "extracomment"))


@dataclass
class QtText:
    content: Gathered
    start: int
    end: int
    """Byte at which its end tag begins, or behind its empty tag."""


@dataclass
class Message:
    line: int
    context: str
    numerus: bool
    kind: str = ""
    """`type` of its translation: `unfinished`, `vanished`, `obsolete`, or empty for finished."""
    source: QtText | None = None
    translation: QtText | None = None
    forms: list[QtText] = field(default_factory=list)
    variants: bool = False
    key: str = ""
    remarks: list[str] = field(default_factory=list)

    @property
    def texts(self) -> list[QtText]:
        return self.forms if self.numerus else [self.translation] if self.translation else []

    @property
    def complete(self) -> bool:
        return bool(self.texts) and all(text.content.written for text in self.texts)


class QtForm(NamedTuple):
    """A translation of a message: its only one, or that of a plural form."""

    source: Segment
    """`%n file(s)` as it is for one, or for several."""
    plural: PluralForm | None = None
    """None for a message that has no plural."""


def read_qt(path: Path, languages: Languages, report: Report) -> Iterator[Pair]:
    """Every finished translation; of plural forms one, with the source as it is for that form.

    What is gone is not counted at all.

    Raises:
        DataError: as `XmlEvents.run` and `utf8_chunks`.
    """
    file = shown(path)
    for message, forms in qt_messages(path, languages):
        report.read += 1
        form, source = _learned(message, forms)
        if not source.strip() or not message.complete:
            reason = "untranslated" if source.strip() else "blank_side"
            report.drop(reason, file, message.line, source)
        elif message.kind:
            report.drop("fuzzy", file, message.line, source)
        else:
            target, remarks = message.texts[form].content.text, tuple(message.remarks)
            yield Pair(source, target, file, message.line, remarks)


def qt_languages(path: Path, languages: Languages) -> tuple[str | None, str | None]:
    """As the file says (`sourcelanguage`, `language`), else as given."""
    messages = _Messages(path)
    next(messages.read(utf8_chunks(path)), None)
    source, target = (messages.root.get(name) for name in ("sourcelanguage", "language"))
    return source or languages.source_language, target or languages.target_language


def qt_messages(path: Path, languages: Languages) -> Iterator[tuple[Message, list[QtForm]]]:
    """Each message that is not gone, whatever is the matter with it; raises as `read_qt`."""
    messages = _Messages(path)
    for message in messages.read(utf8_chunks(path)):
        if message.kind not in _GONE:
            language = messages.root.get("language") or languages.target_language
            yield message, _forms(message, language)


def open_document(
    path: Path, source_language: str | None, target_language: str | None, overwrite: bool
) -> EditableDocument:
    """A file whose translations are unfinished.

    Raises:
        DataError: as `read_contents` and `XmlEvents.run`.
    """
    for _ in _Messages(path).read(utf8_chunks(path)):
        pass  # what is to be refused is, before all of it is in memory
    contents = read_contents(path)
    messages = _Messages(path, contents.data)
    found = list(messages.read([contents.data]))
    root = messages.root
    languages = root.get("sourcelanguage"), root.get("language") or target_language
    file = contents.data, line_end(contents.data)
    units = [
        _unit(file, message, languages[1], overwrite=overwrite)
        for message in found
        if message.kind not in _GONE
    ]
    return EditableDocument(contents.data, contents.restored, units, languages)


def _why_left(message: Message, *, overwrite: bool) -> str:
    if message.source is None or message.source.content.segment.blank:
        return "blank_side"
    if message.variants or message.translation is None:
        return "crowded_line" if message.variants else "untranslated"
    if not overwrite and message.complete:
        return "fuzzy" if message.kind else "translated"
    return ""


def _unit(
    file: tuple[bytes, bytes], message: Message, language: str | None, *, overwrite: bool
) -> EditableUnit:
    forms = _forms(message, language)
    _, source = _learned(message, forms)
    if reason := _why_left(message, overwrite=overwrite):
        return EditableUnit(source, reason=reason)
    gaps: dict[int, Gap] = {}
    for number, (counted, plural) in enumerate(forms):
        text = message.texts[number] if number < len(message.texts) else None
        written = text is not None and text.content.written
        if written and not overwrite:
            continue
        gaps[number] = Gap(
            counted,
            message.line,
            filled=written,
            key=message.key or message.context,
            there=text.content.segment if text is not None and written else None,
            plural=plural,
            remarks=tuple(message.remarks),
        )

    def edits(translations: Translations) -> list[Edit]:
        return _edits(
            file, message, list(gaps), [gap.source for gap in gaps.values()], translations
        )

    return EditableUnit(source, tuple(gaps.values()), edits=edits)


def _forms(message: Message, language: str | None) -> list[QtForm]:
    """Of each translation that a message has, or is to have."""
    source = message.source.content.segment if message.source else Segment()
    if not message.numerus:
        return [QtForm(source)]
    known = forms_of(language, whole=True)
    n_forms = max(len(message.forms), len(known))
    numbers: list[int | float] = [one.number for one in known]
    if len(known) < n_forms:
        numbers = [1, *[2] * (n_forms - 1)]
    sources = [_counted(source, one=n_forms > 1 and number == 1) for number in numbers]
    times = Counter(sources)
    return [
        QtForm(counted, PluralForm(form, n_forms, number, own_source=times[counted] == 1))
        for form, (counted, number) in enumerate(zip(sources, numbers, strict=True))
    ]


def _learned(message: Message, forms: Sequence[QtForm]) -> tuple[int, str]:
    """Which translation stands for a message where it is one pair, and its source."""
    form = learned_form([one.plural for one in forms[: len(message.texts) or None]])
    return form, forms[form].source.text


def _counted(source: Segment, *, one: bool) -> Segment:
    """`%n file(s)` as it is for one, or for several."""
    ending = "" if one else "s"
    return Segment(
        tuple(p.replace("(s)", ending) if isinstance(p, str) else p for p in source.parts)
    )


def _edits(
    file: tuple[bytes, bytes],
    message: Message,
    forms: Sequence[int],
    sources: Sequence[Segment],
    translations: Translations,
) -> list[Edit]:
    """The texts, and `type="unfinished"` unless a memory had the very texts."""
    assert message.translation, "a message without one has no gaps"
    data, newline = file
    written = {
        form: as_xml(new, source).encode().replace(b"\n", newline)
        for form, source, (new, _) in zip(forms, sources, translations, strict=True)
        if new is not None
    }
    known = all(percent == EXACT for _, percent in translations)
    start, end = message.translation.start, message.translation.end
    tag = START_TAG.match(data, start)
    assert tag, "an element begins with its tag"
    marked = with_attributes(tag[0], {"type": "unfinished"})
    marked = opened(_TYPE.sub(b"", tag[0]) if known else marked)
    if not message.numerus or not message.forms:
        numerus = b"<numerusform>%b</numerusform>" if message.numerus else b"%b"
        new = b"".join(numerus % written.get(form, b"") for form in forms)
        return [Edit(start, element_end(data, start, end), marked + new + b"</translation>")]
    edits = [Edit(start, tag.end(), marked)]
    for form, text in written.items():
        if form < len(message.forms):
            one = message.forms[form]
            edits.append(element_with(data, one.start, one.end, text))
    last = message.forms[-1]
    more = [text for form, text in sorted(written.items()) if form >= len(message.forms)]
    if more:
        behind = element_end(data, last.start, last.end)
        layout = indentation(data, last.start)
        added = (layout + b"<numerusform>%b</numerusform>" % text for text in more)
        edits.append(Edit(behind, behind, b"".join(added)))
    return edits


class _Messages:
    """Gathers the messages of a file while its events come in."""

    def __init__(self, path: Path, data: bytes = b"") -> None:
        self.root: Mapping[str, str] = {}
        self._events = XmlEvents(path, "TS")
        self._events.tell(self._start, self._end)
        self._inline = InlineText(self._events, lambda _name, _attributes: Role.WHOLE, data)
        self._message: Message | None = None
        self._context = ""
        self._open: list[str] = []
        self._positions: list[int] = []
        self._gathered: list[str] | None = None
        self._complete: list[Message] = []

    def read(self, chunks: Iterable[bytes]) -> Iterator[Message]:
        for _ in self._events.run(chunks):
            complete, self._complete = self._complete, []
            yield from complete

    def _start(self, name: str, attributes: Mapping[str, str]) -> None:
        if self._inline.active:
            self._inline.start(name, dict(attributes))
            return
        if not self._open:
            self.root = dict(attributes)
        around = self._open[-1] if self._open else ""
        self._open.append(name)
        message = self._message
        if name == "message":
            self._events.unit_begins()
            numerus = attributes.get("numerus") == "yes"
            self._message = Message(self._events.line, self._context, numerus)
            self._message.key = attributes.get("id", "")
        elif message is None:
            if name == "name":
                self._gather()
        elif around == "message" and (name in _REMARKS or name == "comment"):
            self._gather()
        elif (name, around) in _GATHERED:
            self._positions.append(self._events.position)
            if name == "translation":
                message.kind = attributes.get("type", "")
                message.variants = attributes.get("variants") == "yes"
            if not (name == "translation" and (message.numerus or message.variants)):
                self._inline.begin()

    def _gather(self) -> None:
        self._gathered = []
        self._events.parser.CharacterDataHandler = self._gathered.append

    def _end(self, name: str) -> None:
        gathered = Gathered((), False)
        if self._inline.active:
            found = self._inline.end()
            if found is None:
                return
            gathered = found
        self._open.pop()
        if self._gathered is not None:
            self._end_gathered(name, " ".join("".join(self._gathered).split()))
        elif name == "message" and self._message is not None:
            self._events.unit_ends()
            self._complete.append(self._message)
            self._message = None
        elif self._message is not None and (name, self._open[-1]) in _GATHERED:
            text = QtText(gathered, self._positions.pop(), self._events.position)
            if name == "source":
                self._message.source = text
            elif name == "translation":
                self._message.translation = text
            else:
                self._message.forms.append(text)

    def _end_gathered(self, name: str, text: str) -> None:
        self._events.parser.CharacterDataHandler = self._gathered = None
        if name == "name":
            self._context = text
        elif self._message is not None and text:
            if name == "comment":
                self._message.key = self._message.key or f"{self._context}/{text}"
            else:
                self._message.remarks.append(text)
