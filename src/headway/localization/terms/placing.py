"""Which words of a translation stand for a term of its source, and the term put in their place.

A word stands for the term whose removal from the source makes it much less likely to be written.
"""

from collections.abc import Sequence
from typing import NamedTuple

from headway.languages.unspaced_words import whole_words
from headway.localization.placeholders.patterns import find
from headway.localization.placeholders.projection import TokenSpans, words_and_signs
from headway.localization.terms.matching import Spelling, Wanted, in_word

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

    wanted: Wanted
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


def places_for(written: TokenSpans, terms: Sequence[WantedTerm]) -> list[TermEdit]:
    """Where the terms go, as far as there is a place for them; in order."""
    text, words = written.text, _words(written)
    there = [place for term in terms for place in term.wanted.standing(text)]
    taken = {
        n
        for n, (start, end) in enumerate(words)
        if any(start < there_end and first < end for first, there_end in there)
    }
    lost = [_lost(written.spans, words, term.falls) for term in terms]
    beside = [_lost(written.spans, words, term.falls_beside) for term in terms]
    lacking = [term.wanted.lacking_in(text) for term in terms]
    places = []
    for number, n in _claims(text, words, lost, beside):
        last = first = _head(text, words, lost[number], beside[number], n)
        if not lacking[number] or not taken.isdisjoint((n, last)):
            continue
        while terms[number].several and first and _adjacent(text, words, first - 1, first):
            if first - 1 in taken or lost[number][first - 1] < BESIDE * lost[number][n]:
                break
            first -= 1
        taken.update(range(min(first, n), last + 1))
        lacking[number] -= 1
        start, end = words[first][0], words[last][1]
        places.append(TermEdit(start, end, _spelled(terms[number].wanted.spellings, text[:start])))
    return sorted(places)


def _claims(
    text: str,
    words: Sequence[Span],
    lost: Sequence[Sequence[float]],
    beside: Sequence[Sequence[float]],
) -> list[tuple[int, int]]:
    """Terms and words that may stand for them, the surest first; of one word that stands there
    several times the first."""
    claims = []
    for number, losses in enumerate(lost):
        enough = max(LEAST, MOST_OF * max(losses, default=0.0))
        own = [loss - other for loss, other in zip(losses, beside[number], strict=True)]
        some = [
            n for n, loss in enumerate(losses) if loss >= enough and own[n] > (1 - SHARED) * loss
        ]
        most: dict[str, float] = {}
        for n in some:
            word = text[slice(*words[n])]
            most[word] = max(own[n], most.get(word, 0.0))
        claims += [(-most[text[slice(*words[n])]], number, n) for n in some]
    return [(number, n) for _, number, n in sorted(claims)]


def has_place(written: TokenSpans, falls: Sequence[float]) -> bool:
    """Whether any word stands for what is not read."""
    return max(_lost(written.spans, _words(written), falls), default=0.0) >= LEAST


def _head(
    text: str, words: Sequence[Span], lost: Sequence[float], beside: Sequence[float], n: int
) -> int:
    """The word that a term stands for where `n` loses most, which may be an article or a measure
    word in front of it: once that is written, the word itself is no surprise."""
    alone = words[n][1] - words[n][0] == 1 and not in_word(text[words[n][0]])
    enough = (BEHIND_ONE if alone else BEHIND) * lost[n]
    for other in range(n + 1, min(n + 2 + alone, len(words))):
        own = lost[other] - beside[other]
        if own >= enough and _adjacent(text, words, n, other):
            return _head(text, words, lost, beside, other)
    return n


def _adjacent(text: str, words: Sequence[Span], first: int, last: int) -> bool:
    """Whether no sign stands between two words."""
    return not any(text[words[n][1] : words[n + 1][0]].strip() for n in range(first, last))


def _spelled(spellings: Sequence[Spelling], before: str) -> str:
    """The first that may stand behind this beginning."""
    return next((one.text for one in spellings if one.fits(before)), spellings[0].text)


def _words(written: TokenSpans) -> list[Span]:
    """Those that a term may take the place of: no signs, no codes."""
    text = written.text
    words = whole_words(text, words_and_signs(text), written.spans, {})
    codes = [(start, end) for start, end, _ in find(text)]
    return [
        (start, end)
        for start, end in words
        if any(map(str.isalnum, text[start:end]))
        and not any(start < code_end and code < end for code, code_end in codes)
    ]


def _lost(tokens: Sequence[Span], words: Sequence[Span], falls: Sequence[float]) -> list[float]:
    return [
        sum(
            max(0.0, fall)
            for (token, token_end), fall in zip(tokens, falls, strict=True)
            if token < end and start < token_end
        )
        for start, end in words
    ]


class Placed(NamedTuple):
    """A translation with terms in their places."""

    text: str
    origins: list[int]
    """For each character the one of the translation that it, or its term, stands for."""


def put_in(text: str, places: Sequence[TermEdit]) -> Placed:
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
    return Placed("".join(parts), origins)
