"""Which words of a translation stand for a term of its source, and the term put in their place.

A word stands for the term whose removal from the source makes it much less likely to be written.
"""

from collections.abc import Sequence
from typing import NamedTuple

from headway.languages.segmenting import whole_words
from headway.localization.placeholders.patterns import find
from headway.localization.placeholders.projection import TokenSpans, words_and_signs
from headway.localization.terms.matching import RequiredText, in_word

LEAST, MOST_OF = 1.0, 0.5
"""Nats that a word must lose without the term to stand for it, and what share of what the word
loses that loses most."""
SHARED = 0.8
"""A word that loses so much of that without the term's neighbours stands for them, too, as a
compound does: it is left alone."""
BEHIND, BEHIND_ONE = 0.25, 0.15
"""The next word, if it loses so much of that and more than without the neighbours, is what the term
stands for, and the one before it an article or a measure word; or one of the next two, if that is a
single character of a script without spaces."""
BESIDE = 0.5
"""A word before it that loses so much of that stands for a term of several words, too."""

Span = tuple[int, int]


class WantedTerm(NamedTuple):
    """What is to stand in a translation, and what it would lose without its source."""

    wanted: RequiredText
    falls: Sequence[float]
    """Of each token, how much its log-probability (nats) falls where the term is not read."""
    falls_beside: Sequence[float]
    """The same where the words beside the term are not read."""
    several: bool
    """It has several words in the source, and may have in the translation."""


class TermEdit(NamedTuple):
    """A stretch of a translation and what is written there instead."""

    start: int
    end: int
    term: str


class _Words:
    """The words of a translation that a term may take the place of: no signs, no codes."""

    def __init__(self, written: TokenSpans) -> None:
        self.text = text = written.text
        self._tokens = written.spans
        codes = [(start, end) for start, end, _ in find(text)]
        self.spans = [
            span
            for span in whole_words(text, words_and_signs(text), written.spans, {})
            if any(map(str.isalnum, text[slice(*span)])) and not _meets(span, codes)
        ]

    def lost(self, falls: Sequence[float]) -> list[float]:
        """What each word loses, given how much each token does."""
        each = list(zip(self._tokens, falls, strict=True))
        return [
            sum(max(0.0, fall) for token, fall in each if _meets(word, [token]))
            for word in self.spans
        ]

    def adjacent(self, first: int, last: int) -> bool:
        """Whether no sign stands between two words."""
        ends = [(self.spans[n][1], self.spans[n + 1][0]) for n in range(first, last)]
        return not any(self.text[slice(*between)].strip() for between in ends)

    def head(self, lost: Sequence[float], beside: Sequence[float], n: int) -> int:
        """The word that a term stands for where `n` loses most, which may be an article or a
        measure word in front of it: once that is written, the word itself is no surprise."""
        start, end = self.spans[n]
        alone = end - start == 1 and not in_word(self.text[start])
        enough = (BEHIND_ONE if alone else BEHIND) * lost[n]
        for other in range(n + 1, min(n + 2 + alone, len(self.spans))):
            if lost[other] - beside[other] >= enough and self.adjacent(n, other):
                return self.head(lost, beside, other)
        return n

    def claims(
        self, lost: Sequence[Sequence[float]], beside: Sequence[Sequence[float]]
    ) -> list[tuple[int, int]]:
        """Terms and words that may stand for them, the surest first; of one word that stands there
        several times the first."""
        words, claims = [self.text[slice(*span)] for span in self.spans], []
        for number, losses in enumerate(lost):
            enough = max(LEAST, MOST_OF * max(losses, default=0.0))
            own = [loss - other for loss, other in zip(losses, beside[number], strict=True)]
            some = [
                n for n, one in enumerate(losses) if one >= enough and own[n] > (1 - SHARED) * one
            ]
            most = {words[n]: max(own[m] for m in some if words[m] == words[n]) for n in some}
            claims += [(-most[words[n]], number, n) for n in some]
        return [(number, n) for _, number, n in sorted(claims)]


def places_for(written: TokenSpans, terms: Sequence[WantedTerm]) -> list[TermEdit]:
    """Where the terms go, as far as there is a place for them; in order."""
    words = _Words(written)
    there = [place for term in terms for place in term.wanted.standing(words.text)]
    taken = {n for n, word in enumerate(words.spans) if _meets(word, there)}
    lost = [words.lost(term.falls) for term in terms]
    beside = [words.lost(term.falls_beside) for term in terms]
    lacking = [term.wanted.lacking_in(words.text) for term in terms]
    places = []
    for number, n in words.claims(lost, beside):
        last = first = words.head(lost[number], beside[number], n)
        if not lacking[number] or not taken.isdisjoint((n, last)):
            continue
        while terms[number].several and first and words.adjacent(first - 1, first):
            if first - 1 in taken or lost[number][first - 1] < BESIDE * lost[number][n]:
                break
            first -= 1
        taken.update(range(min(first, n), last + 1))
        lacking[number] -= 1
        start, end = words.spans[first][0], words.spans[last][1]
        spellings, before = terms[number].wanted.spellings, words.text[:start]
        term = next((one.text for one in spellings if one.fits(before)), spellings[0].text)
        places.append(TermEdit(start, end, term))
    return sorted(places)


def has_place(written: TokenSpans, falls: Sequence[float]) -> bool:
    """Whether any word stands for what is not read."""
    return max(_Words(written).lost(falls), default=0.0) >= LEAST


def _meets(one: Span, others: Sequence[Span]) -> bool:
    return any(one[0] < end and start < one[1] for start, end in others)


class TermPlacement(NamedTuple):
    """A translation with terms in their places."""

    text: str
    origins: list[int]
    """For each character the one of the translation that it, or its term, stands for."""


def put_in(text: str, places: Sequence[TermEdit]) -> TermPlacement:
    """The text with the terms in their places."""
    parts: list[str] = []
    origins: list[int] = []
    done = 0
    for start, end, term in places:
        parts += [text[done:start], term]
        origins += range(done, start)
        origins += (start + n * (end - start) // len(term) for n in range(len(term)))
        done = end
    parts.append(text[done:])
    origins += range(done, len(text))
    return TermPlacement("".join(parts), origins)
