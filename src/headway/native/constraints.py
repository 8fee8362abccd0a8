"""What outputs must hold, as the engine reads it: `headway/text/terms/automaton.py`, checked."""

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np

from headway.native.structures import Thing
from headway.text.terms.automaton import HOW, SIGN, Asked, Automaton, Tables

KINDS = SIGN + 1
BEFORE = 2
"""Characters that a token may complete or break, beside those that its own bytes are."""

POINTERS = tuple(field[0] for field in Thing._fields_[:-2])


class Constraints:
    """The things that the sentences of a job are asked for, and the arrays that hold them."""

    def __init__(
        self,
        wanted: Sequence[Tables | None],
        n_tokens: int,
    ) -> None:
        """Every size and id is checked here."""
        surfaces = next(one.surfaces for one in wanted if one is not None)
        numbers: dict[int, int] = {}
        automata: list[Automaton] = []
        asked: list[tuple[int, int]] = []
        each = [() if one is None else one.asked for one in wanted]
        for one in chain(*each):
            number = numbers.setdefault(id(one.automaton), len(automata))
            if number == len(automata):
                check(one.automaton, n_tokens)
                automata.append(one.automaton)
            if not (one.times >= 0 and one.times * one.automaton.cost < 1 << 30):
                raise ValueError("what is wanted can be written as often as it is")
            asked.append((number, one.times))
        written = np.zeros(n_tokens + 1, dtype=np.int32)
        n_known = min(n_tokens, len(surfaces.first) - 1)
        written[: n_known + 1] = surfaces.first[: n_known + 1]
        written[n_known + 1 :] = written[n_known]
        if (np.diff(written) < 0).any() or written[0] or written[-1] > len(surfaces.bytes):
            raise ValueError("what tokens write stands one behind another")
        if surfaces.kinds.max() >= KINDS:
            raise ValueError(f"there are {KINDS} kinds of characters")
        first = np.cumsum([0, *map(len, each)])
        self.things = (Thing * max(1, len(automata)))(*map(thing, automata))
        self.arrays: dict[str, np.ndarray[Any, np.dtype[Any]]] = {
            "asked": np.array(asked, dtype=np.int32).reshape(-1, 2),
            "first_asked": first.astype(np.int64),
            "surfaces": np.ascontiguousarray(surfaces.bytes),
            "first_surface": written,
            "kinds": np.ascontiguousarray(surfaces.kinds),
        }
        self.held = automata
        self.sizes = {
            "n_kinds": len(surfaces.kinds),
            "most_asked": max(map(len, each)),
            "most_ways": most(each, "most_ways"),
            "most_onward": most(each, "most_onward"),
            "most_points": int(np.diff(written).max(initial=0)) + BEFORE,
        }


def most(each: Sequence[Sequence[Asked]], name: str) -> int:
    """Of the sums over a sentence's things the highest."""
    return max(sum(getattr(one.automaton, name) for one in some) for some in each)


def thing(automaton: Automaton) -> Thing:
    """Pointers into its arrays."""
    pointers: dict[str, Any] = {name: getattr(automaton, name).ctypes.data for name in POINTERS}
    return Thing(**pointers, n_alphabet=len(automaton.alphabet), cost=automaton.cost)


def check(one: Automaton, n_tokens: int) -> None:
    """Raises ValueError where its tables would lead out of themselves."""
    n_states, n_places = len(one.unclosed), len(one.place_left)
    columns = len(one.alphabet) + KINDS
    ways_end = int(one.first_way[-1])
    sound = (
        (np.diff(one.alphabet) > 0).all()
        and len(one.behind) == len(one.completed) == n_states * columns
        and within(one.behind, n_states)
        and int(one.completed.min()) >= 0
        and within(one.unclosed, 2)
        and len(one.first_way) == n_states + 1
        and rises(one.first_way, len(one.way_place))
        and len(one.way_place) == len(one.way_how) == ways_end
        and within(one.way_place, n_places)
        and within(one.way_how, len(HOW))
        and len(one.place_byte) == n_places
        and one.place_byte[-1] == 0
        and len(one.first_token) == n_places + 1
        and rises(one.first_token, len(one.tokens))
        and within(one.tokens, n_tokens)
        and int(np.diff(one.first_way).max()) <= one.most_ways
        and int(np.diff(one.first_token).max()) * one.most_ways <= one.most_onward
    )
    if not sound:
        raise ValueError("the tables of something that is wanted lead out of themselves")


def within(numbers: np.ndarray[Any, np.dtype[Any]], end: int) -> bool:
    """Whether all are from 0 to below `end`."""
    return not len(numbers) or (int(numbers.min()) >= 0 and int(numbers.max()) < end)


def rises(firsts: np.ndarray[Any, np.dtype[Any]], end: int) -> bool:
    """Whether these are beginnings of stretches that fill what has `end` places."""
    return int(firsts[0]) == 0 and int(firsts[-1]) == end and bool((np.diff(firsts) >= 0).all())
