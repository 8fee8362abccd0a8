"""Clean pieces joined to a corpus: what only all the pairs together can tell."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import compress
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from headway.data.clean_pieces import Piece, Rows
from headway.data.pair_files import PairWriter, unspelled
from headway.data.repeats import Hashes, find_repeats, read_run, text_hashes
from headway.text.alignment import Place, ShiftDetector
from headway.text.cleaning import EXAMPLES, Pair, Report

KEPT, DUPLICATE, LEAKAGE, HELD_OUT = range(4)
"""What becomes of a pair; where two reasons hold, the higher number counts."""
REASONS = {DUPLICATE: "duplicate", LEAKAGE: "leakage", HELD_OUT: "held_out"}

Fates = NDArray[np.uint8]


class Texts(NamedTuple):
    """The texts of the validation set, by their hashes."""

    sources: Hashes
    targets: Hashes

    @classmethod
    def of(cls, pairs: Sequence[Pair]) -> "Texts":
        """The texts of these pairs."""
        return cls(text_hashes([p.source for p in pairs]), text_hashes([p.target for p in pairs]))


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
    *,
    deduplicate: bool,
    valid: Texts | None,
    n_held_out: int,
    n_drawn_from: int,
    both_ways: bool,
    seed: int,
) -> Fates:
    """What becomes of each row of all pieces, one after the other: [rows].

    Without `valid`, `n_held_out` rows are chosen for it, at most half of those that may be, among
    the first `n_drawn_from`. A row leaks that shares its source or its target with one of them; if
    a corpus is read `both_ways`, also one whose source is a target there, or the other way round.
    """
    duplicate = np.zeros(sum(piece.n_rows for piece in pieces), np.bool_)
    if deduplicate:
        duplicate = find_repeats([piece.hashes("pair") for piece in pieces]).later
    fate = np.where(duplicate, np.uint8(DUPLICATE), np.uint8(KEPT))
    if valid is None:
        chosen = _chosen(pieces, duplicate, n_held_out, n_drawn_from, seed)
        valid = _texts(pieces, chosen)
    else:
        chosen = np.zeros(0, np.int64)
    for piece, span in spans(pieces):
        source, target = read_run(piece.hashes("source")), read_run(piece.hashes("target"))
        leaks = np.isin(source, valid.sources) | np.isin(target, valid.targets)
        if both_ways:
            leaks |= np.isin(source, valid.targets) | np.isin(target, valid.sources)
        fate[span][leaks] = LEAKAGE
    fate[chosen] = HELD_OUT
    return fate


def spans(pieces: Sequence[Piece]) -> Iterator[tuple[Piece, slice]]:
    """Each piece and where its rows stand among all."""
    end = 0
    for piece in pieces:
        start, end = end, end + piece.n_rows
        yield piece, slice(start, end)


def _chosen(
    pieces: Sequence[Piece],
    duplicate: NDArray[np.bool_],
    wanted: int,
    n_drawn_from: int,
    seed: int,
) -> NDArray[np.int64]:
    """Rows to set aside: if possible such whose source and target occur once, else no duplicates.

    A seeded hash orders them, so that no list of all candidates is needed.
    """
    if not wanted:
        return np.zeros(0, np.int64)
    candidate = ~find_repeats([piece.hashes("source") for piece in pieces]).shared
    candidate &= ~find_repeats([piece.hashes("target") for piece in pieces]).shared
    candidate[n_drawn_from:] = False
    if np.count_nonzero(candidate) < 2 * wanted:
        candidate = ~duplicate
        candidate[n_drawn_from:] = False
    wanted = min(wanted, int(np.count_nonzero(candidate)) // 2)
    best_keys, best_rows = np.zeros(0, np.uint64), np.zeros(0, np.int64)
    for piece, span in spans(pieces):
        rows = np.flatnonzero(candidate[span])
        keys = np.concatenate([best_keys, _shuffled(read_run(piece.hashes("pair"))[rows], seed)])
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


def _texts(pieces: Sequence[Piece], rows: NDArray[np.int64]) -> Texts:
    """The texts of some rows, which are given in ascending order."""
    sources, targets = [np.zeros(0, np.uint64)], [np.zeros(0, np.uint64)]
    for piece, span in spans(pieces):
        start, end = np.searchsorted(rows, [span.start, span.stop])
        if start < end:
            inside = rows[start:end] - span.start
            sources.append(read_run(piece.hashes("source"))[inside])
            targets.append(read_run(piece.hashes("target"))[inside])
    return Texts(np.concatenate(sources), np.concatenate(targets))


class Splitter:
    """Writes what is kept to `train` and what is held out to `valid`, and counts both."""

    def __init__(self, train: PairWriter, valid: PairWriter) -> None:
        """Begin with nothing counted."""
        self._train = train
        self._valid = valid
        self._shifts = ShiftDetector()
        self._report = Report()
        self.valid_report = Report()
        self.n_characters = 0
        """Of the training pairs, both sides together."""

    def write(self, piece: Piece, fate: Fates) -> None:
        """Write the pairs of one piece; `fate` says what becomes of each: [rows of the piece]."""
        rows, lines = piece.rows(), piece.lines()
        kept = fate == KEPT
        self._report.add(piece.report)
        self._look_for_shifts(piece, rows)
        for number, reason in REASONS.items():
            self._drop(reason, piece, rows, lines, np.flatnonzero(fate == number))
        held_out = [_pair(piece, rows, lines, row) for row in np.flatnonzero(fate == HELD_OUT)]
        for pair in held_out:
            self.valid_report.read += 1
            self.valid_report.keep(pair)
        if held_out:
            self._valid.write(held_out)
        text = b"".join(compress(lines, kept.tolist()))
        self._train.write_rows(text, piece.files, rows["file"][kept], rows["line"][kept])
        self.n_characters += int(rows["source"][kept].sum() + rows["target"][kept].sum())

    def finished_report(self) -> Report:
        """What became of the pairs of all pieces, and where their sides seem not to go together."""
        self._report.suspicions = self._shifts.suspicions()
        return self._report

    def _look_for_shifts(self, piece: Piece, rows: Rows) -> None:
        files = [piece.files[number] for number in rows["file"].tolist()]
        columns = (rows[name].tolist() for name in ("line", "source", "target"))
        for file, line, source, target in zip(files, *columns, strict=True):
            self._shifts.add_lengths(source, target, Place(file, line))

    def _drop(
        self,
        reason: str,
        piece: Piece,
        rows: Rows,
        lines: list[bytes],
        dropped: NDArray[np.int64],
    ) -> None:
        """Count pairs as dropped that the piece counts as kept, and show the first of them."""
        report = self._report
        for row in dropped[:EXAMPLES]:
            report.drop_kept(reason, _pair(piece, rows, lines, row))
        more = dropped[EXAMPLES:]
        if len(more):
            report.kept -= len(more)
            report.dropped[reason] += len(more)
            report.noticed["copy"] -= int(rows["copy"][more].sum())


def _pair(piece: Piece, rows: Rows, lines: list[bytes], row: np.int64) -> Pair:
    return Pair(*unspelled(lines[row]), piece.files[rows["file"][row]], int(rows["line"][row]))
