"""Where the codes of a text stand, of which kind they are, and which of them belong together."""

import re
from collections import Counter
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from headway.localization.placeholders.kinds import BB, BEGINS, PATTERNS, ROLE
from headway.localization.placeholders.may_hold import may_hold_codes
from headway.localization.placeholders.own_codes import OwnPattern

KINDS = (*PATTERNS, "private")
"""The names of the kinds of codes."""

_PRIVATE = re.compile("[\ue000-\uf8ff]")

VOID = frozenset("area base br col embed hr img input link meta param source track wbr".split())
"""Tags of HTML that nothing closes."""
_TAG = re.compile(r"<(/?)#?([A-Za-z\d][\w:.-]*+)[^<>]*?(/?)>", re.ASCII)
_BLOCK = re.compile(
    rf"\[(/?)({BB})(?:=[^][]{{0,300}})?\]|\{{{{1,3}}([/#]?)(\w{{1,60}})\b[^{{}}]{{0,300}}\}}{{1,3}}",
    re.ASCII,
)
_SAME = ("`", "**", "'''")
_FRAMING = {"[": r"!?\[", "[[": r"\[\[[^|]*\|", "{": r"\\\w+\*?\{", "|": r"\|c\w{8}"}
_CLOSING = {"]]": "[[", "}": "{", "|r": "|"}
_OPENING_ROLE = re.compile(ROLE, re.ASCII)
_CLOSING_ROLE = re.compile(r"\s?<[^`<>]+>`(?:__?)?")


class CodeMatch(NamedTuple):
    start: int
    end: int
    kind: str
    """One of `KINDS`, or "own" for what a user's own pattern fits."""


class Frame(NamedTuple):
    """What a code does to the text between it and its partner."""

    name: str
    """Partners have the same one."""
    opens: bool
    closes: bool
    """Both only where what came before decides, as with a single backtick."""


@cache
def _codes() -> tuple[re.Pattern[str], list[tuple[str, str]]]:
    """Whatever is a code, put together when it is first looked for, and its groups that frame."""
    every = "|".join(f"(?P<{kind}>{pattern})" for kind, pattern in PATTERNS.items())
    code = re.compile(f"{BEGINS}(?:{every})", re.VERBOSE | re.ASCII)
    opening = [name for name in code.groupindex if name.startswith("open")]
    return code, [(name, f"close{name[4:]}") for name in opening]


def find(text: str, own: Sequence[OwnPattern] = ()) -> list[CodeMatch]:
    """The codes of a text, in order; none of them overlap.

    A private-use character is one by itself, and is in no other. What a pattern of `own` fits comes
    before all others, the first pattern first.
    """
    settled = _own(text, own) if own else []
    if not (settled or may_hold_codes(text)):
        return []
    found: list[CodeMatch] = []
    place = 0
    for one in (*settled, CodeMatch(len(text), len(text), "")):
        for private in _PRIVATE.finditer(text, place, one.start):
            found += _find(text, place, private.start())
            found.append(CodeMatch(*private.span(), "private"))
            place = private.end()
        found += _find(text, place, one.start)
        found += [one] * (one.end > one.start)
        place = one.end
    return found


def hidden(text: str, sign: str, own: Sequence[OwnPattern] = ()) -> str:
    """The text with this character in the place of each character of its codes."""
    signs = list(text)
    for start, end, _ in find(text, own):
        signs[start:end] = sign * (end - start)
    return "".join(signs)


def _own(text: str, patterns: Sequence[OwnPattern]) -> list[CodeMatch]:
    found: list[CodeMatch] = []
    taken = bytearray(len(text))
    for pattern in patterns:
        for start, end in pattern.spans(text):
            if not (any(taken[start:end]) or _PRIVATE.search(text, start, end)):
                taken[start:end] = b"1" * (end - start)
                found.append(CodeMatch(start, end, "own"))
    return sorted(found)


def _find(text: str, start: int, end: int) -> list[CodeMatch]:
    found: list[CodeMatch] = []
    code, frames = _codes()
    for match in code.finditer(text, start, end):
        kind = match.lastgroup or ""
        for opening, closing in frames:
            if match[opening] is not None:
                found.append(CodeMatch(*match.span(opening), kind))
                found += _find(text, match.end(opening), match.start(closing))
                found.append(CodeMatch(*match.span(closing), kind))
                break
        else:
            found.append(CodeMatch(*match.span(), kind))
    return found


def kind_of(code: str) -> str:
    """The kind of a code that stands alone; empty where it is none of ours."""
    match = _codes()[0].fullmatch(code)
    return "private" if _PRIVATE.fullmatch(code) else (match and match.lastgroup) or ""


def frame(code: str) -> Frame | None:
    """How a code pairs with another, such as `<b>` with `</b>`; None where it stands alone."""
    if match := _TAG.fullmatch(code):
        closing, name, empty = match.groups()
        if empty or name.lower() in VOID:
            return None
        return Frame(f"<{name.partition('.')[0]}", opens=not closing, closes=bool(closing))
    if block := _BLOCK.fullmatch(code):
        square, tag, sign, word = block.groups(default="")
        if tag or sign or word in ("if", "foreach", "block"):
            return Frame(f"{code[0]}{tag or word}", square + sign != "/", square + sign == "/")
        return None
    if code in _SAME:
        return Frame(code, opens=True, closes=True)
    if _OPENING_ROLE.fullmatch(code):
        return Frame("`", opens=True, closes=False)
    if _CLOSING_ROLE.fullmatch(code):
        return Frame("`", opens=False, closes=True)
    if code.startswith("]("):
        return Frame("[", opens=False, closes=True)
    for name, opening in _FRAMING.items():
        if re.fullmatch(opening, code, re.ASCII):
            return Frame(name, opens=True, closes=False)
    return Frame(_CLOSING[code], opens=False, closes=True) if code in _CLOSING else None


def needs_words(code: str) -> bool:
    """Whether what this code opens is nothing without text in it: a link or role, not a tag."""
    role = frame(code)
    return role is not None and role.name in ("`", "[", "[[")


def partners(codes: Sequence[str]) -> dict[int, int]:
    """For each code that opens something which another one closes: opening place, closing place.

    As brackets: a code that closes belongs to the nearest one before it that it can close, and
    whatever is still open between them is never closed.
    """
    found: dict[int, int] = {}
    opened: list[tuple[str, int]] = []
    n_opened = Counter[str]()
    for place, code in enumerate(codes):
        role = frame(code) or Frame("", opens=False, closes=False)
        if role.closes and n_opened[role.name]:
            name = ""
            while name != role.name:
                name, opening = opened.pop()
                n_opened[name] -= 1
            found[opening] = place
        elif role.opens:
            opened.append((role.name, place))
            n_opened[role.name] += 1
    return found
