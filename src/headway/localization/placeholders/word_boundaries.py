"""Tags of an output stand between its words, unless the source has some inside of a word."""

import re
from collections import Counter
from collections.abc import Iterator

from headway.languages.scripts import UNSPACED
from headway.localization.placeholders.patterns import frame, kind_of
from headway.localization.placeholders.segments import Code, Segment

_WORD = re.compile(
    rf"(?<!\d)\d++(?:[.,:]\d+)+|[{UNSPACED}]|[^\W{UNSPACED}]+(?:['’][^\W{UNSPACED}]+)*|\S"
)
_OTHER = "\ufffc"
"""Stands for a code that is no tag: a sign by itself."""


def inside_words(segment: Segment) -> Counter[Code]:
    """The tags of a parsed segment that stand inside of a word or number."""
    return Counter(code for code, _, word in _tags(segment) if word)


def at_boundaries(source: Segment, output: Segment) -> Segment:
    """The parsed output with each such tag moved: what opens to the beginning of its word, others
    to its end. As many as stand inside of words in the source may."""
    placed = list(_tags(output))
    if not any(word for *_, word in placed):
        return output
    allowed = inside_words(source)
    moved: list[tuple[int, Code]] = []
    last = 0
    for code, at, word in placed:
        place = at
        if word and allowed[code]:
            allowed[code] -= 1
        elif word:
            role = frame(code.text)
            place = word[0] if role and role.opens and not role.closes else word[1]
        last = max(last, place)
        moved.append((last, code))
    unchanged = moved == [(at, code) for code, at, _ in placed]
    return output if unchanged else _with_tags(output, moved)


def _is_tag(part: str | Code) -> bool:
    return isinstance(part, Code) and kind_of(part.text) == "tag"


def _tags(segment: Segment) -> Iterator[tuple[Code, int, tuple[int, int] | None]]:
    """Each tag, its place in the text without tags, and the word that it stands in, if so."""
    if not any(map(_is_tag, segment.parts)):
        return
    text = "".join(part if isinstance(part, str) else _OTHER * (not _is_tag(part))
                   for part in segment.parts)  # fmt: skip
    words = [match.span() for match in _WORD.finditer(text)]
    at = 0
    for part in segment.parts:
        if isinstance(part, Code) and _is_tag(part):
            yield part, at, next((word for word in words if word[0] < at < word[1]), None)
        else:
            at += len(part) if isinstance(part, str) else 1


def _with_tags(segment: Segment, placed: list[tuple[int, Code]]) -> Segment:
    """All but the tags of a segment, with these before the given characters of its text."""
    parts: list[str | Code] = []
    left, at = list(placed), 0
    for part in segment.parts:
        if _is_tag(part):
            continue
        size = len(part) if isinstance(part, str) else 1
        start = 0
        while left and left[0][0] < at + size:
            place, code = left.pop(0)
            if isinstance(part, str):
                parts += [part[start : place - at]] * (place - at > start)
                start = max(start, place - at)
            parts.append(code)
        parts += [part[start:] if isinstance(part, str) else part]
        at += size
    return Segment.of([*parts, *(code for _, code in left)])
