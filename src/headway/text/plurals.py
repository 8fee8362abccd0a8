"""Plural forms: how many a language has, and a number that takes each of them.

The names are those of Unicode's CLDR; gettext's order of forms is that of the names that whole
numbers take, unless a file says otherwise by an expression of its own.
"""

import operator
import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import NamedTuple

_NUMBERS = 1_000
"""Counted up to here to see which form a number takes; what none takes has no number."""
_DEEPEST = 12
_LONGEST = 300
"""Parts of an expression."""
_FRACTION = 1.5
_MILLION = 1_000_000

ONE_OTHER = (("one", 1), ("other", 2))


class Form(NamedTuple):
    """A plural form of a language."""

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
    code = _code(language)
    if not code or (language or "").lower().replace("_", "-") == "pt-pt":
        return None
    return next((number for number, codes in _ALSO_ONE.items() if code in codes.split()), None)


def forms_of(language: str | None, *, whole: bool = False) -> tuple[Form, ...]:
    """The forms of a language in CLDR's order; `one` and `other` where it is not known.

    With `whole`, only those that whole numbers below 1,000 take: the forms of gettext and of Qt.
    """
    forms = tuple(Form(*row) for row in _table().get(_code(language), ONE_OTHER))
    return tuple(f for f in forms if f.number not in (_FRACTION, _MILLION)) if whole else forms


def _code(language: str | None) -> str:
    return re.split("[-_]", (language or "").lower())[0]


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


_Value = Callable[[int], int]
_TOKEN = re.compile(r"\s*(?:([0-9]{1,9})|(n)|(\|\||&&|[=!<>]=|[-+*/%<>!?:()]))")
_LEVELS: tuple[dict[str, Callable[[int, int], int]], ...] = (
    {"||": lambda a, b: int(bool(a or b))},
    {"&&": lambda a, b: int(bool(a and b))},
    {"==": operator.eq, "!=": operator.ne},
    {"<": operator.lt, ">": operator.gt, "<=": operator.le, ">=": operator.ge},
    {"+": operator.add, "-": operator.sub},
    {"*": operator.mul, "/": operator.floordiv, "%": operator.mod},
)
"""Operators of C, those that bind least first."""


def parsed(expression: str) -> _Value:
    """An expression of C over `n`, as gettext has them, as a function.

    Raises:
        ValueError: it is none.
    """
    tokens, position = list[str](), 0
    expression = expression.rstrip()
    while position < len(expression):
        found = _TOKEN.match(expression, position)
        if not found or len(tokens) > _LONGEST:
            raise ValueError(f"no plural expression: {expression[position:][:20]!r}")
        tokens.append(found[0].strip())
        position = found.end()
    reader = _PluralParser(tokens)
    value = reader.choice(0)
    if reader.tokens:
        raise ValueError(f"no plural expression: {reader.tokens[0]!r}")
    return value


class _PluralParser:
    """Takes an expression apart from left to right."""

    def __init__(self, tokens: Sequence[str]) -> None:
        self.tokens = list(tokens)

    def _take(self, *wanted: str) -> str:
        if self.tokens and (not wanted or self.tokens[0] in wanted):
            return self.tokens.pop(0)
        return ""

    def choice(self, depth: int) -> _Value:
        """`condition ? value : value`, or a value."""
        if depth > _DEEPEST:
            raise ValueError("a plural expression is nested too deeply")
        condition = self._binary(0, depth)
        if not self._take("?"):
            return condition
        yes = self.choice(depth + 1)
        if not self._take(":"):
            raise ValueError("a plural expression has ? without :")
        no = self.choice(depth + 1)
        return lambda n: yes(n) if condition(n) else no(n)

    def _binary(self, level: int, depth: int) -> _Value:
        if level == len(_LEVELS):
            return self._single(depth)
        value = self._binary(level + 1, depth)
        while sign := self._take(*_LEVELS[level]):
            value = _combined(_LEVELS[level][sign], value, self._binary(level + 1, depth))
        return value

    def _single(self, depth: int) -> _Value:
        if self._take("!"):
            if depth > _DEEPEST:
                raise ValueError("a plural expression is nested too deeply")
            negated = self._single(depth + 1)
            return lambda n: int(not negated(n))
        if self._take("("):
            value = self.choice(depth + 1)
            if not self._take(")"):
                raise ValueError("a plural expression has ( without )")
            return value
        token = self._take()
        if token == "n":
            return lambda n: n
        if not token.isdecimal():
            raise ValueError(f"a plural expression has no value before {token!r}")
        number = int(token)
        return lambda _: number


def _combined(operation: Callable[[int, int], int], left: _Value, right: _Value) -> _Value:
    return lambda n: int(operation(left(n), right(n)))
