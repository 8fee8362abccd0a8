"""PO catalogues (gettext): read for training, and filled in without touching another byte."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from headway.core.cleaning import Pair, Report
from headway.core.lines import damage_told, open_bytes, shown
from headway.languages.codes import Languages, same_language
from headway.localization.formats.file_kinds import is_language
from headway.localization.formats.po_entries import (
    BYTE_ORDER_MARK,
    Header,
    PoEntry,
    PoText,
    read_entries,
    read_header,
)
from headway.localization.formats.po_plurals import (
    MessageForm,
    learned,
    message_forms,
    message_text,
)
from headway.localization.formats.po_text import wrapped
from headway.localization.placeholders.segments import (
    EXACT,
    Counts,
    Gap,
    Segment,
    among,
    with_percents,
)

_LINE = re.compile(rb"[^\n]*\n|[^\n]+")
_LINE_END = re.compile(rb"(?<!\r)\r*+\n\Z")


def read_po(path: Path, languages: Languages, report: Report) -> Iterator[Pair]:
    """Every finished translation; of plural forms one, with the source text that it belongs to.

    Fuzzy and unfinished entries are counted as dropped, and all of a file in another language than
    is wanted; obsolete ones and the header not at all.

    Raises:
        DataError: as `read_header` and `read_entries`.
    """
    header, wanted = named_header(path), languages.target_language
    own = header.target_language
    other = bool(own and wanted) and not same_language(own or "", wanted)
    for entry in read_entries(path, header.encoding):
        if entry.obsolete or entry.header:
            continue
        report.read += 1
        pair = learned(message_forms(entry, header))
        if other:
            report.drop("missing_language", shown(path), entry.line, pair.source)
            continue
        if entry.fuzzy or not entry.complete:
            reason = "fuzzy" if entry.fuzzy else "untranslated"
            report.drop(reason, shown(path), entry.line, pair.source)
            continue
        yield Pair(pair.source, pair.target or "", shown(path), entry.line, entry.remarks)


def po_languages(path: Path, _languages: Languages) -> tuple[str | None, str | None]:
    """Source and target: `X-Source-Language` and `Language` of the header, or the file's name."""
    header = named_header(path)
    return header.source_language, header.target_language


def named_header(path: Path) -> Header:
    """The header; one without a language leaves that to the file's name.

    Such names are `de.po`, `app.de.po`, `de/LC_MESSAGES/app.po`.

    Raises:
        DataError: as `read_header`.
    """
    header = read_header(path)
    return header._replace(target_language=header.target_language or _language_by_name(path))


def _language_by_name(path: Path) -> str | None:
    name = path.name.lower().removesuffix(".gz").removesuffix(".po")
    stem = path.name[: len(name)].rpartition(".")[2]
    if path.parent.name == "LC_MESSAGES":
        stem = path.parent.parent.name
    short = re.fullmatch(r"[A-Za-z]{2}([-_]([A-Z][a-z]{3}|[A-Za-z]{2}))*", stem)  # not app, my-tool
    return stem if short and is_language(stem) else None


class _PoPlace(NamedTuple):
    """A translation of an entry."""

    entry: PoEntry
    of: MessageForm


class PoDocument:
    """A PO file that can be filled in; see `Document`."""

    def __init__(
        self, data: bytes, header: Header, entries: Iterator[PoEntry], *, overwrite: bool
    ) -> None:
        self._mark = BYTE_ORDER_MARK if data.startswith(BYTE_ORDER_MARK) else b""
        self._lines: list[bytes] = _LINE.findall(data.removeprefix(self._mark)) or [b""]
        self._added_end = b"" if data.endswith(b"\n") else _line_end(self._lines[0])
        self._lines[-1] += self._added_end  # taken away again in the end
        self._header = header
        self.source_language = header.source_language
        self.target_language = header.target_language
        self._places: list[_PoPlace] = []
        left: Counter[str] = Counter()
        sources, units = list[str](), list[int]()
        for entry in entries:
            if entry.obsolete or entry.header:
                continue
            forms = message_forms(entry, header)
            sources.append(learned(forms).source)
            places = [_PoPlace(entry, form) for form in forms if overwrite or not form.target]
            reason = _why_left(entry, places)
            if reason:
                left[reason] += 1
            else:
                self._places += places
                units += [len(sources) - 1] * len(places)
        self.counts = Counts(len(sources), dict(left))
        gaps = [self._gap(place) for place in self._places]
        self.gaps: Sequence[Gap] = among(gaps, units, sources)

    def _gap(self, place: _PoPlace) -> Gap:
        entry, form = place
        return Gap(
            Segment((form.source,)),
            entry.line,
            filled=entry.complete,
            key=message_text(entry, "msgctxt", self._header.encoding),
            there=Segment((form.target,)) if form.target else None,
            plural=form.plural,
            remarks=entry.remarks,
        )

    def can_hold(self, translation: Segment) -> bool:
        """Whether the file's encoding has all of its characters."""
        try:
            translation.text.encode(self._header.encoding)
        except UnicodeError:
            return False
        return "\0" not in translation.text

    def filled(
        self, translations: Sequence[Segment | None], percents: Sequence[int | None] = ()
    ) -> bytes:
        """The file with a translation in each gap; see `Document`.

        It is marked fuzzy unless a memory had the very text. An entry that lacks one of its plural
        forms' translations stays as it is.
        """
        wanted: dict[int, list[tuple[_PoPlace, Segment | None]]] = {}
        known: dict[int, bool] = {}
        both = with_percents(translations, percents)
        for place, (translation, percent) in zip(self._places, both, strict=True):
            line = place.entry.line
            wanted.setdefault(line, []).append((place, translation))
            known[line] = known.get(line, True) and percent == EXACT
        edits = _Edits()
        for found in wanted.values():
            texts = {
                place.of.form: _with_ends_of(place.of.source, translation.text)
                for place, translation in found
                if translation is not None
            }
            if all(translation is not None for _, translation in found):
                entry = found[0][0].entry
                self._fill(edits, entry, texts)
                if not (entry.fuzzy or known[entry.line]):
                    self._mark_fuzzy(edits, entry)
        return self._mark + edits.made_in(self._lines).removesuffix(self._added_end)

    def _fill(self, edits: "_Edits", entry: PoEntry, texts: dict[int, str]) -> None:
        forms = entry.forms
        if texts.keys() >= forms.keys():  # nothing is left that was made for an earlier text
            edits.instead.update(dict.fromkeys(entry.previous_lines, b""))
        for form, text in sorted(texts.items()):
            old = forms.get(form, forms[max(forms)])
            written = self._written(old, text, form)
            if form in forms:
                edits.instead.update(dict.fromkeys(old.lines, b""))
                edits.instead[old.lines[0]] = written
            else:
                edits.behind[old.lines[-1]] = edits.behind.get(old.lines[-1], b"") + written

    def _mark_fuzzy(self, edits: "_Edits", entry: PoEntry) -> None:
        if entry.flags_line:
            before, sign, flags = self._lines[entry.flags_line - 1].partition(b"#,")
            new = b" fuzzy, " if flags.strip() else b" fuzzy"
            edits.instead[entry.flags_line] = before + sign + new + flags.lstrip(b" \t")
        else:
            number = min([*entry.previous_lines, entry.line])
            edits.before[number] = b"#, fuzzy" + _line_end(self._lines[number - 1])

    def _written(self, old: PoText, text: str, form: int) -> bytes:
        """The lines of a text, in the layout of the old one."""
        first, last = (self._lines[old.lines[i] - 1] for i in (0, -1))
        keyword = first.partition(b'"')[0].rstrip(b"\r\n").decode("ascii")
        keyword = re.sub(r"\[[^][]*\]", f"[{form}]", keyword)
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
    header = read_header(path) if target_language else named_header(path)
    with damage_told(path), open_bytes(path) as file:
        data = file.read()
    return PoDocument(data, header, read_entries(path, header.encoding), overwrite=overwrite)


def _why_left(entry: PoEntry, places: list[_PoPlace]) -> str:
    """Why an entry has no gap, or nothing if it has."""
    if not places:
        return "fuzzy" if entry.fuzzy else "translated"
    if any(Segment((place.of.source,)).blank for place in places):
        return "blank_side"
    if not all(text.alone for text in entry.texts.values()):
        return "crowded_line"
    return ""


def _with_ends_of(source: str, text: str) -> str:
    """With the line feeds that the message begins and ends with: gettext asks for one of each."""
    head = source[: len(source) - len(source.lstrip("\n"))]
    return head + text.strip("\n") + source[len(source.rstrip("\n")) :]
