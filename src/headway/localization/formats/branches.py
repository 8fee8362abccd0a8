"""Texts that are a choice of texts: ICU messages and `a|b`, cut into what is to be translated.

`{n, plural, one {# file} other {# files}} left` has the texts `# file left` and `# files left`:
what stands around a choice is drawn into its branches, so that each is a whole sentence.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from headway.languages.plurals import also_one, forms_of
from headway.localization.formats.splitting import cut_at, flat, joined
from headway.localization.placeholders.patterns import find
from headway.localization.placeholders.segments import Code, Segment

MOST_TEXTS = 60
"""A message with more branches than that is left to people."""
_DEEPEST = 6
_LONGEST = 20_000
_MILLION = 1_000_000

_HEAD = re.compile(
    r"\{\s*[\w.-]{1,60}\s*,\s*(?P<kind>plural|selectordinal|select)\s*,(?:\s*offset:\s*\d{1,6})?"
)
_KEYWORD = re.compile(r"(\s*)(=\d{1,9}|[\w-]{1,60})(\s*)\{")
_ARGUMENT = re.compile(r"\{[^{}']{0,300}\}")
_QUOTED = re.compile(r"'(?:'|[{}#|](?:[^']|'')*(?:'|\Z))")
_KEPT = re.compile(rf"''|(?P<quoted>{_QUOTED.pattern})|(?P<sign>#)")
_SELECTOR = re.compile(
    r"\s*(?:\{-?\d+(?:,-?\d+)*\}|[\[\]]-?(?:\d+|Inf)\s*,\s*(?:\d+|Inf|\*)[\[\]])\s*"
)
_PLACE = re.compile(r"[#{]")
_NUMBER = re.compile(r"%count%|:count\b|%[ds]|\{\{|\{\w*\}")
_WORD = re.compile(r"[^\W\d_]+")
_TO_DOUBLE = re.compile(r"(?<!')'(?=[{}#])")


class _TextSpan(NamedTuple):
    start: int
    end: int


class _Branch(NamedTuple):
    before: str
    keyword: str
    after: str
    """White space around the keyword."""
    text: str
    """All that stands in it."""
    nodes: "list[_TextSpan | _Choice]"


class _Choice(NamedTuple):
    head: str
    kind: str
    branches: list[_Branch]
    tail: str


class _NoChoiceError(ValueError):
    """It is no message of ICU, or one that cannot be taken apart."""


class Branches(NamedTuple):
    """A text that is a choice, taken apart."""

    sources: tuple[Segment, ...]
    """What is to be translated, each by itself."""
    together: Callable[[Sequence[Segment]], Segment | None]
    """The whole again, of a translation for each; None where that would be no message any more."""


def branches_of(source: Segment, target_language: str | None) -> Branches | None:
    """The texts to choose from, with plural forms as the target language has them.

    `=0`, names and keywords stay; `#` and what is quoted are codes. None for a text that is no
    choice, or one that cannot be taken apart; `is_choice` tells the two apart.
    """
    text = flat(source)
    if len(text) > _LONGEST:
        return None
    if is_choice(source):
        try:
            return _of_message(source, text, target_language)
        except _NoChoiceError:
            return None
    return _of_pipes(source, text, target_language) if "|" in text else None


def is_choice(source: Segment) -> bool:
    """Whether there is a `plural`, `select` or `selectordinal` of ICU in it."""
    return bool(_HEAD.search(source.text))


def _of_message(source: Segment, text: str, language: str | None) -> Branches:
    nodes, end = _nodes(text, 0, 0)
    if end != len(text):
        raise _NoChoiceError
    leaves: list[Segment] = []
    pieces = _written(nodes, source, language, leaves)

    def together(translations: Sequence[Segment]) -> Segment | None:
        known = [_as_written(_quoted(one)) for one in translations]
        whole = joined(Segment((p,)) if isinstance(p, str) else known[p] for p in pieces)
        try:
            found, end = _nodes(flat(whole), 0, 0)
        except _NoChoiceError:
            return None
        fits = end == len(flat(whole)) and _keywords(found) == wanted
        return whole if fits else None

    sample = joined(Segment((p,)) if isinstance(p, str) else _as_written(leaves[p]) for p in pieces)
    wanted = _keywords(_nodes(flat(sample), 0, 0)[0])
    return Branches(tuple(leaves), together)


def _nodes(text: str, position: int, depth: int) -> "tuple[list[_TextSpan | _Choice], int]":
    """What a message is made of, up to the brace that closes it or its end."""
    nodes: list[_TextSpan | _Choice] = []
    start = position
    while position < len(text) and text[position] != "}":
        if quoted := _QUOTED.match(text, position):
            position = quoted.end()
        elif head := _HEAD.match(text, position):
            if depth >= _DEEPEST:
                raise _NoChoiceError
            if start < position:
                nodes.append(_TextSpan(start, position))
            choice, position = _choice(text, head, depth)
            nodes.append(choice)
            start = position
        elif text[position] == "{":
            argument = _ARGUMENT.match(text, position)
            if not argument:
                raise _NoChoiceError
            position = argument.end()
        else:
            position += 1
    if start < position:
        nodes.append(_TextSpan(start, position))
    return nodes, position


def _choice(text: str, head: re.Match[str], depth: int) -> tuple[_Choice, int]:
    branches: list[_Branch] = []
    position = head.end()
    while found := _KEYWORD.match(text, position):
        nodes, end = _nodes(text, found.end(), depth + 1)
        if not text.startswith("}", end):
            raise _NoChoiceError
        position = end + 1
        branches.append(_Branch(found[1], found[2], found[3], text[found.end() : end], nodes))
    tail = re.compile(r"\s*\}").match(text, position)
    if not tail or "other" not in [branch.keyword for branch in branches]:
        raise _NoChoiceError
    return _Choice(head[0], head["kind"], branches, tail[0]), tail.end()


def _written(
    nodes: "Sequence[_TextSpan | _Choice]",
    source: Segment,
    language: str | None,
    leaves: list[Segment],
    *,
    counts: bool = False,
) -> list[str | int]:
    """The message as what stands there and, by number, the texts that are translated; it `counts`
    in a plural's branch."""
    place = next((n for n, node in enumerate(nodes) if isinstance(node, _Choice)), None)
    if place is None:
        texts = [
            _slice(source, node.start, node.end) for node in nodes if isinstance(node, _TextSpan)
        ]
        leaf = joined(texts)
        if leaf.blank:
            return [leaf.text] if not leaf.codes else _leaf(leaf, leaves)
        return _leaf(_kept(leaf, counts), leaves)
    choice = nodes[place]
    assert isinstance(choice, _Choice), "it was looked for"
    outside = [*nodes[:place], *nodes[place + 1 :]]
    text = flat(source)
    plural = choice.kind != "select"
    for node in outside:
        if isinstance(node, _TextSpan) and plural and "#" in text[node.start : node.end]:
            raise _NoChoiceError  # drawn into a plural, it would mean another number
    pieces: list[str | int] = [choice.head]
    for branch in _wanted(choice, language):
        pieces.append(f"{branch.before}{branch.keyword}{branch.after}{{")
        inside = [*nodes[:place], *branch.nodes, *nodes[place + 1 :]]
        pieces += _written(inside, source, language, leaves, counts=counts or plural)
        pieces.append("}")
    return [*pieces, choice.tail]


def _leaf(leaf: Segment, leaves: list[Segment]) -> list[str | int]:
    if len(leaves) >= MOST_TEXTS:
        raise _NoChoiceError
    leaves.append(leaf)
    return [len(leaves) - 1]


def _kept(leaf: Segment, counts: bool) -> Segment:
    """What is quoted, and in a plural each `#`, as codes."""

    def places(text: str) -> Iterator[tuple[int, int]]:
        for found in _KEPT.finditer(text):
            if found["quoted"] or (found["sign"] and counts):
                yield found.span()

    return leaf.with_codes(places, raw=True)


def _as_written(segment: Segment) -> Segment:
    """The same as the file has it, where what `_kept` made codes is text."""
    return joined(
        Segment((part.text if isinstance(part, Code) and _is_kept(part) else part,))
        for part in segment.parts
    )


def _is_kept(code: Code) -> bool:
    return code.raw == code.text and _KEPT.fullmatch(code.text) is not None


def _wanted(choice: _Choice, language: str | None) -> list[_Branch]:
    """The branches of the target language: of a plural, one for each form that it has.

    Where other numbers take `one` too and only `other` has a place for the number, that is both.
    """
    if choice.kind != "plural" or not language:
        return choice.branches
    by_keyword = {branch.keyword: branch for branch in choice.branches}
    exact = [branch for branch in choice.branches if branch.keyword.startswith("=")]
    named = [form.name for form in forms_of(language) if form.number != _MILLION]
    other, also = by_keyword["other"], also_one(language)
    if also is not None and f"={also}" not in by_keyword:
        one = by_keyword.get("one", other)
        by_keyword["one"] = other if _n_places(one) < _n_places(other) else one
    return [*exact, *(by_keyword.get(name, other)._replace(keyword=name) for name in named)]


def _n_places(branch: _Branch) -> int:
    """How many places for a number, or something else, a branch has."""
    return len(_PLACE.findall(_QUOTED.sub("", branch.text)))


def _keywords(nodes: "Sequence[_TextSpan | _Choice]") -> list[object]:
    """What of a message is no text, to be compared."""
    return [
        (node.head, [(branch.keyword, _keywords(branch.nodes)) for branch in node.branches])
        for node in nodes
        if isinstance(node, _Choice)
    ]


def _quoted(translation: Segment) -> Segment:
    """An apostrophe in front of a brace would hide that: `l'{name}` is written `l''{name}`.

    So would one at the end, behind which the branch is closed.
    """
    parts = list(translation.parts)
    for n, part in enumerate(parts):
        following = parts[n + 1] if n + 1 < len(parts) else ""
        if isinstance(part, str):
            text = _TO_DOUBLE.sub("''", part)
            is_before = isinstance(following, Code) and following.text[:1] in ("{", "#", "'")
            doubled = is_before and text.endswith("'") and not text.endswith("''")
            parts[n] = text + "'" * doubled
    text = flat(Segment(tuple(parts)))
    closed = any(found.end() == len(text) for found in _QUOTED.finditer(text))
    return Segment((*parts, "'") if text.endswith("'") and not closed else tuple(parts))


def _slice(source: Segment, start: int, end: int) -> Segment:
    """Part of a segment, by positions in its `flat` text."""
    place = 0
    for piece in cut_at(source, {start, end}) if start < end else ():
        if place == start:
            return piece
        place += len(flat(piece))
    return Segment()


def _of_pipes(source: Segment, text: str, language: str | None) -> Branches | None:
    """`one|many`: each part by itself, if each is a text of its own."""
    inside = [(found.start, found.end) for found in find(text)]
    cuts = [
        n
        for n, sign in enumerate(text)
        if sign == "|" and not any(start <= n < end for start, end in inside)
    ]
    spans = list(zip([0, *(n + 1 for n in cuts)], [*cuts, len(text)], strict=True))
    selectors = [_SELECTOR.match(text, start, end) for start, end in spans]
    spans = [
        (s.end() if s else start, end) for s, (start, end) in zip(selectors, spans, strict=True)
    ]
    parts = [_slice(source, start, end) for start, end in spans]
    if len(parts) < 2 or not all(map(_stands_alone, parts)):
        return None
    order = [*range(len(parts))]
    separators = [text[a:b] for (_, a), (b, _) in pairwise(spans)]
    before = text[: spans[0][0]]
    counts = [len(_NUMBER.findall(part.text)) for part in parts]
    plural = any(counts) or (len(parts) == 2 and _inflected(parts[0].text, parts[1].text))
    if len(parts) == 2 and plural and separators == ["|"] and not before and " |" not in text:
        numbers = [form.number for form in forms_of(language, whole=True)]
        of_one = 1 if counts[0] < counts[1] and also_one(language) is not None else 0
        order = [of_one if number == 1 else 1 for number in numbers]
        order = order if len(order) > 1 else [1, 1]
        separators = ["|"] * (len(order) - 1)

    def together(translations: Sequence[Segment]) -> Segment | None:
        both = zip(translations, order, strict=True)
        if any(flat(one).count("|") != flat(parts[n]).count("|") for one, n in both):
            return None
        pieces = [Segment((before,)), translations[0]]
        for separator, one in zip(separators, translations[1:], strict=True):
            pieces += [Segment((separator,)), one]
        return joined(pieces)

    return Branches(tuple(parts[n] for n in order), together)


def _inflected(one: str, many: str) -> bool:
    """Whether two texts without a number are of one and of many: `an apple`, `apples`."""
    ours, theirs = (set(_WORD.findall(text.lower())) for text in (one, many))
    plurals = {form for word in ours for form in (word + "s", word + "es", word[:-1] + "ies")}
    return bool(plurals & theirs - ours) or bool({"one", "a", "an"} & ours - theirs)


def _stands_alone(part: Segment) -> bool:
    """There is text in it, and every bracket that it opens it also closes."""
    text = flat(part)
    pairs = (("(", ")"), ("[", "]"), ("{", "}"), ("<", ">"))
    return not part.blank and all(text.count(one) == text.count(other) for one, other in pairs)
