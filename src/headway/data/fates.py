"""What becomes of each clean pair: what only all the pairs of a corpus together can tell."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from headway.data.pieces import AT_ONCE, Hashes, Marks, PairHashes, Piece, Repeats, repeats

KEPT, DUPLICATE, LEAKAGE, HELD_OUT = range(4)
"""What becomes of a pair; where two reasons hold, the higher number counts."""
DROPPED = {DUPLICATE: "duplicate", LEAKAGE: "leakage", HELD_OUT: "held_out"}

_DRAWN = np.dtype([("key", "<u8"), ("row", "<i8"), ("source", "<u8"), ("target", "<u8")])

Fates = NDArray[np.uint8]


class Draw(NamedTuple):
    """How many pairs are set aside for validation, and which may be."""

    wanted: int
    n_drawn_from: int
    """They are among so many that come first."""
    seed: int


def fates(
    pieces: Sequence[Piece],
    valid: Sequence[Piece],
    draw: Draw,
    *,
    deduplicate: bool,
    both_ways: bool,
) -> Fates:
    """What becomes of each row of all pieces, one after the other: [rows].

    Validation pairs are those of the pieces `valid`, and those that are drawn here: at most half of
    those that may be. A row leaks that shares its source or its target with one of them; if a
    corpus is read `both_ways`, also one whose source is a target there, or the other way round.
    """
    fate = np.zeros(sum(piece.n_rows for piece in pieces), np.uint8)
    if deduplicate:
        fate[_repeats(pieces, lambda found: found.pair).later] = DUPLICATE
    drawn = _drawn(pieces, fate == DUPLICATE, draw)
    held = [piece.hashes() for piece in valid]
    sources = np.concatenate([*(found.source for found in held), drawn["source"]])
    targets = np.concatenate([*(found.target for found in held), drawn["target"]])
    for piece, span in spans(pieces):
        source, target, _ = piece.hashes()
        leaks = np.isin(source, sources) | np.isin(target, targets)
        if both_ways:
            leaks |= np.isin(source, targets) | np.isin(target, sources)
        fate[span][leaks] = LEAKAGE
    fate[drawn["row"]] = HELD_OUT
    return fate


def spans(pieces: Sequence[Piece]) -> Iterator[tuple[Piece, slice]]:
    """Each piece and where its rows stand among all."""
    end = 0
    for piece in pieces:
        start, end = end, end + piece.n_rows
        yield piece, slice(start, end)


def _drawn(pieces: Sequence[Piece], duplicate: Marks, draw: Draw) -> NDArray[Any]:
    """Rows to set aside: if possible such whose source and target occur once, else no duplicates.

    A seeded hash orders them, so that no list of all candidates is needed.
    """
    best = np.zeros(0, _DRAWN)
    if not draw.wanted:
        return best
    candidate = ~_repeats(pieces, lambda found: found.source).shared
    candidate &= ~_repeats(pieces, lambda found: found.target).shared
    candidate[draw.n_drawn_from :] = False
    if np.count_nonzero(candidate) < 2 * draw.wanted:
        candidate = ~duplicate
        candidate[draw.n_drawn_from :] = False
    wanted = min(draw.wanted, int(np.count_nonzero(candidate)) // 2)
    for piece, span in spans(pieces):
        rows = np.flatnonzero(candidate[span])
        source, target, pair = (hashes[rows] for hashes in piece.hashes())
        some = np.empty(len(rows), _DRAWN)
        some["key"], some["row"] = _shuffled(pair, draw.seed), rows + span.start
        some["source"], some["target"] = source, target
        best = np.concatenate([best, some])
        best = best[np.argsort(best["key"], kind="stable")[:wanted]]
    return best


def _shuffled(hashes: Hashes, seed: int) -> Hashes:
    """Other hashes for each seed (the finalizer of SplitMix64, Steele et al. 2014)."""
    mixed = hashes + np.uint64((seed + 1) * 0x9E3779B97F4A7C15 % 2**64)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    return mixed ^ (mixed >> np.uint64(31))


def _repeats(pieces: Sequence[Piece], of: Callable[[PairHashes], Hashes]) -> Repeats:
    n_rows = [piece.n_rows for piece in pieces]
    if sum(n_rows) <= AT_ONCE:
        runs = (of(piece.hashes()) for piece in pieces)
        return repeats(np.concatenate([np.zeros(0, np.uint64), *runs]))
    from headway.data.repeats import find_repeats

    return find_repeats(n_rows, lambda: (of(piece.hashes()) for piece in pieces))
