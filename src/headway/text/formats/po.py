"""PO catalogues (gettext): read for training, and filled in without touching another byte."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from headway.text.cleaning import Pair, Report
from headway.text.formats.po_entries import (
    BYTE_ORDER_MARK,
    Entry,
    Header,
    Text,
    read_entries,
    read_header,
)
from headway.text.formats.po_text import unescape, wrapped
from headway.text.formats.segments import (
    EXACT,
    Counts,
    Gap,
    PluralForm,
    Segment,
    among,
    with_percents,
)
from headway.text.languages import Languages, same_language
from headway.text.lines import damage_told, is_language, open_bytes, shown
from headway.text.plurals import forms_of, numbers_of, only_one

_LINE = re.compile(rb"[^\n]*\n|[^\n]+")
_PLACE_FOR_NUMBER = re.compile(r"[%{]")
_LINE_END = re.compile(rb"\r*\n\Z")


def read_po(path: Path, languages: Languages, report: Report) -> Iterator[Pair]:
    """Every finished translation; of plural forms the first, with the message that it stands for.

    Fuzzy and unfinished entries are counted as dropped, and all of a file in another language than
    is wanted; obsolete ones and the header not at all.

    Raises:
        DataError: as `read_header` and `read_entries`.
    """
    encoding = read_header(path).encoding
    own, wanted = po_languages(path, languages)[1], languages.target_language
    other = bool(own and wanted) and not same_language(own or "", wanted)
    for entry in read_entries(path, encoding):
        if entry.obsolete or entry.header:
            continue
        report.read += 1
        for_all = "msgid_plural" in entry.texts and len(entry.forms) == 1
        source = _message(entry, "msgid_plural" if for_all else "msgid", encoding)
        if other:
            report.drop("missing_language", shown(path), entry.line, source)
            continue
        if entry.fuzzy or not entry.complete:
            reason = "fuzzy" if entry.fuzzy else "untranslated"
            report.drop(reason, shown(path), entry.line, source)
            continue
        target = unescape("".join(entry.forms[min(entry.forms)].pieces), encoding)
        yield Pair(source, target, shown(path), entry.line, entry.remarks)


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


def _message(entry: Entry, keyword: str, encoding: str) -> str:
    """`msgctxt`, `msgid` or `msgid_plural`; empty where there is none."""
    text = entry.texts.get(keyword)
    return unescape("".join(text.pieces), encoding) if text else ""


def _numbers(header: Header, n_forms: int) -> tuple[int, ...]:
    """A number for each form: by the header's rule, else by what is known of the language."""
    found = numbers_of(header.plural, n_forms) if header.plural else None
    if found is not None:
        return tuple(2 if number is None else number for number in found)
    known = tuple(int(form.number) for form in forms_of(header.target_language, whole=True))
    return known if len(known) == n_forms else (1, *[2] * n_forms)[-n_forms:]


def _is_singular(header: Header, number: int, n_forms: int, texts: tuple[str, str]) -> bool:
    """Whether a form is one of `msgid`, and not of `msgid_plural`.

    That of 1 is, unless other numbers share it and only the plural has a place for the number.
    """
    if number != 1 or n_forms == 1:
        return False
    shared = bool(header.plural) and not only_one(header.plural)
    n_codes = [len(_PLACE_FOR_NUMBER.findall(text)) for text in texts]
    return not (shared and n_codes[0] < n_codes[1])


def form_key(context: str, form: int, n_forms: int) -> str:
    """What tells a plural form from others of the same text, where there are more than two."""
    return f"{context}[form {form} of {n_forms}]" if form and n_forms > 2 else context


class _Place(NamedTuple):
    """A translation of an entry, by its form."""

    entry: Entry
    form: int
    source: str
    plural: PluralForm | None = None


class PoDocument:
    """A PO file that can be filled in; see `Document`."""

    def __init__(
        self, data: bytes, header: Header, entries: Iterator[Entry], *, overwrite: bool
    ) -> None:
        self._mark = BYTE_ORDER_MARK if data.startswith(BYTE_ORDER_MARK) else b""
        self._lines: list[bytes] = _LINE.findall(data.removeprefix(self._mark)) or [b""]
        self._added_end = b"" if data.endswith(b"\n") else _line_end(self._lines[0])
        self._lines[-1] += self._added_end  # taken away again in the end
        self._header = header
        self.source_language = header.source_language
        self.target_language = header.target_language
        self._places: list[_Place] = []
        left: Counter[str] = Counter()
        sources, units = list[str](), list[int]()
        for entry in entries:
            if entry.obsolete or entry.header:
                continue
            sources.append(_message(entry, "msgid", header.encoding))
            places = self._places_in(entry, overwrite=overwrite)
            reason = _why_left(entry, places)
            if reason:
                left[reason] += 1
            else:
                self._places += places
                units += [len(sources) - 1] * len(places)
        self.counts = Counts(len(sources), dict(left))
        gaps = [self._gap(place) for place in self._places]
        self.gaps: Sequence[Gap] = among(gaps, units, sources)

    def _places_in(self, entry: Entry, *, overwrite: bool) -> list[_Place]:
        """One for each form that is to be filled."""
        forms, encoding = entry.forms, self._header.encoding
        texts = tuple(_message(entry, name, encoding) for name in ("msgid", "msgid_plural"))
        several = "msgid_plural" in entry.texts
        n_forms = max(len(forms), (self._header.n_plurals or 0) if several else 0)
        numbers = _numbers(self._header, n_forms)
        places = []
        for form in sorted({*range(n_forms), *forms}):
            if not overwrite and form in forms and any(forms[form].pieces):
                continue
            if not several:
                places.append(_Place(entry, form, texts[0]))
                continue
            number = numbers[min(form, n_forms - 1)]
            singular = _is_singular(self._header, number, n_forms, (texts[0], texts[1]))
            plural = PluralForm(form, n_forms, number)
            places.append(_Place(entry, form, texts[0 if singular else 1], plural))
        return places

    def _gap(self, place: _Place) -> Gap:
        entry, plural = place.entry, place.plural
        context = _message(entry, "msgctxt", self._header.encoding)
        return Gap(
            Segment((place.source,)),
            entry.line,
            filled=entry.complete,
            key=form_key(context, plural.form, plural.n_forms) if plural else context,
            there=_there(entry, place.form, self._header.encoding),
            plural=place.plural,
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
        wanted: dict[int, list[tuple[_Place, Segment | None]]] = {}
        known: dict[int, bool] = {}
        both = with_percents(translations, percents)
        for place, (translation, percent) in zip(self._places, both, strict=True):
            line = place.entry.line
            wanted.setdefault(line, []).append((place, translation))
            known[line] = known.get(line, True) and percent == EXACT
        edits = _Edits()
        for found in wanted.values():
            texts = {
                place.form: _with_ends_of(place.source, translation.text)
                for place, translation in found
                if translation is not None
            }
            if all(translation is not None for _, translation in found):
                entry = found[0][0].entry
                self._fill(edits, entry, texts)
                if not (entry.fuzzy or known[entry.line]):
                    self._mark_fuzzy(edits, entry)
        return self._mark + edits.made_in(self._lines).removesuffix(self._added_end)

    def _fill(self, edits: "_Edits", entry: Entry, texts: dict[int, str]) -> None:
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

    def _mark_fuzzy(self, edits: "_Edits", entry: Entry) -> None:
        if entry.flags_line:
            before, sign, flags = self._lines[entry.flags_line - 1].partition(b"#,")
            new = b" fuzzy, " if flags.strip() else b" fuzzy"
            edits.instead[entry.flags_line] = before + sign + new + flags.lstrip(b" \t")
        else:
            number = min([*entry.previous_lines, entry.line])
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


def _there(entry: Entry, form: int, encoding: str) -> Segment | None:
    """What stands in a form already."""
    text = entry.forms.get(form)
    written = unescape("".join(text.pieces), encoding) if text else ""
    return Segment((written,)) if written else None


def _with_ends_of(source: str, text: str) -> str:
    """A line feed at the beginning and at the end where the message has one, as gettext asks."""
    text = text.strip("\n")
    return "\n" * source.startswith("\n") + text + "\n" * source.endswith("\n")
