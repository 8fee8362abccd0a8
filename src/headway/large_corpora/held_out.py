"""Third stage: which pairs are held out to validate on, the same as of a corpus in memory."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from headway.core.cleaning import Pair, Report, clean_pairs
from headway.core.dedup_split import (
    DUPLICATE,
    HELD_OUT,
    KEPT,
    Draw,
    Hashes,
    Marks,
    Outcomes,
    PairHashes,
    dedup_split,
    hashed,
    held_out_size,
    shuffled,
)
from headway.corpora.cache import read_sealed, sealed_folder
from headway.corpora.corpus import read_pairs
from headway.corpora.many_pieces import hashes
from headway.corpora.pieces import Piece, write_piece
from headway.large_corpora.clean_units import pieces_of
from headway.large_corpora.plan import SEED, ShardPlan
from headway.large_corpora.repeated_pairs import n_clean, n_repeated, remove_keys, repeated

POOL = 1 << 16
"""Of so many pairs whose seeded hash is lowest, those are taken whose sides stand nowhere else."""
LARGEST_POOL = 1 << 22

Share = Callable[[Callable[[int], Any], int], Iterator[Any]]
"""`work(number)` for each number below the second argument, done by several processes, in order."""


class Candidates(NamedTuple):
    """Pairs that may be held out: [candidates]."""

    keys: Hashes
    """Their order, drawn by the seed."""
    source: Hashes
    target: Hashes
    rows: NDArray[np.uint32]
    later: Marks
    """Whether each was there before."""
    units: NDArray[np.uint32]


def hold_out(plan: ShardPlan, share: Share) -> None:
    """Leave in work/split-00000 the hashes of the validation pairs, and where those stand that are
    drawn; the pairs of files that are given for it; what every unit is to know of all files.

    Drawn are those that `headway.core.dedup_split.dedup_split` draws. It differs only where of the
    `LARGEST_POOL` pairs that are drawn first hardly any has sides that stand nowhere else.
    """
    report, data, valid = Report(), plan.data, plan.data.validation()
    given: list[Pair] = []
    rows = np.zeros((0, 2), np.uint32)
    n_different = n_clean(plan) - n_repeated(plan)
    if valid is None:
        wanted = data.valid_size or held_out_size(n_different)
        both, rows = _drawn(plan, wanted, share)
    else:
        given = list(clean_pairs(read_pairs(valid, report), data, report, data.judge))
        both = hashed(given)
    with sealed_folder(plan.place("split", 0)) as (folder, content):
        np.concatenate(both).tofile(folder / "hashes")
        rows.tofile(folder / "rows")
        files = write_piece(folder, "given", given).files
        content |= {"report": report.as_dict(), "files": files, "n_given": len(given)}
        content |= {"n_different": n_different, "both_ways": plan.corpus.both_ways}
    remove_keys(plan)


def _drawn(plan: ShardPlan, wanted: int, share: Share) -> tuple[PairHashes, NDArray[np.uint32]]:
    """The hashes of the pairs that are drawn, and their units and rows: [pairs, 2]."""
    n_pairs, n_units, pool = n_clean(plan), len(plan.units), max(POOL, 8 * wanted)
    while True:
        below = pool / max(n_pairs, 1)
        parts = list(share(partial(_candidates, plan, below), n_units))
        found = Candidates(*map(np.concatenate, zip(*parts, strict=True)))
        texts = np.unique(found.source), np.unique(found.target)
        counted = list(share(partial(_occurrences, plan, texts), n_units))
        counts = [np.sum(of_side, axis=0) for of_side in zip(*counted, strict=True)]
        times = (
            count[np.searchsorted(side, own)]
            for count, side, own in zip(counts, texts, (found.source, found.target), strict=True)
        )
        alone = np.flatnonzero(np.maximum(*times) == 1)
        if below >= 1 or len(alone) >= 2 * wanted or pool >= LARGEST_POOL:
            break
        pool *= 16
    chosen = alone if len(alone) >= 2 * wanted else np.flatnonzero(~found.later)
    order = np.argsort(found.keys[chosen], kind="stable")
    taken = chosen[order[: min(wanted, len(chosen) // 2)]]
    rows = np.stack([found.units[taken], found.rows[taken]], axis=1)
    return PairHashes(found.source[taken], found.target[taken]), rows


def _candidates(plan: ShardPlan, below: float, unit: int) -> Candidates:
    """The pairs of a unit whose draw, from 0 to 1, is below a limit."""
    pieces = pieces_of(plan, unit)
    later = repeated(plan, unit, sum(piece.n_rows for piece in pieces))
    parts, begin = [], 0
    for piece in pieces:
        both = hashes([piece])
        keys = shuffled(both.of_pairs(), SEED)
        rows = np.flatnonzero(keys < below * 2.0**64)
        whole = (begin + rows).astype(np.uint32)
        units = np.full(len(rows), unit, np.uint32)
        parts.append((keys[rows], *(of[rows] for of in both), whole, later[whole], units))
        begin += piece.n_rows
    kinds = (np.uint64, np.uint64, np.uint64, np.uint32, np.bool_, np.uint32)
    parts.append(tuple(np.zeros(0, kind) for kind in kinds))  # where there is no piece
    return Candidates(*map(np.concatenate, zip(*parts, strict=True)))


def _occurrences(plan: ShardPlan, texts: tuple[Hashes, Hashes], unit: int) -> list[Any]:
    """How often each of some sources, and of some targets, stands in a unit; both are sorted."""
    pieces = [(texts[0][:0], texts[1][:0]), *(hashes([one]) for one in pieces_of(plan, unit))]
    return [
        np.sum([_times(side, own) for own in of_side], axis=0)
        for side, of_side in zip(texts, zip(*pieces, strict=True), strict=True)
    ]


def _times(wanted: Hashes, texts: Hashes) -> NDArray[np.int64]:
    """How often each of some sorted hashes is among others: [wanted]."""
    if not len(wanted):
        return np.zeros(0, np.int64)
    place = np.minimum(np.searchsorted(wanted, texts), len(wanted) - 1)
    return np.bincount(place[wanted[place] == texts], minlength=len(wanted)).astype(np.int64)


def outcomes(plan: ShardPlan, unit: int) -> Iterator[tuple[Piece, PairHashes, Outcomes]]:
    """What becomes of the pairs of each piece of a unit: see `dedup_split`."""
    split = plan.place("split", 0)
    valid = PairHashes(*np.fromfile(split / "hashes", np.uint64).reshape(2, -1))
    drawn = np.fromfile(split / "rows", np.uint32).reshape(-1, 2)
    pieces, begin, nobody = pieces_of(plan, unit), 0, Draw(0, 0, SEED)
    both_ways = read_sealed(split, only=())["both_ways"]
    later = repeated(plan, unit, sum(piece.n_rows for piece in pieces))
    held_out = np.zeros(len(later), np.bool_)
    held_out[drawn[drawn[:, 0] == unit, 1]] = True
    for piece in pieces:
        own = slice(begin, begin + piece.n_rows)
        both = hashes([piece])
        found = dedup_split(both, valid, nobody, deduplicate=False, both_ways=both_ways)
        found[later[own] & (found == KEPT)] = DUPLICATE
        found[held_out[own]] = HELD_OUT
        yield piece, both, found
        begin += piece.n_rows
