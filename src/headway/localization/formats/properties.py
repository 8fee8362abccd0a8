r"""Java properties: `key = value`, with escapes, and lines that go on behind a backslash."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from headway.localization.formats.spans import Decoded, Entry, Lines, one_language, read_decoded
from headway.localization.placeholders.segments import Segment

_COMMENT = re.compile(r"[ \t\f]*[#!]++([^\r\n]*)(?:\r\n|\r|\n|\Z)")
_LINE = re.compile(r"[ \t\f]*+((?:[^\\\r\n]|\\(?:\r\n|[\s\S]|\Z))*)(?:\r\n|\r|\n|\Z)")
"""A logical line: one that ends in a backslash goes on."""
_KEY = re.compile(r"(?:[^\\\s=:]|\\(?:\r\n|[\s\S]))*")
_BETWEEN = re.compile(r"(?:[ \t\f]|\\(?:\r\n|\r|\n))*[=:]?(?:[ \t\f]|\\(?:\r\n|\r|\n))*")
_ESCAPED = re.compile(r"\\(?:(?:\r\n|\r|\n)[ \t\f]*|u([0-9A-Fa-f]{4})|(.)|\Z)", re.DOTALL)
_ARGUMENT = re.compile(r"\{\d{1,2}[,}]")
_QUOTE = re.compile(r"(?<!')'(?!')")
_QUOTES = re.compile(r"(?<!')'[{}]|[{}]'(?!')")
_PLAIN_QUOTE = re.compile(r"(?<![{}'])'(?![{}'])")
_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_PLAIN = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_SHORT = {"\t": "\\t", "\n": "\\n", "\r": "\\r", "\f": "\\f", "\\": "\\\\"}


class _Property(NamedTuple):
    key: str
    value: str
    start: int
    end: int
    line: int
    remarks: tuple[str, ...]


def _entries(decoded: Decoded, _language: str | None) -> Iterator[Entry]:
    r"""In messages with arguments (`{0}`) an apostrophe is written twice, as Java's MessageFormat
    wants it, unless the file itself does not. A file in UTF-8 with characters beyond ASCII stays
    so; in any other file they are `\u00e4`.
    """
    unicode = decoded.encoding != "latin-1" and not decoded.text.isascii()
    texts = list(_properties(decoded))
    single = any(_ARGUMENT.search(one.value) and _PLAIN_QUOTE.search(one.value) for one in texts)

    def entry(one: _Property) -> Entry:
        message = bool(_ARGUMENT.search(one.value)) and not single

        def write(new: Segment) -> str:
            text = _doubled(new.text, one.value) if message else new.text
            return _written(text, unicode=unicode)

        at = one.start, one.end
        return Entry(one.value, one.line, *at, write, one.key, remarks=one.remarks)

    return map(entry, texts)


def _doubled(text: str, source: str) -> str:
    """A message with its apostrophes written twice, but for those that quote braces, as `source`
    has them."""
    return (_PLAIN_QUOTE if _QUOTES.search(source) else _QUOTE).sub("''", text)


def _written(text: str, *, unicode: bool) -> str:
    spaces = len(text) - len(text.lstrip(" "))
    text = "".join(_SHORT.get(sign, sign) for sign in text)
    if spaces:
        text = "\\" + text
    if unicode:
        return text
    wide = text.encode("utf-16-be", "surrogatepass")
    units = (int.from_bytes(wide[n : n + 2], "big") for n in range(0, len(wide), 2))
    return "".join(chr(unit) if unit < 0x7F else f"\\u{unit:04x}" for unit in units)


def _unescaped(text: str) -> str:
    if "\\" not in text:
        return text

    def plain(found: re.Match[str]) -> str:
        if found[1]:
            return chr(int(found[1], 16))
        return _PLAIN.get(found[2], found[2]) if found[2] else ""

    text = _ESCAPED.sub(plain, text)
    return _PAIR.sub(lambda p: p[0].encode("utf-16", "surrogatepass").decode("utf-16"), text)


def _properties(decoded: Decoded) -> Iterator[_Property]:
    text, position, lines = decoded.text, 0, Lines(decoded.text)
    comments: list[str] = []
    while position < len(text):
        comment = _COMMENT.match(text, position)
        if comment:
            comments.append(comment[1].strip())
            position = comment.end()
            continue
        line = _LINE.match(text, position)
        assert line, "it matches the empty string"
        position, end = line.end(), line.end(1)
        if line.start(1) < end:
            key = _KEY.match(text, line.start(1), end)
            between = _BETWEEN.match(text, key.end(), end) if key else None
            assert key, "it matches the empty string"
            assert between, "it matches the empty string"
            remarks = (" ".join(comments),) if any(comments) else ()
            at = lines.at(line.start(1))
            start = between.end()
            value = _unescaped(text[start:end])
            yield _Property(_unescaped(key[0]), value, start, end, at, remarks)
        comments = []


open_document = one_language(lambda path: read_decoded(path, "utf-8", "latin-1"), _entries)
