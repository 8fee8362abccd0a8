"""What must be held, for a search that writes sub-words: an acceptor of tokens."""

import codecs
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from headway.text.terms.automaton import Asked, Automaton, Surfaces, Tables
from headway.text.terms.holding import Holding, Reading, Wanted
from headway.text.terms.writing import NEVER, How, Route, Vocabulary, Writing, cost_of, ways

_MARGIN = 10
"""Tokens that an output may be longer than what is expected."""


class Written(NamedTuple):
    """How far an output has been written."""

    reading: Reading
    tail: bytes = b""
    """The beginning of a character whose other bytes are to come."""


class Step(NamedTuple):
    """A way to go on with something that is missing."""

    thing: int
    n_left: int
    """Tokens, this one included."""
    tokens: list[int]

    @classmethod
    def on(cls, route: Route, place: int, thing: int) -> "Step":
        """What comes next on a way."""
        return cls(thing, route.n_left[place], route.tokens[place])


class Ahead(NamedTuple):
    """What is to come."""

    missing: int
    tokens: list[int]


class Spelled:
    """An acceptor of outputs that hold all that is wanted; see `headway.decoding.constrained`."""

    def __init__(
        self,
        wanted: Sequence[Wanted],
        vocabulary: Vocabulary,
        n_expected: int = NEVER,
    ) -> None:
        """`n_expected`: how many tokens outputs have, about, without what is wanted."""
        self.holding = Holding(wanted)
        self._vocabulary = vocabulary
        self._writings = [
            [vocabulary.once(Writing.of, spelling) for spelling in one.spellings] for one in wanted
        ]
        self._costs = [cost_of(writings) for writings in self._writings]
        costs = (one.times * cost for one, cost in zip(wanted, self._costs, strict=True))
        needed = sum(cost for cost in costs if cost < NEVER)
        self.longest = n_expected + needed + _MARGIN
        self._states: list[Written] = []
        self._numbers: dict[Written, int] = {}
        self._next: list[dict[int, int]] = []
        self._known: list[Ahead | None] = []

    def start(self, limit: int) -> int:
        """Nothing written; what does not fit into `limit` tokens, longest first, is not missed."""
        lacking = self._fitting(limit)
        return self._number(Written(self.holding.start()._replace(lacking=lacking)))

    def tables(self, limit: int) -> Tables | None:
        """The same from `start(limit)` on, as tables."""
        fitting = self._fitting(limit)
        asked = []
        for thing, times in enumerate(fitting):
            automaton = self._vocabulary.once(
                Automaton.of, tuple(self.holding.wanted[thing].spellings)
            )
            if automaton is None:
                return None
            asked.append(Asked(automaton, times))
        return Tables(asked, self._vocabulary.once(Surfaces.of, None))

    def _fitting(self, limit: int) -> tuple[int, ...]:
        """How often each thing is asked for, the shortest first, in `limit` tokens."""
        lacking = [0] * len(self._costs)
        for thing in sorted(range(len(lacking)), key=lambda thing: self._costs[thing]):
            for _ in range(self.holding.wanted[thing].times):
                if self._costs[thing] <= limit:
                    limit -= self._costs[thing]
                    lacking[thing] += 1
        return tuple(lacking)

    def lacks(self, state: int) -> list[int]:
        """How often each thing is still to be written."""
        return self.holding.lacks(self._states[state].reading)

    def _number(self, written: Written) -> int:
        """States are numbers: search asks for the same ones again and again."""
        number = self._numbers.setdefault(written, len(self._states))
        if number == len(self._states):
            self._states.append(written)
            self._next.append({})
            self._known.append(None)
        return number

    def after(self, state: int, token: int) -> int:
        """Read the characters that this token completes."""
        known = self._next[state].get(token)
        if known is None:
            reading, tail = self._states[state]
            text = None if tail else self._vocabulary.texts[token]
            if text is None:
                decoder = codecs.getincrementaldecoder("utf-8")("replace")
                text = decoder.decode(tail + self._vocabulary.surfaces[token])
                tail = decoder.getstate()[0]
            written = Written(self.holding.read(reading, text), tail)
            known = self._next[state][token] = self._number(written)
        return known

    def missing(self, state: int) -> int:
        """Tokens that suffice for all that is missing."""
        return self._ahead(state).missing

    def onward(self, state: int) -> list[int]:
        """Tokens that begin something missing, or go on with it."""
        return self._ahead(state).tokens

    def _ahead(self, number: int) -> "Ahead":
        known = self._known[number]
        if known is None:
            state = self._states[number]
            lacks = self.lacks(number)
            ways = [step for step in self._ways(state) if lacks[step.thing]]
            all_costs = sum(n * cost for n, cost in zip(lacks, self._costs, strict=True))
            saved = max((self._costs[step.thing] - step.n_left for step in ways), default=0)
            tokens = list(dict.fromkeys(token for step in ways for token in step.tokens))
            known = self._known[number] = Ahead(all_costs - max(0, saved), tokens)
        return known

    def _ways(self, state: Written) -> Iterable[Step]:
        """How each spelling can be begun here, and gone on with."""
        reading, tail = state
        unclosed = any(reading.lacking[thing] for thing in reading.unclosed)
        lacking = [thing for thing, n in enumerate(reading.lacking) if n]
        for thing, writings in [(thing, self._writings[thing]) for thing in lacking]:
            for way in ways(self.holding, reading, thing, writings):
                if (unclosed and way.how is How.JOINED) or (way.how is How.BROKEN and not tail):
                    continue
                writing, place = writings[way.number], way.place
                if way.how is How.SPACED and writing.spaced:
                    yield Step.on(writing.spaced, 0, thing)
                elif way.how is How.BROKEN:
                    yield Step.on(writing.plain, 0, thing)
                elif writing.data.startswith(tail, place):
                    yield Step.on(writing.plain, place + len(tail), thing)
