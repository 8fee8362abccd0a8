r"""Java's properties (`key = value`) and Apple's strings (`"key" = "value";`)."""

import re
from collections.abc import Iterator
from functools import partial

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
_PLAIN = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_SHORT = {"\t": "\\t", "\n": "\\n", "\r": "\\r", "\f": "\\f", "\\": "\\\\"}

_SKIPPED = re.compile(r"\s+|/\*(?P<block>(?:[^*]|\*(?!/))*)\*/|//(?P<rest>[^\r\n]*)")
_TEXT = re.compile(r'"((?:[^"\\]|\\[\s\S])*)"|([\w.$/-]+)')
_OR_END = re.compile(_TEXT.pattern + r"|\Z")
_EQUALS_OR_END, _END = re.compile("[=;]"), re.compile(";")
_APPLES = re.compile(r"\\(?:[Uu]([0-9A-Fa-f]{4})|([0-7]{3})|([\s\S]))")
_APPLES_PLAIN = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}
_APPLES_SHORT = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def _properties(decoded: Decoded, _language: str | None) -> Iterator[Entry]:
    r"""In messages with arguments (`{0}`) an apostrophe is written twice, as Java's MessageFormat
    wants it, unless the file itself does not. A file in UTF-8 with characters beyond ASCII stays
    so; in any other file they are `\u00e4`.
    """
    unicode = decoded.encoding != "latin-1" and not decoded.text.isascii()
    found = [(one, str(one.source)) for one in _lines(decoded)]
    single = any(_ARGUMENT.search(text) and _PLAIN_QUOTE.search(text) for _, text in found)

    def write(to_double: re.Pattern[str] | None, new: Segment) -> str:
        text = to_double.sub("''", new.text) if to_double else new.text
        text = "\\" * text.startswith((" ", "=", ":")) + "".join(
            _SHORT.get(sign, sign) for sign in text
        )
        return text if unicode else in_ascii(text, 0x7F)

    for one, text in found:
        to_double = None
        if _ARGUMENT.search(text) and not single:
            to_double = _PLAIN_QUOTE if _QUOTES.search(text) else _QUOTE
        yield one._replace(write=partial(write, to_double))


def _lines(decoded: Decoded) -> Iterator[Entry]:
    text, position, lines = decoded.text, 0, Lines(decoded.text)
    comments: list[str] = []
    while position < len(text):
        if comment := _COMMENT.match(text, position):
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
            at, start = lines.at(line.start(1)), between.end()
            value = _unescaped(text[start:end])
            yield Entry(
                value, at, start, end, lambda new: new.text, _unescaped(key[0]), remarks=remarks
            )
        comments = []


def in_ascii(text: str, beyond: int) -> str:
    """A text with its characters from a number on written by number, in UTF-16."""
    wide = text.encode("utf-16-be", "surrogatepass")
    units = (int.from_bytes(wide[n : n + 2], "big") for n in range(0, len(wide), 2))
    return "".join(chr(unit) if unit < beyond else f"\\u{unit:04x}" for unit in units)


def paired_surrogates(text: str) -> str:
    """A text in which halves of characters that were written by number are whole ones; U+FFFD
    stands for a half alone, which nobody could write."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _unescaped(text: str) -> str:
    if "\\" not in text:
        return text

    def plain(found: re.Match[str]) -> str:
        if found[1]:
            return chr(int(found[1], 16))
        return _PLAIN.get(found[2], found[2]) if found[2] else ""

    return paired_surrogates(_ESCAPED.sub(plain, text))


def _strings(decoded: Decoded, _language: str | None) -> Iterator[Entry]:
    text, lines, position = decoded.text, Lines(decoded.text), 0

    def taken(pattern: re.Pattern[str], position: int) -> re.Match[str]:
        """What stands behind white space and comments; comments are gathered."""
        while skipped := _SKIPPED.match(text, position):
            comments.append((skipped["block"] or skipped["rest"] or "").strip())
            position = skipped.end()
        found = pattern.match(text, position)
        if not found:
            here = text[position : position + 20]
            raise decoded.refusal(
                'a file of strings has lines of "key" = "value"; and comments',
                position,
                f"has {here!r}" if here else "ends too early",
                "Mend that place, or export the file again",
            )
        return found

    while True:
        comments: list[str] = []
        key = taken(_OR_END, position)
        if not key[0]:
            return
        remarks = (" ".join(filter(None, comments)),) if any(comments) else ()
        sign, at = taken(_EQUALS_OR_END, key.end()), lines.at(key.start())
        if sign[0] == ";":  # a key alone stands for itself
            position = sign.end()
            continue
        value = taken(_TEXT, sign.end())
        yield Entry(
            _of_apple(value), at, *value.span(), _as_apples, _of_apple(key), remarks=remarks
        )
        position = taken(_END, value.end()).end()


def _as_apples(new: Segment) -> str:
    return '"' + "".join(_APPLES_SHORT.get(sign, sign) for sign in new.text) + '"'


def _of_apple(text: re.Match[str]) -> str:
    """What stands between quotes, or a word without any."""

    def plain(found: re.Match[str]) -> str:
        if found[1] or found[2]:
            return chr(int(found[1], 16) if found[1] else int(found[2], 8))
        return _APPLES_PLAIN.get(found[3], found[3])

    return text[2] if text[1] is None else paired_surrogates(_APPLES.sub(plain, text[1]))


open_properties = one_language(lambda path: read_decoded(path, "utf-8", "latin-1"), _properties)
open_strings = one_language(read_decoded, _strings)
