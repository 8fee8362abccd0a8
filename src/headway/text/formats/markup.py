"""Tags in a text (HTML, and XML that was found to be well-formed): where each stands, and texts
between them as segments with codes."""

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from headway.text.code_patterns import partners
from headway.text.formats.segments import Code, Segment
from headway.text.formats.spans import Decoded
from headway.text.formats.xml_encoding import read_contents, utf8_chunks
from headway.text.formats.xml_events import XmlEvents

_ATTRIBUTES = r"""(?:[^>=]++|=\s*+(?:"[^"]*+"|'[^']*+')?+)*+"""
_MARKUP = re.compile(
    r"<!--(?P<comment>.*?)(?:-->|\Z)|<!\[CDATA\[(?P<cdata>.*?)(?:\]\]>|\Z)|<[!?][^>]*>"
    rf"|<(?P<slash>/?)(?P<name>[A-Za-z_][^\s/>]*){_ATTRIBUTES}>",
    re.DOTALL,
)
_ATTRIBUTE = re.compile(r"""([^\s/>="'<]+)\s*=\s*(?:"([^"]*)"|'([^']*)')""")
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
    """What an attribute has between its quotes, and where."""

    text: str
    start: int
    end: int


class Piece(NamedTuple):
    """A part of a segment, and where it stands in the file."""

    part: str | Code
    start: int
    end: int


def read_xml(path: Path, root: str) -> Decoded:
    """A whole file of XML whose outermost element is a `root`, found to be well-formed.

    Raises:
        DataError: as `XmlEvents.run` and `read_contents`.
    """
    events = XmlEvents(path, root)
    events.tell(lambda _name, _attributes: None, lambda _name: None)
    for _ in events.run(utf8_chunks(path)):
        pass  # what is to be refused is, before all of it is in memory
    contents = read_contents(path)
    text, (encoding, mark) = contents.data.decode(), contents.encoding
    return Decoded(path, text, encoding, mark, "xmlcharrefreplace")


def tokens(text: str, start: int = 0, end: int | None = None) -> Iterator[Token]:
    """All pieces of a part of a text, in order; a tag that is never closed is text."""
    end = len(text) if end is None else end
    for found in _MARKUP.finditer(text, start, end):
        if start < found.start():
            yield Token("text", start, found.start())
        start = found.end()
        kind = "comment" if found["comment"] is not None else "other"
        if found["cdata"] is not None:
            kind = "cdata"
        elif found["name"]:
            kind = "end" if found["slash"] else "empty" if found[0].endswith("/>") else "start"
        yield Token(kind, *found.span(), (found["name"] or "").lower())
    if start < end:
        yield Token("text", start, end)


def attributes(text: str, tag: Token) -> dict[str, Value]:
    """Those of a tag whose values stand between quotes, as written, by their names."""
    inside = _ATTRIBUTE.finditer(text, tag.start + 1 + len(tag.name), tag.end)
    return {
        found[1].lower(): Value(found[group], *found.span(group))
        for found in inside
        for group in (2 if found[2] is not None else 3,)
    }


def piece(text: str, tag: Token, *, void: bool = False) -> Piece:
    """A tag as a code: in short for the model, as it is written for the file."""
    shown = f"</{tag.name}>" if tag.kind == "end" else f"<{tag.name}>"
    if void or tag.kind == "empty":
        shown = f"<{tag.name}/>"
    return Piece(Code(shown, text[tag.start : tag.end]), tag.start, tag.end)


def whole(text: str, pieces: Sequence[Piece], start: int, end: int) -> Piece:
    """All that stands from a start to an end as one code, shown as what is in it."""
    shown = "".join(one.part if isinstance(one.part, str) else one.part.text for one in pieces)
    return Piece(Code(shown.strip() or "<x/>", text[start:end]), start, end)


def unwrapped(text: str) -> str:
    """White space of any length is one space."""
    return _SPACE.sub(" ", text)


def text_pieces(text: str, token: Token, plain: Callable[[str], str]) -> Iterator[Piece]:
    """What stands between two tags, apart from the white space around it."""
    raw = text[token.start : token.end]
    inside = raw.strip(_SPACES)
    start = token.start + (len(raw) - len(raw.lstrip(_SPACES)) if inside else len(raw))
    for first, last in ((token.start, start), (start, start + len(inside)),
                        (start + len(inside), token.end)):  # fmt: skip
        if first < last:
            yield Piece(plain(text[first:last]), first, last)


def closing(some: Sequence[Token], place: int) -> int:
    """The place of the tag that closes the one at this place; of the last one if none does."""
    depth = 0
    for n in range(place, len(some)):
        depth += {"start": 1, "end": -1}.get(some[n].kind, 0) * (some[n].name == some[place].name)
        if depth == 0:
            return n
    return len(some) - 1


def trimmed(pieces: Sequence[Piece]) -> Sequence[Piece]:
    """Without white space and codes around all of the text: those stay where they are."""
    while pieces:
        first, last = pieces[0].part, pieces[-1].part
        pairs = partners([one.part.text for one in pieces if isinstance(one.part, Code)])
        n_codes = sum(isinstance(one.part, Code) for one in pieces)
        if isinstance(first, str) and not first.strip():
            pieces = pieces[1:]
        elif isinstance(last, str) and not last.strip():
            pieces = pieces[:-1]
        elif isinstance(first, Code) and 0 not in pairs:
            pieces = pieces[1:]
        elif isinstance(last, Code) and n_codes - 1 not in pairs.values():
            pieces = pieces[:-1]
        elif isinstance(first, Code) and pairs.get(0) == n_codes - 1 and isinstance(last, Code):
            pieces = pieces[1:-1]
        else:
            break
    return pieces


def joined(pieces: Sequence[Piece]) -> tuple[Segment, int, int]:
    """One segment of several pieces, without what is around it, and where it begins and ends."""
    parts: list[str | Code] = []
    pieces = trimmed(pieces)
    for one, _, _ in pieces:
        if isinstance(one, str) and parts and isinstance(last := parts[-1], str):
            parts[-1] = last + one
        else:
            parts.append(one)
    return Segment(tuple(parts)), *((pieces[0].start, pieces[-1].end) if pieces else (0, 0))


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
