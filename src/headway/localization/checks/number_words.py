"""Small numbers written as words, in a few languages: two, zwei, deux, 两."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

from headway.languages.codes import base

_UNITS = {
    "en": "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen",
    "de": "zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn "
    "sechzehn siebzehn achtzehn neunzehn",
    "fr": "deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize",
}
_TENS = {
    "en": "twenty thirty forty fifty sixty seventy eighty ninety",
    "de": "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig",
    "fr": "vingt trente quarante cinquante soixante",
}
_WORDS = {
    language: {
        **{word: n for n, word in enumerate(units.split(), 2)},
        **{word: 10 * n for n, word in enumerate(_TENS[language].split(), 2)},
    }
    for language, units in _UNITS.items()
}
_GERMAN = {unit: n for n, unit in enumerate(["ein", *_UNITS["de"].split()[:8]], 1)}
_DIGITS = r"\d++(?:[.,]\d++)*+"
_TOKEN = re.compile(rf"[^\W\d_]+(?:-[^\W\d_]+)*|{_DIGITS}")
_CHINESE_DIGITS = {digit: n for n, digit in enumerate("零一二三四五六七八九")} | {"两": 2, "兩": 2}
_LARGE_CHINESE = "百千万萬亿億"
_CHINESE = re.compile(
    f"[零一二三四五六七八九十两兩{_LARGE_CHINESE}]+|(?<!\\d)(?<!\\d[.,]){_DIGITS}(?![{_LARGE_CHINESE}])"
)
_LARGE = frozenset(
    "hundred thousand million billion hundert tausend million millionen milliarde milliarden "
    "cent cents mille millions milliard milliards".split()
)
_BETWEEN = frozenset(("and", "und", "et"))
_NO_NUMBER = re.compile(
    "三明治|十分|四周|万一|十字|百分之|星期[一二三四五六]|周[一二三四五六]|第[一二三]"
)


def small_numbers(text: str, language: str | None) -> Counter[int] | None:
    """Numbers from 2 to 99 in a text, as words or digits; None where the language is not known.

    One is left out, as its word is an article too.
    """
    code = base(language)
    if code in ("zh", "yue"):
        found = [_chinese(word) for word in _CHINESE.findall(_NO_NUMBER.sub("", text))]
    elif words := _WORDS.get(code):
        tokens = _without_large(_TOKEN.findall(text.lower()))
        found = [_value(token, words, code) for token in tokens]
    else:
        return None
    return Counter(n for n in found if n is not None and 2 <= n <= 99)


def _without_large(tokens: Sequence[str]) -> Iterator[str]:
    """All but what is part of a number beyond 99: "two hundred and five"."""
    inside = False
    for token, following in pairwise((*tokens, "")):
        if token in _LARGE or following in _LARGE:
            inside = True
        elif not (inside and token in _BETWEEN):
            if not inside:
                yield token
            inside = False


def _value(token: str, words: dict[str, int], language: str) -> int | None:
    if token.isdecimal():
        return int(token) if len(token) < 9 else None
    if token in words:
        return words[token]
    if language == "de" and "und" in token:
        unit, _, tens = token.partition("und")
        if unit in _GERMAN and tens in words:
            return _GERMAN[unit] + words[tens]
    if language == "en" and "-" in token:
        tens, _, unit = token.partition("-")
        if tens in words and (unit in words or unit == "one"):
            return words[tens] + words.get(unit, 1)
    return None


def _chinese(text: str) -> int | None:
    if text[0].isdecimal():
        return int(text) if text.isdecimal() and len(text) < 9 else None
    if any(sign in _LARGE_CHINESE for sign in text):
        return None
    tens, ten, units = text.partition("十")
    if len(tens) > 1 or len(units) > 1 or "十" in units:
        return None
    if not ten:
        return _CHINESE_DIGITS[text]
    return 10 * _CHINESE_DIGITS.get(tens, 1) + _CHINESE_DIGITS.get(units, 0)
