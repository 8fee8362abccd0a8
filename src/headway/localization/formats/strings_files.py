"""Apple's `.strings`: `"key" = "value";` with comments of C."""

import re
from collections.abc import Iterator

from headway.localization.formats.spans import Decoded, Entry, Lines, one_language, read_decoded
from headway.localization.placeholders.segments import Segment

_SKIPPED = re.compile(r"\s+|/\*(?P<block>(?:[^*]|\*(?!/))*)\*/|//(?P<rest>[^\r\n]*)")
_TEXT = re.compile(r'"((?:[^"\\]|\\[\s\S])*)"|([\w.$/-]+)')
_ESCAPED = re.compile(r"\\(?:[Uu]([0-9A-Fa-f]{4})|([0-7]{3})|([\s\S]))")
_PLAIN = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}
_SHORT = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"}
_RULE = 'a file of strings has lines of "key" = "value"; and comments'
_REMEDY = "Mend that place, or export the file again"


def _written(new: Segment) -> str:
    return '"' + "".join(_SHORT.get(sign, sign) for sign in new.text) + '"'


def _unescaped(text: str) -> str:
    def plain(found: re.Match[str]) -> str:
        if found[1]:
            return chr(int(found[1], 16))
        if found[2]:
            return chr(int(found[2], 8))
        return _PLAIN.get(found[3], found[3])

    return _ESCAPED.sub(plain, text) if "\\" in text else text


def _entries(decoded: Decoded, _language: str | None) -> Iterator[Entry]:
    text, lines, position = decoded.text, Lines(decoded.text), 0

    def taken(pattern: re.Pattern[str], position: int) -> re.Match[str]:
        """What stands behind white space and comments; comments are gathered."""
        while skipped := _SKIPPED.match(text, position):
            comments.append((skipped["block"] or skipped["rest"] or "").strip())
            position = skipped.end()
        found = pattern.match(text, position)
        if not found:
            what = (
                f"has {text[position : position + 20]!r}" if text[position:] else "ends too early"
            )
            raise decoded.refusal(_RULE, position, what, _REMEDY)
        return found

    while True:
        comments: list[str] = []
        key = taken(_OR_END, position)
        if not key[0]:
            return
        remarks = (" ".join(filter(None, comments)),) if any(comments) else ()
        sign = taken(_EQUALS_OR_END, key.end())
        name = _unescaped(key[1]) if key[1] is not None else key[2]
        at = lines.at(key.start())
        if sign[0] == ";":  # a key alone stands for itself
            position = sign.end()
            continue
        value = taken(_TEXT, sign.end())
        plain = _unescaped(value[1]) if value[1] is not None else value[2]
        yield Entry(plain, at, *value.span(), _written, name, remarks=remarks)
        position = taken(_END, value.end()).end()


_OR_END = re.compile(_TEXT.pattern + r"|\Z")
_EQUALS_OR_END = re.compile("[=;]")
_END = re.compile(";")


open_document = one_language(read_decoded, _entries)
