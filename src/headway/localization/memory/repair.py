"""Numbers and codes of a match put right: "Step 3" from "Step 2", in its translation too."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from headway.localization.memory.words import CODE, NUMBER, WordToken, aligned, stretches, tokens
from headway.localization.placeholders.patterns import frame, kind_of

_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_SEPARATOR = re.compile(r"[.,]")


class Repair(NamedTuple):
    """A translation with what differs put right, where that was plain."""

    target: str
    done: tuple[str, ...]
    """What was put right: `2 -> 3`."""
    failed: tuple[str, ...]
    """What differs and was left, in the same form."""


class Swap(NamedTuple):
    """A number or code of a source that another one stands for in the query."""

    old: str
    new: str
    """Empty where there is nothing in its place."""
    n: int
    """How often the old one stands in the source; 0 where nothing is plain: it is several others,
    or nobody can tell which."""

    def __str__(self) -> str:
        return f"{self.old or 'none'} -> {self.new or 'none'}"


def repaired(query: str, source: str, target: str) -> Repair:
    """Carry the query's numbers and codes over to the translation of a source that is like it.

    A number or code is exchanged where nothing is left to guess: it stands in the translation as
    often as in its source, and every time in the place of the same other one; numbers only where
    both sources have as many, each beside its own. A tag that the query lacks goes.
    """
    numbers, codes = _differences(query, source)
    if not (numbers or codes):
        return Repair(target, (), ())
    pieces = stretches(target)
    found = [number for text, is_code in pieces if not is_code for number in _NUMBER.findall(text)]
    new_numbers = {_digits(swap.old): swap for swap in numbers if _number_fits(swap, found)}
    in_codes = Counter(text for text, is_code in pieces if is_code)
    new_codes = {swap.old: swap for swap in codes if _code_fits(swap, in_codes[swap.old])}

    def exchanged(number: re.Match[str]) -> str:
        swap = new_numbers.get(_digits(number[0]))
        return (_in_form_of(swap.old, number[0], swap.new) if swap else None) or number[0]

    made = "".join(
        (new_codes[text].new if text in new_codes else text)
        if is_code
        else _NUMBER.sub(exchanged, text)
        for text, is_code in pieces
    )
    if any(not swap.new for swap in new_codes.values()) and "  " not in target:
        made = re.sub("  +", " ", made).strip()
    both, kept = (*numbers, *codes), {*new_numbers.values(), *new_codes.values()}
    done = [str(swap) for swap in both if swap in kept]
    failed = tuple(str(swap) for swap in both if swap not in kept)
    return Repair(made, tuple(done), failed)


def _differences(query: str, source: str) -> tuple[list[Swap], list[Swap]]:
    """Numbers and codes that stand for each other, where words and codes are laid side by side."""
    old, new = tokens(source), tokens(query)
    pairs: dict[str, list[tuple[str, str]]] = {NUMBER: [], CODE: []}
    gone, added = Counter[str](), Counter[str]()
    one_to_one = True
    for one in aligned([token.kind for token in old], [token.kind for token in new]):
        ours, theirs = old[one.old], new[one.new]
        if one.same:
            for mine, other in zip(ours, theirs, strict=True):
                if mine.kind in pairs:
                    pairs[mine.kind].append((mine.written, other.written))
        else:
            gone += Counter(_written(ours, CODE))
            added += Counter(_written(theirs, CODE))
            one_to_one &= not (_written(ours, NUMBER) or _written(theirs, NUMBER))
    gone, added = gone - added, added - gone
    lost = ((code, "") for code in gone.elements())
    swaps = _swaps([*pairs[CODE], *lost], _written(old, CODE), str)
    swaps += [Swap("", code, 0) for code in added.elements()]
    numbers = _swaps(pairs[NUMBER], _written(old, NUMBER) if one_to_one else (), _digits)
    return numbers, swaps


def _written(some: Iterable[WordToken], kind: str) -> list[str]:
    return [token.written for token in some if token.kind == kind]


def _swaps(
    pairs: Iterable[tuple[str, str]], all_old: Iterable[str], same: Callable[[str], str]
) -> list[Swap]:
    counts = Counter(map(same, all_old))
    partners = defaultdict[str, list[tuple[str, str]]](list)
    for old, new in pairs:
        partners[same(old)].append((old, new))
    return [
        Swap(old, new, counts[key] if len({*of_key}) == 1 and len(of_key) == counts[key] else 0)
        for key, of_key in partners.items()
        for old, new in dict.fromkeys(of_key)
        if old != new
    ]


def _number_fits(swap: Swap, found: Sequence[str]) -> bool:
    """Whether a number can be exchanged in a translation that has all those."""
    old = _digits(swap.old)
    same = [number for number in found if _digits(number) == old]
    return 0 < swap.n == len(same) and all(
        _in_form_of(swap.old, number, swap.new) for number in same
    )


def _code_fits(swap: Swap, n_found: int) -> bool:
    """Whether a code can be exchanged in a translation, or taken out of it."""
    if not 0 < swap.n == n_found:
        return False
    if not swap.new:
        return kind_of(swap.old) == "tag"
    return kind_of(swap.old) == kind_of(swap.new) and frame(swap.old) == frame(swap.new)


def _digits(number: str) -> str:
    return _SEPARATOR.sub("", number)


def _in_form_of(old: str, found: str, new: str) -> str | None:
    """The new number as the translation writes it: 1.5 -> 2.5 is 1,5 -> 2,5 there.

    None where that cannot be told: 5 does not say how 1,500 is written there.
    """
    signs = list(zip(_SEPARATOR.findall(old), _SEPARATOR.findall(found), strict=False))
    form = dict(signs)
    one_to_one = len(set(signs)) == len(form) == len(set(form.values()))
    alike = [*map(len, _SEPARATOR.split(old))] == [*map(len, _SEPARATOR.split(found))]
    if not (one_to_one and alike and set(_SEPARATOR.findall(new)) <= set(form)):
        return None
    return _SEPARATOR.sub(lambda sign: form[sign[0]], new)
