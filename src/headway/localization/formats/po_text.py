r"""What stands between the quotes of a PO file: escapes (`\n`, `\"`), and lines of fair length."""

import re
import unicodedata

from headway.languages.scripts import WIDE

PAGE_WIDTH = 79
"""Columns of a line, as gettext's own tools have it."""

_ESCAPES = {
    "n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v",
    "\\": "\\", '"': '"',
}  # fmt: skip
_ESCAPED = re.compile(r"""\\([ntrabfv\\"])|((?:\\[0-7]{1,3}|\\x[0-9A-Fa-f]{1,2})+)""")
_ONE_BYTE = re.compile(r"\\(?:x([0-9A-Fa-f]+)|([0-7]+))")
_TO_ESCAPE = re.compile(r"""[\x00-\x1f\x7f\\"]""")
_SHORT = {character: f"\\{letter}" for letter, character in _ESCAPES.items()}
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_CLOSING = (
    r"\u2018-\u201d\u2026\u3001-\u3003\u3009\u300b\u300d\u300f\u3011"
    r"\uff01\uff09\uff0c\uff0e\uff1a\uff1b\uff1f"
)
_OPENING = r"\u3008\u300a\u300c\u300e\u3010\uff08"
_MAY_BREAK = re.compile(
    r"(?<= )(?=[^ ])"  # behind spaces, and between characters that are written without
    rf"|(?<=[{WIDE}])(?<![{_OPENING}])(?![ \\{_CLOSING}])"
)


def escape(text: str) -> str:
    r"""As it is written between quotes: `say "hi"` becomes `say \"hi\"`."""
    return _TO_ESCAPE.sub(lambda found: _SHORT.get(found[0], f"\\{ord(found[0]):03o}"), text)


def unescape(text: str, encoding: str = "utf-8") -> str:
    r"""Undo `escape`; bytes by number (`\303\251`) are characters of the file's encoding.

    A backslash before any other character stands for itself.
    """
    if "\\" not in text:
        return text

    def plain(found: re.Match[str]) -> str:
        if found[1]:
            return _ESCAPES[found[1]]
        numbers = (
            int(hexadecimal, 16) if hexadecimal else int(octal, 8) & 0xFF
            for hexadecimal, octal in _ONE_BYTE.findall(found[2])
        )
        return bytes(numbers).decode(encoding, "replace")

    return _ESCAPED.sub(plain, text)


def wrapped(keyword: str, text: str, indent: str = "") -> list[str]:
    """Lines of `keyword "text"` as gettext's own tools write them.

    A text that fits stands beside its keyword; else that line is empty, and behind each line feed
    and where the page ends a new line begins, in front of which `indent` stands.
    """
    lines = [escape(line) for line in _LINE.findall(text)]
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
