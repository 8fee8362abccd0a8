"""What becomes of each clean pair: what only all the pairs of a corpus together can tell."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from headway.data.pieces import Marks, Piece
from headway.data.repeats import Hashes, Repeats, find_repeats, pair_hashes

KEPT, DUPLICATE, LEAKAGE, HELD_OUT = range(4)
"""What becomes of a pair; where two reasons hold, the higher number counts."""
DROPPED = {DUPLICATE: "duplicate", LEAKAGE: "leakage", HELD_OUT: "held_out"}

Fates = NDArray[np.uint8]
HashesOf = Callable[[Piece], Hashes]


def sources(piece: Piece) -> Hashes:
    """Of each source: [rows]."""
    return piece.hashes(0)


def targets(piece: Piece) -> Hashes:
    """Of each target: [rows]."""
    return piece.hashes(1)


def both(piece: Piece) -> Hashes:
    """Of each pair as a whole: [rows]."""
    return pair_hashes(sources(piece), targets(piece))


class Draw(NamedTuple):
    """How many pairs are set aside for validation, and which may be."""

    wanted: int
    n_drawn_from: int
    """They are among so many that come first."""
    seed: int


def rows_of_heaviest(pieces: Sequence[Piece], weights: Mapping[str, float], least: int) -> int:
    """How many rows the heaviest files have, which come first; lighter ones too up to `least`.

    `weights` says by name how heavy each file is.
    """
    n_rows: Counter[float] = Counter()
    for piece in pieces:
        of_file = np.bincount(piece.rows()["file"], minlength=len(piece.files)).tolist()
        for file, n in zip(piece.files, of_file, strict=True):
            n_rows[weights[file]] += n
    total = 0
    for weight in sorted(n_rows, reverse=True):
        total += n_rows[weight]
        if total >= least:
            break
    return total


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
    duplicate = np.zeros(sum(piece.n_rows for piece in pieces), np.bool_)
    if deduplicate:
        duplicate = _repeats(pieces, both).later
    fate = np.where(duplicate, np.uint8(DUPLICATE), np.uint8(KEPT))
    drawn = _drawn(pieces, duplicate, draw)
    unseen = [
        np.concatenate([*map(side, valid), _of_rows(pieces, drawn, side)])
        for side in (sources, targets)
    ]
    for piece, span in spans(pieces):
        source, target = sources(piece), targets(piece)
        leaks = np.isin(source, unseen[0]) | np.isin(target, unseen[1])
        if both_ways:
            leaks |= np.isin(source, unseen[1]) | np.isin(target, unseen[0])
        fate[span][leaks] = LEAKAGE
    fate[drawn] = HELD_OUT
    return fate


def spans(pieces: Sequence[Piece]) -> Iterator[tuple[Piece, slice]]:
    """Each piece and where its rows stand among all."""
    end = 0
    for piece in pieces:
        start, end = end, end + piece.n_rows
        yield piece, slice(start, end)


def _repeats(pieces: Sequence[Piece], of: HashesOf) -> Repeats:
    return find_repeats([piece.n_rows for piece in pieces], lambda: map(of, pieces))


def _drawn(pieces: Sequence[Piece], duplicate: Marks, draw: Draw) -> NDArray[np.int64]:
    """Rows to set aside: if possible such whose source and target occur once, else no duplicates.

    A seeded hash orders them, so that no list of all candidates is needed.
    """
    if not draw.wanted:
        return np.zeros(0, np.int64)
    candidate = ~(_repeats(pieces, sources).shared | _repeats(pieces, targets).shared)
    candidate[draw.n_drawn_from :] = False
    if np.count_nonzero(candidate) < 2 * draw.wanted:
        candidate = ~duplicate
        candidate[draw.n_drawn_from :] = False
    wanted = min(draw.wanted, int(np.count_nonzero(candidate)) // 2)
    best_keys, best_rows = np.zeros(0, np.uint64), np.zeros(0, np.int64)
    for piece, span in spans(pieces):
        rows = np.flatnonzero(candidate[span])
        keys = np.concatenate([best_keys, _shuffled(both(piece)[rows], draw.seed)])
        rows = np.concatenate([best_rows, rows + span.start])
        best = np.argsort(keys, kind="stable")[:wanted]
        best_keys, best_rows = keys[best], rows[best]
    return np.sort(best_rows)


def _shuffled(hashes: Hashes, seed: int) -> Hashes:
    """Other hashes for each seed (the finalizer of SplitMix64, Steele et al. 2014)."""
    mixed = hashes + np.uint64((seed + 1) * 0x9E3779B97F4A7C15 % 2**64)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    return mixed ^ (mixed >> np.uint64(31))


def _of_rows(pieces: Sequence[Piece], rows: NDArray[np.int64], of: HashesOf) -> Hashes:
    """The hashes of some rows, which are given in ascending order."""
    found = [np.zeros(0, np.uint64)]
    for piece, span in spans(pieces):
        start, end = np.searchsorted(rows, [span.start, span.stop])
        if start < end:
            found.append(of(piece)[rows[start:end] - span.start])
    return np.concatenate(found)
