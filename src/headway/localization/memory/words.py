"""The words of a text as a translation memory counts them, and how alike two texts are."""

import re
import unicodedata
from collections.abc import Sequence
from typing import Any, NamedTuple

from headway.localization.placeholders.may_hold import may_hold_codes
from headway.localization.placeholders.patterns import find

VERSION = 1
"""Raised whenever other words are found, so that no index of the old ones is used."""

NUMBER = "#"
"""Stands for every number among words: two numbers are the same word."""

CODE = "\0"
"""Stands for every code where words and codes are counted together."""

_ALONE = (  # each character is a word, as no spaces part words in these scripts
    r"\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ece\u1000-\u103f\u1050-\u108f\u1780-\u17d3"
    r"\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3041-\u3096\u309d-\u309f"
    r"\u30a1-\u30fa\u30fc-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f"
    r"\U00020000-\U0003ffff"
)
_MARKS = (  # signs of vowels and accents, which are part of words
    r"\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf-\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    r"\u06d6-\u06ed\u0900-\u0903\u093a-\u094f\u0962\u0963\u0981-\u0983\u09bc-\u09d7\u0a01-\u0a51"
    r"\u0a81-\u0acd\u0b01-\u0b57\u0b82-\u0bcd\u0c00-\u0c56\u0c81-\u0cd6\u0d00-\u0d57\u0f71-\u0f84"
    r"\u200c\u200d"
)
_NUMBER = r"\d+(?:[.,]\d+)*"
_LETTERS = rf"[^\W\d_{_ALONE}{_MARKS}]"
_TOKEN = re.compile(
    rf"{_NUMBER}|[{_ALONE}]"
    rf"|(?:{_LETTERS}+|[{_MARKS}]+)(?:{_LETTERS}+|[{_MARKS}]+|['’](?={_LETTERS}))*"
)
_LATIN = r"A-Za-zªµº²³¹¼-¾À-ÖØ-öø-\u02af"
_LATIN_TOKEN = re.compile(rf"[0-9]+(?:[.,][0-9]+)*|[{_LATIN}]+(?:'[{_LATIN}]+)*")
"""The same for texts without `_BEYOND_LATIN`: twice as fast."""
_BEYOND_LATIN = re.compile(r"[^\x00-\u02af]")
_PIECE = re.compile(rf"{_TOKEN.pattern}|\s+|.", re.DOTALL)
_SPACE = re.compile(r"\s+")
_WORD = "\x01"


class AnalyzedText(NamedTuple):
    words: tuple[str, ...]
    """Case aside, `NUMBER` for each number, without the codes."""
    cased: tuple[str, ...]
    """The same as they are written."""
    numbers: tuple[str, ...]
    codes: tuple[str, ...]
    rest: str
    """What stands between the words: punctuation, with white space as one space."""
    text: str
    """All of it: NFC, without outer white space."""


def normal(text: str) -> str:
    """What two texts share that are the same to a memory: NFC, without outer white space."""
    if not text.isascii():
        text = unicodedata.normalize("NFC", text)
    return text.strip()


def written_words(text: str) -> list[str]:
    """The words of a normal text as they are written; `as_word` makes its `words` of them."""
    plain = _without_codes(text)
    simple = plain.isascii() or not _BEYOND_LATIN.search(plain)
    return (_LATIN_TOKEN if simple else _TOKEN).findall(plain)


def as_word(written: str) -> str:
    """Case aside, `NUMBER` for a number."""
    return NUMBER if written[0].isdecimal() else written.casefold()


def read(text: str) -> AnalyzedText:
    text = normal(text)
    plain = _without_codes(text)
    cased = tuple(_TOKEN.findall(plain))
    numbers = tuple(word for word in cased if word[0].isdecimal())
    codes = tuple(text[start:end] for start, end, _ in find(text))
    rest = _SPACE.sub(" ", _TOKEN.sub(_WORD, plain).replace(CODE, "")).strip()
    return AnalyzedText(tuple(map(as_word, cased)), cased, numbers, codes, rest, text)


class WordToken(NamedTuple):
    kind: str
    """The word, case aside; `NUMBER`; or `CODE`."""
    written: str


def tokens(text: str) -> list[WordToken]:
    """Words and codes of a text, in their order."""
    found = list[WordToken]()
    for stretch, is_code in stretches(text):
        words = [CODE] if is_code else _TOKEN.findall(stretch)
        found += [WordToken(as_word(one), stretch if is_code else one) for one in words]
    return found


def stretches(text: str) -> list[tuple[str, bool]]:
    """Stretches of a text, in order, and whether each is a code."""
    parts, place = list[tuple[str, bool]](), 0
    for start, end, _ in find(text):
        parts += [(text[place:start], False), (text[start:end], True)]
        place = end
    return [*parts, (text[place:], False)]


def _without_codes(text: str) -> str:
    if not may_hold_codes(text):
        return text
    return "".join(CODE if is_code else part for part, is_code in stretches(text))


class Stretch(NamedTuple):
    """Items that two sequences share in one place, or that one has instead of the other's."""

    same: bool
    old: slice
    new: slice


def aligned(old: Sequence[str], new: Sequence[str]) -> list[Stretch]:
    """Two sequences laid side by side, with as few edits as can be."""
    from rapidfuzz.distance import Levenshtein

    found = Levenshtein.opcodes(old, new)
    return [Stretch(kind == "equal", slice(a, b), slice(c, d)) for kind, a, b, c, d in found]


def pieces(text: str) -> list[str]:
    """A text cut into words, white space and single signs: joined they are the text again."""
    return _PIECE.findall(text)


def changes(old: str, new: str) -> str:
    """What makes one text another, word by word: `Click [-OK-]{+Cancel+}.`."""
    ours, theirs = pieces(old), pieces(new)
    shown = []
    for one in aligned(ours, theirs):
        gone, come = "".join(ours[one.old]), "".join(theirs[one.new])
        if one.same:
            shown.append(gone)
        else:
            shown.append((f"[-{gone}-]" if gone else "") + (f"{{+{come}+}}" if come else ""))
    return "".join(shown)


def most_edits(n_words: Any, at_least: int) -> Any:
    """Words that may differ in the longer of two texts that are alike to `at_least` percent: of a
    number one, of an array as many."""
    return n_words * (100 - at_least) // 100


def percent(n_words: int, n_edits: int, n_light: int = 0) -> int:
    """How alike two texts are: 0 to 99, whole percent, rounded down.

    `n_words` are those of the longer text, `n_edits` the words to be put in, taken out or changed;
    each of the `n_light` kinds of smaller differences takes one percent more.
    """
    if not n_words:
        return 0
    return max(0, min(99, 100 * max(0, n_words - n_edits) // n_words - n_light))


def light(one: AnalyzedText, other: AnalyzedText) -> list[str]:
    """The kinds of differences that are not of words: `case`, `punctuation`, `numbers`, `codes`.

    All but codes are only compared where the words are the same.
    """
    kinds = []
    if one.words == other.words:
        kinds += ["case"] * (_letters(one.cased) != _letters(other.cased))
        kinds += ["punctuation"] * (one.rest != other.rest)
        kinds += ["numbers"] * (one.numbers != other.numbers)
    kinds += ["codes"] * (one.codes != other.codes)
    return kinds


def _letters(words: Sequence[str]) -> list[str]:
    return [word for word in words if not word[0].isdecimal()]
