"""JSON of one language (i18next, flat or nested) and ARB: every text in it is to be translated."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from headway.localization.formats.key_values import in_ascii, paired_surrogates
from headway.localization.formats.spans import (
    FORM_NAMES,
    Decoded,
    Entry,
    Lines,
    OwnLanguage,
    inserted,
    one_language,
    plural_entries,
    read_decoded,
)
from headway.localization.placeholders.segments import Segment

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+"|[{}\[\],]')
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


def _locale(decoded: Decoded) -> OwnLanguage | None:
    """`@@locale` of an Application Resource Bundle (Flutter)."""
    found = next((text for text in _strings(decoded) if text.path == ("@@locale",)), None)
    if found is None:
        return None
    return OwnLanguage(
        found.value, found.start, found.end, lambda code: _written(code.replace("-", "_"), False)
    )


def _arb_entries(decoded: Decoded, _language: str | None) -> list[Entry]:
    """Its plural forms are those of ICU, in the texts themselves."""
    ascii_only = _is_ascii(decoded.text)
    return [_entry(text, ascii_only) for text in _texts(decoded)]


def _is_ascii(text: str) -> bool:
    """Whether a file writes what is beyond ASCII by number."""
    escaped = re.search(r"\\u(?:00[8-9a-fA-F]|0[1-9a-fA-F]|[1-9a-fA-F])", text)
    return text.isascii() and escaped is not None


def _written(text: str, ascii_only: bool) -> str:
    text = _TO_ESCAPE.sub(lambda c: _SHORT.get(c[0], f"\\u{ord(c[0]):04x}"), text)
    return f'"{in_ascii(text, 0x80) if ascii_only else text}"'


def _entry(text: _Text, ascii_only: bool) -> Entry:
    def write(new: Segment) -> str:
        return _written(new.text, ascii_only)

    return Entry(text.value, text.line, text.start, text.end, write, ".".join(text.path))


def _entries(decoded: Decoded, language: str | None) -> list[Entry]:
    """Plural forms (`key_one`, `key_other`) that only the target language has are added. Where
    other numbers take `key_one` too and only `key_other` has a place for the number, that is both.
    """
    return sorted(_with_plurals(decoded, language), key=lambda entry: entry.start)


def _with_plurals(decoded: Decoded, language: str | None) -> Iterator[Entry]:
    ascii_only = _is_ascii(decoded.text)
    groups: dict[tuple[str, ...], dict[str, _Text]] = {}
    for text in _texts(decoded):
        found = _PLURAL.fullmatch(text.path[-1]) if text.path and text.name_start >= 0 else None
        if found and not found[1].endswith("_ordinal"):
            groups.setdefault((*text.path[:-1], found[1]), {})[found[2]] = text
        else:
            yield _entry(text, ascii_only)
    for (*path, stem), group in groups.items():
        last = max(group.values(), key=lambda text: text.end)
        added = partial(_added, decoded.text, last, [*path, f"{stem}_"], ascii_only)
        yield from plural_entries(
            {n: _entry(t, ascii_only) for n, t in group.items()}, language, added
        )


def _added(text: str, last: _Text, path: Sequence[str], ascii_only: bool, name: str) -> Entry:
    """A plural form of this name behind the last one, laid out as that is."""
    start = last.name_start
    while text[start - 1] in " \t\r\n":  # a brace or a comma comes before
        start -= 1
    _, behind = json.JSONDecoder().raw_decode(text, last.name_start)
    written = _written(f"{path[-1]}{name}", ascii_only)
    before = f",{text[start : last.name_start]}{written}{text[behind : last.start]}"
    key = ".".join(path) + name
    return inserted(last.line, last.end, before, lambda new: _written(new.text, ascii_only), key)


def _texts(decoded: Decoded) -> Iterator[_Text]:
    """Every text to be translated; what describes others (`@name`, `$schema`) is left."""
    for text in _strings(decoded):
        if not any(name[:1] in ("@", "$") for name in text.path):
            yield text


@dataclass
class _JsonLevel:
    """A map or a list that is open, and the member of it that is read."""

    is_map: bool
    name: str = ""
    name_start: int = -1
    n: int = 0
    named: bool = False


def _strings(decoded: Decoded) -> Iterator[_Text]:
    """Every value that is a text, in order."""
    try:
        json.loads(decoded.text)
    except json.JSONDecodeError as error:
        raise decoded.refusal(_RULE, error.pos, f"is not ({error.msg})", _REMEDY) from None
    except RecursionError:
        raise decoded.refusal(_RULE, 0, "lies too deep", _REMEDY) from None
    lines, levels = Lines(decoded.text), [_JsonLevel(False)]
    for token in _TOKEN.finditer(decoded.text):
        sign, level = token[0], levels[-1]
        if sign in "{[":
            levels.append(_JsonLevel(sign == "{"))
        elif sign in "}]":
            levels.pop()
        elif sign == ",":
            level.n, level.named = level.n + 1, False
        elif sign[0] == '"' and level.is_map and not level.named:
            level.name, level.name_start, level.named = json.loads(sign), token.start(), True
        elif sign[0] == '"':
            path = tuple(one.name if one.is_map else str(one.n) for one in levels[1:])
            start, end = token.span()
            value = paired_surrogates(json.loads(sign))
            yield _Text(path, value, level.name_start, start, end, lines.at(start))


open_document = one_language(read_decoded, _entries)
open_arb = one_language(read_decoded, _arb_entries, _locale)
