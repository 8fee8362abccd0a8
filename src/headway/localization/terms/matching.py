"""Terms in a text: whole words, longest first, none of them overlapping."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from headway.languages.scripts import UNSPACED
from headway.localization.terms.glossary import Glossary, Term

_MARKS = "\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0963\u0966-\u0dff"
_TOKEN = re.compile(rf"[{UNSPACED}]|(?:[^\W{UNSPACED}]|[{_MARKS}])+|\S")
"""A word, a character of a script that parts no words, or a sign."""


class TermMatch(NamedTuple):
    start: int
    end: int
    term: Term


@dataclass
class _Node:
    """What may follow after some tokens of a term."""

    tokens: "dict[str, _Node]" = field(default_factory=dict)
    beginnings: "dict[str, _Node]" = field(default_factory=dict)
    """By what a word begins with, for those with a `*`."""
    terms: list[tuple[Term, str]] = field(default_factory=list)
    """Those that end here, each with the spelling that does."""


class Matcher:
    def __init__(self, glossary: Glossary) -> None:
        self._root = _Node()
        for term in glossary.terms:
            for spelling in (term.source, *term.forms):
                self._add(term, unicodedata.normalize("NFC", spelling))

    def _add(self, term: Term, spelling: str) -> None:
        node, tokens = self._root, list(_tokens(spelling))
        for (_, _, key), behind in pairwise([*tokens, (0, 0, "")]):
            if key == "*":
                continue
            table = node.beginnings if behind[2] == "*" else node.tokens
            node = table.setdefault(key, _Node())
        node.terms.append((term, spelling))

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
        nodes = [self._root]
        start = tokens[first][0]
        for n in range(first, len(tokens)):
            _, end, key = tokens[n]
            key = key.lstrip() if n == first else key
            nodes = [behind for node in nodes for behind in _behind(node, key)]
            if not nodes:
                return
            for node in nodes:
                for term, spelling in node.terms:
                    cased = _pattern(spelling)
                    if cased is None or cased.fullmatch(text[start:end]):
                        yield TermMatch(start, end, term), cased is None


def _behind(node: _Node, key: str) -> Iterator[_Node]:
    if key in node.tokens:
        yield node.tokens[key]
    if node.beginnings:
        for n in range(1, len(key) + 1):
            if key[:n] in node.beginnings:
                yield node.beginnings[key[:n]]


def _tokens(text: str) -> Iterator[tuple[int, int, str]]:
    """Start, end, and the token without case; a space that stands before it belongs to it."""
    place = 0
    for match in _TOKEN.finditer(text):
        space = " " if place and match.start() > place else ""
        yield match.start(), match.end(), space + match[0].casefold()
        place = match.end()


@lru_cache(maxsize=1 << 12)
def _pattern(spelling: str) -> re.Pattern[str] | None:
    """What a spelling with a capital fits, with just these capitals; None for one without."""
    if spelling == spelling.lower():
        return None
    words = (re.escape(word).replace(r"\*", r"\w*") for word in spelling.split())
    return re.compile(r"\s+".join(words))
