"""Whether a text holds what it must: read character by character, however it is cut into tokens."""

import re
import unicodedata
from collections.abc import Sequence
from enum import Enum
from functools import lru_cache
from typing import NamedTuple

from headway.text.code_projection import UNSPACED
from headway.text.sentences import ENDS

_UNSPACED = re.compile(f"[{UNSPACED}]")
SENTENCE_ENDS = frozenset(f"{ENDS}\n")
"""A sentence begins behind them; behind a `;`, which asks in Greek, one may begin anywhere."""


class Where(Enum):
    """Where a spelling may stand."""

    ANYWHERE = "anywhere"
    OPENING = "opening"
    """At the beginning of a sentence: with a capital for it."""
    INSIDE = "inside"
    """Not at the very beginning of the text."""


class Spelling(NamedTuple):
    """One way to write something."""

    text: str
    whole_word: bool = True
    """Nothing that belongs to a word may stand before it; and behind it, unless `open_end`."""
    open_end: bool = False
    """An ending may follow, as in `Hund*`."""
    where: Where = Where.ANYWHERE


class Wanted(NamedTuple):
    """Something that a text must hold: any of its spellings, so many times in all."""

    spellings: tuple[Spelling, ...]
    times: int = 1


class Reading(NamedTuple):
    """How far a text has been read."""

    lacking: tuple[int, ...]
    """How often each thing wanted is still to come."""
    begun: tuple[tuple[int, int, int], ...] = ()
    """Spellings that may be under way: thing wanted, spelling, characters read."""
    unclosed: tuple[int, ...] = ()
    """Things wanted that are there if no word character follows."""
    in_word: bool = False
    """The last character belongs to a word."""
    blank: bool = True
    """Nothing of a word so far."""
    opening: bool = True
    """Nothing of a word in this sentence so far."""


class Holding:
    """Reads texts and says what they lack."""

    def __init__(self, wanted: Sequence[Wanted]) -> None:
        self.wanted = wanted
        self._by_first: dict[str, list[tuple[int, int]]] = {}
        for thing, one in enumerate(wanted):
            for number, spelling in enumerate(one.spellings):
                self._by_first.setdefault(spelling.text[0], []).append((thing, number))

    def start(self) -> Reading:
        """Before the first character."""
        return Reading(tuple(one.times for one in self.wanted))

    def spelling(self, thing: int, number: int) -> Spelling:
        """One of the spellings of a thing wanted."""
        return self.wanted[thing].spellings[number]

    def may_begin(self, reading: Reading, spelling: Spelling) -> bool:
        """Whether a spelling may begin with the next character."""
        if spelling.where is Where.OPENING and not reading.opening:
            return False
        if spelling.where is Where.INSIDE and reading.blank:
            return False
        return not (reading.in_word and spelling.whole_word and in_word(spelling.text[0]))

    def read(self, reading: Reading, text: str) -> Reading:
        """Go on with these characters."""
        if not (reading.begun or reading.unclosed) and self._by_first.keys().isdisjoint(text):
            return _passed(reading, text)
        for character in text:
            reading = self._read(reading, character)
        return reading

    def _read(self, reading: Reading, character: str) -> Reading:
        belongs = in_word(character)
        lacking = list(reading.lacking)
        if not belongs:
            for thing in reading.unclosed:
                lacking[thing] = max(0, lacking[thing] - 1)
        begun, unclosed = [], []
        starting = [
            (thing, number, 0)
            for thing, number in self._by_first.get(character, ())
            if self.may_begin(reading, self.spelling(thing, number))
        ]
        for thing, number, n_read in (*reading.begun, *starting):
            if not lacking[thing]:
                continue
            spelling = self.spelling(thing, number)
            if spelling.text[n_read] != character:
                continue
            if n_read + 1 < len(spelling.text):
                begun.append((thing, number, n_read + 1))
            elif belongs and spelling.whole_word and not spelling.open_end:
                unclosed.append(thing)
            else:
                lacking[thing] = max(0, lacking[thing] - 1)
        opening = reading.opening or character in SENTENCE_ENDS
        worded = belongs or character.isalnum()
        return Reading(
            tuple(lacking),
            tuple(one for one in begun if lacking[one[0]]),
            tuple(dict.fromkeys(unclosed)),
            belongs,
            reading.blank and not worded,
            opening and not worded,
        )

    def lacks(self, reading: Reading) -> list[int]:
        """How often each thing is missing if the text ends here."""
        lacking = list(reading.lacking)
        for thing in reading.unclosed:
            lacking[thing] = max(0, lacking[thing] - 1)
        return lacking

    def lacking_in(self, text: str) -> list[int]:
        """How often each thing is missing in a whole text."""
        return self.lacks(self.read(self.start(), text))


class _Passage(NamedTuple):
    """What a text without anything wanted does to a reading."""

    worded: bool
    opening: tuple[bool, bool]
    """Behind it, where it was not before, and where it was."""


def _passed(reading: Reading, text: str) -> Reading:
    """Behind a text in which nothing that is wanted can begin or go on."""
    if not text:
        return reading
    passage = _passage(text)
    return Reading(
        reading.lacking,
        in_word=in_word(text[-1]),
        blank=reading.blank and not passage.worded,
        opening=passage.opening[reading.opening],
    )


@lru_cache(maxsize=1 << 15)
def _passage(text: str) -> _Passage:
    any_worded, outside, inside = False, False, True
    for character in text:
        worded, ends = _worded(character), character in SENTENCE_ENDS
        outside, inside = ((opening or ends) and not worded for opening in (outside, inside))
        any_worded |= worded
    return _Passage(any_worded, (outside, inside))


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
