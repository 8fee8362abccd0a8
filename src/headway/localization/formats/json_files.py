"""JSON of one language (i18next, flat or nested) and ARB: every text in it is to be translated."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from json.decoder import JSONDecodeError, scanstring  # type: ignore[attr-defined]
from pathlib import Path
from typing import NamedTuple

from headway.languages.codes import named_language
from headway.localization.formats.documents import Document
from headway.localization.formats.key_values import in_ascii
from headway.localization.formats.spans import (
    FORM_NAMES,
    Decoded,
    Entry,
    Lines,
    inserted,
    of_entries,
    one_language,
    plural_entries,
    read_decoded,
)
from headway.localization.placeholders.segments import Segment

_SPACE = re.compile(r"[ \t\r\n]*")
_PLAIN = re.compile(r"-?\d[\d.eE+-]*|true|false|null")
_DEEPEST = 100
_PLURAL = re.compile(rf"(.+)_({'|'.join(FORM_NAMES)})", re.DOTALL)
_TO_ESCAPE = re.compile(r'[\x00-\x1f"\\\ud800-\udfff]')
_SHORT = {"\n": "\\n", "\t": "\\t", "\r": "\\r", "\b": "\\b", "\f": "\\f", '"': '\\"', "\\": "\\\\"}
_RULE = "a file of this kind is well-formed JSON"
_REMEDY = "Mend that place, or export the file again"


class _Text(NamedTuple):
    path: tuple[str, ...]
    value: str
    name_start: int
    """Character at which its name begins; -1 in a list."""
    start: int
    end: int
    line: int
    slashes: bool | None = None
    """Whether its slashes have backslashes in front of them; None where it has no slash."""


def open_arb(
    path: Path, _source_language: str | None, target_language: str | None, overwrite: bool
) -> Document:
    """An Application Resource Bundle (Flutter), whose `@@locale` becomes the target language.

    Its plural forms are those of ICU, in the texts themselves. Raises DataError: it is no JSON, or
    not in UTF-8 or UTF-16.
    """
    decoded = read_decoded(path)
    style, locale = _style(decoded.text), _locale(decoded)
    languages = (locale.value if locale else "") or named_language(path), target_language
    if locale and target_language:
        new = _written(target_language.replace("-", "_"), style)
        text = decoded.text[: locale.start] + new + decoded.text[locale.end :]
        decoded = replace(decoded, text=text)
    entries = [_entry(text, style) for text in _texts(decoded)]
    return of_entries(decoded, entries, languages, overwrite=overwrite)


def _locale(decoded: Decoded) -> _Text | None:
    return next((text for text in _strings(decoded) if text.path == ("@@locale",)), None)


class _Style(NamedTuple):
    """How a file writes what could be written in several ways."""

    ascii_only: bool
    slashes: bool
    """A slash has a backslash in front of it."""


def _style(text: str) -> _Style:
    escaped = re.search(r"\\u(?:00[8-9a-fA-F]|0[1-9a-fA-F]|[1-9a-fA-F])", text)
    all_slashes = "\\/" in text and text.count("\\/") == text.count("/")
    return _Style(text.isascii() and escaped is not None, all_slashes)


def _written(text: str, style: _Style) -> str:
    text = _TO_ESCAPE.sub(lambda c: _SHORT.get(c[0], f"\\u{ord(c[0]):04x}"), text)
    if style.slashes:
        text = text.replace("/", "\\/")
    if style.ascii_only and not text.isascii():
        text = in_ascii(text, 0x80)
    return f'"{text}"'


def _entry(text: _Text, style: _Style) -> Entry:
    if text.slashes is not None:
        style = style._replace(slashes=text.slashes)

    def write(new: Segment) -> str:
        return _written(new.text, style)

    return Entry(text.value, text.line, text.start, text.end, write, ".".join(text.path))


def _entries(decoded: Decoded, language: str | None) -> list[Entry]:
    """Plural forms (`key_one`, `key_other`) that only the target language has are added. Where
    other numbers take `key_one` too and only `key_other` has a place for the number, that is both.
    """
    return sorted(_with_plurals(decoded, language), key=lambda entry: entry.start)


def _with_plurals(decoded: Decoded, language: str | None) -> Iterator[Entry]:
    style = _style(decoded.text)
    groups: dict[tuple[str, ...], dict[str, _Text]] = {}
    for text in _texts(decoded):
        found = _PLURAL.fullmatch(text.path[-1]) if text.path and text.name_start >= 0 else None
        if found and not found[1].endswith("_ordinal"):
            groups.setdefault((*text.path[:-1], found[1]), {})[found[2]] = text
        else:
            yield _entry(text, style)
    for (*path, stem), group in groups.items():
        last = max(group.values(), key=lambda text: text.end)
        added = partial(_added, decoded.text, last, [*path, f"{stem}_"], style)
        yield from plural_entries({n: _entry(t, style) for n, t in group.items()}, language, added)


def _added(text: str, last: _Text, path: Sequence[str], style: _Style, name: str) -> Entry:
    """A plural form of this name behind the last one, laid out as that is."""
    start = last.name_start
    while text[start - 1] in " \t\r\n":  # a brace or a comma comes before
        start -= 1
    colon = text[last.name_start : last.start]
    _, behind = scanstring(colon, 1, True)
    written = _written(f"{path[-1]}{name}", style)
    before = f",{text[start : last.name_start]}{written}{colon[behind:]}"
    key = ".".join(path) + name
    return inserted(last.line, last.end, before, lambda new: _written(new.text, style), key)


def _texts(decoded: Decoded) -> Iterator[_Text]:
    """Every text to be translated; what describes others (`@name`, `$schema`) is left."""
    for text in _strings(decoded):
        if not any(name[:1] in ("@", "$") for name in text.path):
            yield text


def _strings(decoded: Decoded) -> Iterator[_Text]:
    """Every value that is a text, in order."""
    scanner = _JsonScanner(decoded)
    yield from scanner.values()
    if scanner.position < len(decoded.text):
        raise scanner.refusal()


class _JsonScanner:
    def __init__(self, decoded: Decoded) -> None:
        self._decoded, self._text = decoded, decoded.text
        self._lines = Lines(decoded.text)
        self.position = self._behind_space(0)
        """Behind what was read last, and the white space that follows it."""

    def values(self, path: tuple[str, ...] = (), name_start: int = -1) -> Iterator[_Text]:
        """The texts of the value that begins here."""
        start = self.position
        if self._here() == '"':
            value, end = self._string()
            raw = self._text[start:end]
            slashes = "\\/" in raw if "/" in raw else None
            yield _Text(path, value, name_start, start, end, self._lines.at(start), slashes)
        elif self._here() in ("{", "["):
            if len(path) >= _DEEPEST:
                raise self._decoded.refusal(
                    f"values lie at most {_DEEPEST} levels deep", start, "has one deeper", _REMEDY
                )
            yield from self._members(path, is_map=self._here() == "{")
        elif found := _PLAIN.match(self._text, start):
            self.position = self._behind_space(found.end())
        else:
            raise self.refusal()

    def _members(self, path: tuple[str, ...], *, is_map: bool) -> Iterator[_Text]:
        closing = "}" if is_map else "]"
        self._take(self._here())
        number = 0
        while self._here() != closing or number:
            name, name_start = str(number), -1
            if is_map:
                name_start = self.position
                if self._here() != '"':
                    raise self.refusal()
                name, _ = self._string()
                self._take(":")
            yield from self.values((*path, name), name_start)
            number += 1
            if self._here() == closing:
                break
            self._take(",")
        self._take(closing)

    def _here(self) -> str:
        return self._text[self.position : self.position + 1]

    def _take(self, sign: str) -> None:
        if self._here() != sign:
            raise self.refusal()
        self.position = self._behind_space(self.position + 1)

    def _string(self) -> tuple[str, int]:
        try:
            value, end = scanstring(self._text, self.position + 1, True)
        except JSONDecodeError:
            raise self.refusal() from None
        self.position = self._behind_space(end)
        return value, end

    def _behind_space(self, position: int) -> int:
        found = _SPACE.match(self._text, position)
        assert found, "it matches the empty string"
        return found.end()

    def refusal(self) -> Exception:
        found = self._text[self.position : self.position + 20]
        what = f"has {found!r}" if found else "ends too early"
        return self._decoded.refusal(_RULE, self.position, what, _REMEDY)


open_document = one_language(read_decoded, _entries)
