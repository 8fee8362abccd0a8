"""Where terms stand: those of a glossary in a source, and what is asked of a translation in it."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Sequence
from enum import Enum
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from headway.languages.scripts import UNSPACED
from headway.languages.sentences import ENDS
from headway.localization.terms.glossary import Glossary, Term

_MARKS = "\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0963\u0966-\u0dff"
_TOKEN = re.compile(rf"[{UNSPACED}]|(?:[^\W{UNSPACED}]|[{_MARKS}])+|\S")
"""A word, a character of a script that parts no words, or a sign."""
_UNSPACED = re.compile(f"[{UNSPACED}]")
_SENTENCE_ENDS = frozenset(f"{ENDS}\n")
"""A sentence begins behind them; behind a `;`, which asks in Greek, one may begin anywhere."""


class TermMatch(NamedTuple):
    start: int
    end: int
    term: Term


class _Sought(NamedTuple):
    """One spelling of a term."""

    words: list[tuple[str, bool]]
    """Its tokens without case, and whether any ending may follow."""
    term: Term
    cased: "re.Pattern[str] | None"
    """What one with a capital fits, with just these capitals."""


class Matcher:
    """Finds the terms of a glossary in texts: whole words, longest first, none overlapping."""

    def __init__(self, glossary: Glossary) -> None:
        self._starting = defaultdict[tuple[str, bool], list[_Sought]](list)
        """By the first word."""
        self._longest_open = 0
        """Characters of the longest of them that any ending may follow."""
        for term in glossary.terms:
            for written in (term.source, *term.forms):
                spelling = unicodedata.normalize("NFC", written)
                keys = [*(key for _, _, key in _tokens(spelling)), ""]
                words = [(key, behind == "*") for key, behind in pairwise(keys) if key != "*"]
                self._starting[words[0]].append(_Sought(words, term, _cased(spelling)))
                if words[0][1]:
                    self._longest_open = max(self._longest_open, len(words[0][0]))

    def find(self, text: str) -> list[TermMatch]:
        """The terms of a text in their order; where two overlap, the longer one, then the earlier.

        A spelling without capitals is found in any case; one with a capital only as it is, and
        before one without that stands in the same place.
        """
        tokens = list(_tokens(text))
        found = [one for n in range(len(tokens)) for one in self._at(text, tokens, n)]
        found.sort(key=lambda one: (one[0].start - one[0].end, one[0].start, one[1]))
        taken = bytearray(len(text))
        chosen = []
        for one, _ in found:
            if not any(taken[one.start : one.end]):
                taken[one.start : one.end] = b"\1" * (one.end - one.start)
                chosen.append(one)
        return sorted(chosen)

    def _at(
        self, text: str, tokens: Sequence[tuple[int, int, str]], first: int
    ) -> Iterator[tuple[TermMatch, bool]]:
        """All that begin with this token, and whether each is found in any case."""
        start, _, key = tokens[first]
        key = key.lstrip()
        sought = [*self._starting.get((key, False), ())]
        for n in range(min(len(key), self._longest_open)):
            sought += self._starting.get((key[: n + 1], True), ())
        for words, term, cased in sought:
            found = tokens[first : first + len(words)]
            both = zip(found[1:], words[1:], strict=False)
            if len(found) == len(words) and all(
                other.startswith(word) if is_open else other == word
                for (*_, other), (word, is_open) in both
            ):
                end = found[-1][1]
                if cased is None or cased.fullmatch(text[start:end]):
                    yield TermMatch(start, end, term), cased is None


def _tokens(text: str) -> Iterator[tuple[int, int, str]]:
    """Start, end, and the token without case; a space that stands before it belongs to it."""
    place = 0
    for match in _TOKEN.finditer(text):
        space = " " if place and match.start() > place else ""
        yield match.start(), match.end(), space + match[0].casefold()
        place = match.end()


def _cased(spelling: str) -> re.Pattern[str] | None:
    if spelling == spelling.lower():
        return None
    words = (re.escape(word).replace(r"\*", r"\w*") for word in spelling.split())
    return re.compile(r"\s+".join(words))


class SpellingPosition(Enum):
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
    where: SpellingPosition = SpellingPosition.ANYWHERE

    def fits(self, before: str) -> bool:
        """Whether it may stand behind this beginning of a text, as far as its case goes."""
        if self.where is SpellingPosition.OPENING:
            return _opens(before)
        return self.where is SpellingPosition.ANYWHERE or any(map(_worded, before))

    def places(self, text: str) -> Iterator[tuple[int, int]]:
        start = text.find(self.text)
        while start >= 0:
            end = start + len(self.text)
            if not _joined(text, start) and (self.open_end or not _joined(text, end)):
                while _joined(text, end):
                    end += 1
                if self.fits(text[:start]):
                    yield start, end
            start = text.find(self.text, start + 1)


class RequiredText(NamedTuple):
    """Something that a text must hold: any of its spellings, so many times in all."""

    spellings: tuple[Spelling, ...]
    times: int = 1

    def standing(self, text: str) -> list[tuple[int, int]]:
        """Beginning and end of each place where it stands, none of them overlapping; an ending
        belongs to it."""
        found = [place for one in self.spellings for place in one.places(text)]
        places: list[tuple[int, int]] = []
        for start, end in sorted(found, key=lambda place: (place[0], -place[1])):
            if not places or places[-1][1] <= start:
                places.append((start, end))
        return places

    def lacking_in(self, text: str) -> int:
        """How often it is missing in a whole text."""
        return max(0, self.times - len(self.standing(text)))


def _joined(text: str, place: int) -> bool:
    """Whether the characters before and behind a place go together."""
    return 0 < place < len(text) and in_word(text[place - 1]) and in_word(text[place])


def _opens(before: str) -> bool:
    """Whether nothing of a word has been written in this sentence so far."""
    written = (one for one in reversed(before) if _worded(one) or one in _SENTENCE_ENDS)
    return not _worded(next(written, " "))


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
