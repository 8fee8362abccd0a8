"""PO catalogues (gettext): read for training, and filled in without touching another byte."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

from headway.core.cleaning import Pair, Report
from headway.core.lines import open_bytes, shown
from headway.languages.codes import Languages, is_language, same_language
from headway.languages.plurals import forms_of, numbers_of, only_one
from headway.languages.scripts import WIDE
from headway.localization.formats.documents import EXACT, Document, Edit, EditableUnit, Translations
from headway.localization.formats.po_entries import (
    BYTE_ORDER_MARK,
    ESCAPES,
    Header,
    PoEntry,
    PoText,
    read_entries,
    read_header,
    unescape,
)
from headway.localization.formats.spans import Decoded
from headway.localization.formats.units import PluralForm, Unit, learned_form, plural_forms
from headway.localization.placeholders.segments import Segment

PAGE_WIDTH = 79
"""Columns of a line, as gettext's own tools have it."""
_LINE = re.compile(rb"[^\n]*\n|[^\n]+")
_LINE_END = re.compile(rb"(?<!\r)\r*+\n\Z")
_PLACE_FOR_NUMBER = re.compile(r"[%{]")
_TO_ESCAPE = re.compile(r"""[\x00-\x1f\x7f\\"]""")
_SHORT = {character: f"\\{letter}" for letter, character in ESCAPES.items()}
_TEXT_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_CLOSING = (
    r"\u2018-\u201d\u2026\u3001-\u3003\u3009\u300b\u300d\u300f\u3011"
    r"\uff01\uff09\uff0c\uff0e\uff1a\uff1b\uff1f"
)
_OPENING = r"\u3008\u300a\u300c\u300e\u3010\uff08"
_MAY_BREAK = re.compile(
    r"(?<= )(?=[^ ])"  # behind spaces, and between characters that are written without
    rf"|(?<=[{WIDE}])(?<![{_OPENING}])(?![ \\{_CLOSING}])"
)


class MessageForm(NamedTuple):
    """A translation of a message: its only one, or that of a plural form."""

    form: int
    source: str
    """What it is a translation of: `msgid` or `msgid_plural`."""
    target: str | None
    """What stands there, maybe nothing; None where the file has no place for it."""
    plural: PluralForm | None = None
    """None for a message that has no plural."""


def message_forms(entry: PoEntry, header: Header) -> list[MessageForm]:
    """Every form that a message has, or is to have by the header, in their order.

    That of 1 is a translation of `msgid`, all others of `msgid_plural`. Where other numbers share
    it and only the plural has a place for the number, it is one of the plural, too.
    """
    encoding = header.encoding
    targets = {n: unescape("".join(text.pieces), encoding) for n, text in entry.forms.items()}
    singular, plural = (entry.text(name, encoding) for name in ("msgid", "msgid_plural"))
    if "msgid_plural" not in entry.texts:
        return [MessageForm(form, singular, target) for form, target in targets.items()]
    n_forms = max(len(targets), header.n_plurals or 0)
    forms = sorted({*range(n_forms), *targets})
    known = _numbers(header, n_forms)
    numbers = [known[min(form, n_forms - 1)] for form in forms]
    of_one = singular if n_forms > 1 and _takes_singular(header, singular, plural) else plural
    sources = [of_one if number == 1 else plural for number in numbers]
    plurals = plural_forms(sources, numbers)
    return [
        MessageForm(form, source, targets.get(form), plural._replace(form=form, n_forms=n_forms))
        for form, source, plural in zip(forms, sources, plurals, strict=True)
    ]


def learned(forms: Sequence[MessageForm]) -> MessageForm:
    """The form that stands for a message where it is one pair: see `learned_form`."""
    there = [one for one in forms if one.target is not None]
    return there[learned_form([one.plural for one in there])]


def _numbers(header: Header, n_forms: int) -> tuple[int, ...]:
    """A number for each form: by the header's rule, else by what is known of the language."""
    found = numbers_of(header.plural, n_forms) if header.plural else None
    if found is not None:
        return tuple(2 if number is None else number for number in found)
    known = tuple(int(form.number) for form in forms_of(header.target_language, whole=True))
    return known if len(known) == n_forms else (1, *[2] * n_forms)[-n_forms:]


def _takes_singular(header: Header, singular: str, plural: str) -> bool:
    """Whether the form of 1 can be told by `msgid`."""
    shared = bool(header.plural) and not only_one(header.plural)
    n_codes = [len(_PLACE_FOR_NUMBER.findall(text)) for text in (singular, plural)]
    return not (shared and n_codes[0] < n_codes[1])


def read_po(path: Path, languages: Languages, report: Report) -> Iterator[Pair]:
    """Every finished translation; of plural forms one, with the source text that it belongs to.

    Fuzzy and unfinished entries are counted as dropped, and all of a file in another language than
    is wanted; obsolete ones and the header not at all. Raises DataError as `read_header` and
    `read_entries`.
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

    Such names are `de.po`, `app.de.po`, `de/LC_MESSAGES/app.po`. Raises DataError as `read_header`.
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


class _PoLines(NamedTuple):
    """A file line by line; each has its end, and the last one gets one while it is written."""

    lines: Sequence[bytes]
    starts: Sequence[int]
    """Byte at which each begins, and that behind the last one."""
    encoding: str

    def instead(self, number: int, written: bytes) -> Edit:
        """Another line in the place of line `number`, from 1."""
        return Edit(self.starts[number - 1], self.starts[number], written)

    def behind(self, number: int, written: bytes) -> Edit:
        """More behind a line; 0: in front of the first."""
        return Edit(self.starts[number], self.starts[number], written)


def open_document(
    path: Path, _source_language: str | None, target_language: str | None, overwrite: bool
) -> Document:
    """A PO file to be filled in: its empty translations, or all of them with `overwrite`.

    Raises DataError as `read_header` and `read_entries`.
    """
    header = read_header(path) if target_language else named_header(path)
    with open_bytes(path) as file:
        data = file.read()
    mark = BYTE_ORDER_MARK if data.startswith(BYTE_ORDER_MARK) else b""
    lines: list[bytes] = _LINE.findall(data.removeprefix(mark)) or [b""]
    added_end = b"" if data.endswith(b"\n") else _line_end(lines[0])
    lines[-1] += added_end
    known = _PoLines(lines, [*accumulate(map(len, lines), initial=0)], header.encoding)
    units = [
        _unit(entry, header, known, overwrite=overwrite)
        for entry in read_entries(path, header.encoding)
        if not (entry.obsolete or entry.header)
    ]

    return Document(
        b"".join(lines),
        lambda data: mark + data.removesuffix(added_end),
        units,
        (header.source_language, header.target_language),
        can_hold=Decoded(path, "", header.encoding).can_hold,
    )


def _unit(entry: PoEntry, header: Header, lines: _PoLines, *, overwrite: bool) -> EditableUnit:
    """It is marked fuzzy unless a memory had the very text; one that lacks one of its plural forms'
    translations stays as it is."""
    forms = message_forms(entry, header)
    wanted = [form for form in forms if overwrite or not form.target]
    if reason := _why_left(entry, wanted):
        return EditableUnit(learned(forms).source, reason=reason)
    key = entry.text("msgctxt", header.encoding)
    gaps = [
        Unit(Segment((form.source,)), line=entry.line, key=key, plural=form.plural)
        for form in wanted
    ]

    def edits(translations: Translations) -> list[Edit]:
        texts = {
            form.form: _with_ends_of(form.source, new.text)
            for form, (new, _) in zip(wanted, translations, strict=True)
            if new is not None
        }
        if len(texts) < len(wanted):
            return []
        known = all(percent == EXACT for _, percent in translations)
        marked = [] if entry.fuzzy or known else [_fuzzy(lines, entry)]
        return [*marked, *_filled(lines, entry, texts)]

    return EditableUnit(learned(forms).source, gaps, edits=edits)


def _filled(lines: _PoLines, entry: PoEntry, texts: dict[int, str]) -> Iterator[Edit]:
    forms = entry.forms
    if texts.keys() >= forms.keys():  # nothing is left that was made for an earlier text
        yield from (lines.instead(number, b"") for number in entry.previous_lines)
    for form, text in sorted(texts.items()):
        old = forms.get(form, forms[max(forms)])
        written = _written(lines, old, text, form)
        if form in forms:
            yield lines.instead(old.lines[0], written)
            yield from (lines.instead(number, b"") for number in old.lines[1:])
        else:
            yield lines.behind(old.lines[-1], written)


def _fuzzy(lines: _PoLines, entry: PoEntry) -> Edit:
    if entry.flags_line:
        before, sign, flags = lines.lines[entry.flags_line - 1].partition(b"#,")
        new = b" fuzzy, " if flags.strip() else b" fuzzy"
        return lines.instead(entry.flags_line, before + sign + new + flags.lstrip(b" \t"))
    number = min([*entry.previous_lines, entry.line])
    return lines.behind(number - 1, b"#, fuzzy" + _line_end(lines.lines[number - 1]))


def _written(lines: _PoLines, old: PoText, text: str, form: int) -> bytes:
    """The lines of a text, in the layout of the old one."""
    first, last = (lines.lines[old.lines[i] - 1] for i in (0, -1))
    keyword = first.partition(b'"')[0].rstrip(b"\r\n").decode("ascii")
    keyword = re.sub(r"\[[^][]*\]", f"[{form}]", keyword)
    indent = last[: len(last) - len(last.lstrip())].decode("ascii")
    return b"".join(
        line.encode(lines.encoding) + _line_end(first)
        for line in wrapped(keyword if keyword[-1].isspace() else f"{keyword} ", text, indent)
    )


def _line_end(line: bytes) -> bytes:
    """As this line has it; LF for a last line without one."""
    found = _LINE_END.search(line)
    return found[0] if found else b"\n"


def _why_left(entry: PoEntry, wanted: Sequence[MessageForm]) -> str:
    """Why an entry has no gap, or nothing if it has."""
    if not wanted:
        return "fuzzy" if entry.fuzzy else "translated"
    if any(Segment((form.source,)).blank for form in wanted):
        return "blank_side"
    if not all(text.alone for text in entry.texts.values()):
        return "crowded_line"
    return ""


def _with_ends_of(source: str, text: str) -> str:
    """With the line feeds that the message begins and ends with: gettext asks for one of each."""
    head = source[: len(source) - len(source.lstrip("\n"))]
    return head + text.strip("\n") + source[len(source.rstrip("\n")) :]


def escape(text: str) -> str:
    r"""As it is written between quotes: `say "hi"` becomes `say \"hi\"`."""
    return _TO_ESCAPE.sub(lambda found: _SHORT.get(found[0], f"\\{ord(found[0]):03o}"), text)


def wrapped(keyword: str, text: str, indent: str = "") -> list[str]:
    """Lines of `keyword "text"` as gettext's own tools write them.

    A text that fits stands beside its keyword; else that line is empty, and behind each line feed
    and where the page ends a new line begins, in front of which `indent` stands.
    """
    lines = [escape(line) for line in _TEXT_LINE.findall(text)]
    together = f'{keyword}"{"".join(lines)}"'
    if len(lines) < 2 and _width(together) <= PAGE_WIDTH:
        return [together]
    written = [f'{keyword}""']
    for line in lines:
        row = ""
        for word in _MAY_BREAK.split(line):
            if row and _width(f'{indent}"{row}{word}"') > PAGE_WIDTH:
                written.append(f'{indent}"{row}"')
                row = ""
            row += word
        written.append(f'{indent}"{row}"')
    return written


def _width(text: str) -> int:
    """Columns on a terminal: two for a character of East Asian width."""
    if text.isascii():
        return len(text)
    return len(text) + sum(unicodedata.east_asian_width(character) in "WF" for character in text)
