"""Tags in a text (HTML, and XML that was found to be well-formed): where each stands, and texts
between them as segments with codes."""

import re
from collections.abc import Callable, Container, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from headway.localization.formats.spans import Decoded
from headway.localization.formats.xml_encoding import read_contents, utf8_chunks
from headway.localization.formats.xml_events import check_xml
from headway.localization.placeholders.patterns import partners
from headway.localization.placeholders.segments import Code, Segment

_ATTRIBUTES = r"""(?:[^>=]++|=\s*+(?:"[^"]*+"|'[^']*+')?+)*+"""
_MARKUP = re.compile(
    r"<!--(?P<comment>.*?)(?:-->|\Z)|<!\[CDATA\[(?P<cdata>.*?)(?:\]\]>|\Z)"
    r"|<\?(?:[^<?]++|<(?!\?)|\?(?!>))*+\?>|<%(?:[^<%]++|<(?!%)|%(?!>))*+%>|<[!?][^>]*+>?"
    rf"|<(?P<slash>/?)(?P<name>[A-Za-z_][^\s/>]*){_ATTRIBUTES}>?",
    re.DOTALL,
)
_ATTRIBUTE = re.compile(
    r"""(?<![^\s/>="'<])([^\s/>="'<]++)\s*+=\s*+"""
    r"""(?:"([^"]*)"|'([^']*)'|([^\s"'=<>`]+?)(?=\s|/?>))"""
)
_MOST_CODES = 500
"""A text with more codes than that stays as it is."""
_SPACES = " \t\r\n\f"
_SPACE = re.compile(f"[{_SPACES}]+")
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


class Token(NamedTuple):
    """A piece of a text: a tag, a comment, or what stands between two."""

    kind: str
    """`text`, `start`, `end`, `empty` (a tag that closes itself), `comment`, `cdata`, `other`."""
    start: int
    end: int
    name: str = ""
    """Of a tag, in lower case."""


class Value(NamedTuple):
    """What an attribute has, between its quotes if it has some, and where."""

    text: str
    start: int
    end: int


class MarkupPiece(NamedTuple):
    """A part of a segment, and where it stands in the file."""

    part: str | Code
    start: int
    end: int


def read_xml(path: Path, root: str) -> Decoded:
    """A whole file of XML whose outermost element is a `root`, found to be well-formed.

    Raises DataError as `XmlUnits.read` and `read_contents`.
    """
    check_xml(path, root, utf8_chunks(path))  # before all of it is in memory
    contents = read_contents(path)
    text = contents.data.decode()
    return Decoded(path, text, contents.encoding, contents.mark, "xmlcharrefreplace")


def tokens(text: str, start: int = 0, end: int | None = None) -> Iterator[Token]:
    """All pieces of a part of a text, in order; a tag that never ends is `other`."""
    end = len(text) if end is None else end
    for found in _MARKUP.finditer(text, start, end):
        if start < found.start():
            yield Token("text", start, found.start())
        start = found.end()
        kind = "comment" if found["comment"] is not None else "other"
        if found["cdata"] is not None:
            kind = "cdata"
        elif found["name"] and found[0].endswith(">"):
            kind = "end" if found["slash"] else "empty" if found[0].endswith("/>") else "start"
        yield Token(kind, *found.span(), (found["name"] or "").lower())
    if start < end:
        yield Token("text", start, end)


def attributes(text: str, tag: Token) -> dict[str, Value]:
    """Those of a tag that have a value, as written, by their names; HTML needs no quotes."""
    inside = _ATTRIBUTE.finditer(text, tag.start + 1 + len(tag.name), tag.end)
    return {
        found[1].lower(): Value(found[group], *found.span(group))
        for found in inside
        for group in (found.lastindex or 0,)
    }


def piece(text: str, tag: Token, *, void: bool = False) -> MarkupPiece:
    """A tag as a code: in short for the model, as it is written for the file."""
    shown = f"</{tag.name}>" if tag.kind == "end" else f"<{tag.name}>"
    if void or tag.kind == "empty":
        shown = f"<{tag.name}/>"
    return MarkupPiece(Code(shown, text[tag.start : tag.end]), tag.start, tag.end)


def whole(text: str, pieces: Sequence[MarkupPiece], start: int, end: int) -> MarkupPiece:
    """All that stands from a start to an end as one code, shown as what is in it."""
    shown = "".join(one.part if isinstance(one.part, str) else one.part.text for one in pieces)
    return MarkupPiece(Code(shown.strip() or "<x/>", text[start:end]), start, end)


def unwrapped(text: str) -> str:
    """White space of any length is one space."""
    return _SPACE.sub(" ", text)


def text_pieces(text: str, token: Token, plain: Callable[[str], str]) -> Iterator[MarkupPiece]:
    """What stands between two tags, apart from the white space around it."""
    raw = text[token.start : token.end]
    inside = raw.strip(_SPACES)
    start = token.start + (len(raw) - len(raw.lstrip(_SPACES)) if inside else len(raw))
    for first, last in ((token.start, start), (start, start + len(inside)),
                        (start + len(inside), token.end)):  # fmt: skip
        if first < last:
            yield MarkupPiece(plain(text[first:last]), first, last)


def closings(some: Sequence[Token], void: Container[str] = ()) -> dict[int, int]:
    """The place of the tag that closes each one that is closed; `void` ones never are."""
    opened: dict[str, list[int]] = {}
    found: dict[int, int] = {}
    for n, one in enumerate(some):
        if one.kind == "start" and one.name not in void:
            opened.setdefault(one.name, []).append(n)
        elif one.kind == "end" and opened.get(one.name):
            found[opened[one.name].pop()] = n
    return found


def steps(
    some: Sequence[Token], stays: Callable[[Token], bool], void: Container[str] = ()
) -> Iterator[tuple[int, Token, int]]:
    """Each piece, and which one closes it where all that is in it `stays` as it is."""
    ends, n = closings(some, void), 0
    while n < len(some):
        one, last = some[n], n
        if one.kind == "start" and n in ends and stays(one):
            last = ends[n]
        yield n, one, last
        n = last + 1


def not_too_many(
    pieces: Sequence[MarkupPiece], most: int = _MOST_CODES
) -> Iterator[Sequence[MarkupPiece]]:
    """The pieces of one text; where more than `most` of them are codes, those of each text between
    two codes."""
    if sum(isinstance(one.part, Code) for one in pieces) <= most:
        yield pieces
        return
    for is_code, some in groupby(pieces, key=lambda one: isinstance(one.part, Code)):
        if not is_code:
            yield list(some)


def trimmed(pieces: Sequence[MarkupPiece]) -> Sequence[MarkupPiece]:
    """Without white space and codes around all of the text: those stay where they are."""
    codes = [n for n, one in enumerate(pieces) if isinstance(one.part, Code)]
    if len(codes) > _MOST_CODES:
        return ()
    texts = [one.part.text for one in pieces if isinstance(one.part, Code)]
    pairs = {codes[one]: codes[other] for one, other in partners(texts).items()}
    closed = {other: one for one, other in pairs.items()}
    first, last = 0, len(pieces) - 1
    while first <= last:
        begin, end = pieces[first].part, pieces[last].part
        if first not in pairs and (isinstance(begin, Code) or not begin.strip()):
            first += 1
        elif last not in closed and (isinstance(end, Code) or not end.strip()):
            last -= 1
        elif pairs.get(first) == last:
            first, last = first + 1, last - 1
        else:
            break
    return pieces[first : last + 1]


def joined(pieces: Sequence[MarkupPiece]) -> tuple[Segment, int, int]:
    """One segment of several pieces, without what is around it, and where it begins and ends."""
    pieces = trimmed(pieces)
    segment = Segment.of(one.part for one in pieces)
    return segment, *((pieces[0].start, pieces[-1].end) if pieces else (0, 0))


def writer(escape: Callable[[str], str]) -> Callable[[Segment], str]:
    """Writes a segment: its codes as they stood, its text escaped."""

    def write(new: Segment) -> str:
        return "".join(
            p.raw if isinstance(p, Code) and p.raw else escape(_text(p)) for p in new.parts
        )

    return write


def _text(part: str | Code) -> str:
    return part if isinstance(part, str) else part.text


def escaped(text: str) -> str:
    """A text as XML and HTML have it; characters that neither allows are left out."""
    return _NOT_XML.sub("", text).translate(_ESCAPES)
