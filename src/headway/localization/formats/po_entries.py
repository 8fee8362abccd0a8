"""The entries of a PO file, one after the other, and the lines that each of them stands on."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from headway.core.errors import DataError
from headway.core.lines import MAX_LINE_BYTES, raw_lines
from headway.languages.codes import is_language

_TOKEN = re.compile(
    r"""[ \t\r\f\v]*(?:
        (?P<comment>\#.*)
        | (?P<keyword>domain|msgctxt|msgid_plural|msgid|msgstr)
          (?![A-Za-z_0-9]) (?:[ \t]*\[[ \t]*(?P<form>[0-9]{1,3})[ \t]*\])?
        | "(?P<text>(?:[^"\\]|\\.)*)"
    )""",
    re.VERBOSE | re.DOTALL,
)
_OBSOLETE = re.compile(r"#~\s*(msgctxt|msgid)(?![A-Za-z_0-9])")
_FUZZY = re.compile(r"(?<![\w-])fuzzy(?![\w-])")
_ASCII = bytes(range(32, 127)) + b"\\n\\\\\n"
_WIDE_MARKS = (b"\xff\xfe", b"\xfe\xff")
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
ESCAPES = {
    "n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v",
    "\\": "\\", '"': '"',
}  # fmt: skip
_ESCAPED = re.compile(r"""\\([ntrabfv\\"])|((?:\\[0-7]{1,3}|\\x[0-9A-Fa-f]{1,2})+)""")
_ONE_BYTE = re.compile(r"\\(?:x([0-9A-Fa-f]+)|([0-7]+))")


@dataclass
class PoText:
    """What a keyword introduces: pieces in quotes, usually one a line."""

    pieces: list[str] = field(default_factory=list)
    """Between the quotes, still escaped."""
    lines: list[int] = field(default_factory=list)
    """Lines of the file, from 1, that the keyword and the pieces stand on."""
    alone: bool = True
    """Nothing else stands on these lines."""


@dataclass
class PoEntry:
    """A message with its translations, or an obsolete one, of which nothing else is known."""

    line: int = 0
    """Line, from 1, of the first keyword."""
    texts: dict[str, PoText] = field(default_factory=dict)
    """By keyword, in order: `msgctxt`, `msgid`, `msgid_plural`, `msgstr` or `msgstr[0]`, .."""
    flags_line: int = 0
    """The first comment of flags (`#, c-format`), or 0."""
    previous_lines: list[int] = field(default_factory=list)
    """Comments that tell the message's earlier text (`#| msgid`)."""
    fuzzy: bool = False
    obsolete: bool = False
    comments: list[str] = field(default_factory=list)
    """Lines that translators wrote (`# ..`)."""

    def text(self, keyword: str, encoding: str) -> str:
        """`msgctxt`, `msgid` or `msgid_plural`; empty where there is none."""
        found = self.texts.get(keyword)
        return unescape("".join(found.pieces), encoding) if found else ""

    @property
    def remarks(self) -> tuple[str, ...]:
        return (" ".join(self.comments),) if self.comments else ()

    @property
    def forms(self) -> dict[int, PoText]:
        """The translations: one, or one for each plural form."""
        return {
            int(keyword[7:-1] or 0): text
            for keyword, text in self.texts.items()
            if keyword.startswith("msgstr")
        }

    @property
    def complete(self) -> bool:
        return all(any(text.pieces) for text in self.forms.values())

    @property
    def header(self) -> bool:
        """No message, but the one that describes the file."""
        return not self.obsolete and not (
            "msgctxt" in self.texts or any(self.texts["msgid"].pieces)
        )


class Header(NamedTuple):
    encoding: str
    """As Python knows it."""
    source_language: str | None
    target_language: str | None
    n_plurals: int | None
    plural: str = ""
    """Which form a number takes: `n != 1`."""


def unescape(text: str, encoding: str = "utf-8") -> str:
    r"""What stands between quotes; bytes by number (`\303\251`) are characters of the encoding.

    A backslash before any other character stands for itself.
    """
    if "\\" not in text:
        return text

    def plain(found: re.Match[str]) -> str:
        if found[1]:
            return ESCAPES[found[1]]
        numbers = (
            int(hexadecimal, 16) if hexadecimal else int(octal, 8) & 0xFF
            for hexadecimal, octal in _ONE_BYTE.findall(found[2])
        )
        return bytes(numbers).decode(encoding, "replace")

    return _ESCAPED.sub(plain, text)


def read_header(path: Path) -> Header:
    """What the file's header says, wherever it stands; UTF-8 where it names no encoding.

    Raises DataError: the file cannot be read, its encoding is unknown or none for PO files, or an
    entry before the header's end is wrong.
    """
    fields = ""
    for entry in read_entries(path, "latin-1"):  # whatever the encoding, keywords are ASCII
        if entry.header:
            fields = entry.text("msgstr", "latin-1")
            break
    marked = (next(raw_lines(path)) or b"").startswith(BYTE_ORDER_MARK)
    charset = _field(r"Content-Type:.*charset=[ \t]*([^\s;\"]+)", fields)
    n_plurals = _field(r"Plural-Forms:.*nplurals[ \t]*=[ \t]*([1-9][0-9]?)\b", fields)
    return Header(
        "utf-8" if marked else _encoding(charset, path),
        _language("X-Source-Language", fields),
        _language("Language", fields),
        int(n_plurals) if n_plurals else None,
        _field(r"Plural-Forms:.*[\s;]plural[ \t]*=([^;\n]+)", fields) or "",
    )


def _field(pattern: str, fields: str) -> str | None:
    found = re.search(f"^{pattern}", fields, re.MULTILINE | re.IGNORECASE | re.ASCII)
    return found[1] if found else None


def _language(name: str, fields: str) -> str | None:
    code = _field(rf"{name}:[ \t]*([\w-]+)", fields)
    return code if code and is_language(code) else None


def _encoding(charset: str | None, path: Path) -> str:
    if charset is None or charset == "CHARSET":  # as templates have it
        return "utf-8"
    why = "not one that PO files may have, as it changes ASCII"
    try:
        if _ASCII.decode(charset) == _ASCII.decode("ascii"):
            return charset
    except UnicodeError:
        pass
    except (LookupError, ValueError):
        why = "unknown"
    raise DataError(
        f"the header of a PO file names its encoding; in {path} it is {charset!r}, which is {why}. "
        "Put the true one there (charset=UTF-8, for example)."
    )


def read_entries(path: Path, encoding: str) -> Iterator[PoEntry]:
    """Every entry in the order of the file, obsolete ones too.

    Raises DataError: the file cannot be read, is not in that encoding, or is no PO file; with the
    line.
    """
    return scan(_decoded(path, encoding), path)


def _decoded(path: Path, encoding: str) -> Iterator[str]:
    for line, raw in enumerate(raw_lines(path), start=1):
        if raw is None:
            raise DataError(
                f"a line of a PO file has at most {MAX_LINE_BYTES:,} bytes; {path}:{line} has "
                "more. Is it a PO file?"
            )
        if line == 1 and raw.startswith(_WIDE_MARKS):
            raise DataError(
                f"a PO file is never UTF-16; {path} is. "
                "Convert it: iconv -f UTF-16 -t UTF-8, and name UTF-8 in its header."
            )
        try:
            yield (raw.removeprefix(BYTE_ORDER_MARK) if line == 1 else raw).decode(encoding)
        except UnicodeError as error:
            raise DataError(
                f"a PO file must be in the encoding that its header names, or UTF-8; {path}:{line} "
                f"is not {encoding} ({error}). Put the true one into the header, as in "
                '"Content-Type: text/plain; charset=ISO-8859-1\\n".'
            ) from None


def scan(lines: Iterable[str], path: Path) -> Iterator[PoEntry]:
    """The entries of the lines of a file; `path` is for messages.

    Comments may stand anywhere; those behind a translation belong to the next entry. Raises
    DataError: what stands there is no PO, with the line.
    """
    scanner = _Scanner(path)
    for number, line in enumerate(lines, start=1):
        yield from scanner.take(number, line)
    yield from scanner.finish()


_FOLLOWS = {
    "msgctxt": {""},
    "msgid": {"", "msgctxt"},
    "msgid_plural": {"msgid"},
    "msgstr": {"msgid"},
    "msgstr[]": {"msgid_plural", "msgstr[]"},
}
"""What each keyword may come directly behind."""


class _Scanner:
    """Takes line after line and gives an entry when the next one begins."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._current: PoEntry | None = None
        self._coming = PoEntry()  # collects the comments in front of it
        self._text: PoText | None = None  # what a piece in quotes continues
        self._last = ""  # keyword of the current entry

    def take(self, number: int, line: str) -> Iterator[PoEntry]:
        here: list[PoText] = []  # of which something stands on this line
        commented = False
        position, end = 0, len(line.rstrip(" \t\r\f\v"))
        while position < end:
            token = _TOKEN.match(line, position)
            if token is None:
                raise self._wrong(number, f"has {line[position : position + 40].strip()!r}")
            position = token.end()
            if comment := token["comment"]:
                commented = True
                if not here:
                    yield from self._take_comment(number, comment)
                continue
            if keyword := token["keyword"]:
                if keyword in ("domain", "msgctxt") or (
                    keyword == "msgid" and self._last != "msgctxt"
                ):
                    yield from self.finish()
                text = self._text = self._take_keyword(number, keyword, token["form"])
            elif self._text is None:
                raise self._wrong(number, "has a text in quotes without a keyword before it")
            else:
                text = self._text
                text.pieces.append(token["text"])
            if not here or here[-1] is not text:
                here.append(text)
                text.lines.append(number)
        for text in here:
            text.alone = text.alone and len(here) == 1 and not commented

    def finish(self) -> Iterator[PoEntry]:
        """Give the entry at hand, if there is one."""
        entry, self._current, self._text, self._last = self._current, None, None, ""
        if entry is None:
            return
        bare = [keyword for keyword, text in entry.texts.items() if not text.pieces]
        if bare:
            raise self._wrong(entry.line, f"begins an entry whose {bare[0]} has no text in quotes")
        if not entry.forms:
            raise self._wrong(entry.line, "begins an entry that has no msgstr")
        yield entry

    def _take_comment(self, number: int, comment: str) -> Iterator[PoEntry]:
        if obsolete := _OBSOLETE.match(comment):
            yield from self.finish()
            self._coming = PoEntry()
            if obsolete[1] == "msgid":
                yield PoEntry(line=number, obsolete=True)
            return
        behind = self._current is None or self._last.startswith("msgstr")
        entry = self._coming if self._current is None or behind else self._current
        if comment.startswith("#,"):
            entry.flags_line = entry.flags_line or number
            entry.fuzzy = entry.fuzzy or bool(_FUZZY.search(comment))
        elif comment.startswith("#|"):
            entry.previous_lines.append(number)
        elif comment[1:2] not in (".", ":", "~") and (text := comment[1:].strip()):
            entry.comments.append(text)

    def _take_keyword(self, number: int, keyword: str, form: str | None) -> PoText:
        if keyword == "domain":
            return PoText()
        kind = keyword if form is None else f"{keyword}[]"
        name = keyword if form is None else f"{keyword}[{int(form)}]"
        entry = self._current
        if self._last not in _FOLLOWS.get(kind, ()) or (entry and name in entry.texts):
            after = f" behind {self._last}" if self._last else ", which begins no entry"
            raise self._wrong(number, f"has {name}{after}")
        if entry is None:
            entry, self._coming = self._coming, PoEntry()
            self._current, entry.line = entry, number
        text = entry.texts[name] = PoText()
        self._last = kind
        return text

    def _wrong(self, line: int, what: str) -> DataError:
        return DataError(
            "a PO file has entries of msgid and msgstr with texts in quotes, and comments that "
            f"begin with #; {self._path}:{line} {what}. Mend it there."
        )
