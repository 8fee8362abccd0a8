"""Resources of .NET (`.resx`): the texts among them are to be translated."""

from collections.abc import Iterator, Sequence
from functools import partial
from html import unescape

from headway.localization.formats.markup import (
    MarkupPiece,
    Token,
    attributes,
    closings,
    escaped,
    joined,
    piece,
    read_xml,
    text_pieces,
    tokens,
    unwrapped,
    writer,
)
from headway.localization.formats.spans import Decoded, Entry, Lines, one_language


def _entries(decoded: Decoded, _language: str | None) -> Iterator[Entry]:
    """The texts; numbers, pictures and what begins with `>>` are none."""
    text, lines = decoded.text, Lines(decoded.text)
    newline = "\r\n" if "\r\n" in text else "\n"
    write = writer(lambda part: escaped(part).replace("\n", newline))
    some = list(tokens(text))
    ends = closings(some)
    for n, one in enumerate(some):
        if one.kind != "start" or one.name != "data":
            continue
        values = attributes(text, one)
        name = unescape(values["name"].text) if "name" in values else ""
        inside = some[n + 1 : ends[n]]
        value, comment = (_child(text, inside, child) for child in ("value", "comment"))
        if (
            name
            and value is not None
            and not (name[:2] == ">>" or {"type", "mimetype"} & {*values})
        ):
            segment, start, end = joined(value)
            remark = unwrapped(joined(comment or [])[0].text)
            remarks = (remark,) if remark else ()
            yield Entry(segment, lines.at(one.start), start, end, write, name, remarks=remarks)


def _child(text: str, some: Sequence[Token], name: str) -> list[MarkupPiece] | None:
    """What stands in the first element of a name."""
    found = next((n for n, one in enumerate(some) if one.name == name), None)
    if found is None:
        return None
    return [
        one
        for token in some[found + 1 : closings(some).get(found, found)]
        for one in (
            text_pieces(text, token, lambda raw: unescape(raw).replace("\r\n", "\n"))
            if token.kind == "text"
            else [piece(text, token)]
        )
    ]


open_document = one_language(partial(read_xml, root="root"), _entries)
