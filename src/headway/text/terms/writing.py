"""How what is wanted can be written in the sub-words of a vocabulary."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from enum import Enum
from functools import cached_property
from typing import NamedTuple, TypeVar

from headway.text.terms.holding import Holding, Reading, Spelling, Where, in_word

NEVER = 1 << 20
"""More tokens than any output has: what cannot be written at all."""
MOST_KEPT = 4096
"""Things that a vocabulary remembers of spellings."""

Given = TypeVar("Given", bound=Hashable)
Made = TypeVar("Made")


class Vocabulary:
    """What each id adds to a text."""

    def __init__(self, surfaces: Sequence[bytes], encode: Callable[[str], list[int]]) -> None:
        """`surfaces`: the bytes of each id; none for one that is never written. `encode`: text to
        ids as the model has learned it."""
        self.surfaces, self.encode = surfaces, encode
        self._made: dict[tuple[Callable[..., object], Hashable], object] = {}

    def once(self, make: "Callable[[Given, Vocabulary], Made]", of: Given) -> Made:
        """What `make` makes of this and the vocabulary, remembered."""
        key = make, of
        if key not in self._made:
            if len(self._made) >= MOST_KEPT:
                self._made = {}
            self._made[key] = make(of, self)
        return self._made[key]  # type: ignore[return-value]

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
    """Fewest tokens from each place on; `NEVER` or more where none fit."""
    tokens: list[list[int]]
    """What may come at each place: the first token of a shortest way, and what encoding writes."""

    @classmethod
    def of(cls, data: bytes, vocabulary: Vocabulary, encoded: Iterable[tuple[int, str]]) -> "Route":
        """`encoded`: texts that end in `data`, and at which place of it they begin."""
        n_left, tokens = [NEVER] * len(data) + [0], [list[int]() for _ in range(len(data) + 1)]
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


class How(Enum):
    """How a way goes on from what stands before it."""

    ON = "on"
    """With what was begun."""
    JOINED = "joined"
    """With what was begun, by a character that belongs to a word: not behind what was just
    completed, as it would take that away."""
    NEW = "new"
    """It begins something."""
    SPACED = "spaced"
    """It begins something with a space."""
    BROKEN = "broken"
    """It begins something, and breaks off a character that is not whole yet."""


class Way(NamedTuple):
    """A way to go on with a spelling, or to begin it."""

    number: int
    """Of the spelling."""
    place: int
    """In its bytes; of a character that is not whole yet, behind it stands what was written."""
    how: How


def ways(
    holding: Holding, reading: Reading, thing: int, writings: Sequence[Writing]
) -> Iterator[Way]:
    """Every way to go on with a thing that is lacking, and to begin it."""
    for begun, number, n_read in reading.begun:
        if begun == thing:
            writing = writings[number]
            joins = in_word(writing.spelling.text[n_read])
            yield Way(number, writing.offsets[n_read], How.JOINED if joins else How.ON)
    outside = reading._replace(in_word=False)
    for number, writing in enumerate(writings):
        if holding.may_begin(reading, writing.spelling):
            yield Way(number, 0, How.NEW)
        if holding.may_begin(outside, writing.spelling):
            yield Way(number, 0, How.BROKEN)
            if writing.spaced:
                yield Way(number, 0, How.SPACED)


def _decoded(surface: bytes) -> str | None:
    try:
        return surface.decode()
    except UnicodeDecodeError:
        return None


def cost_of(writings: Sequence[Writing]) -> int:
    """Tokens that suffice for one of the spellings, wherever the output stands."""
    costs: dict[Where, int] = {}
    for writing in writings:
        where = writing.spelling.where
        costs[where] = min(costs.get(where, NEVER), writing.cost)
    anywhere = costs.get(Where.ANYWHERE, NEVER)
    by_place = max(costs.get(Where.OPENING, NEVER), costs.get(Where.INSIDE, NEVER))
    return min(anywhere, by_place)
