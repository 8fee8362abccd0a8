"""Markdown: paragraphs, headings, lists and tables; code, front matter and addresses stay."""

import re
from collections.abc import Iterator, Sequence
from functools import cache, partial
from typing import Any, NamedTuple

from headway.core.errors import ConfigError
from headway.localization.formats.html_files import page_entries
from headway.localization.formats.markup import MarkupPiece, joined
from headway.localization.formats.spans import Decoded, Entry, Lines, one_language, read_decoded
from headway.localization.placeholders.segments import Code, Segment

_END = r"(?:\r\n?|\n)"
"""Of a line, as markdown-it has it."""
_FRONT = re.compile(
    rf"(---|\+\+\+)[ \t]*{_END}.*?{_END}(?:\1|\.\.\.)[ \t]*(?:{_END}|\Z)", re.DOTALL
)
_NOTE = re.compile(r"\[\^[^\]\s]{1,60}\]:?|^\[[ xX]\](?=\s)")
"""A footnote's mark, and the box of a task."""
_CELLS = "th_open", "td_open"
_MARK = re.compile("</?(?:em|strong|s)>")
_TO_ESCAPE = re.compile(r"[\\`*_\[\]<>&~|]")


class _Span(NamedTuple):
    start: int
    end: int
    tokens: Sequence[Any]
    inside: Sequence["_Span"]


@cache
def _parser() -> Any:
    try:
        from markdown_it import MarkdownIt
        from markdown_it.parser_inline import ParserInline
    except ImportError:
        raise ConfigError(
            "Markdown files need markdown-it-py, which is not installed: pip install "
            "'headway[files]'"
        ) from None

    class Watched(ParserInline):
        """Tells where each token comes from, which markdown-it does not."""

        def tokenize(self, state: Any) -> None:
            rules, spans, end = self.ruler.getRules(""), state.env.get("spans", []), state.posMax
            while state.pos < end:
                start, n_before, mark = state.pos, len(state.tokens), len(spans)
                deep = state.level >= state.md.options["maxNesting"]
                if deep or not any(rule(state, False) for rule in rules):
                    state.pending += state.src[start]
                    state.pos += 1
                span = _Span(start, state.pos, state.tokens[n_before:], spans[mark:])
                spans[mark:] = [span]
            if state.pending:
                state.pushPending()

    parser = MarkdownIt("commonmark")
    parser.inline = Watched()
    parser.inline.ruler2.disable("fragments_join")
    parser.enable(["table", "strikethrough"])
    parser.core.ruler.disable(["inline", "text_join"])
    return parser


def _entries(decoded: Decoded, _language: str | None) -> list[Entry | str]:
    lines, found = Lines(decoded.text), list(_unsorted(decoded))
    entries = [one for one in found if isinstance(one, Entry)]
    entries.sort(key=lambda entry: (entry.start, -entry.end))
    left = [one for one in found if isinstance(one, str)]
    return [*left, *(entry._replace(line=lines.at(entry.start)) for entry in entries)]


def _unsorted(decoded: Decoded) -> Iterator[Entry | str]:
    front = _FRONT.match(decoded.text)
    begin = front.end() if front else 0
    ends = re.finditer(_END, decoded.text[begin:])
    starts = [begin, *(begin + found.end() for found in ends)]
    starts.append(len(decoded.text))
    known: dict[str, Any] = {}
    blocks = _parser().parse(decoded.text[begin:], known)
    found_to = dict[int, int]()
    for before, block in zip([None, *blocks], blocks, strict=False):
        if block.type == "html_block":
            yield from page_entries(decoded, starts[block.map[0]], starts[block.map[1]])
        if block.type != "inline" or not block.map or before is None:
            continue
        places = _places(decoded.text, starts, block, found_to, in_table=before.type in _CELLS)
        if places is None:
            yield "crowded_line"
            continue
        pieces = []
        for part, start, end in _inline(block.content, known):
            first, last = places[start], places[end]
            raw = decoded.text[first:last]
            code = Code(part.text, raw) if isinstance(part, Code) else part
            pieces.append(MarkupPiece(code, first, last))
        segment, start, end = joined(pieces)
        if not segment.blank:
            write = partial(_written, before.type, known)
            yield Entry(segment, 0, start, end, write)


def _places(
    text: str, starts: Sequence[int], block: Any, found_to: dict[int, int], *, in_table: bool
) -> list[int] | None:
    """Where each character of a block's content stands; None where it stands nowhere as it is.

    `found_to` remembers how far cells were found in a line, where a bar is behind a backslash.
    """
    places = list[int]()
    for n, line in enumerate(block.content.split("\n"), start=block.map[0]):
        if n + 1 >= len(starts):
            return None
        raw = text[starts[n] : starts[n + 1]].rstrip(
            "\r\n \t" if not line.endswith(" ") else "\r\n"
        )
        bars = {found.end() - 1 for found in re.finditer(r"\\\|", raw)} if in_table else set()
        kept = [at for at in range(len(raw) + 1) if at not in bars]
        raw = raw.replace("\\|", "|") if in_table else raw
        if block.map[1] - block.map[0] > 1 and raw.endswith(line):
            place = len(raw) - len(line)
        else:
            place = raw.find(line, found_to.get(n, 0))
        if place < 0:
            return None
        found_to[n] = place + len(line)
        places += (starts[n] + at for at in kept[place : place + len(line) + 1])
    return places


def _inline(content: str, known: dict[str, Any]) -> list[MarkupPiece]:
    """Text and codes of a paragraph; places are those in it."""
    env = {**known, "spans": list[_Span]()}
    parser = _parser()
    parser.inline.parse(content, parser, env, [])
    pieces, text_from = list[MarkupPiece](), -1
    for piece in (
        *_of_spans(content, env["spans"]),
        MarkupPiece(Code(""), len(content), len(content)),
    ):
        if piece.part == content[piece.start : piece.end]:  # as it stands there
            text_from = piece.start if text_from < 0 else text_from
            continue
        if text_from >= 0:
            pieces += _with_notes(content, text_from, piece.start)
            text_from = -1
        pieces.append(piece)
    return pieces[:-1]


def _with_notes(content: str, start: int, end: int) -> Iterator[MarkupPiece]:
    """Text, with the marks of notes and tasks as codes."""
    for note in _NOTE.finditer(content, start, end):
        if start < note.start():
            yield MarkupPiece(content[start : note.start()], start, note.start())
        yield MarkupPiece(Code(note[0]), *note.span())
        start = note.end()
    if start < end:
        yield MarkupPiece(content[start:end], start, end)


def _of_spans(content: str, spans: Sequence[_Span]) -> Iterator[MarkupPiece]:
    for n, (start, end, tokens, inside) in enumerate(spans):
        kind = tokens[-1].type if tokens else "text"
        following = spans[n + 1].tokens[-1:] if n + 1 < len(spans) else []
        if not tokens:
            breaks = bool(following) and following[0].type in ("softbreak", "hardbreak")
            text = content[start:end].rstrip(" ") if breaks else content[start:end]
            if text:
                yield MarkupPiece(text, start, start + len(text))
        elif kind in ("softbreak", "hardbreak"):
            first = len(content[:start].rstrip(" "))
            yield MarkupPiece(" " if kind == "softbreak" else Code("<br/>"), first, end)
        elif kind == "text_special":
            yield MarkupPiece(tokens[-1].content, start, end)
        elif kind == "image" and tokens[-1].content:
            behind = start + 2 + len(tokens[-1].content)
            yield MarkupPiece(Code("!["), start, start + 2)
            yield MarkupPiece(tokens[-1].content, start + 2, behind)
            yield MarkupPiece(Code("](x)"), behind, end)
        elif kind == "link_close" and tokens[-2].type == "link_open":  # without a text
            yield MarkupPiece(Code("["), start, start + 1)
            yield MarkupPiece(Code("](x)"), start + 1, end)
        elif kind == "link_close" and inside:
            yield MarkupPiece(Code("["), start, start + 1)
            yield from _of_spans(content, inside)
            yield MarkupPiece(Code("](x)"), inside[-1].end, end)
        elif content[start] in "*_~" and kind not in ("code_inline", "html_inline"):
            yield from _of_marks(content, start, end, tokens)
        else:
            yield MarkupPiece(Code(content[start:end]), start, end)


def _of_marks(content: str, start: int, end: int, tokens: Sequence[Any]) -> Iterator[MarkupPiece]:
    """Of a row of `*`, `_` or `~` those that mark text as codes; the others are text."""
    width = 2 if content[start] == "~" else 1
    odd = (end - start) % width
    lengths = [1] * odd + [width] * ((end - start) // width)
    some = tokens[len(tokens) - len(lengths) :]
    n = 0
    while n < len(some):
        token, stop = some[n], start + lengths[n]
        two = [one.type for one in some[n : n + 2] if one.type != "text" or not one.content]
        if two in (["text", "strong_open"], ["strong_close", "text"]):
            token, stop, n = (
                next(one for one in some[n : n + 2] if one.type != "text"),
                stop + 1,
                n + 1,
            )
        if token.type != "text":
            name = f"{'/' if token.nesting < 0 else ''}{token.tag}"
            yield MarkupPiece(Code(f"<{name}>"), start, stop)
        elif token.content:
            yield MarkupPiece(content[start:stop], start, stop)
        start, n = stop, n + 1


def _written(kind: str, known: dict[str, Any], new: Segment) -> str:
    """A text as it is read again as itself: with as few escapes as that takes."""
    parts = _worded(new)
    in_table = kind in _CELLS

    def tried(parts: Sequence[str | Code], pattern: re.Pattern[str] | None) -> str:
        written = ""
        for part in parts:
            if isinstance(part, Code):
                written += part.raw or part.text
                continue
            text = pattern.sub(r"\\\g<0>", part) if pattern else part
            written += text.replace("|", "\\|") if in_table and not pattern else text
        return written

    # Markdown's own marks do not close between a Chinese full stop and a character
    tagged = [
        Code(part.text, part.text)
        if isinstance(part, Code) and _MARK.fullmatch(part.text)
        else part
        for part in parts
    ]
    for some in (parts, tagged):
        for pattern in (None, _TO_ESCAPE):
            plain = tried(some, pattern)
            for written in (plain, _begun(plain)):
                if _is_read(kind, known, written, some):
                    return written
    return _begun(tried(parts, _TO_ESCAPE))


def _worded(new: Segment) -> list[str | Code]:
    """Without line ends, and without marks around nothing, which would be read as text."""
    parts: list[str | Code] = []
    for part in new.parts:
        last = parts[-1] if parts else None
        if isinstance(part, str):
            parts.append(part.replace("\n", " "))
        elif (
            isinstance(last, Code)
            and _MARK.fullmatch(last.text)
            and (part.text == f"</{last.text[1:]}")
        ):
            parts.pop()
        else:
            parts.append(part)
    return list(Segment.of(parts).parts)


def _begun(written: str) -> str:
    """Text of which the beginning is no mark of a list, a heading or a quotation."""
    if number := re.match(r"\d{1,9}(?=[.)])", written):
        return f"{number[0]}\\{written[number.end() :]}"
    return f"\\{written}" if written[:1] in tuple("-+#>=~`*_:|") else written


def _is_read(kind: str, known: dict[str, Any], written: str, parts: Sequence[str | Code]) -> bool:
    content = written.strip()
    if kind in ("paragraph_open", "heading_open"):
        blocks = _parser().parse("# " * (kind == "heading_open") + written, {**known})
        if len(blocks) != 3 or blocks[1].type != "inline" or blocks[1].content != content:
            return False
    elif kind in _CELLS:
        content = content.replace("\\|", "|")
    found = [
        content[piece.start : piece.end] if isinstance(piece.part, Code) else piece.part
        for piece in _inline(content, known)
    ]
    wanted = [part.raw or part.text if isinstance(part, Code) else part for part in parts]
    n_codes = sum(isinstance(piece.part, Code) for piece in _inline(content, known))
    whole = "".join(wanted).strip()
    whole = whole.replace("\\|", "|") if kind in _CELLS else whole
    return "".join(found) == whole and n_codes == sum(isinstance(part, Code) for part in parts)


open_document = one_language(read_decoded, _entries)
