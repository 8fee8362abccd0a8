"""What must be held, for a search that writes sub-words: an acceptor of tokens."""

import codecs
import math
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cached_property
from typing import NamedTuple

from headway.text.terms.holding import Holding, Reading, Spelling, Wanted, Where, in_word

_NEVER = 1 << 20
"""More tokens than any output has: what cannot be written at all."""
_WORSE = 3.0
"""How far astray the words are that a term is to replace; what is not looked at at all is 1."""
_GOING_ON = -0.5
"""Nats that each further token of what was begun counts for at least."""
_MARGIN = 10
"""Tokens that an output may be longer than what is expected."""


class Vocabulary:
    """What each id adds to a text."""

    def __init__(self, surfaces: Sequence[bytes], encode: Callable[[str], list[int]]) -> None:
        """`surfaces`: the bytes of each id; none for one that is never written. `encode`: text to
        ids as the model has learned it."""
        self.surfaces, self.encode = surfaces, encode

    @cached_property
    def ids(self) -> dict[bytes, int]:
        """The id that adds these bytes; of several, the first."""
        found: dict[bytes, int] = {}
        for i, surface in enumerate(self.surfaces):
            if surface:
                found.setdefault(surface, i)
        return found

    @cached_property
    def texts(self) -> list[str | None]:
        """The characters of each id; None where it begins or ends inside of one."""
        return [_decoded(surface) for surface in self.surfaces]

    @cached_property
    def longest(self) -> int:
        """Bytes of the longest piece."""
        return max(map(len, self.surfaces), default=0)


class Route(NamedTuple):
    """How some bytes can be written, from each of their places to their end."""

    n_left: list[int]
    """Fewest tokens from each place on; `_NEVER` or more where none fit."""
    tokens: list[list[int]]
    """What may come at each place: the first token of a shortest way, and what encoding writes."""

    @classmethod
    def of(cls, data: bytes, vocabulary: Vocabulary, encoded: Iterable[tuple[int, str]]) -> "Route":
        """`encoded`: texts that end in `data`, and at which place of it they begin."""
        n_left, tokens = [_NEVER] * len(data) + [0], [list[int]() for _ in range(len(data) + 1)]
        for start in reversed(range(len(data))):
            for end in range(min(len(data), start + vocabulary.longest), start, -1):
                token = vocabulary.ids.get(data[start:end])
                if token is not None and n_left[end] + 1 < n_left[start]:
                    n_left[start], tokens[start] = n_left[end] + 1, [token]
        for first, text in encoded:
            place = first
            for token in vocabulary.encode(text):
                surface = vocabulary.surfaces[token]
                if place >= 0 and data[place : place + len(surface)] != surface:
                    break
                if 0 <= place < len(data) and token not in tokens[place]:
                    tokens[place].append(token)
                place += len(surface)
        return cls(n_left, tokens)


class Writing(NamedTuple):
    """A spelling and how it is written."""

    spelling: Spelling
    data: bytes
    plain: Route
    spaced: Route | None
    """With a space in front; None where none is needed to begin a word."""
    offsets: list[int]
    """At which byte each character begins."""

    @classmethod
    def of(cls, spelling: Spelling, vocabulary: Vocabulary) -> "Writing":
        """Look for the ways."""
        text, data = spelling.text, spelling.text.encode()
        ways = [(0, text)]
        spaced = None
        if in_word(text[0]) and spelling.whole_word:
            ways.append((-1, f" {text}"))
            spaced = Route.of(b" " + data, vocabulary, [(0, f" {text}")])
        offsets = [len(text[:n].encode()) for n in range(len(text))]
        return cls(spelling, data, Route.of(data, vocabulary, ways), spaced, offsets)

    @property
    def cost(self) -> int:
        """Tokens that suffice behind anything."""
        return (self.spaced or self.plain).n_left[0]

    def left_at(self, place: int, tail: bytes) -> int | None:
        """The place in `data` behind `tail`, if what is there begins with it."""
        return place + len(tail) if self.data.startswith(tail, place) else None


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
    begins: bool

    @classmethod
    def on(cls, route: Route, place: int, thing: int, *, begins: bool) -> "Step":
        """What comes next on a way."""
        return cls(thing, route.n_left[place], route.tokens[place], begins)


class Ahead(NamedTuple):
    """What is to come."""

    missing: int
    tokens: list[int]
    ways: list[Step]


class Judged(NamedTuple):
    """As in `headway.decoding.constrained`."""

    astray: float
    at_least: float = -math.inf
    goes_on: bool = False
    completes: bool = False
    loses: bool = False


class Weight(NamedTuple):
    """What `Spelled.judged` knows of a token before it is told where the model looks."""

    far: float
    begun: list[int]
    """Things that it begins."""
    passed_over: list[int]
    """Things that are missing, and that it is not about."""
    goes_on: bool
    completes: bool
    loses: bool


class Spelled:
    """An acceptor of outputs that hold all that is wanted; see `headway.decoding.constrained`."""

    def __init__(
        self,
        wanted: Sequence[Wanted],
        vocabulary: Vocabulary,
        spans: Sequence[Sequence[int]] = (),
        rivals: Sequence[Collection[int]] = (),
        n_expected: int = _NEVER,
    ) -> None:
        """`spans`: the tokens of the source that each thing wanted translates, if that is known;
        `rivals`: the tokens that stood for it in a translation without it; `n_expected`: how many
        tokens outputs have, about, without what is wanted."""
        self.holding, self.spans = Holding(wanted), spans
        self.rivals = [list(tokens) for tokens in rivals]
        self._rivals = {token for tokens in rivals for token in tokens}
        self._vocabulary = vocabulary
        self._writings = [
            [Writing.of(spelling, vocabulary) for spelling in one.spellings] for one in wanted
        ]
        self._costs = [_cost(writings) for writings in self._writings]
        costs = (one.times * cost for one, cost in zip(wanted, self._costs, strict=True))
        needed = sum(cost for cost in costs if cost < _NEVER)
        self.longest = n_expected + needed + _MARGIN
        self._states: list[Written] = []
        self._numbers: dict[Written, int] = {}
        self._next: list[dict[int, int]] = []
        self._known: list[Ahead | None] = []
        self._weights: dict[tuple[int, int, int], Weight] = {}

    def start(self, limit: int) -> int:
        """Nothing written; what does not fit into `limit` tokens, longest first, is not missed."""
        reading = self.holding.start()
        lacking = [0] * len(reading.lacking)
        for thing in sorted(range(len(lacking)), key=lambda thing: self._costs[thing]):
            for _ in range(reading.lacking[thing]):
                if self._costs[thing] <= limit:
                    limit -= self._costs[thing]
                    lacking[thing] += 1
        return self._number(Written(reading._replace(lacking=tuple(lacking))))

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

    def judged(
        self, state: int, token: int, shares: Sequence[float], rivals: Sequence[float]
    ) -> Judged:
        """What is begun should be looked at, and what is looked at, and missing, be written; in
        the place of a rival it costs no more than that."""
        special = token if token in self._ahead(state).tokens or token in self._rivals else -1
        key = state, self.after(state, token), special
        weight = self._weights.get(key) or self._weights.setdefault(key, self._weight(*key))
        if weight.goes_on:
            at_least = _GOING_ON
        else:
            at_least = max((rivals[n] for n in weight.begun if rivals), default=-math.inf)
        far = weight.far
        for thing in weight.begun:
            far += 1 - shares[thing] if shares else 0.0
        for thing in weight.passed_over:
            far += shares[thing] if shares else 0.0
        return Judged(far, at_least, *weight[3:])

    def _weight(self, state: int, after: int, token: int) -> "Weight":
        """What `judged` says of a token whatever the model looks at; -1: any without a meaning."""
        lacks, then = self.lacks(state), self.lacks(after)
        steps = [step for step in self._ahead(state).ways if token in step.tokens]
        beginning = {step.thing for step in steps if step.begins}
        going_on = {step.thing for step in steps if not step.begins}
        passed_over = [
            thing
            for thing, n in enumerate(lacks)
            if n and thing not in beginning and thing not in going_on and then[thing] >= n
        ]
        return Weight(
            0.0 if steps else _WORSE * sum(token in tokens for tokens in self.rivals),
            sorted(beginning),
            passed_over,
            bool(going_on),
            completes=sum(then) < sum(lacks),
            loses=sum(then) > sum(lacks),
        )

    def _ahead(self, number: int) -> "Ahead":
        known = self._known[number]
        if known is None:
            state = self._states[number]
            lacks = self.lacks(number)
            ways = [step for step in self._ways(state) if lacks[step.thing]]
            all_costs = sum(n * cost for n, cost in zip(lacks, self._costs, strict=True))
            saved = max((self._costs[step.thing] - step.n_left for step in ways), default=0)
            tokens = list(dict.fromkeys(token for step in ways for token in step.tokens))
            known = self._known[number] = Ahead(all_costs - max(0, saved), tokens, ways)
        return known

    def _ways(self, state: Written) -> Iterable[Step]:
        """How each spelling can be begun here, and gone on with."""
        reading, tail = state
        for thing, number, n_read in reading.begun:
            writing = self._writings[thing][number]
            if reading.unclosed and in_word(writing.spelling.text[n_read]):
                continue  # it would take away from what has just been written
            place = writing.left_at(writing.offsets[n_read], tail)
            if place is not None:
                yield Step.on(writing.plain, place, thing, begins=False)
        outside = reading._replace(in_word=False)
        for thing, writings in enumerate(self._writings):
            for writing in writings if reading.lacking[thing] else ():
                place = writing.left_at(0, tail)
                if place is not None and self.holding.may_begin(reading, writing.spelling):
                    yield Step.on(writing.plain, place, thing, begins=True)
                if writing.spaced and self.holding.may_begin(outside, writing.spelling):
                    yield Step.on(writing.spaced, 0, thing, begins=True)


def _decoded(surface: bytes) -> str | None:
    try:
        return surface.decode()
    except UnicodeDecodeError:
        return None


def _cost(writings: Sequence[Writing]) -> int:
    """Tokens that suffice for one of the spellings, wherever the output stands."""
    costs: dict[Where, int] = {}
    for writing in writings:
        where = writing.spelling.where
        costs[where] = min(costs.get(where, _NEVER), writing.cost)
    anywhere = costs.get(Where.ANYWHERE, _NEVER)
    by_place = max(costs.get(Where.OPENING, _NEVER), costs.get(Where.INSIDE, _NEVER))
    return min(anywhere, by_place)
