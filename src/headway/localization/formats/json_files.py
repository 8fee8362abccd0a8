"""JSON of one language (i18next, flat or nested) and ARB: every text in it is to be translated."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from json.decoder import JSONDecodeError, scanstring  # type: ignore[attr-defined]
from pathlib import Path
from typing import NamedTuple

from headway.languages.codes import named_language
from headway.localization.formats.plural_entries import inserted, plural_entries
from headway.localization.formats.spans import (
    Decoded,
    Entry,
    Lines,
    SpanDocument,
    one_language,
    read_decoded,
)
from headway.localization.placeholders.segments import Segment

_SPACE = re.compile(r"[ \t\r\n]*")
_PLAIN = re.compile(r"-?\d[\d.eE+-]*|true|false|null")
_DEEPEST = 100
_PLURAL = re.compile(r"(.+)_(zero|one|two|few|many|other)", re.DOTALL)
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
) -> SpanDocument:
    """An Application Resource Bundle (Flutter), whose `@@locale` becomes the target language.

    Its plural forms are those of ICU, in the texts themselves.

    Raises:
        DataError: it is no JSON, or not in UTF-8 or UTF-16.
    """
    decoded = read_decoded(path)
    style, locale = _style(decoded.text), _locale(decoded)
    languages = (locale.value if locale else "") or named_language(path), target_language
    if locale and target_language:
        new = _written(target_language.replace("-", "_"), style)
        text = decoded.text[: locale.start] + new + decoded.text[locale.end :]
        decoded = replace(decoded, text=text)
    entries = [_entry(text, style) for text in _texts(decoded)]
    return SpanDocument(decoded, entries, languages, overwrite=overwrite)


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
        wide = text.encode("utf-16-be")
        units = (int.from_bytes(wide[n : n + 2], "big") for n in range(0, len(wide), 2))
        text = "".join(chr(unit) if unit < 0x80 else f"\\u{unit:04x}" for unit in units)
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
    yield from scanner.value(scanner.behind_space(0), (), -1)
    if scanner.position < len(decoded.text):
        raise scanner.refusal(scanner.position)


class _JsonScanner:
    def __init__(self, decoded: Decoded) -> None:
        self._decoded, self._text = decoded, decoded.text
        self._lines = Lines(decoded.text)
        self.position = 0
        """Behind the value that was read last, and the white space that follows it."""

    def refusal(self, position: int) -> Exception:
        found = self._text[position : position + 20]
        what = f"has {found!r}" if found else "ends too early"
        return self._decoded.refusal(_RULE, position, what, _REMEDY)

    def behind_space(self, position: int) -> int:
        found = _SPACE.match(self._text, position)
        assert found, "it matches the empty string"
        return found.end()

    def value(self, start: int, path: tuple[str, ...], name_start: int) -> Iterator[_Text]:
        sign = self._text[start : start + 1]
        if sign == '"':
            value, end = self._string(start)
            raw = self._text[start:end]
            slashes = "\\/" in raw if "/" in raw else None
            yield _Text(path, value, name_start, start, end, self._lines.at(start), slashes)
            self.position = self.behind_space(end)
        elif sign in ("{", "[") and sign:
            if len(path) >= _DEEPEST:
                raise self._decoded.refusal(
                    f"values lie at most {_DEEPEST} levels deep", start, "has one deeper", _REMEDY
                )
            yield from self._members(start, path, sign)
        elif found := _PLAIN.match(self._text, start):
            self.position = self.behind_space(found.end())
        else:
            raise self.refusal(start)

    def _members(self, start: int, path: tuple[str, ...], sign: str) -> Iterator[_Text]:
        closing = "}" if sign == "{" else "]"
        position = self.behind_space(start + 1)
        number = 0
        while self._text[position : position + 1] != closing or number:
            if sign == "{":
                name_start = position
                if self._text[position : position + 1] != '"':
                    raise self.refusal(position)
                name, end = self._string(position)
                colon = self.behind_space(end)
                if self._text[colon : colon + 1] != ":":
                    raise self.refusal(colon)
                position = self.behind_space(colon + 1)
            else:
                name, name_start = str(number), -1
            yield from self.value(position, (*path, name), name_start)
            number += 1
            position = self.position
            if self._text[position : position + 1] == closing:
                break
            if self._text[position : position + 1] != ",":
                raise self.refusal(position)
            position = self.behind_space(position + 1)
        self.position = self.behind_space(position + 1)

    def _string(self, start: int) -> tuple[str, int]:
        try:
            return scanstring(self._text, start + 1, True)
        except JSONDecodeError:
            raise self.refusal(start) from None


open_document = one_language(read_decoded, _entries)
