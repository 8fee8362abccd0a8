"""Small numbers as words or digits, in four languages: two, zwei, deux, 两, 2."""

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
    "zh": "二 三 四 五 六 七 八 九 十",
}
_TENS = {
    "en": "twenty thirty forty fifty sixty seventy eighty ninety",
    "de": "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig",
    "fr": "vingt trente quarante cinquante soixante",
    "zh": "二十 三十 四十 五十 六十 七十 八十 九十",
}
_BOTH = {"en": "{ten}-{unit}", "de": "{unit}und{ten}", "fr": "{ten}-{unit}", "zh": "{ten}{unit}"}
_ONE = {"en": "one", "de": "ein", "fr": "et-un", "zh": "一"}


def _words(language: str) -> dict[str, int]:
    units = {word: n for n, word in enumerate(_UNITS[language].split(), 2)}
    tens = {word: 10 * n for n, word in enumerate(_TENS[language].split(), 2)}
    if language == "zh":
        tens |= {"十": 10, "一十": 10}
    small = [(_ONE[language], 1), *list(units.items())[:8]]
    both = {
        _BOTH[language].format(ten=ten, unit=unit): a + b
        for ten, a in tens.items()
        for unit, b in small
    }
    return {**units, **tens, **both, **({"两": 2, "兩": 2} if language == "zh" else {})}


_WORDS = {language: _words(language) for language in _UNITS}
_DIGITS = r"\d++(?:[.,]\d++)*+"
_TOKEN = re.compile(rf"[^\W\d_]+(?:-[^\W\d_]+)*|{_DIGITS}")
_LARGE_CHINESE = "百千万萬亿億"
_CHINESE = re.compile(
    f"[零一二三四五六七八九十两兩{_LARGE_CHINESE}]+|(?<!\\d)(?<!\\d[.,]){_DIGITS}(?![{_LARGE_CHINESE}])"
)
_LARGE = frozenset(
    "hundred thousand million billion hundert tausend million millionen milliarde milliarden "
    "cent cents mille millions milliard milliards".split()
)
_NO_NUMBER = re.compile(
    "三明治|十分|四周|万一|十字|百分之|星期[一二三四五六]|周[一二三四五六]|第[一二三]"
)


def odd_small_numbers(
    source: str, target: str, languages: tuple[str | None, str | None]
) -> tuple[float, str]:
    """2 where either side has small numbers that the other lacks, 1 where one has; and which."""
    ours, theirs = map(small_numbers, (source, target), languages)
    if ours is None or theirs is None or ours == theirs:
        return 0.0, ""
    both = (sorted((ours - theirs).elements()), sorted((theirs - ours).elements()))
    why = " against ".join(", ".join(map(str, side)) or "none" for side in both)
    return 2.0 if all(both) else 1.0, why


def small_numbers(text: str, language: str | None) -> Counter[int] | None:
    """Numbers from 2 to 99 in a text, as words or digits; None where the language is not known.

    One is left out, as its word is an article too.
    """
    code = {"yue": "zh"}.get(base(language), base(language))
    if code not in _WORDS:
        return None
    if code == "zh":
        tokens: Sequence[str] = _CHINESE.findall(_NO_NUMBER.sub("", text))
    else:
        tokens = list(_without_large(_TOKEN.findall(text.lower())))
    numbers = (
        int(one) if one.isdecimal() and len(one) < 9 else _WORDS[code].get(one, 0) for one in tokens
    )
    return Counter(n for n in numbers if 2 <= n <= 99)


def _without_large(tokens: Sequence[str]) -> Iterator[str]:
    """All but what is part of a number beyond 99: "two hundred and five"."""
    inside = False
    for token, following in pairwise((*tokens, "")):
        if token in _LARGE or following in _LARGE:
            inside = True
        elif not (inside and token in ("and", "und", "et")):
            if not inside:
                yield token
            inside = False
