r"""Strings of an Android app (`strings.xml`), with its own escapes (`\'`, `\n`) inside of XML's."""

import re
from collections.abc import Iterator, Sequence
from functools import partial
from html import unescape

from headway.localization.formats.key_values import paired_surrogates
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
    whole,
    writer,
)
from headway.localization.formats.spans import (
    Decoded,
    Entry,
    Lines,
    inserted,
    one_language,
    plural_entries,
)

_HOLDERS = ("string", "string-array", "plurals")
_REFERENCE = re.compile(r"[@?][\w.:+/-]+")
_ESCAPED = re.compile(r"\\u([0-9A-Fa-f]{4})|\\(.)|(\")|([ \t\r\n]+)", re.DOTALL)
_PLAIN = {"n": "\n", "t": "\t"}
_SHORT = {"\\": "\\\\", "'": "\\'", '"': '\\"', "\n": "\\n", "\t": "\\t"}
_OUTER = re.compile(r"\A +| +\Z|(?<= ) +")
_CDATA = len("<![CDATA["), len("]]>")


def _entries(decoded: Decoded, language: str | None) -> Iterator[Entry | str]:
    """Left are what is `translatable="false"`, and what only names another resource."""
    text, lines = decoded.text, Lines(decoded.text)
    some, n, comment = list(tokens(text)), 0, ""
    ends = closings(some)
    while n < len(some):
        one, first = some[n], n
        n += 1
        if one.kind == "comment":
            comment = text[one.start + 4 : one.end - 3].strip()
        if one.kind != "start" or one.name not in _HOLDERS:
            continue
        n = ends[first]
        values = attributes(text, one)
        name = values["name"].text if "name" in values else ""
        remarks, comment = (comment,) * bool(comment), ""
        inside = some[first:n] if one.name == "string" else some[first + 1 : n]
        items = _items(text, inside, "string" if one.name == "string" else "item")
        if "translatable" in values and values["translatable"].text == "false":
            yield from ("do_not_translate" for _ in items)
            continue
        group: dict[str, Entry] = {}
        for place, (form, content) in enumerate(items):
            at = lines.at(content[0].start) if content else 0
            key = name if one.name == "string" else f"{name}.{form or place}"
            entry = _entry(text, content, at, key, remarks)
            if one.name == "plurals" and isinstance(entry, Entry):
                group[form] = entry
            else:
                yield entry
        yield from plural_entries(group, language, partial(_added, text, inside, name, group))


def _items(text: str, some: Sequence[Token], name: str) -> list[tuple[str, Sequence[Token]]]:
    """The quantity of each element of a name, and what stands in it."""
    found, ends = [], closings(some)
    for n, one in enumerate(some):
        if one.kind == "start" and one.name == name:
            values = attributes(text, one)
            form = values["quantity"].text if "quantity" in values else ""
            end = ends[n] if name == "item" else len(some)
            found.append((form, some[n + 1 : end]))
    return found


def _entry(
    text: str, some: Sequence[Token], line: int, key: str, remarks: tuple[str, ...]
) -> Entry | str:
    raw = any(one.kind == "cdata" for one in some)
    segment, start, end = joined(list(_pieces(text, some)))
    if _REFERENCE.fullmatch(segment.text) and not text.startswith("\\", start):
        return "do_not_translate"
    in_markup = not raw or re.search(r"[&<]", text[start:end]) is not None
    write = writer(lambda part: _written(part, in_markup=in_markup))
    return Entry(segment, line, start, end, lambda new: _outer_kept(write(new)), key,
                 remarks=remarks)  # fmt: skip


def _pieces(text: str, some: Sequence[Token]) -> Iterator[MarkupPiece]:
    n, ends = 0, closings(some)
    while n < len(some):
        one = some[n]
        if one.kind == "text":
            yield from text_pieces(text, one, _unescaped)
        elif one.kind == "cdata":
            start, end = one.start + _CDATA[0], one.end - _CDATA[1]
            yield whole(text, (), one.start, start)
            yield from _pieces(text, list(tokens(text, start, end)))
            yield whole(text, (), end, one.end)
        elif one.kind == "start" and one.name == "xliff:g":
            last = ends[n]
            yield whole(text, list(_pieces(text, some[n + 1 : last])), one.start, some[last].end)
            n = last
        elif one.kind in ("comment", "other"):
            yield whole(text, (), one.start, one.end)
        else:
            yield piece(text, one)
        n += 1


def _unescaped(raw: str) -> str:
    quoted = False

    def plain(found: re.Match[str]) -> str:
        nonlocal quoted
        if found[1]:
            return chr(int(found[1], 16))
        if found[2]:
            return _PLAIN.get(found[2], found[2])
        if found[3]:
            quoted = not quoted
            return ""
        return found[4] if quoted else " "

    return paired_surrogates(_ESCAPED.sub(plain, unescape(raw)))


def _written(text: str, *, in_markup: bool = True) -> str:
    """With Android's escapes, and with those of XML but for between the marks of a CDATA section,
    which `]]>` would end."""
    text = "".join(_SHORT.get(sign, sign) for sign in text)
    return escaped(text) if in_markup else text.replace("]]>", "]]]]><![CDATA[>")


def _outer_kept(written: str) -> str:
    """White space that Android would take away is written as a number, and so is a first @ or ?."""
    written = _OUTER.sub(lambda spaces: "\\u0020" * len(spaces[0]), written)
    return "\\" + written if written.startswith(("@", "?")) else written


def _added(
    text: str, some: Sequence[Token], name: str, group: dict[str, Entry], form: str
) -> Entry:
    """An item for another quantity behind the last one, laid out as that is."""
    behind = max(entry.end for entry in group.values())
    last = next(n for n, one in enumerate(some) if one.start >= behind and one.name == "item")
    first = max(n for n in range(last) if some[n].kind == "start" and some[n].name == "item")
    space = text[some[first - 1].start : some[first].start] if first else ""
    before = f'{space if space.isspace() else ""}<item quantity="{form}">'
    write = writer(_written)
    return inserted(
        next(iter(group.values())).line, some[last].end, before,
        lambda new: _outer_kept(write(new)) + "</item>", f"{name}.{form}",
    )  # fmt: skip


open_document = one_language(partial(read_xml, root="resources"), _entries)
