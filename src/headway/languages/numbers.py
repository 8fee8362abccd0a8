"""Do two texts, one a translation of the other, speak of the same numbers?"""

import re
import unicodedata
from typing import NamedTuple

_GROUP = re.compile(r"\d+")
_THOUSANDS = re.compile(r"(?<!\d)(\d{1,3})((?:[.,'’\u066c\u00a0\u202f\u2009 ]\d{3})+)(?!\d)")
_SEPARATORS = re.compile(r"\D")
_ENTITY = re.compile(r"&#x?[0-9a-f]+;", re.IGNORECASE)
_SPELLED_OUT = 12  # up to here a translator may well write a word
_SCALES = re.compile(
    r"[百千万萬亿億兆]|[mb]illi|hundred|thousand|hundert|tausend|\bcents?\b|\bmille\b|\d ?[km]\b",
    re.IGNORECASE,
)
_CHINESE_NUMERAL = re.compile("[零〇一二三四五六七八九十百千万萬亿億两兩半]")


class UnmatchedNumbers(NamedTuple):
    """Numbers that stand on one side only, as digits."""

    source: tuple[str, ...]
    target: tuple[str, ...]

    @property
    def both(self) -> bool:
        """Each side has a number of its own: one was changed, not spelled out."""
        return bool(self.source and self.target)

    def __str__(self) -> str:
        return f"{', '.join(self.source) or 'none'} against {', '.join(self.target) or 'none'}"


AGREED = UnmatchedNumbers((), ())


def odd_numbers(source: str, target: str) -> UnmatchedNumbers:
    """The numbers of either side that the other lacks; `AGREED` if the sides agree.

    Groups of digits are compared, whatever stands between them and whichever digits they are:
    1,000.5 agrees with 1.000,5 and with 1 000,5; 01/02 with 1. 2.; ３ with 3. Repeating a number
    is no disagreement. A number up to 12 may be missing, as words stand for it; so may any beside
    Chinese numerals; and 3 million agrees with 300万, 7 o'clock with 19, the 1960s with the 60s.
    """
    left, right = _ascii(source), _ascii(target)
    ours, theirs = _groups(left), _groups(right)
    if ours == theirs:
        return AGREED
    if set(ours) == set(theirs) or "".join(ours) == "".join(theirs):
        return AGREED
    ours, theirs = _groups(_joined(left)), _groups(_joined(right))
    only = set(ours) - set(theirs), set(theirs) - set(ours)
    only = _without_scales(*only, left + " " + right)
    only = _without_times(*only)
    if not (only[0] and only[1]):
        only = _without_words(only[0], target), _without_words(only[1], source)
    if not (only[0] or only[1]):
        return AGREED
    return UnmatchedNumbers(
        tuple(n for n in dict.fromkeys(ours) if n in only[0]),
        tuple(n for n in dict.fromkeys(theirs) if n in only[1]),
    )


def _ascii(text: str) -> str:
    """The text with every decimal digit as one of 0 to 9, and without `&#39;`, which is none."""
    if "&#" in text:
        text = _ENTITY.sub("", text)
    if text.isascii():
        return text
    return _GROUP.sub(
        lambda found: "".join(str(unicodedata.digit(digit)) for digit in found[0]), text
    )


def _groups(text: str) -> list[str]:
    return [group.lstrip("0") or "0" for group in _GROUP.findall(text)]


def _joined(text: str) -> str:
    """Thousands written together: 1,000 becomes 1000."""
    return _THOUSANDS.sub(lambda found: found[1] + _SEPARATORS.sub("", found[2]), text)


def _without_scales(ours: set[str], theirs: set[str], text: str) -> tuple[set[str], set[str]]:
    """3 million and 300万 differ in zeros only."""
    if not (ours and theirs and _SCALES.search(text)):
        return ours, theirs
    bare_ours, bare_theirs = ({n.rstrip("0") for n in side} for side in (ours, theirs))
    return (
        {n for n in ours if n.rstrip("0") not in bare_theirs},
        {n for n in theirs if n.rstrip("0") not in bare_ours},
    )


def _without_times(ours: set[str], theirs: set[str]) -> tuple[set[str], set[str]]:
    """7 p.m. and 19:00 are the same hour, the 1960s and the 60s the same years."""
    if not (ours and theirs):
        return ours, theirs
    return (
        {n for n in ours if not _same_time(n, theirs)},
        {n for n in theirs if not _same_time(n, ours)},
    )


def _same_time(number: str, others: set[str]) -> bool:
    if len(number) == 4:
        return number[2:] in others
    if len(number) > 2:
        return False
    hour = int(number)
    return any(
        (len(other) == 4 and other[2:] == number)
        or (len(other) <= 2 and max(hour, int(other)) <= 24 and abs(int(other) - hour) == 12)
        for other in others
    )


def _without_words(numbers: set[str], other_side: str) -> set[str]:
    """Those that no word on the other side can stand for."""
    if numbers and _CHINESE_NUMERAL.search(other_side):
        return set()
    return {n for n in numbers if len(n) > 2 or int(n) > _SPELLED_OUT}
