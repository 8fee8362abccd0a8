"""The segments of a translation file on their way to a model and back."""

import re
from collections import Counter
from typing import NamedTuple

from headway.core.cleaning import clean
from headway.languages.sentences import LINE_SPACE
from headway.localization.placeholders.segments import Code, Segment

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
    """The translation for the file: only the codes of `source`, the file's own, are codes."""
    own = Counter(source.codes)
    parts: list[str | Code] = [trimmed.before]
    for part in translated.parts:
        is_own = not isinstance(part, str) and own[part] > 0
        if not isinstance(part, str):
            own[part] -= is_own
        parts.append(part if is_own or isinstance(part, str) else part.text)
    return Segment.of([*parts, trimmed.after])


def _cleaned(text: str) -> list[str | Code]:
    """As `clean`, but for white space at the ends, which parts what stands beside it."""
    parts: list[str | Code] = []
    for piece in _LINE_END.split(text):
        if _LINE_END.fullmatch(piece):
            parts.append(Code(piece))
        elif inside := clean(f"|{piece}|")[1:-1]:
            parts.append(inside)
    return parts
