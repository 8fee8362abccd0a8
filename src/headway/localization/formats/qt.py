"""Translations of Qt (`.ts`): read for training, and filled in."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from headway.core.cleaning import Pair, Report
from headway.core.lines import shown
from headway.languages.codes import Languages
from headway.languages.plurals import forms_of
from headway.localization.formats.documents import EXACT, Document, Edit, EditableUnit, Translations
from headway.localization.formats.inline import (
    Gathered,
    InlineText,
    Role,
    as_xml,
    behind,
    changed_tag,
    indentation,
    opened,
    with_tag,
)
from headway.localization.formats.units import PluralForm, Unit, learned_form, plural_forms
from headway.localization.formats.xml_encoding import Contents, read_contents, utf8_chunks
from headway.localization.formats.xml_events import XmlElement, XmlUnits, check_xml
from headway.localization.placeholders.segments import Segment

_GONE = frozenset(("vanished", "obsolete"))
_NOTE = "translatorcomment"
_TEXTS = ("source", "translation", "numerusform", "name", "comment", _NOTE)


@dataclass
class Message:
    line: int
    context: str
    numerus: bool
    kind: str
    """`type` of its translation: `unfinished`, `vanished`, `obsolete`, or empty for finished."""
    source: Segment
    translation: Gathered | None
    texts: list[Gathered]
    """Its translation, or one for each plural form."""
    variants: bool
    """Of several lengths."""
    key: str
    remarks: tuple[str, ...]

    @property
    def complete(self) -> bool:
        return bool(self.texts) and all(text.written for text in self.texts)

    def forms(self, language: str | None) -> list["QtForm"]:
        """Of each translation that it has, or is to have."""
        if not self.numerus:
            return [QtForm(self.source)]
        numbers: list[int | float] = [one.number for one in forms_of(language, whole=True)]
        if len(numbers) < len(self.texts):
            numbers = [1, *[2] * (len(self.texts) - 1)]
        sources = [
            _counted(self.source, one=len(numbers) > 1 and number == 1) for number in numbers
        ]
        return list(map(QtForm, sources, plural_forms(sources, numbers)))

    def learned(self, forms: list["QtForm"]) -> tuple[int, str]:
        """Which translation stands for it where it is one pair, and its source."""
        form = learned_form([one.plural for one in forms[: len(self.texts) or None]])
        return form, forms[form].source.text


class QtForm(NamedTuple):
    """A translation of a message: its only one, or that of a plural form."""

    source: Segment
    """`%n file(s)` as it is for one, or for several."""
    plural: PluralForm | None = None
    """None for a message that has no plural."""


def _counted(source: Segment, *, one: bool) -> Segment:
    """`%n file(s)` as it is for one, or for several."""
    ending = "" if one else "s"
    return Segment(
        tuple(p.replace("(s)", ending) if isinstance(p, str) else p for p in source.parts)
    )


class _Messages:
    """Reads the messages of a file one after the other."""

    def __init__(self, path: Path, data: bytes = b"") -> None:
        self._units = XmlUnits(path, "TS", ("message", "name"), _TEXTS)
        self._inline = InlineText(lambda _: Role.WHOLE, data)

    @property
    def root(self) -> Mapping[str, str]:
        return self._units.root.attributes if self._units.root else {}

    def read(self, chunks: Iterable[bytes]) -> Iterator[Message]:
        context = ""
        for one in self._units.read(chunks):
            if one.name == "name":
                context = one.note
            else:
                yield self._message(one, context)

    def _message(self, message: XmlElement, context: str) -> Message:
        numerus = message.attributes.get("numerus") == "yes"
        source, translation = (
            next(iter(message.inner(name)[-1:]), None) for name in ("source", "translation")
        )
        said = translation.attributes if translation else {}
        texts = [translation] if translation else []
        forms = [form for one in texts for form in one.inner("numerusform")]
        comments = [f"{context}/{one.note}" for one in message.inner("comment") if one.note]
        return Message(
            message.line,
            context,
            numerus,
            said.get("type", ""),
            self._inline.gathered(source).segment if source else Segment(),
            self._inline.gathered(translation) if translation else None,
            list(map(self._inline.gathered, forms if numerus else texts)),
            said.get("variants") == "yes",
            message.attributes.get("id") or (comments or [""])[0],
            tuple(one.note for one in message.inner(_NOTE) if one.note),
        )


def read_qt(path: Path, languages: Languages, report: Report) -> Iterator[Pair]:
    """Every finished translation; of plural forms one, with the source as it is for that form.

    What is gone is not counted at all. Raises DataError as `XmlUnits.read` and `utf8_chunks`.
    """
    file = shown(path)
    for message, forms in qt_messages(path, languages):
        report.read += 1
        form, source = message.learned(forms)
        if not source.strip() or not message.complete:
            reason = "untranslated" if source.strip() else "blank_side"
            report.drop(reason, file, message.line, source)
        elif message.kind:
            report.drop("fuzzy", file, message.line, source)
        else:
            target = message.texts[form].text
            yield Pair(source, target, file, message.line, message.remarks)


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
            yield message, message.forms(language)


def open_document(
    path: Path, _source_language: str | None, target_language: str | None, overwrite: bool
) -> Document:
    """A file whose translations are unfinished.

    Raises DataError as `read_contents` and `XmlUnits.read`.
    """
    check_xml(path, "TS", utf8_chunks(path))  # before all of it is in memory
    contents = read_contents(path)
    messages = _Messages(path, contents.data)
    found = list(messages.read([contents.data]))
    language = messages.root.get("language") or target_language
    units = [
        _unit(contents, message, message.forms(language), overwrite=overwrite)
        for message in found
        if message.kind not in _GONE
    ]
    languages = messages.root.get("sourcelanguage"), language
    return Document(contents.data, contents.restored, units, languages)


def _why_left(message: Message, *, overwrite: bool) -> str:
    if message.source.blank:
        return "blank_side"
    if message.variants or message.translation is None:
        return "crowded_line" if message.variants else "untranslated"
    if not overwrite and message.complete:
        return "fuzzy" if message.kind else "translated"
    return ""


def _unit(
    contents: Contents, message: Message, forms: list[QtForm], *, overwrite: bool
) -> EditableUnit:
    _, source = message.learned(forms)
    if reason := _why_left(message, overwrite=overwrite):
        return EditableUnit(source, reason=reason)
    gaps: dict[int, Unit] = {}
    for number, (counted, plural) in enumerate(forms):
        written = any(text.written for text in message.texts[number : number + 1])
        if overwrite or not written:
            key = message.key or message.context
            gaps[number] = Unit(counted, line=message.line, key=key, plural=plural)

    def edits(translations: Translations) -> list[Edit]:
        written = {
            form: as_xml(new, gap.source, contents.newline)
            for (form, gap), (new, _) in zip(gaps.items(), translations, strict=True)
            if new is not None
        }
        known = all(percent == EXACT for _, percent in translations)
        return _edits(contents.data, message, written, list(gaps), known=known)

    return EditableUnit(source, tuple(gaps.values()), edits=edits)


def _edits(
    data: bytes, message: Message, written: Mapping[int, bytes], asked: list[int], *, known: bool
) -> list[Edit]:
    """The texts, and `type="unfinished"` unless a memory had the very texts."""
    translation = message.translation
    assert translation, "a message without one has no gaps"
    state = {"type": None if known else "unfinished"}
    if not message.numerus or not message.texts:
        numerus = b"<numerusform>%b</numerusform>" if message.numerus else b"%b"
        new = b"".join(numerus % written.get(form, b"") for form in asked)
        return [with_tag(data, translation, new, state)]
    tag = changed_tag(data, translation.start, state)
    edits = [tag._replace(written=opened(tag.written))]
    more = b""
    for form, text in sorted(written.items()):
        if form < len(message.texts):
            edits.append(with_tag(data, message.texts[form], text, {}))
        else:
            layout = indentation(data, message.texts[-1].start)
            more += layout + b"<numerusform>%b</numerusform>" % text
    end = behind(data, message.texts[-1])
    return [*edits, *[Edit(end, end, more)] * bool(more)]
