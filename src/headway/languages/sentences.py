"""Where sentences end: rules of writing and lists of abbreviations, no model.

A missed end leaves two sentences together; a wrong one tears a sentence apart. Where the rules
cannot know, nothing is cut.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from headway.languages.codes import base

CODE = "\ufffc"
"""Stands for a code (a tag, a placeholder) in texts that are looked through here."""

LINE_SPACE = "\t\n\v\f\r\x1c\x1d\x1e\x85\u2028\u2029"
"""White space that parts texts, not words: each side of it is translated by itself."""

FULL_STOPS = ".．۔։።。｡।॥။។៕།༎"
QUESTION_MARKS = "?？؟፧"
ENDS = f"{FULL_STOPS}{QUESTION_MARKS}!！…;\u037e"
"""What sentences end with; `;` only behind a word in `GREEK`: it asks."""
TIGHT = "。！？｡।॥။។៕།༎"
"""Those of them that no space need follow."""
GREEK = re.compile("[\u0370-\u03ff\u1f00-\u1fff]{2}")  # one letter may be a sign: Ω
_CLOSERS = rf"[\"'”’»«›)\]）」』】］〉》*_{CODE}]*+"
_STOP = rf"(?!។ល។|(?<=។ល)។)[{ENDS}]"  # `។ល។` is etc. in Khmer
_END = re.compile(rf"(?<![{ENDS}])(?P<stop>(?:{_STOP})++){_CLOSERS}(?:[ \u00a0\u202f][»།])?")
_SPACE = re.compile(r"\s*+")
_OPENERS = re.compile(r"[\"'“‘„‚«»‹(\[¿¡（「『【〈《–—•*_-]*+\s?")
_WORD = re.compile(r"(?<![\w.])[^\W\d_](?:[\w.’'-]*\w)?$")
_ORDINAL = re.compile(r"(?:^|[^\w.,])\d{1,2}$")
_LONGEST_WORD = 40
_INITIALS = re.compile(r"(?:[^\W\d_]\.)+[^\W\d_]{1,2}$|Ph\.D$")
_NUMBERING = re.compile(r"\W*\d{1,3}(?:\.\d{1,3})*$")
_CLAUSE = re.compile(r"(?:[;:؛,،](?=\s)|[；：，、–—])[\"'”’»)\]）」』】]*+")
_HAN = re.compile("[\u2e80-\u303f\u3041-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef]")

_NEVER = frozenset(
    "Mr Mrs Ms Mx Dr Drs Prof St Ste Mt Rev Hon Gen Col Capt Lt Sgt Maj Gov Sen Rep Messrs "
    "vs approx esp resp incl excl max min viz cf al "
    "Hr Fr Hrn bzw ca evtl ggf inkl exkl mind sog vgl zzgl Dipl Ing Inh geb gest bspw insb "
    "MM Mme Mlle av apr env Sra Srta Dra Ud Uds EE pág Sig dott avv prof "
    "dhr mevr bijv mw nl np tzn tj ul inż mgr hab např tzv tj mil mld mln "
    "ул им см др тыс млн млрд руб напр".split()
)
"""A name, a number or the rest of the sentence follows."""
_BEFORE_NUMBERS = frozenset(
    "No no Nos nos Nr nr Núm núm num n° Jan Feb Mar Apr Jun Jul Aug Sep Sept Oct Nov Dec Okt Dez "
    "Fig fig Figs Eq Sec sec Ch ch Vol vol pp Art art Abs Abb Tab Kap cap Kap Bd Tel tel "
    "стр рис ст гл".split()
)
"""These are words or ends of sentences too, but not before a number."""
_EITHER = frozenset("Inc Ltd Co Corp Bros Jr Sr GmbH AG etc usw ecc enz itd atd".split())
_STARTERS = frozenset(
    "The A An This That These Those It He She They We You I There Here But And So If When While "
    "What Who Why How Where Let Do Did Please His Her Their My Our "
    "Your Its In On At As After Then However No Yes "
    "Der Die Das Ein Eine Er Sie Es Wir Ich Ihr Dies Diese Dann Aber Und Wenn "
    "Le La Les Un Une Il Elle Ils Elles Nous Vous Je Ce Cette El Los Las Una Yo".split()
)
"""Words that rarely follow an abbreviation in the middle of a sentence, in capitals."""
_ORDINALS = frozenset("de da nb nn no fi cs sk pl hu hr sl et lv tr is".split())
"""Languages that write `3.` for third."""


def sentence_ends(text: str, language: str | None = None) -> list[int]:
    """Behind which characters of a text one of its sentences ends and another one begins.

    Closing quotes, brackets and codes belong to the sentence before; white space to neither.
    `language` is that of the text, where it is known.
    """
    ends: list[int] = []
    begin = looked = 0
    worded = False
    for found in _END.finditer(text):
        worded = worded or any(map(str.isalnum, text[looked : found.start()]))
        looked = found.end()
        after = _behind(_SPACE, text, looked)
        if worded and after < len(text) and _ends(text, begin, found, after, language):
            ends.append(looked)
            begin, worded = after, False
    if ends and not any(map(str.isalnum, text[begin:])):
        del ends[-1]
    return ends


def sentences(text: str, language: str | None = None) -> list[str]:
    """The sentences of a text and the white space between them, in turn; joined they are it."""
    return cut(text, sentence_ends(text, language))


def cut(text: str, ends: Iterable[int]) -> list[str]:
    """A text in pieces: what stands between these places, and the white space behind each."""
    places = {0, len(text)}
    for end in ends:
        places |= {end, _behind(_SPACE, text, end)}
    return [text[start:stop] for start, stop in pairwise(sorted(places))]


def _behind(pattern: re.Pattern[str], text: str, place: int) -> int:
    found = pattern.match(text, place)
    return found.end() if found else place


def _ends(text: str, begin: int, found: re.Match[str], after: int, language: str | None) -> bool:
    """Whether a sentence that begins at `begin` ends with a stop, where more comes at `after`."""
    stop, start = found["stop"], found.start()
    if stop[-1] in ";\u037e" and not GREEK.search(text, max(begin, start - _LONGEST_WORD), start):
        return False
    if after == found.end():  # no white space
        both_sides = text[start - 1] + text[after]
        return stop[-1] in TIGHT or (stop[-1] in "?!" and len(_HAN.findall(both_sides)) == 2)
    place = _behind(_OPENERS, text, after)
    if text[place : place + 1].islower():
        return False
    return stop not in (".", "．") or not _abbreviates(text, begin, start, place, language)


def _abbreviates(text: str, begin: int, stop: int, after: int, language: str | None) -> bool:
    """Whether a full stop belongs to the word or number before it."""
    before = text[max(begin, stop - _LONGEST_WORD) : stop]
    following = text[after : after + _LONGEST_WORD].split(maxsplit=1)[:1]
    goes_on = not (following and re.split(r"\W", following[0])[0] in _STARTERS)
    if base(language) in _ORDINALS and _ORDINAL.search(before):
        return True
    found = _WORD.search(before)
    if not found:
        return bool(_NUMBERING.match(before))
    word = found[0]
    if _INITIALS.search(word):
        return goes_on and not word.lower().endswith(("a.m", "p.m"))
    if len(word) == 1 and word.upper() != word.lower():
        return not (word == "I" and before[: found.start()].rstrip()[-1:].islower())
    last = re.split("[’'-]", word)[-1]
    if last in _EITHER:
        return goes_on
    return last in _NEVER or (last in _BEFORE_NUMBERS and text[after].isdigit())


# -- how many at once ---------------------------------------------------------------------------


class AtOnce(NamedTuple):
    """How much text a model takes at once: as much as its training held."""

    sentences: int = 1
    subwords: int | None = None
    """None for any number. A single sentence of more is cut between its clauses."""


def portion_ends(
    text: str, at_once: AtOnce, n_subwords: Callable[[str], int], language: str | None = None
) -> list[int]:
    """Where a text is cut so that each portion, white space apart, is no more than `at_once`.

    No portion is smaller than need be but the last of each sentence that is too long, and a text
    that is no more than `at_once` is not cut.
    """
    most, limit = at_once

    def too_long(portion: str) -> bool:
        return limit is not None and n_subwords(portion.strip()) > limit

    ends = _packed(text, 0, [*sentence_ends(text, language), len(text)], most, too_long)
    found = list(ends)
    for start, end in pairwise((0, *ends, len(text))):
        if too_long(text[start:end]):
            parts = [start + clause.end() for clause in _CLAUSE.finditer(text[start:end])]
            found += _packed(text, start, [*parts, end], len(text), too_long)
    return sorted({end for end in found if text[end:].strip()})


def _packed(
    text: str, start: int, ends: Sequence[int], most: int, too_long: Callable[[str], bool]
) -> list[int]:
    """Those of some ends where a text from `start` on must be cut, the last one left out."""
    chosen: list[int] = []
    n, last = 0, start
    for end in ends:
        if n and (n == most or too_long(text[start:end])):
            chosen.append(last)
            start, n = last, 0
        n, last = n + 1, end
    return chosen


def space_between(space: str, left: str, right: str) -> str:
    """What stands between two translated sentences, where `space` is between their sources.

    Line ends and tabs stay. Nothing stands between two sentences in a script without spaces
    (Chinese, Japanese), and something between any others.
    """
    if any(sign in LINE_SPACE for sign in space) or not (left and right):
        return space
    if _HAN.match(left[-1]) or _HAN.match(right[0]):
        return ""
    return space or " "
