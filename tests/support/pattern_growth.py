"""Whether a regular expression may take more than linear time on some text.

A pattern is made into an automaton of its characters (Glushkov 1961), in which repetitions with a
limit above a few are passed once. Backtracking takes the square of a text's length, or more, where
a word leads a state p both to itself and to another state q that it leads to itself again (Weber
and Seidl 1991): of n such words any may be the one at which p is left. A search is a p of its own
before the pattern. Words are those of one and two classes of characters, and for each two states
that loop the shortest way from one to the other. What may end without a condition does not go back.
"""

import re
import string
from collections.abc import Iterable, Iterator, Sequence, Set
from functools import cache
from re import _compiler as compiler  # type: ignore[attr-defined]
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any, NamedTuple

ALPHABET = string.printable + "éſßÉ中文あ１٣\xa0\u2028\u200b\u0301…。！？’“”–«»、，\ue000\U0001f600"
UNLIMITED, UNROLLED = 1_000, 4
_CHARACTERS = (codes.LITERAL, codes.NOT_LITERAL, codes.ANY, codes.IN)
_REPEATS = (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT)
_Node = tuple[Any, Any]


class _Part(NamedTuple):
    """A piece of a pattern."""

    first: dict[int, tuple[_Node, ...]]
    """States that may be entered first, and the assertions before them."""
    last: dict[int, tuple[_Node, ...]]
    """States that may be left last, and the assertions behind them."""
    empty: tuple[_Node, ...] | None
    """The assertions of a way without characters; None where there is no such way."""


class Automaton:
    """The states of a pattern, which characters lead to them, and which follows which."""

    def __init__(self, pattern: "re.Pattern[Any]") -> None:
        tree = parser.parse(pattern.pattern, pattern.flags)
        self.state, self.is_bytes = tree.state, isinstance(pattern.pattern, bytes)
        self.accepts: list[frozenset[str]] = []
        self.follows: list[dict[int, tuple[_Node, ...]]] = []
        """Of each state the ones that may be next, and the assertions between."""
        self.inside: list[tuple[int, int]] = []
        """Of possessive repeats and atomic groups: their first state, and that behind them."""
        self.nested: list[int] = []
        """States which follow themselves by two loops."""
        whole = self._sequence(tree)
        self.first = whole.first
        self.sure = {state for state, guards in whole.last.items() if not guards}

    def _sequence(self, nodes: Iterable[_Node]) -> _Part:
        whole = _Part({}, {}, ())
        for node in nodes:
            whole = self._joined(whole, self._part(*node))
        return whole

    def _joined(self, one: _Part, two: _Part) -> _Part:
        self._follow(one, two)
        first, last, empty = dict(one.first), dict(two.last), None
        if one.empty is not None:
            for state, guards in two.first.items():
                first.setdefault(state, one.empty + guards)
        if two.empty is not None:
            last |= {state: guards + two.empty for state, guards in one.last.items()}
            empty = None if one.empty is None else one.empty + two.empty
        return _Part(first, last, empty)

    def _follow(self, one: _Part, two: _Part) -> None:
        for state, behind in one.last.items():
            for following, before in two.first.items():
                old = self.follows[state].get(following, behind + before)
                self.follows[state][following] = min(old, behind + before, key=len)

    def _part(self, operator: Any, argument: Any) -> _Part:
        if operator in _CHARACTERS:
            return self._character((operator, argument))
        if operator in _REPEATS:
            return self._repeated(operator, *argument)
        if operator is codes.BRANCH:
            return self._either([self._sequence(one) for one in argument[1]])
        if operator is codes.SUBPATTERN:
            return self._sequence(argument[3])
        if operator is codes.ATOMIC_GROUP:
            begin = len(self.accepts)
            part = self._sequence(argument)
            self.inside.append((begin, len(self.accepts)))
            return part
        if operator in (codes.ASSERT, codes.ASSERT_NOT) and argument[0] > 0:
            ahead = self._sequence(argument[1])
            return _Part(ahead.first, {}, ((operator, argument),))
        assertion = operator in (codes.AT, codes.ASSERT, codes.ASSERT_NOT)
        return _Part({}, {}, ((operator, argument),) if assertion else ())

    def _either(self, parts: Sequence[_Part]) -> _Part:
        empty = [one.empty for one in parts if one.empty is not None]
        return _Part(
            {state: guards for one in parts for state, guards in one.first.items()},
            {state: guards for one in parts for state, guards in one.last.items()},
            min(empty, key=len, default=None),
        )

    def _repeated(self, operator: Any, least: int, most: int, body: Sequence[_Node]) -> _Part:
        begin = len(self.accepts)
        if most <= UNROLLED:
            part = _Part({}, {}, ())
            for number in range(most):
                one = self._sequence(body)
                part = self._joined(part, one if number < least else one._replace(empty=()))
        else:
            part = self._sequence(body)
            if most >= UNLIMITED:
                for state in part.last:
                    held = any(begin <= low <= state < high for low, high in self.inside)
                    if not held and not part.first.keys().isdisjoint(self.follows[state]):
                        self.nested.append(state)
                self._follow(part, part)
            part = part._replace(empty=() if least == 0 else part.empty)
        if operator is codes.POSSESSIVE_REPEAT:
            self.inside.append((begin, len(self.accepts)))
        return part

    def _character(self, node: _Node) -> _Part:
        letters = [one for one in ALPHABET if not self.is_bytes or one.isascii()]
        fits = _compiled(self.state, _Same(node))
        self.accepts.append(frozenset(one for one in letters if fits.match(self._given(one))))
        self.follows.append({})
        return _Part({len(self.accepts) - 1: ()}, {len(self.accepts) - 1: ()}, None)

    def _given(self, text: str) -> str | bytes:
        return text.encode("ascii", "replace") if self.is_bytes else text

    def _hold(self, guards: Iterable[_Node], word: str, place: int) -> bool:
        """Whether these assertions do, among as many of the word as they may look at."""
        text = self._given(word * 5)
        return all(
            _compiled(self.state, _Same(one)).match(text, len(word) + place) for one in guards
        )

    def begun(self, word: str) -> set[int]:
        """The states that a search may enter with the word behind the same word."""
        return {
            state
            for state, guards in self.first.items()
            if word[0] in self.accepts[state] and self._hold(guards, word, 0)
        }

    def led(
        self, states: Set[int], word: str, but: Set[int] = frozenset(), start: int = 0
    ) -> set[int]:
        """Where the rest of the word leads to from these, past none of some."""
        for place in range(start, len(word)):
            states = {one for state in states for one in self._next(state, word, place)} - but
        return set(states)

    def _next(self, state: int, word: str, place: int) -> list[int]:
        """Out of a possessive repeat only where nothing in it goes on."""
        fit = [
            one
            for one, guards in self.follows[state].items()
            if word[place] in self.accepts[one] and self._hold(guards, word, place)
        ]
        for begin, end in self.inside:
            if begin <= state < end and any(begin <= one < end for one in fit):
                fit = [one for one in fit if begin <= one < end]
        return fit

    def words(self) -> Iterator[str]:
        """Those to be tried."""
        classes = {tuple(one in fits for fits in self.accepts): one for one in ALPHABET}
        signs = sorted(classes.values())
        yield from signs
        loops = [state for state, then in enumerate(self.follows) if state in then]
        for end in loops:
            yield from self._ways(set(self.first), end, self.accepts[end])
            for begin in loops:
                both = self.accepts[begin] & self.accepts[end]
                yield from self._ways(self.follows[begin].keys(), end, both) if begin != end else ()
        yield from (one + two for one in signs for two in signs if one != two)

    def _ways(self, begin: Set[int], end: int, signs: frozenset[str]) -> list[str]:
        """The shortest word of these characters that leads there."""
        ways = {one: min(self.accepts[one] & signs) for one in begin if self.accepts[one] & signs}
        edge = list(ways)
        while edge and end not in ways:
            then = {two: one for one in edge for two in self.follows[one] if two not in ways}
            edge = [two for two in then if self.accepts[two] & signs]
            ways |= {two: ways[then[two]] + min(self.accepts[two] & signs) for two in edge}
        return [ways[end]] if end in ways else []


class _Same:
    """A node as a key of a cache."""

    def __init__(self, node: _Node) -> None:
        self.node, self.key = node, repr(node)

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.key == other.key


@cache
def _compiled(state: Any, same: _Same) -> "re.Pattern[Any]":
    compiled: re.Pattern[Any] = compiler.compile(parser.SubPattern(state, [same.node]), state.flags)
    return compiled


def growing(pattern: "re.Pattern[Any]", *, searched: bool) -> str:
    """A word of which many in a row may take more than linear time; empty where none was found."""
    automaton = Automaton(pattern)
    for state in automaton.nested:
        if state not in automaton.sure:
            return min(automaton.accepts[state])
    tried = dict.fromkeys(automaton.words())
    return next((word for word in tried if _grows(automaton, word, searched=searched)), "")


def _grows(automaton: Automaton, word: str, *, searched: bool) -> bool:
    ends = [state for state, fits in enumerate(automaton.accepts) if word[-1] in fits]
    leads = {one: automaton.led({one}, word, automaton.sure) for one in ends}
    loops = {state for state, reached in leads.items() if state in reached} - automaton.sure
    if any((leads[state] & loops) - {state} for state in loops):
        return True
    if not (searched and loops):
        return False
    reached = automaton.led(automaton.begun(word), word, start=1)
    for _ in range(4):
        if any(one in automaton.sure and one in automaton.led({one}, word) for one in reached):
            return False  # it takes all of them
        if reached & loops:
            return True
        reached = automaton.led(reached, word)
    return False
