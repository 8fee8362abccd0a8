"""Segments cut into what a model takes: the lines of a text, and the sentences of a long line."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from itertools import pairwise

from headway.text.memories.segments import Code, Segment

_CODE = "\ufffc"
"""Stands for a code while a text is looked through."""

_SPACE = re.compile(r"\s+")
_SENTENCE_END = re.compile(
    rf"""(?<![.?!…])[.?!…]++["'”’»)\]]*+{_CODE}*+(?=\s)"""  # a space must follow
    rf"|(?<![。？！])[。？！]++[”’」』）】]*+{_CODE}*+"
)


def lines_of(segment: Segment) -> list[Segment]:
    """The lines of a segment, and the white space around and between them, as segments.

    Joined they are the segment again. A piece that is `blank` is not for translation.
    """
    text = _flat(segment)
    positions = set[int]()
    for space in _SPACE.finditer(text):
        if "\n" in space[0] or space.start() == 0 or space.end() == len(text):
            positions |= {space.start(), space.end()}
    return _cut(segment, positions)


def sentences_of(line: Segment) -> list[Segment]:
    """The sentences of a segment, and the white space between them, as segments.

    Joined they are the segment again. Codes behind a full stop belong to the sentence before it.
    """
    text = _flat(line)
    positions = set[int]()
    for end in _SENTENCE_END.finditer(text):
        space = _SPACE.match(text, end.end())
        positions |= {end.end(), space.end() if space else end.end()}
    return _cut(line, positions)


def joined(pieces: Iterable[Segment]) -> Segment:
    """One segment of several."""
    parts: list[str | Code] = []
    for piece in pieces:
        for part in piece.parts:
            last = parts[-1] if parts else None
            if isinstance(part, str) and isinstance(last, str):
                parts[-1] = last + part
            else:
                parts.append(part)
    return Segment(tuple(parts))


def _flat(segment: Segment) -> str:
    """Its text with one character for each code."""
    return "".join(part if isinstance(part, str) else _CODE for part in segment.parts)


def _cut(segment: Segment, positions: set[int]) -> list[Segment]:
    """The segment in pieces; positions are those of `_flat`."""
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
