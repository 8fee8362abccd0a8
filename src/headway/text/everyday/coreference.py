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
    named_at: int
    """Where in the Chinese the antecedent is named again, in characters; after the measure word."""


def coreference(english: str, chinese: str) -> Coreference | None:
    """What *it* stands for, as the Chinese names it; None if no two nouns compete.

    None as well if the Chinese, say a model's, names neither of the two.
    """
    found = _TWO_NOUNS.match(english)
    if found is None:
        return None
    first, second = found.groups()
    event, because, reason = chinese.partition("因为那")
    candidates = [thing for group in things().values() for thing in group]
    for antecedent, rival in ((first, second), (second, first)):
        for thing in candidates:
            if thing.en == antecedent and reason.startswith(f"{thing.measure}{thing.zh}"):
                named_at = len(event) + len(because) + len(thing.measure)
                return Coreference(antecedent, rival, named_at)
    return None
