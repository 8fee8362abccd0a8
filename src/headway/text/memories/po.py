"""PO catalogues (gettext): read for training, and filled in without touching another byte."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from headway.text.cleaning import Pair, Report
from headway.text.languages import Languages
from headway.text.lines import damage_told, is_language, open_bytes, shown
from headway.text.memories.po_entries import (
    BYTE_ORDER_MARK,
    Entry,
    Header,
    Text,
    read_entries,
    read_header,
)
from headway.text.memories.po_text import unescape, wrapped
from headway.text.memories.segments import Counts, Gap, Segment

_LINE = re.compile(rb"[^\n]*\n|[^\n]+")
_LINE_END = re.compile(rb"\r*\n\Z")


def read_po(path: Path, _languages: Languages, report: Report) -> Iterator[Pair]:
    """Every finished translation; of plural forms the first, with the message that it stands for.

    Fuzzy and unfinished entries are counted as dropped; obsolete ones and the header not at all.

    Raises:
        DataError: as `read_header` and `read_entries`.
    """
    encoding = read_header(path).encoding
    for entry in read_entries(path, encoding):
        if entry.obsolete or entry.header:
            continue
        report.read += 1
        source = _source(entry, 0, len(entry.forms), encoding)
        if entry.fuzzy or not entry.complete:
            reason = "fuzzy" if entry.fuzzy else "untranslated"
            report.drop(reason, shown(path), entry.line, source)
            continue
        target = unescape("".join(entry.forms[min(entry.forms)].pieces), encoding)
        yield Pair(source, target, shown(path), entry.line)


def po_languages(path: Path, _languages: Languages) -> tuple[str | None, str | None]:
    """Source and target as the header says (`X-Source-Language`, `Language`).

    A header without them leaves it to the file's name: `de.po`, `app.de.po`,
    `de/LC_MESSAGES/app.po`.
    """
    header = read_header(path)
    return header.source_language, header.target_language or _language_by_name(path)


def _language_by_name(path: Path) -> str | None:
    name = path.name.lower().removesuffix(".gz").removesuffix(".po")
    stem = path.name[: len(name)].rpartition(".")[2]
    if path.parent.name == "LC_MESSAGES":
        stem = path.parent.parent.name
    short = re.fullmatch(r"[A-Za-z]{2}([-_]([A-Z][a-z]{3}|[A-Za-z]{2}))*", stem)  # not app, my-tool
    return stem if short and is_language(stem) else None


def _source(entry: Entry, form: int, n_forms: int, encoding: str) -> str:
    """The message that a form translates: the first of several stands for one thing."""
    one = form == 0 and n_forms > 1
    keyword = "msgid" if one or "msgid_plural" not in entry.texts else "msgid_plural"
    return unescape("".join(entry.texts[keyword].pieces), encoding)


class _Place(NamedTuple):
    """Forms of an entry that one translation belongs in."""

    entry: Entry
    forms: list[int]
    source: str


class PoDocument:
    """A PO file that can be filled in; see `Document`."""

    def __init__(
        self, data: bytes, header: Header, entries: Iterator[Entry], *, overwrite: bool
    ) -> None:
        self._mark = BYTE_ORDER_MARK if data.startswith(BYTE_ORDER_MARK) else b""
        self._lines: list[bytes] = _LINE.findall(data.removeprefix(self._mark))
        self._added_end = b"" if data.endswith(b"\n") else _line_end(self._lines[0])
        self._lines[-1] += self._added_end  # taken away again in the end
        self._header = header
        self.source_language = header.source_language
        self.target_language = header.target_language
        self._places: list[_Place] = []
        left: Counter[str] = Counter()
        n_units = 0
        for entry in entries:
            if entry.obsolete or entry.header:
                continue
            n_units += 1
            places = self._places_in(entry, overwrite=overwrite)
            reason = _why_left(entry, places)
            if reason:
                left[reason] += 1
            else:
                self._places += places
        self.counts = Counts(n_units, dict(left))
        self.gaps: Sequence[Gap] = [
            Gap(Segment((place.source,)), place.entry.line, filled=place.entry.complete)
            for place in self._places
        ]

    def _places_in(self, entry: Entry, *, overwrite: bool) -> list[_Place]:
        """One for each message that has a form to be filled: singular and plural."""
        forms, n_forms = entry.forms, len(entry.forms)
        if "msgid_plural" in entry.texts:
            n_forms = max(n_forms, self._header.n_plurals or 0)
        by_source: dict[str, list[int]] = {}
        for form in sorted({*range(n_forms), *forms}):
            if overwrite or form not in forms or not any(forms[form].pieces):
                source = _source(entry, form, n_forms, self._header.encoding)
                by_source.setdefault(source, []).append(form)
        return [_Place(entry, forms, source) for source, forms in by_source.items()]

    def can_hold(self, translation: Segment) -> bool:
        """Whether the file's encoding has all of its characters."""
        try:
            translation.text.encode(self._header.encoding)
        except UnicodeError:
            return False
        return "\0" not in translation.text

    def filled(self, translations: Sequence[Segment | None]) -> bytes:
        """The file with a translation in each gap, marked fuzzy; see `Document`.

        An entry that lacks one of its plural forms' translations stays as it is.
        """
        wanted: dict[int, list[tuple[_Place, Segment | None]]] = {}
        for place, translation in zip(self._places, translations, strict=True):
            wanted.setdefault(place.entry.line, []).append((place, translation))
        edits = _Edits()
        for found in wanted.values():
            texts = {
                form: _with_ends_of(place.source, translation.text)
                for place, translation in found
                if translation is not None
                for form in place.forms
            }
            if all(translation is not None for _, translation in found):
                self._fill(edits, found[0][0].entry, texts)
        return self._mark + edits.made_in(self._lines).removesuffix(self._added_end)

    def _fill(self, edits: "_Edits", entry: Entry, texts: dict[int, str]) -> None:
        forms = entry.forms
        for form, text in sorted(texts.items()):
            old = forms.get(form, forms[max(forms)])
            written = self._written(old, text, form)
            if form in forms:
                edits.instead.update(dict.fromkeys(old.lines, b""))
                edits.instead[old.lines[0]] = written
            else:
                edits.behind[old.lines[-1]] = edits.behind.get(old.lines[-1], b"") + written
        if entry.flags_line and not entry.fuzzy:
            before, sign, flags = self._lines[entry.flags_line - 1].partition(b"#,")
            new = b" fuzzy, " if flags.strip() else b" fuzzy"
            edits.instead[entry.flags_line] = before + sign + new + flags.lstrip(b" \t")
        elif not entry.fuzzy:
            number = entry.previous_line or entry.line
            edits.before[number] = b"#, fuzzy" + _line_end(self._lines[number - 1])

    def _written(self, old: Text, text: str, form: int) -> bytes:
        """The lines of a text, in the layout of the old one."""
        first, last = (self._lines[old.lines[i] - 1] for i in (0, -1))
        keyword = first.partition(b'"')[0].rstrip(b"\r\n").decode("ascii")
        keyword = re.sub(r"\[.*\]", f"[{form}]", keyword)
        indent = last[: len(last) - len(last.lstrip())].decode("ascii")
        return b"".join(
            line.encode(self._header.encoding) + _line_end(first)
            for line in wrapped(keyword if keyword[-1].isspace() else f"{keyword} ", text, indent)
        )


@dataclass
class _Edits:
    """What is to be written in front of, instead of and behind lines, by number from 1."""

    before: dict[int, bytes] = field(default_factory=dict)
    instead: dict[int, bytes] = field(default_factory=dict)
    behind: dict[int, bytes] = field(default_factory=dict)

    def made_in(self, lines: Sequence[bytes]) -> bytes:
        return b"".join(
            self.before.get(number, b"")
            + self.instead.get(number, line)
            + self.behind.get(number, b"")
            for number, line in enumerate(lines, start=1)
        )


def _line_end(line: bytes) -> bytes:
    """As this line has it; LF for a last line without one."""
    found = _LINE_END.search(line)
    return found[0] if found else b"\n"


def open_document(
    path: Path, _source_language: str | None, target_language: str | None, overwrite: bool
) -> PoDocument:
    """A PO file to be filled in: its empty translations, or all of them with `overwrite`.

    Raises:
        DataError: as `read_header` and `read_entries`.
    """
    header = read_header(path)
    if header.target_language is None and target_language is None:
        header = header._replace(target_language=_language_by_name(path))
    with damage_told(path), open_bytes(path) as file:
        data = file.read()
    return PoDocument(data, header, read_entries(path, header.encoding), overwrite=overwrite)


def _why_left(entry: Entry, places: list[_Place]) -> str:
    """Why an entry has no gap, or nothing if it has."""
    if not places:
        return "fuzzy" if entry.fuzzy else "translated"
    if any(Segment((place.source,)).blank for place in places):
        return "blank_side"
    if not all(text.alone for text in entry.texts.values()):
        return "crowded_line"
    return ""


def _with_ends_of(source: str, text: str) -> str:
    """A line feed at the beginning and at the end where the message has one, as gettext asks."""
    text = text.strip("\n")
    return "\n" * source.startswith("\n") + text + "\n" * source.endswith("\n")
