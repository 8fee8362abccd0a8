"""What *it* stands for in a sentence of the everyday corpus, read off its Chinese."""

import re
from typing import NamedTuple

from headway.text.everyday.lexicon import things

_TWO_NOUNS = re.compile(r"The (\w+) .* the (\w+) because it ")


class Coreference(NamedTuple):
    """The two nouns of an English sentence between which the reason decides."""

    antecedent: str
    """What *it* stands for."""
    rival: str
    """What it could have stood for."""


def coreference(english: str, chinese: str) -> Coreference | None:
    """What *it* stands for, as the Chinese names it; None if no two nouns compete.

    None as well if the Chinese, say a model's, names neither of the two.
    """
    found = _TWO_NOUNS.match(english)
    if found is None:
        return None
    first, second = found.groups()
    reason = chinese.partition("因为那")[2]
    names = {
        noun: {f"{t.measure}{t.zh}" for group in things().values() for t in group if t.en == noun}
        for noun in (first, second)
    }
    if any(reason.startswith(name) for name in names[first]):
        return Coreference(first, second)
    if any(reason.startswith(name) for name in names[second]):
        return Coreference(second, first)
    return None
