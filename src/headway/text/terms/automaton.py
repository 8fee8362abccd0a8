"""What must be held, as tables that a compiled search can follow; `Holding` says what is in them.

An automaton reads one thing that is wanted, character by character. Where several are wanted each
is read by its own, as they have nothing in common but the text.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import accumulate, chain
from typing import Any, NamedTuple

import numpy as np

from headway.text.terms.holding import SENTENCE_ENDS, Holding, Spelling, Wanted, in_word
from headway.text.terms.writing import How, Vocabulary, Writing, cost_of, ways

Integers = np.ndarray[Any, np.dtype[np.int32]]
Bytes = np.ndarray[Any, np.dtype[np.uint8]]

MANY = 1 << 20
"""Times that a thing is wanted, for an automaton that never has enough of it."""
MOST_STATES = 20_000
LETTER, CHARACTER, STOP, SIGN = range(4)
"""Kinds of characters, as far as those are concerned that no spelling has: what belongs to a word,
what stands for one in scripts without spaces, the end of a sentence, and everything else."""
FIRST_OF_KIND = (0x61, 0x4E00, 0x21, 0x2200)
WORDED = (range(0x40000), range(0xE0000, 0xE1000))
"""Where Unicode has put letters, marks and digits."""
HOW = (How.ON, How.JOINED, How.NEW, How.SPACED, How.BROKEN)
"""Ways by their numbers."""


class Automaton(NamedTuple):
    """One thing that is wanted, read and written; states and places are numbers from 0."""

    alphabet: Integers
    """The code points that its spellings have, rising."""
    behind: Integers
    """`[states, alphabet + kinds]`: the state behind a character."""
    completed: Integers
    """The same: how often the thing is complete then that it was not before."""
    unclosed: Bytes
    """For each state, whether it is there if no word goes on."""
    first_way: Integers
    """`[states + 1]`: where each state's ways begin."""
    way_place: Integers
    way_how: Bytes
    place_left: Integers
    """For each place of a spelling the fewest tokens to its end."""
    place_byte: Bytes
    """The byte that comes there; 0 at the end of a spelling."""
    first_token: Integers
    """`[places + 1]`: where the tokens begin that may come there."""
    tokens: Integers
    cost: int
    """Tokens that suffice for all of it, wherever the output stands."""
    most_ways: int
    """Ways on from a state, at most."""
    most_onward: int
    """Tokens on these, at most."""

    @classmethod
    def of(cls, spellings: tuple[Spelling, ...], vocabulary: Vocabulary) -> "Automaton | None":
        """None where it has more than `MOST_STATES`."""
        holding = Holding([Wanted(spellings, MANY)])
        characters = sorted({character for one in spellings for character in one.text})
        others = [other(kind, characters) for kind in range(4)]
        numbers = {(start := holding.start()): 0}
        states, behind, completed = [start], [], []
        for reading in states:  # grows
            for character in (*characters, *others):
                after = holding.read(reading, character)
                completed.append(MANY - after.lacking[0])
                after = after._replace(lacking=(MANY,))
                if after not in numbers:
                    numbers[after] = len(states)
                    states.append(after)
                behind.append(numbers[after])
            if len(states) > MOST_STATES:
                return None
        writings = [vocabulary.once(Writing.of, spelling) for spelling in spellings]
        places = [(one.plain.n_left, one.plain.tokens, [*one.data, 0]) for one in writings]
        spaced = [one.spaced for one in writings if one.spaced]
        places += [(route.n_left[:1], route.tokens[:1], [0]) for route in spaced]
        first_place = [0, *accumulate(len(place_bytes) for _, _, place_bytes in places)]
        spaced_at = iter(first_place[len(writings) :])
        of_spaced = [next(spaced_at) if one.spaced else 0 for one in writings]
        found = [list(ways(holding, reading, 0, writings)) for reading in states]
        tokens = [some for _, by_place, _ in places for some in by_place]
        most_ways = max(map(len, found))
        return cls(
            alphabet=np.array(list(map(ord, characters)), dtype=np.int32),
            behind=np.array(behind, dtype=np.int32),
            completed=np.array(completed, dtype=np.int32),
            unclosed=np.array([bool(one.unclosed) for one in states], dtype=np.uint8),
            first_way=firsts(found),
            way_place=np.array(
                [
                    of_spaced[way.number]
                    if way.how is How.SPACED
                    else first_place[way.number] + way.place
                    for way in chain(*found)
                ],
                dtype=np.int32,
            ),
            way_how=np.array([HOW.index(way.how) for way in chain(*found)], dtype=np.uint8),
            place_left=np.array(list(chain(*(left for left, _, _ in places))), dtype=np.int32),
            place_byte=np.array(list(chain(*(some for _, _, some in places))), dtype=np.uint8),
            first_token=firsts(tokens),
            tokens=np.array(list(chain(*tokens)), dtype=np.int32),
            cost=cost_of(writings),
            most_ways=most_ways,
            most_onward=most_ways * max(map(len, tokens)),
        )


class Asked(NamedTuple):
    """One thing that an output must hold."""

    automaton: Automaton
    times: int
    """0 where it does not fit into the limit."""


class Tables(NamedTuple):
    """What one output must hold, and how tokens are read."""

    asked: Sequence[Asked]
    surfaces: "Surfaces"


class Surfaces(NamedTuple):
    """What each token writes."""

    bytes: Bytes
    first: Integers
    """`[tokens + 1]`: where each token's begin."""
    kinds: Bytes
    """Of each code point; of those beyond it is `SIGN`."""

    @classmethod
    def of(cls, _: None, vocabulary: Vocabulary) -> "Surfaces":
        """In their order."""
        written = np.frombuffer(b"".join(vocabulary.surfaces), dtype=np.uint8)
        return cls(written, firsts(vocabulary.surfaces), kinds())


def firsts(some: Sequence[Sequence[Any]] | Sequence[bytes]) -> Integers:
    """Where each begins if they stand one behind another, and where the last ends."""
    return np.array([0, *accumulate(map(len, some))], dtype=np.int32)


def kind_of(character: str) -> int:
    """What `Holding` sees in a character that no spelling has."""
    if in_word.__wrapped__(character):
        return LETTER
    if character.isalnum():
        return CHARACTER
    return STOP if character in SENTENCE_ENDS else SIGN


@lru_cache(maxsize=1)
def kinds() -> Bytes:
    """The kind of each code point."""
    found = np.full(WORDED[-1].stop, SIGN, dtype=np.uint8)
    for some in WORDED:
        found[some.start : some.stop] = [kind_of(chr(point)) for point in some]
    return found


def other(kind: int, characters: Sequence[str]) -> str:
    """A character of a kind that is none of these; where these are all of its kind, any of them."""
    candidates: Iterator[str] = map(chr, range(FIRST_OF_KIND[kind], 0x30000))
    if kind == STOP:
        candidates = iter(sorted(SENTENCE_ENDS))
    free = (one for one in candidates if kind_of(one) == kind and one not in characters)
    return next(free, characters[0])
