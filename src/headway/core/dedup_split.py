"""Repeats, leaks and held-out pairs: what only all the pairs of a corpus together can tell."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from headway.core.cleaning import Pair, Report

KEPT, DUPLICATE, LEAKAGE, HELD_OUT = range(4)
"""What becomes of a pair; where two reasons hold, the higher number counts."""
DROPPED = {DUPLICATE: "duplicate", LEAKAGE: "leakage", HELD_OUT: "held_out"}

Outcomes = NDArray[np.uint8]
Hashes = NDArray[np.uint64]
Marks = NDArray[np.bool_]


class PairHashes(NamedTuple):
    """Of each source and each target: [pairs]."""

    source: Hashes
    target: Hashes

    def of_pairs(self) -> Hashes:
        """One hash for both sides of each pair; exchanging the sides changes it: [pairs]."""
        mixed = self.source * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= (self.target << np.uint64(31)) | (self.target >> np.uint64(33))
        return mixed * np.uint64(0xBF58476D1CE4E5B9)


def text_hashes(texts: Iterable[str]) -> Hashes:
    """Eight bytes of each text: two of 5 million are confused once in 10^6 corpora: [texts]."""
    found = (hashlib.blake2b(text.encode("utf-8"), digest_size=8).digest() for text in texts)
    return np.frombuffer(b"".join(found), "<u8")


def hashed(pairs: Sequence[Pair]) -> PairHashes:
    """The hashes of some pairs."""
    sources, targets = (pair.source for pair in pairs), (pair.target for pair in pairs)
    return PairHashes(text_hashes(sources), text_hashes(targets))


def held_out_size(n_pairs: int) -> int:
    """How many pairs to set aside for validation: a twentieth, 20 to 1,000, never over a half."""
    return min(max(20, min(n_pairs // 20, 1_000)), n_pairs // 2)


class Draw(NamedTuple):
    """How many pairs are set aside for validation, and which may be."""

    wanted: int | None
    """None stands for `held_out_size` of the pairs that are no repeats."""
    n_drawn_from: int
    """They are among so many that come first."""
    seed: int


class Repeats(NamedTuple):
    """Of each value, whether it stands further up too, or elsewhere at all: [values]."""

    later: Marks
    shared: Marks


def repeats(hashes: Hashes) -> Repeats:
    """Mark the values that occur more than once."""
    order = np.argsort(hashes, kind="stable")  # equal values stay in their order
    ordered = hashes[order]
    same = np.flatnonzero(ordered[1:] == ordered[:-1])
    later = np.zeros(len(hashes), np.bool_)
    later[order[same + 1]] = True
    shared = later.copy()
    shared[order[same]] = True
    return Repeats(later, shared)


def dedup_split(
    train: PairHashes, valid: PairHashes, draw: Draw, *, deduplicate: bool, both_ways: bool = False
) -> Outcomes:
    """What becomes of each pair of `train`: [pairs].

    Validation pairs are those of `valid`, and those that are drawn here: at most half of those that
    may be. A pair leaks that shares its source or its target with one of them; if a corpus is read
    `both_ways`, also one whose source is a target there, or the other way round.
    """
    outcome = np.zeros(len(train.source), np.uint8)
    if deduplicate:
        outcome[repeats(train.of_pairs()).later] = DUPLICATE
    drawn = _drawn(train, outcome == DUPLICATE, draw)
    sources = np.concatenate([valid.source, train.source[drawn]])
    targets = np.concatenate([valid.target, train.target[drawn]])
    outcome[np.isin(train.source, sources) | np.isin(train.target, targets)] = LEAKAGE
    if both_ways:
        outcome[np.isin(train.source, targets) | np.isin(train.target, sources)] = LEAKAGE
    outcome[drawn] = HELD_OUT
    return outcome


def _drawn(train: PairHashes, duplicate: Marks, draw: Draw) -> NDArray[np.int64]:
    """Pairs to set aside, drawn by a seeded hash of their text: if possible such whose source and
    target occur once, else no duplicates."""
    different = np.flatnonzero(~duplicate[: draw.n_drawn_from])
    wanted = held_out_size(len(different)) if draw.wanted is None else draw.wanted
    if not wanted:
        return np.zeros(0, np.int64)
    alone = ~(repeats(train.source).shared | repeats(train.target).shared)
    candidates = np.flatnonzero(alone[: draw.n_drawn_from])
    if len(candidates) < 2 * wanted:
        candidates = different
    chosen = PairHashes(train.source[candidates], train.target[candidates])
    order = np.argsort(shuffled(chosen.of_pairs(), draw.seed), kind="stable")
    return candidates[order[: min(wanted, len(candidates) // 2)]]


def shuffled(hashes: Hashes, seed: int) -> Hashes:
    """Other hashes for each seed (the finalizer of SplitMix64, Steele et al. 2014)."""
    mixed = hashes + np.uint64((seed + 1) * 0x9E3779B97F4A7C15 % 2**64)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    return mixed ^ (mixed >> np.uint64(31))


def split_pairs(
    pairs: Sequence[Pair],
    valid: Sequence[Pair] | None,
    draw: Draw,
    report: Report,
    valid_report: Report,
    *,
    deduplicate: bool,
    both_ways: bool = False,
) -> tuple[list[Pair], list[Pair]]:
    """Clean pairs to learn from and to validate on: those of `valid`, else some that are drawn.

    The reports, which count all of them as kept, count repeats, leaks and what is held out.
    """
    outcome = dedup_split(
        hashed(pairs),
        hashed(valid or ()),
        draw if valid is None else draw._replace(wanted=0),
        deduplicate=deduplicate,
        both_ways=both_ways,
    )
    becomes: dict[int, list[Pair]] = {number: [] for number in (KEPT, *DROPPED)}
    for pair, number in zip(pairs, outcome.tolist(), strict=True):
        becomes[number].append(pair)
    for number, reason in DROPPED.items():
        drop_kept(report, reason, becomes[number])
    if valid is None:
        valid_report.read = len(becomes[HELD_OUT])
        for pair in becomes[HELD_OUT]:
            valid_report.keep(pair)
    return becomes[KEPT], list(becomes[HELD_OUT] if valid is None else valid)


def drop_kept(report: Report, reason: str, pairs: Sequence[Pair]) -> None:
    """Count as dropped what `report` counts as kept."""
    copies = sum(pair.source == pair.target for pair in pairs)
    noticed = Counter(copy=copies, doubtful_note=sum(len(pair.remarks) for pair in pairs))
    if pairs:
        report.drop_kept(reason, len(pairs), noticed, pairs)
