"""Repeats, leaks and held-out pairs: what only all the pairs of a corpus together can tell."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from headway.core.cleaning import Pair

KEPT, DUPLICATE, LEAKAGE, HELD_OUT = range(4)
"""What becomes of a pair; where two reasons hold, the higher number counts."""
DROPPED = {DUPLICATE: "duplicate", LEAKAGE: "leakage", HELD_OUT: "held_out"}

_DRAWN = np.dtype([("key", "<u8"), ("row", "<i8"), ("source", "<u8"), ("target", "<u8")])

Outcomes = NDArray[np.uint8]
Hashes = NDArray[np.uint64]
Marks = NDArray[np.bool_]


class PairHashes(NamedTuple):
    """Of each source, each target, and each pair as a whole: [rows]."""

    source: Hashes
    target: Hashes
    pair: Hashes


class HashedRows(NamedTuple):
    """Clean pairs in a row, and how to get their hashes, which need not stay in memory."""

    n_rows: int
    hashes: Callable[[], PairHashes]


class Repeats(NamedTuple):
    """Of each row, whether the same value stands further up, or elsewhere at all: [rows]."""

    later: Marks
    shared: Marks


FindRepeats = Callable[[Sequence[HashedRows], Callable[[PairHashes], Hashes]], Repeats]
"""Of one of the three hashes of all rows."""


def text_hashes(texts: Iterable[str]) -> Hashes:
    """Eight bytes of each text: two of 5 million are confused once in 10^6 corpora: [texts]."""
    found = (hashlib.blake2b(text.encode("utf-8"), digest_size=8).digest() for text in texts)
    return np.frombuffer(b"".join(found), "<u8")


def in_memory(pairs: Sequence[Pair]) -> HashedRows:
    """Pairs whose hashes stay in memory."""
    source = text_hashes(pair.source for pair in pairs)
    target = text_hashes(pair.target for pair in pairs)
    hashes = PairHashes(source, target, pair_hashes(source, target))
    return HashedRows(len(pairs), lambda: hashes)


def pair_hashes(source: Hashes, target: Hashes) -> Hashes:
    """One hash for both sides of each pair; exchanging the sides changes it."""
    mixed = source * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= (target << np.uint64(31)) | (target >> np.uint64(33))
    return mixed * np.uint64(0xBF58476D1CE4E5B9)


def held_out_size(n_pairs: int) -> int:
    """How many pairs to set aside for validation: a twentieth, 20 to 1,000, never over a half."""
    return min(max(20, min(n_pairs // 20, 1_000)), n_pairs // 2)


class Draw(NamedTuple):
    """How many pairs are set aside for validation, and which may be."""

    wanted: int
    n_drawn_from: int
    """They are among so many that come first."""
    seed: int

    @classmethod
    def of(cls, n_drawn_from: int, wanted: int | None, seed: int) -> "Draw":
        """None pairs stand for `held_out_size`."""
        return cls(held_out_size(n_drawn_from) if wanted is None else wanted, n_drawn_from, seed)


def repeats(hashes: Hashes) -> Repeats:
    """Mark the rows whose hash occurs more than once."""
    order = np.argsort(hashes, kind="stable")  # equal values stay in the order of their rows
    same = np.flatnonzero(hashes[order[1:]] == hashes[order[:-1]])
    later = np.zeros(len(hashes), np.bool_)
    later[order[same + 1]] = True
    shared = later.copy()
    shared[order[same]] = True
    return Repeats(later, shared)


def repeats_in_memory(runs: Sequence[HashedRows], of: Callable[[PairHashes], Hashes]) -> Repeats:
    """A `FindRepeats` for few rows."""
    return repeats(np.concatenate([of(run.hashes()) for run in runs]))


def dedup_split(
    runs: Sequence[HashedRows],
    valid: Iterable[HashedRows],
    draw: Draw,
    *,
    deduplicate: bool,
    both_ways: bool = False,
    find_repeats: FindRepeats = repeats_in_memory,
) -> Outcomes:
    """What becomes of each row of all runs, one after the other: [rows].

    Validation pairs are those of `valid`, and those that are drawn here: at most half of those that
    may be. A row leaks that shares its source or its target with one of them; if a corpus is read
    `both_ways`, also one whose source is a target there, or the other way round.
    """
    outcome = np.zeros(sum(run.n_rows for run in runs), np.uint8)
    if deduplicate:
        outcome[find_repeats(runs, lambda found: found.pair).later] = DUPLICATE
    drawn = _drawn(runs, outcome == DUPLICATE, draw, find_repeats)
    held = [run.hashes() for run in valid]
    sources = np.concatenate([*(found.source for found in held), drawn["source"]])
    targets = np.concatenate([*(found.target for found in held), drawn["target"]])
    for run, span in spans(runs):
        source, target, _ = run.hashes()
        leaks = np.isin(source, sources) | np.isin(target, targets)
        if both_ways:
            leaks |= np.isin(source, targets) | np.isin(target, sources)
        outcome[span][leaks] = LEAKAGE
    outcome[drawn["row"]] = HELD_OUT
    return outcome


def spans(runs: Sequence[HashedRows]) -> Iterator[tuple[HashedRows, slice]]:
    """Each run and where its rows stand among all."""
    ends = list(accumulate((run.n_rows for run in runs), initial=0))
    return zip(runs, map(slice, ends, ends[1:]), strict=True)


def _drawn(
    runs: Sequence[HashedRows], duplicate: Marks, draw: Draw, find_repeats: FindRepeats
) -> NDArray[Any]:
    """Rows to set aside: if possible such whose source and target occur once, else no duplicates.

    A seeded hash orders them, so that no list of all candidates is needed.
    """
    best = np.zeros(0, _DRAWN)
    if not draw.wanted:
        return best
    candidate = ~find_repeats(runs, lambda found: found.source).shared
    candidate &= ~find_repeats(runs, lambda found: found.target).shared
    candidate[draw.n_drawn_from :] = False
    if np.count_nonzero(candidate) < 2 * draw.wanted:
        candidate = ~duplicate
        candidate[draw.n_drawn_from :] = False
    wanted = min(draw.wanted, int(np.count_nonzero(candidate)) // 2)
    for run, span in spans(runs):
        rows = np.flatnonzero(candidate[span])
        source, target, pair = (hashes[rows] for hashes in run.hashes())
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
