"""Numbers from 2 to 12 as words or digits, in four languages: two, zwei, deux, 两, 2."""

import re
from collections import Counter

from headway.languages.codes import base

_WORDS = {
    "en": "two three four five six seven eight nine ten eleven twelve",
    "de": "zwei drei vier fünf sechs sieben acht neun zehn elf zwölf",
    "fr": "deux trois quatre cinq six sept huit neuf dix onze douze",
    "zh": "二 三 四 五 六 七 八 九 十 十一 十二",
}
_NUMBERS = {
    language: {word: n for n, word in enumerate(words.split(), 2)}
    for language, words in _WORDS.items()
}
_NUMBERS["zh"] |= {"两": 2, "兩": 2}
_DIGITS = r"\d++(?:[.,]\d++)*+"
_TOKEN = re.compile(rf"[^\W\d_]+(?:-[^\W\d_]+)*|{_DIGITS}")
_LARGE = re.compile(
    r"(?:(?<![\w-])[\w-]{1,20} )?(?<!\w)(?:hundred|thousand|[mb]illion|hundert|tausend|"
    r"millionen|milliarden|cents?|mille|millions|milliards?)\b"
    r"(?: (?:and|und|et)\b)?(?: [\w-]{1,20})?"
)
"""With what stands around it: "two hundred and five"."""
_LARGE_CHINESE = "百千万萬亿億"
_CHINESE = re.compile(
    f"[零一二三四五六七八九十两兩{_LARGE_CHINESE}]+|(?<!\\d)(?<!\\d[.,]){_DIGITS}(?![{_LARGE_CHINESE}])"
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
    """The numbers from 2 to 12 in a text; None where the language is not known.

    One is left out, as its word is an article too.
    """
    code = {"yue": "zh"}.get(base(language), base(language))
    if code not in _NUMBERS:
        return None
    if code == "zh":
        tokens = _CHINESE.findall(_NO_NUMBER.sub("", text))
    else:
        tokens = _TOKEN.findall(_LARGE.sub("", text.lower()))
    known = _NUMBERS[code]
    numbers = (
        int(one) if one.isdecimal() and len(one) < 9 else known.get(one, 0) for one in tokens
    )
    return Counter(n for n in numbers if 2 <= n <= 12)
