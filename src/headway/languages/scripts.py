"""Which script a character is written in, and which scripts a language is written in."""

import re
import unicodedata
from collections import Counter
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

LAST = 0x110000  # code points

_HAN_PLANES = slice(0x20000, 0x40000)
_RENAMED = {
    "CJK": "HAN",
    "IDEOGRAPHIC": "HAN",
    "HIRAGANA": "KANA",
    "KATAKANA": "KANA",
    "FEMININE": "LATIN",
    "MASCULINE": "LATIN",
}
_OF_ANY_SCRIPT = frozenset(
    "COMBINING MODIFIER MATHEMATICAL MICRO OHM KELVIN ANGSTROM DOUBLE SCRIPT VARIATION MUSICAL "
    "SUPERSCRIPT SUBSCRIPT PLANCK TURNED BLACK EULER INFORMATION ALEF BET GIMEL DALET ROMAN".split()
)
_LANGUAGES = {
    "ARABIC": "ar fa ur ps ckb ug sd",
    "ARMENIAN": "hy",
    "BENGALI": "bn as",
    "CYRILLIC": "ru uk be bg mk kk ky tg mn ce tt ba cv",
    "DEVANAGARI": "hi mr ne sa",
    "ETHIOPIC": "am ti",
    "GEORGIAN": "ka",
    "GREEK": "el grc",
    "GUJARATI": "gu",
    "GURMUKHI": "pa",
    "HAN": "zh yue cmn lzh",
    "HANGUL HAN": "ko",
    "HEBREW": "he yi",
    "KANA HAN": "ja",
    "KANNADA": "kn",
    "KHMER": "km",
    "LAO": "lo",
    "LATIN": "en de fr es pt it nl sv da nb nn no fi et lv lt pl cs sk sl hr ro hu tr vi id ms tl "
    "sw ca eu gl ga cy is sq af mt eo la",
    "MALAYALAM": "ml",
    "MYANMAR": "my",
    "ORIYA": "or",
    "SINHALA": "si",
    "TAMIL": "ta",
    "TELUGU": "te",
    "THAI": "th",
    "TIBETAN": "bo dz",
}
UNSPACED_SCRIPTS = {
    "THAI": "\u0e00-\u0e7f", "LAO": "\u0e80-\u0eff", "TIBETAN": "\u0f00-\u0fff",
    "MYANMAR": "\u1000-\u109f", "KHMER": "\u1780-\u17ff", "KANA": "\u3040-\u30ff",
    "HAN": "\u3400-\u9fff\U00020000-\U0003ffff",
}  # fmt: skip
"""Scripts that are written without spaces, and their signs, as in a class of a pattern."""
HAN_OR_KANA = re.compile(f"[{UNSPACED_SCRIPTS['HAN']}{UNSPACED_SCRIPTS['KANA']}]+")
WIDE = "\u2e80-\ua4cf\uf900-\ufaff\uff00-\uff60"
"""Characters as wide as two of Latin, behind which a line may end."""
UNSPACED = "\u0e00-\u109f\u1780-\u17ff\u2e80-\ua4cf\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff"
"""All characters of scripts that part no words, punctuation and full width included."""


class Scripts(NamedTuple):
    """The script of every character there is."""

    of: NDArray[np.uint8]
    """Number of a script by code point, 0 for what is no letter: [0x110000]."""
    names: list[str]
    """Its name by number, in capitals; the empty name for 0."""


@cache
def scripts() -> Scripts:
    """Letters and marks by script, which is the first word of their Unicode name."""
    numbers = {"": 0}
    of = np.zeros(LAST, np.uint8)
    for code in range(0x20000):
        character = chr(code)
        if unicodedata.category(character)[0] in "LM":
            of[code] = numbers.setdefault(_script(character), len(numbers))
    of[_HAN_PLANES] = numbers["HAN"]
    return Scripts(of, [*numbers])


def _script(character: str) -> str:
    words = unicodedata.name(character, "").replace("-", " ").split()
    if words and words[0] in ("FULLWIDTH", "HALFWIDTH"):
        words = words[1:]
    if not words or words[0] in _OF_ANY_SCRIPT:
        return ""
    return _RENAMED.get(words[0], words[0])


def script_counts(text: str) -> Counter[str]:
    """Letters by script."""
    if text.isascii():
        n = sum(map(str.isalpha, text))
        return Counter({"LATIN": n} if n else {})
    of, names = scripts()
    codes = np.frombuffer(text.encode("utf-32-le", "replace"), np.uint32)
    counts = np.bincount(of[codes], minlength=len(names))
    return Counter({names[i]: int(n) for i, n in enumerate(counts) if n and names[i]})


def scripts_of_language(code: str | None) -> tuple[str, ...]:
    """The scripts that a language is written in, its main one first; () if that is not known.

    A script subtag (`sr-Latn`, `zh-Hant`) is believed.
    """
    subtags = (code or "").replace("_", "-").split("-")
    for subtag in subtags[1:]:
        if named := _SCRIPT_SUBTAGS.get(subtag.lower()):
            return named
    return _BY_LANGUAGE.get(subtags[0].lower(), ())


_BY_LANGUAGE = {
    code: tuple(names.split()) for names, codes in _LANGUAGES.items() for code in codes.split()
}
_SCRIPT_SUBTAGS = {
    "latn": ("LATIN",),
    "cyrl": ("CYRILLIC",),
    "arab": ("ARABIC",),
    "hans": ("HAN",),
    "hant": ("HAN",),
    "deva": ("DEVANAGARI",),
}
