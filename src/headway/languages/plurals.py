"""Plural forms: how many a language has, and a number that takes each of them.

The names are those of Unicode's CLDR; gettext's order of forms is that of the names that whole
numbers take, unless a file says otherwise by an expression of its own.
"""

import gettext
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from headway.languages.codes import base

_NUMBERS = 1_000
"""Counted up to here to see which form a number takes; what none takes has no number."""
_FRACTION = 1.5
_MILLION = 1_000_000

ONE_OTHER = (("one", 1), ("other", 2))


class PluralCategory(NamedTuple):
    name: str
    """`zero`, `one`, `two`, `few`, `many` or `other`."""
    number: int | float
    """The smallest number that takes it, but 0 only if no other does."""


def _table() -> dict[str, tuple[tuple[str, int | float], ...]]:
    slavic = (("one", 1), ("few", 2), ("many", 5), ("other", _FRACTION))
    czech = (("one", 1), ("few", 2), ("many", _FRACTION), ("other", 5))
    serbian = (("one", 1), ("few", 2), ("other", 5))
    romance = (("one", 1), ("many", _MILLION), ("other", 2))
    all_six = (("zero", 0), ("one", 1), ("two", 2), ("few", 3))
    rows: dict[str, tuple[tuple[str, int | float], ...]] = {
        "zh ja ko vi th id ms my lo km ig jv yo wo bo dz yue su to": (("other", 2),),
        "ru uk be pl": slavic,
        "cs sk": czech,
        "sr hr bs": serbian,
        "fr es it pt ca": romance,
        "lt": (("one", 1), ("few", 2), ("many", _FRACTION), ("other", 10)),
        "lv": (("zero", 10), ("one", 1), ("other", 2)),
        "ro mo": (("one", 1), ("few", 2), ("other", 20)),
        "sl": (("one", 1), ("two", 2), ("few", 3), ("other", 5)),
        "he iw": (("one", 1), ("two", 2), ("other", 3)),
        "ar": (*all_six, ("many", 11), ("other", 100)),
        "cy": (*all_six, ("many", 6), ("other", 4)),
        "ga": (("one", 1), ("two", 2), ("few", 3), ("many", 7), ("other", 11)),
        "gd": (("one", 1), ("two", 2), ("few", 3), ("other", 20)),
        "mt": (("one", 1), ("two", 2), ("few", 3), ("many", 11), ("other", 20)),
    }
    return {code: forms for codes, forms in rows.items() for code in codes.split()}


_ALSO_ONE = {
    0: "fr pt am as bn doi fa gu hi kn pcm zu ff hy kab shi si ak bho guw ln mg nso pa ti wa",
    2: "fil tl ceb",
    11: "gd gv tzm",
    21: "ru uk be sr hr bs sh lt lv prg is mk br",
    101: "sl dsb hsb",
}
"""Languages whose `one` is the form of other numbers, too, by such a number."""


def also_one(language: str | None) -> int | None:
    """A number besides 1 that takes `one`: 0, or the smallest above 1 where there is one.

    None where `one` is said of 1 alone, of all whole numbers, or the language is not known.
    """
    code = base(language)
    if not code or (language or "").lower().replace("_", "-") == "pt-pt":
        return None
    return next((number for number, codes in _ALSO_ONE.items() if code in codes.split()), None)


def forms_of(language: str | None, *, whole: bool = False) -> tuple[PluralCategory, ...]:
    """The forms of a language in CLDR's order; `one` and `other` where it is not known.

    With `whole`, only those that whole numbers below 1,000 take: the forms of gettext and of Qt.
    """
    forms = tuple(PluralCategory(*row) for row in _table().get(base(language), ONE_OTHER))
    return tuple(f for f in forms if f.number not in (_FRACTION, _MILLION)) if whole else forms


@cache
def numbers_of(expression: str, n_forms: int) -> tuple[int | None, ...] | None:
    """For each form of gettext's `plural=..`, the smallest number that takes it, 0 being the last.

    None if the expression cannot be read; a form that no number takes has None.
    """
    try:
        form_of = parsed(expression)
        chosen = [int(form_of(n)) for n in (*range(1, _NUMBERS), 0)]
    except (ValueError, ZeroDivisionError, OverflowError):
        return None
    numbers = [*range(1, _NUMBERS), 0]
    return tuple(numbers[chosen.index(form)] if form in chosen else None for form in range(n_forms))


@cache
def only_one(expression: str) -> bool:
    """Whether the form that 1 takes is that of no other number; True if that cannot be said."""
    try:
        form_of = parsed(expression)
        return all(form_of(n) != form_of(1) for n in (0, *range(2, _NUMBERS)))
    except (ValueError, ZeroDivisionError, OverflowError):
        return True


def parsed(expression: str) -> Callable[[int], int]:
    """An expression of C over `n`, as a file says it, as a function: Python's gettext reads them.

    Raises ValueError: it is none.
    """
    form_of: Callable[[int], int] = gettext.c2py(expression)
    return form_of
