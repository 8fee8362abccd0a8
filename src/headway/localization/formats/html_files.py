"""HTML pages: text between tags, and what readers see of attributes; scripts and code stay."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from html import unescape
from pathlib import Path

from headway.core.lines import open_bytes
from headway.languages.codes import same_language
from headway.localization.formats.documents import Document
from headway.localization.formats.markup import (
    MarkupPiece,
    Token,
    Value,
    attributes,
    escaped,
    joined,
    not_too_many,
    piece,
    steps,
    text_pieces,
    tokens,
    unwrapped,
    whole,
    writer,
)
from headway.localization.formats.old_encodings import read_utf8_or_old
from headway.localization.formats.spans import Decoded, Entry, Lines, OwnLanguage, one_language
from headway.localization.placeholders.patterns import VOID
from headway.localization.placeholders.segments import Code, Segment

_INLINE = frozenset(
    "a abbr acronym b bdi bdo big cite data del dfn em font i ins mark q rp rt ruby s small span "
    "strike strong sub sup time tt u".split()
)
"""Tags that stand inside of a sentence; all others end it."""
_ALONE = frozenset("br img wbr".split())
_KEPT_INLINE = frozenset("code kbd samp var".split())
"""Stay as they are, as a placeholder in their sentence."""
_KEPT = frozenset("pre script style textarea svg math iframe object template xmp".split())
"""Stay as they are, all that is in them."""
_RAW = frozenset("script style textarea iframe xmp".split())
"""What is in them is no markup."""
_SHOWN = frozenset("alt title placeholder aria-label".split())
_DECLARED = re.compile(
    rb"""<meta[^>]{0,200}charset\s*+=\s*+["']?+\s*+([\w-]{1,40})""", re.IGNORECASE
)
_DESCRIBING = frozenset(
    "description og:title og:description twitter:title twitter:description".split()
)
_BUTTONS = ("button", "reset", "submit")
_TEMPLATE = re.compile(
    r"\{%.{0,500}?%\}|\{\{\{.{0,500}?\}\}\}|\{\{.{0,500}?\}\}|\{#.{0,500}?#\}", re.DOTALL
)
"""What Jinja, Django and their like put in."""


def _read(path: Path) -> Decoded:
    """A page in UTF-8, in the encoding that it declares, or in that of old pages."""
    with open_bytes(path) as file:
        declared = _DECLARED.search(file.read(4096))
    name = declared[1].decode() if declared else ""
    decoded = read_utf8_or_old(path, name if _is_known(name) else "")
    return replace(decoded, beyond="xmlcharrefreplace")


def _own_language(decoded: Decoded) -> OwnLanguage | None:
    """The `lang` of the outermost element."""
    root = next((t for t in tokens(decoded.text) if t.name == "html" and t.kind == "start"), None)
    lang = attributes(decoded.text, root).get("lang") if root else None
    return OwnLanguage(*lang) if lang and lang.text else None


def _is_known(encoding: str) -> bool:
    try:
        return "<".encode(encoding) == b"<"
    except LookupError:
        return False


def page_entries(
    decoded: Decoded,
    start: int = 0,
    end: int | None = None,
    source_language: str | None = None,
) -> list[Entry]:
    """The texts of a page, or of a part of one, in order, but for those that say that they are in
    another language than this."""
    entries = _entries(decoded.text, start, end, source_language)
    found = sorted(entries, key=lambda entry: (entry.start, -entry.end))
    lines = Lines(decoded.text)
    return [entry._replace(line=lines.at(entry.start)) for entry in found]


def named_languages(text: str) -> Iterator[tuple[Token, Value]]:
    """Each tag of a page that says a language (`lang`, `xml:lang`), but for what stays as it is."""
    some = list(_page_tokens(text, 0, None))
    for n, one, last in steps(some, partial(_stays, text, None), VOID):
        if last == n and one.kind in ("start", "empty"):
            values = attributes(text, one)
            yield from ((one, values[name]) for name in ("lang", "xml:lang") if name in values)


def _entries(
    text: str, start: int, end: int | None, source_language: str | None
) -> Iterator[Entry]:
    some = list(_page_tokens(text, start, end))
    pieces = list[MarkupPiece]()
    write = writer(lambda part: _written(part, named="&nbsp;" in text))
    for n, one, last in steps(some, partial(_stays, text, source_language), VOID):
        if one.kind in ("start", "empty"):
            yield from _shown(text, one)
        if one.kind == "text":
            pieces += _text(text, one)
        elif last > n and one.name in {*_INLINE, *_KEPT_INLINE}:
            inside = [p for t in some[n + 1 : last] if t.kind == "text" for p in _text(text, t)]
            pieces.append(whole(text, inside, one.start, some[last].end))
        elif one.kind == "comment":
            pieces.append(whole(text, (), one.start, one.end))
        elif last == n and one.name in {*_INLINE, *_ALONE, *_KEPT_INLINE}:
            pieces.append(piece(text, one, void=one.name in _ALONE))
        else:
            yield from _sentence(pieces, write)
            pieces = []
    yield from _sentence(pieces, write)


def _stays(text: str, source_language: str | None, tag: Token) -> bool:
    """Whether a tag says so: by what it is, or as what is in it is in another language."""
    if tag.name in {*_KEPT, *_KEPT_INLINE}:
        return True
    values = {name: value.text for name, value in attributes(text, tag).items()}
    lang = values.get("lang") if source_language and tag.name != "html" else None
    if lang and not same_language(lang, source_language):
        return True
    return "notranslate" in values.get("class", "").split() or values.get("translate") == "no"


def _sentence(pieces: Sequence[MarkupPiece], write: Callable[[Segment], str]) -> Iterator[Entry]:
    for some in not_too_many(pieces):
        segment, start, end = joined(some)
        if not segment.blank:
            yield Entry(segment, 0, start, end, write)


def _shown(text: str, tag: Token) -> Iterator[Entry]:
    """Attributes of a tag that readers see."""
    values = attributes(text, tag)
    told = {
        name: values[name].text.lower() for name in ("name", "property", "type") if name in values
    }
    shown = [value for name, value in values.items() if name in _SHOWN]
    if tag.name == "meta" and {*told.values()} & _DESCRIBING and "content" in values:
        shown.append(values["content"])
    if tag.name == "input" and told.get("type") in _BUTTONS and "value" in values:
        shown.append(values["value"])
    for value in shown:
        quote = text[value.start - 1]
        quote = quote if quote in "\"'" else ""
        source = unescape(value.text)
        if any(map(str.isalnum, _TEMPLATE.sub("", source))):
            yield Entry(
                source, 0, value.start, value.end,
                partial(_quoted, quote), tag=(tag.start, tag.end),
            )  # fmt: skip


def _text(text: str, token: Token) -> Iterator[MarkupPiece]:
    """Text with what a template puts in as codes."""
    start = token.start
    for found in _TEMPLATE.finditer(text, token.start, token.end):
        if start < found.start():
            yield from text_pieces(text, Token("text", start, found.start()), _plain)
        yield MarkupPiece(Code(found[0], found[0]), *found.span())
        start = found.end()
    if start < token.end:
        yield from text_pieces(text, Token("text", start, token.end), _plain)


def _plain(raw: str) -> str:
    return unwrapped(unescape(raw))


def _written(text: str, *, named: bool) -> str:
    return escaped(text).replace("\xa0", "&nbsp;") if named else escaped(text)


def _quoted(quote: str, new: Segment) -> str:
    """What is to stand between these quotes; quotes around it where there are none."""
    if not quote:
        return f'"{_quoted(chr(34), new)}"'
    return escaped(new.text).replace(quote, "&quot;" if quote == '"' else "&#39;")


def _page_tokens(text: str, start: int, end: int | None) -> Iterator[Token]:
    """All pieces; what stands in a script is none."""
    end = len(text) if end is None else end
    while start < end:
        for one in tokens(text, start, end):
            yield one
            start = one.end
            if one.kind == "start" and one.name in _RAW:
                closed = re.compile(rf"</{one.name}\b", re.IGNORECASE).search(text, start, end)
                behind = closed.start() if closed else end
                if start < behind:
                    yield Token("other", start, behind)
                start = behind
                break


def open_document(
    path: Path, source_language: str | None, target_language: str | None, overwrite: bool
) -> Document:
    """See `headway.localization.formats.file_kinds.Opener`."""

    def entries(decoded: Decoded, _: str | None) -> list[Entry]:
        return page_entries(decoded, source_language=source_language)

    opened = one_language(_read, entries, _own_language)
    return opened(path, source_language, target_language, overwrite)
