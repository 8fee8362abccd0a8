"""Where a text holds what is asked of it."""

import re
import unicodedata
from collections.abc import Sequence
from enum import Enum
from functools import lru_cache
from typing import NamedTuple

from headway.languages.scripts import UNSPACED
from headway.languages.sentences import ENDS

_UNSPACED = re.compile(f"[{UNSPACED}]")
_SENTENCE_ENDS = frozenset(f"{ENDS}\n")
"""A sentence begins behind them; behind a `;`, which asks in Greek, one may begin anywhere."""


class Where(Enum):
    ANYWHERE = "anywhere"
    OPENING = "opening"
    """At the beginning of a sentence: with a capital for it."""
    INSIDE = "inside"
    """Not at the very beginning of the text."""


class Spelling(NamedTuple):
    """One way to write something: as a whole word."""

    text: str
    open_end: bool = False
    """An ending may follow, as in `Hund*`."""
    where: Where = Where.ANYWHERE

    def fits(self, before: str) -> bool:
        """Whether it may stand behind this beginning of a text, as far as its case goes."""
        if self.where is Where.OPENING:
            return _opens(before)
        return self.where is Where.ANYWHERE or any(map(_worded, before))


class Wanted(NamedTuple):
    """Something that a text must hold: any of its spellings, so many times in all."""

    spellings: tuple[Spelling, ...]
    times: int = 1

    def standing(self, text: str) -> list[tuple[int, int]]:
        """Beginning and end of each place where it stands, none of them overlapping; an ending
        belongs to it."""
        found = sorted((start, -end) for one in self.spellings for start, end in _places(text, one))
        places: list[tuple[int, int]] = []
        for start, end in found:
            if not places or places[-1][1] <= start:
                places.append((start, -end))
        return places

    def lacking_in(self, text: str) -> int:
        """How often it is missing in a whole text."""
        return max(0, self.times - len(self.standing(text)))


def _places(text: str, spelling: Spelling) -> Sequence[tuple[int, int]]:
    places = []
    start = text.find(spelling.text)
    while start >= 0:
        end = start + len(spelling.text)
        if not _joined(text, start) and (spelling.open_end or not _joined(text, end)):
            while _joined(text, end):
                end += 1
            if spelling.fits(text[:start]):
                places.append((start, end))
        start = text.find(spelling.text, start + 1)
    return places


def _joined(text: str, place: int) -> bool:
    """Whether the characters before and behind a place go together."""
    return 0 < place < len(text) and in_word(text[place - 1]) and in_word(text[place])


def _opens(before: str) -> bool:
    """Whether nothing of a word has been written in this sentence so far."""
    for character in reversed(before):
        if _worded(character):
            return False
        if character in _SENTENCE_ENDS:
            return True
    return True


def _worded(character: str) -> bool:
    return in_word(character) or character.isalnum()


@lru_cache(maxsize=1 << 14)
def in_word(character: str) -> bool:
    """Whether a character goes together with its neighbours, as letters and digits do.

    Those of scripts without spaces do not: there, a term is held wherever it stands.
    """
    if _UNSPACED.match(character):
        return False
    return character.isalnum() or character == "_" or unicodedata.category(character)[0] == "M"
