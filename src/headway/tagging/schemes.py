"""Schemes of tags: how spans of tokens are written as a tag for each token, and read back.

IOB1 (also called BIO) says I- and marks with B- only what follows its like at once (Ramshaw and
Marcus 1995); IOB2 begins every span with B-; BMES, BIOES and BILOU mark its end too, and spans of
one token. No scheme (None) is of plain tags, such as parts of speech: each token is a span.
"""

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool

OUTSIDE = "O"
_TAG = re.compile(r"([BIESMLU])(?:-(.+))?")


class Span(NamedTuple):
    """Tokens that belong together."""

    start: int
    end: int
    """Behind the last one."""
    kind: str
    """Such as PER; empty where tags say no types, as of word segmentation."""


class Scheme(NamedTuple):
    """The letters of a scheme."""

    begin: str
    inside: str
    end: str
    """The same as `inside` where it cannot be seen of a tag that its span ends there."""
    single: str


SCHEMES = {
    "IOB2": Scheme("B", "I", "I", "B"),
    "IOB1": Scheme("I", "I", "I", "I"),
    "BIOES": Scheme("B", "I", "E", "S"),
    "BMES": Scheme("B", "M", "E", "S"),
    "BILOU": Scheme("B", "I", "L", "U"),
}
"""In the order in which they are tried on a file."""
LEARNED = "BIOES"
"""What models say, whatever the scheme of the file."""


def parted(tag: str | None) -> tuple[str, str] | None:
    """Letter and type; `O` at the edge of a sentence; None for a plain tag."""
    if tag is None or tag == OUTSIDE:
        return OUTSIDE, ""
    found = _TAG.fullmatch(tag)
    return found and (found[1], found[2] or "")


def may_follow(before: str | None, after: str | None, scheme: str | None) -> bool:
    """Whether a tag may stand behind another; None is the edge of a sentence."""
    (letter, kind), (next_letter, next_kind) = (parted(one) or ("", "") for one in (before, after))
    if scheme is None:
        return True
    s = SCHEMES[scheme]
    if scheme == "IOB1":  # B only parts what would be one span
        return next_letter != "B" or (letter in "BI" and kind == next_kind)
    is_open = letter in (s.begin, s.inside)
    if next_letter in (s.inside, s.end):
        return is_open and kind == next_kind
    return s.end == s.inside or not is_open


def transitions(labels: Sequence[str], scheme: str | None) -> Bool[np.ndarray, "before after"]:
    """`[i, j]`: whether label j may stand behind label i; the last row and column are the edge of
    a sentence."""
    edged = [*labels, None]
    return np.array([[may_follow(one, other, scheme) for other in edged] for one in edged])


def n_violations(tags: Sequence[str], scheme: str | None) -> int:
    """How many neighbours, edges included, may not stand as they do."""
    return sum(not may_follow(*two, scheme) for two in pairwise([None, *tags, None]))


def scheme_of(sentences: Iterable[Sequence[str]], usual: str | None = None) -> str | None:
    """The scheme that tags are written in: of those that have all their letters the one that is
    violated least; of several, the `usual` one. None for plain tags."""
    known = [*sentences]
    parts = [parted(tag) for tag in {tag for tags in known for tag in tags}]
    letters = {part[0] for part in parts if part} - {OUTSIDE}
    if None in parts or not letters:
        return None
    fitting = [name for name, letter in SCHEMES.items() if letters <= {"B", *letter}]
    counts = {name: sum(n_violations(tags, name) for tags in known) for name in fitting}
    return min(fitting, key=lambda name: (counts[name], name != usual), default=None)


def spans_of(tags: Sequence[str], scheme: str | None) -> list[Span]:
    """The spans that tags say. What a scheme forbids is read as conlleval reads it: a span begins
    where one goes on that never began, and ends where its like does not follow."""
    if scheme is None:
        return [Span(place, place + 1, tag) for place, tag in enumerate(tags)]
    s, found, start = SCHEMES[scheme], list[Span](), -1
    marks_ends, before = s.end != s.inside, (OUTSIDE, "")
    for place, tag in enumerate([*tags, OUTSIDE]):
        letter, kind = parted(tag) or (OUTSIDE, "")
        parts = letter in ("B", OUTSIDE) or kind != before[1]
        parts = parts or (marks_ends and (letter == s.single or before[0] in (s.end, s.single)))
        if start >= 0 and parts:
            found.append(Span(start, place, before[1]))
            start = -1
        if start < 0 and letter != OUTSIDE:
            start = place
        before = letter, kind
    return found


def tags_of(spans: Iterable[Span], n: int, scheme: str | None) -> list[str]:
    """The tags of n tokens; spans stand in order, and no two share a token."""
    tags, last = [OUTSIDE] * n, Span(-1, -1, "")
    for span in spans:
        if scheme is None:
            tags[span.start] = span.kind
            continue
        s, length = SCHEMES[scheme], span.end - span.start
        letters = [s.begin, *[s.inside] * (length - 2), s.end] if length > 1 else [s.single]
        if scheme == "IOB1" and (last.end, last.kind) == (span.start, span.kind):
            letters[0] = "B"
        kind = f"-{span.kind}" if span.kind else ""
        tags[span.start : span.end] = [letter + kind for letter in letters]
        last = span
    return tags
