"""Segments cut into what a model takes: the lines of a text, and the sentences of a long line."""

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from headway.core.cleaning import clean
from headway.languages.sentences import CODE, LINE_SPACE, sentence_ends, space_between
from headway.localization.placeholders.own_codes import OwnPattern
from headway.localization.placeholders.patterns import find, hidden, partners
from headway.localization.placeholders.segments import Code, Segment

_SPACE = re.compile(r"\s+")
_MAY_BREAK = re.compile(r"<(?:br|x)\b[^<>]*+>", re.IGNORECASE)
_TYPE = re.compile(r"""\bctype=["']lb["']""", re.IGNORECASE)


def lines_of(segment: Segment) -> list[Segment]:
    """The lines and columns of a segment, and the white space around and between them, as segments.

    Joined they are the segment again. A piece that is `blank` is not for translation.
    """
    text = flat(segment)
    positions = set[int]()
    for space in _SPACE.finditer(text):
        if (
            any(sign in LINE_SPACE for sign in space[0])
            or space.start() == 0
            or space.end() == len(text)
        ):
            positions |= {space.start(), space.end()}
    return cut_at(segment, positions)


def sentences_of(line: Segment, language: str | None = None) -> list[Segment]:
    """The sentences of a segment, and the white space between them, as segments.

    Joined they are the segment again. Codes behind a full stop belong to the sentence before it.
    """
    return pieces_at(line, sentence_ends(covered(line), language))


def pieces_at(segment: Segment, ends: Iterable[int]) -> list[Segment]:
    """A segment cut at these places of its `flat` text; white space behind each stands alone.

    Joined they are the segment again. A code whose partner is in another piece stands alone too,
    where it is the first or last of its piece: so bold sentences stay bold from first to last.
    A code that breaks the line (`<br>`) is white space here.
    """
    text = "".join(part if isinstance(part, str) else _sign(part) for part in segment.parts)
    positions = set[int]()
    for end in ends:
        space = _SPACE.match(text, end)
        positions |= {end, space.end() if space else end}
    positions -= {0, len(text)}
    if positions and segment.codes:
        positions |= _around_parted_codes(segment, text, sorted(positions))
    return cut_at(segment, positions)


def _around_parted_codes(segment: Segment, text: str, ends: Sequence[int]) -> set[int]:
    """Both sides of codes at the edge of a piece whose partner is in another one."""
    places = [n for n, part in _placed(segment) if not isinstance(part, str)]
    pairs = partners([code.text for code in segment.codes])
    edges = {0, *ends, len(text)}
    found = set[int]()
    for opening, closing in pairs.items():
        first, last = places[opening], places[closing]
        if bisect_right(ends, first) == bisect_right(ends, last):
            continue
        if first in edges:
            found |= {first, first + 1}
        if last + 1 in edges:
            found |= {last, last + 1}
    return found


def _placed(segment: Segment) -> Iterator[tuple[int, str | Code]]:
    """Each part and where it begins in the `flat` text."""
    place = 0
    for part in segment.parts:
        yield place, part
        place += len(part) if isinstance(part, str) else 1


def joined(pieces: Iterable[Segment]) -> Segment:
    return Segment.of(part for piece in pieces for part in piece.parts)


def joined_translations(pieces: Sequence[tuple[Segment, Segment]]) -> Segment:
    """Each piece's translation, one behind the other; blank pieces are their own.

    White space between two of them is as the target language writes it: see `space_between`.
    """
    worded = [place for place, (source, _) in enumerate(pieces) if not source.blank]
    parts = [translation for _, translation in pieces]
    for one, other in pairwise(worded):
        left, right = parts[one].text.rstrip(), parts[other].text.lstrip()
        between = range(one + 1, other)
        spaces = [place for place in between if parts[place].text.isspace()]
        if len(spaces) < len(between):  # a line of signs or codes: its own ends stay around it
            continue
        space = "".join(parts[place].text for place in spaces)
        for place in spaces:
            parts[place] = Segment()
        written = space_between(space, left, right)
        if written:
            place = spaces[0] if spaces else one
            before = [parts[one]] if place == one else []
            parts[place] = joined([*before, Segment((written,))])
    return joined(parts)


def flat(segment: Segment) -> str:
    """Its text with one character for each code."""
    return "".join(part if isinstance(part, str) else CODE for part in segment.parts)


def covered(segment: Segment, own: Sequence[OwnPattern] = ()) -> str:
    """The same length as `flat`, with the codes in its text hidden as well; `own` are a user's. A
    code that breaks the line is a space: a sentence may end before it."""
    return "".join(
        hidden(part, CODE, own) if isinstance(part, str) else _sign(part) for part in segment.parts
    )


def with_line_breaks(segment: Segment, own: Sequence[OwnPattern] = ()) -> Segment:
    """The same with each `<br>` in its text as a code."""

    def breaks(text: str) -> list[tuple[int, int]]:
        codes = find(text, own) if _MAY_BREAK.search(text) else []
        return [(start, end) for start, end, _ in codes if _breaks_the_line(text[start:end])]

    return segment.with_codes(breaks)


def _sign(code: Code) -> str:
    return " " if any(map(_breaks_the_line, code)) else CODE


def _breaks_the_line(code: str) -> bool:
    """`<br>`, or `<x ctype="lb"/>` of XLIFF."""
    is_tag = _MAY_BREAK.fullmatch(code) is not None
    return is_tag and (code[:3].lower() == "<br" or _TYPE.search(code) is not None)


def cut_at(segment: Segment, positions: set[int]) -> list[Segment]:
    """The segment in pieces; positions are those of `flat`."""
    ends = sorted(positions)
    pieces: list[Segment] = []
    parts: list[str | Code] = []
    offset = 0
    for part in segment.parts:
        length = len(part) if isinstance(part, str) else 1
        inside = ends[bisect_right(ends, offset) : bisect_left(ends, offset + length)]
        for start, stop in pairwise((0, *(end - offset for end in inside), length)):
            parts.append(part[start:stop] if isinstance(part, str) else part)
            if offset + stop in positions:
                pieces.append(Segment(tuple(parts)))
                parts = []
        offset += length
    return [*pieces, Segment(tuple(parts))] if parts else pieces


_SEVERAL_SPACES = re.compile("(  +)")
_LINE_END = re.compile(rf"(\r?\n|[{LINE_SPACE}\ufeff\u200e\u200f\u202a-\u202e\u2066-\u2069])")
"""Or a mark of the direction of writing, which nobody sees."""


class Trimmed(NamedTuple):
    """What is to be translated, and the white space around it, which stays."""

    before: str
    segment: Segment
    after: str


def stripped(segment: Segment) -> Trimmed:
    """A segment parted from the white space around it."""
    parts = list(segment.parts)
    before = after = ""
    while parts and isinstance(first := parts[0], str):
        before += first[: len(first) - len(first.lstrip())]
        parts[:1] = [first.lstrip()] if first.strip() else []
        if first.strip():
            break
    while parts and isinstance(last := parts[-1], str):
        after = last[len(last.rstrip()) :] + after
        parts[-1:] = [last.rstrip()] if last.strip() else []
        if last.strip():
            break
    return Trimmed(before, Segment(tuple(parts)), after)


def trimmed(segment: Segment) -> Trimmed:
    """The same with clean text; line ends and tabs inside of it become codes."""
    before, inside, after = stripped(segment)
    cleaned: list[str | Code] = []
    for part in inside.parts:
        cleaned += _cleaned(part) if isinstance(part, str) else [part]
    return Trimmed(before, Segment(tuple(cleaned)), after)


def restored(source: Segment, trimmed: Trimmed, translated: Segment) -> Segment:
    """The translation for the file, with the white space around what was trimmed."""
    inside = with_codes_of_source(source, translated)
    return Segment.of([trimmed.before, *inside.parts, trimmed.after])


def with_codes_of_source(source: Segment, translated: Segment) -> Segment:
    """Only the codes of `source`, the file's own, are codes; all others are text."""
    own = Counter(source.codes)
    parts = list[str | Code]()
    for part in translated.parts:
        is_own = not isinstance(part, str) and own[part] > 0
        if not isinstance(part, str):
            own[part] -= is_own
        parts.append(part if is_own or isinstance(part, str) else part.text)
    return Segment.of(parts)


def _cleaned(text: str) -> list[str | Code]:
    """As `clean`, but for white space at the ends, which parts what stands beside it, and for
    several spaces, which stay what they are."""
    parts: list[str | Code] = []
    for piece in _LINE_END.split(text):
        if _LINE_END.fullmatch(piece):
            parts.append(Code(piece))
            continue
        inside = (
            one if one.startswith("  ") else clean(f"|{one}|")[1:-1]
            for one in _SEVERAL_SPACES.split(piece)
        )  # fmt: skip
        parts += filter(None, ["".join(inside)])
    return parts
