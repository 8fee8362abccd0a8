"""Do two texts, one a translation of the other, speak of the same numbers?"""

import re
import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

_GROUP = re.compile(r"\d+")
_THOUSAND = r"[.,'’\u066c\u00a0\u202f\u2009 ]\d{3}"
_THOUSANDS = re.compile(rf"(?<!\d)([1-9]\d{{0,2}})((?:{_THOUSAND})+)(?!\d)")
_DECIMAL = re.compile(
    rf"(?<!\d)(?<!\d[.,:])(0|[1-9]\d{{0,2}}(?:{_THOUSAND})+|[1-9]\d*)([.,])(\d+)(?![.,:]?\d)"
    r"(?!\s?(?:Uhr\b|[ap]\.?\s?m\b))",
    re.IGNORECASE,
)
"""Also groups of thousands, and some dates and times."""
_FRACTION = re.compile(r"[.,]\d")
_BARE_POINT = re.compile(r"(?<![\w.,;:)\]])\.(?=\d)")
_SEPARATORS = re.compile(r"\D")
_ENTITY = re.compile(r"&#x?[0-9a-f]+;", re.IGNORECASE)
_SPELLED_OUT = 12  # up to here a translator may well write a word
_SCALES = re.compile(
    r"[百千万萬亿億兆]|[mb]illi|hundred|thousand|hundert|tausend|\bcents?\b|\bmille\b|\d ?[km]\b",
    re.IGNORECASE,
)
_CHINESE_NUMERAL = re.compile("[零〇一二三四五六七八九十百千万萬亿億两兩半]")
_DECIMAL_IN_WORDS = re.compile(
    r"[零〇一二三四五六七八九十百两兩][点點][零〇一二三四五六七八九]|\b(?:komma|virgule)\b|"
    r"\bpoint (?:zero|oh|one|two|three|four|five|six|seven|eight|nine)\b",
    re.IGNORECASE,
)
_HALF = re.compile(r"\bhalf\b|\bhalb|[nt]halb|\bdemie?\b|[½半]", re.IGNORECASE)


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
    1,000 agrees with 1.000 and with 1 000; 01/02 with 1. 2.; ３ with 3. Repeating a number is no
    disagreement. A number up to 12 may be missing, as words stand for it; so may any beside
    Chinese numerals; and 3 million agrees with 300万, 7 o'clock with 19, the 1960s with the 60s.

    A decimal is one number: 3.50 agrees with 3,5 and 3.5万 with 35,000, but 3.5 not with 35 or 5.3;
    and only words such as "three point five" may stand for it.
    """
    left, right = _ascii(source), _ascii(target)
    if not (_FRACTION.search(left) or _FRACTION.search(right)):
        return _odd_groups(left, right)
    ours, theirs = _decimals(left), _decimals(right)
    left_bare, lost = _without_decimals(left, ours, right, theirs)
    right_bare, added = _without_decimals(right, theirs, left, ours)
    return _odd_groups(left_bare, right_bare, lost, added)


def _odd_groups(
    left: str, right: str, lost: Sequence[str] = (), added: Sequence[str] = ()
) -> UnmatchedNumbers:
    """`odd_numbers` of texts without decimals, behind decimals that either side lacks."""
    ours, theirs = _groups(left), _groups(right)
    if set(ours) == set(theirs) or "".join(ours) == "".join(theirs):
        return UnmatchedNumbers(tuple(lost), tuple(added))
    ours, theirs = _groups(_joined(left)), _groups(_joined(right))
    only = set(ours) - set(theirs), set(theirs) - set(ours)
    only = _without_scales(*only, left + " " + right)
    only = _without_times(*only)
    if not ((only[0] or lost) and (only[1] or added)):
        only = _without_words(only[0], right), _without_words(only[1], left)
    return UnmatchedNumbers(
        tuple(dict.fromkeys([*lost, *(n for n in ours if n in only[0])])),
        tuple(dict.fromkeys([*added, *(n for n in theirs if n in only[1])])),
    )


def _ascii(text: str) -> str:
    """The text with every decimal digit as one of 0 to 9, with 0.5 for .5, and without `&#39;`,
    which is none."""
    if "&#" in text:
        text = _ENTITY.sub("", text)
    if "." in text:
        text = _BARE_POINT.sub("0.", text)
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


class _Decimal(NamedTuple):
    written: str
    whole: str
    sign: str
    fraction: str
    place: slice
    dot_behind: bool

    def agrees(self, other: "_Decimal") -> bool:
        """3.50 is 3,5; where both have a point they may be versions, and 3.10 is not 3.1."""
        if self.whole != other.whole:
            return False
        return self.fraction == other.fraction or (
            self.sign != other.sign and self.fraction.rstrip("0") == other.fraction.rstrip("0")
        )

    def in_parts(self, beside: set[str]) -> bool:
        """It is a date or a time, whose parts stand beside it: 25.8. of August 25, 7.30 of 7:30."""
        if self.whole not in beside and not _same_time(self.whole, beside):
            return False
        fraction, is_date = self.fraction.lstrip("0"), self.sign == "." and self.dot_behind
        return fraction in beside or (is_date and int(self.whole) <= 31 and int(fraction) <= 12)

    def scaled(self, number: str, scales: set[str]) -> bool:
        """It may be that whole number, where one text has those scales: 3.5 of 3.5万 is 35000."""
        same = (self.whole + self.fraction).strip("0") == number.rstrip("0")
        n_more = len(number) - len(self.whole.lstrip("0"))
        return same and bool(scales) and (n_more > 1 or not scales <= {"k", "m"})

    def in_words(self, text: str) -> bool:
        spoken = self.fraction == "5" and _HALF.search(text)
        return bool(spoken or _DECIMAL_IN_WORDS.search(text))


def _decimals(text: str) -> list[_Decimal]:
    """Numbers with a fraction: 1,000.5 and 0.125, but not 1,000."""
    return [
        _Decimal(
            one[0], _SEPARATORS.sub("", one[1]), one[2], one[3],
            slice(*one.span()), text.startswith(".", one.end()),
        )
        for one in _DECIMAL.finditer(text)
        if not _THOUSANDS.fullmatch(one[0])
    ]  # fmt: skip


def _without_decimals(
    text: str, decimals: Sequence[_Decimal], other: str, others: Sequence[_Decimal]
) -> tuple[str, list[str]]:
    """A text without its decimals, and those of them that the other text lacks.

    Those that may be something else stay, as whole numbers: 3 for 3.0, 7 and 30 for a time.
    """
    bare, bare_other = _replaced(text, decimals), _replaced(other, others)
    beside = set(_groups(bare_other)) - set(_groups(bare))
    scaled, scales = _groups(_joined(bare_other)), _scales(text) ^ _scales(other)
    instead, lacking = [""] * len(decimals), list[str]()
    for n, one in enumerate(decimals):
        if not one.fraction.strip("0"):
            instead[n] = one.whole
        elif any(map(one.agrees, others)):
            continue
        elif one.in_parts(beside):
            instead[n] = f"{one.whole};{one.fraction}"
        elif any(one.scaled(number, scales) for number in scaled):
            instead[n] = one.whole + one.fraction
        elif not one.in_words(other):
            lacking.append(one.written)
    return _replaced(text, decimals, instead), lacking


def _replaced(text: str, decimals: Sequence[_Decimal], instead: Sequence[str] = ()) -> str:
    """With something else, or a sign that joins no digits, in the place of each decimal."""
    for n in reversed(range(len(decimals))):
        place = decimals[n].place
        text = f"{text[: place.start]};{instead[n] if instead else ''};{text[place.stop :]}"
    return text


def _scales(text: str) -> set[str]:
    return {one.lstrip("0123456789 ").lower() for one in _SCALES.findall(text)}


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
