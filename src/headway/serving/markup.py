"""Texts with tags in them: what is to be translated of a piece of HTML or XML, and the piece again,
byte for byte but for that."""

from collections.abc import Container, Iterator, Sequence
from functools import partial
from html import unescape
from pathlib import Path
from typing import Literal

from headway.languages.codes import base
from headway.localization.formats.documents import Edit, edited
from headway.localization.formats.html_files import named_languages, page_entries
from headway.localization.formats.markup import (
    MarkupPiece,
    Token,
    attributes,
    escaped,
    joined,
    not_too_many,
    piece,
    steps,
    text_pieces,
    tokens,
    whole,
    writer,
)
from headway.localization.formats.spans import Decoded, Entry, nested_as
from headway.localization.placeholders.segments import Segment
from headway.serving.xml_outline import NO_TAGS, XmlTags, text_ends

MOST_CODES = 100
"""Tags in one text of XML: of more, what stands between two of them is a text by itself."""


class MarkupText:
    """A piece of HTML or XML, perhaps without anything around it, and the texts in it."""

    def __init__(
        self, text: str, kind: Literal["html", "xml"], xml_tags: XmlTags = NO_TAGS
    ) -> None:
        """`xml_tags` are of XML."""
        self.text, self.kind = text, kind
        if kind == "html":
            self._entries = page_entries(Decoded(Path(), text))
        else:
            self._entries = list(_xml_entries(text, xml_tags.in_lower_case()))

    @property
    def segments(self) -> list[Segment]:
        """What is to be translated, in order."""
        return [entry.segment for entry in self._entries]

    @property
    def bare(self) -> str:
        """What a reader sees, to tell the language by."""
        return " ".join(one.outside_codes for one in self.segments).strip()

    def written(
        self, translations: Sequence[Segment], source: str | None, target: str | None
    ) -> str:
        """The whole with these in the places of its texts. What says in HTML that it is in the
        `source` language then says that it is in the `target` language."""
        edits = [
            Edit(one.start, one.end, one.write(nested_as(new, one.segment)), one.tag)
            for one, new in zip(self._entries, translations, strict=True)
            if new != one.segment
        ]
        if self.kind == "html" and target:
            edits += [
                Edit(value.start, value.end, target, (tag.start, tag.end))
                for tag, value in named_languages(self.text)
                if source and base(value.text) == base(source)
            ]
        return edited(self.text, edits)


def _xml_entries(text: str, tags: XmlTags) -> Iterator[Entry]:
    """Its texts, as `text_ends` has them, the tags in them as codes; of too many tags, what is
    between them."""
    some, stays = list(tokens(text)), partial(_stays, text, tags.ignored)
    parting, beginning = text_ends(text, some, stays, tags)
    pieces = list[MarkupPiece]()
    for n, one, last in steps(some, stays):
        if n in parting or n in beginning:
            yield from _text_of(pieces)
            pieces = []
        if n in parting and last == n:
            continue
        if one.kind == "text":
            pieces += text_pieces(text, one, unescape)
        elif last > n:
            texts = (t for t in some[n + 1 : last] if t.kind == "text")
            inside = [p for t in texts for p in text_pieces(text, t, unescape)]
            pieces.append(whole(text, inside, one.start, some[last].end))
        elif one.kind in ("start", "end", "empty"):
            pieces.append(piece(text, one))
        else:
            pieces.append(whole(text, (), one.start, one.end))
    yield from _text_of(pieces)


def _text_of(pieces: Sequence[MarkupPiece]) -> Iterator[Entry]:
    write = writer(escaped)
    for some_pieces in not_too_many(pieces, MOST_CODES):
        segment, start, end = joined(some_pieces)
        if not segment.blank:
            yield Entry(segment, 0, start, end, write)


def _stays(text: str, ignored: Container[str], tag: Token) -> bool:
    if tag.name in ignored:
        return True
    values = attributes(text, tag)
    return "translate" in values and values["translate"].text == "no"
