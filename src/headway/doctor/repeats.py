"""Texts that differ in case, digits, punctuation or spaces only: repeated, or leaked into training.

Each text becomes a hash of its letters. Those of the validation set stay in memory, those of the
training set go to disk, so that memory stays flat.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from headway.core.cleaning import Pair
from headway.core.dedup_split import pair_hashes
from headway.corpora.many_pieces import repeats_among
from headway.doctor.batches import Hashes, PairBatch, folded_hashes
from headway.doctor.findings import EXAMPLES, FindingsLog, Symptom

NEAR_DUPLICATE = Symptom(
    "near_duplicate",
    "near-duplicates",
    "Pairs that differ from an earlier one in case, digits, punctuation or spaces only. They are "
    "kept, and take time and weight in training.",
    "A few do no harm. Remove those that a program made, such as numbered headings.",
    tolerated=0.02,
)
TRANSLATED_TWICE = Symptom(
    "translated_twice",
    "sources with several translations",
    "The same source (but for case, digits and punctuation) was translated differently before. A "
    "model learns something in between.",
    "Where one translation is preferred, keep that one alone; otherwise variety is no fault.",
    tolerated=0.1,
)
NEAR_LEAKAGE = Symptom(
    "near_leakage",
    "validation texts that training nearly contains",
    "A training pair shares its source or target with a validation pair but for case, digits and "
    "punctuation. Scores on such a set are too good; exact leaks are dropped, these are not.",
    "Remove these pairs from the training files, or choose other validation pairs.",
)

Marks = NDArray[np.bool_]


class RepeatCheck:
    symptoms = NEAR_DUPLICATE, TRANSLATED_TWICE, NEAR_LEAKAGE

    def __init__(
        self,
        log: FindingsLog,
        folder: Path,
        valid: Iterable[PairBatch],
        again: Callable[[], Iterator[Pair]],
    ) -> None:
        """Use `folder` for hashes; `valid` are the pairs that training should not contain, `again`
        gives all of training once more, to show some."""
        self._log, self._again = log, again
        self._sources, self._pairs = _Hashes(folder / "source"), _Hashes(folder / "pair")
        folded = [[folded_hashes(side) for side in batch.sides] for batch in valid]
        self._valid = [
            np.unique(np.concatenate([np.zeros(0, np.uint64), *(sides[n] for sides in folded)]))
            for n in (0, 1)
        ]

    def add(self, batch: PairBatch) -> None:
        source, target = (folded_hashes(side) for side in batch.sides)
        self._sources.add(source)
        self._pairs.add(pair_hashes(source, target))
        leaks = np.isin(source, self._valid[0]) | np.isin(target, self._valid[1])
        for pair in batch.marked(leaks):
            self._log.take(NEAR_LEAKAGE, pair)

    def conclude(self) -> None:
        repeated = self._pairs.repeated()
        several = self._sources.repeated() & ~repeated
        self._show(NEAR_DUPLICATE, repeated, self._pairs)
        self._show(TRANSLATED_TWICE, several, self._sources)

    def _show(self, symptom: Symptom, marks: Marks, hashes: "_Hashes") -> None:
        """Take down the marked pairs: all of them if each is heard, else those to be shown."""
        n_marked = np.count_nonzero(marks)
        rows = np.flatnonzero(marks) if self._log.heard else _first(marks, EXAMPLES)
        twins = hashes.first_of_its_kind(rows[:EXAMPLES].tolist())
        first_rows = set(twins.values())
        first: dict[int, Pair] = {}
        for row, pair in enumerate(self._again() if n_marked else ()):
            if row in first_rows:
                first[row] = pair
            if marks[row]:
                like = f"as {first[twins[row]].origin}" if row in twins else ""
                self._log.take(symptom, pair, like)
            if row == rows[-1]:
                break
        self._log.count(symptom, int(n_marked) - len(rows))


def _first(marks: Marks, n: int) -> NDArray[np.int64]:
    """The first `n` marked rows, without listing all others."""
    end = int(np.searchsorted(np.cumsum(marks, dtype=np.uint32), n)) + 1
    return np.flatnonzero(marks[:end])


class _Hashes:
    """Hashes of rows, in a file."""

    def __init__(self, path: Path) -> None:
        self._path, self._n_rows = path, 0

    def add(self, hashes: Hashes) -> None:
        with self._path.open("ab") as file:
            hashes.tofile(file)
        self._n_rows += len(hashes)

    def repeated(self) -> Marks:
        """Which rows have the hash of an earlier one: [rows]."""
        return repeats_among([self._n_rows], lambda: [self._read()]).later

    def first_of_its_kind(self, rows: Sequence[int]) -> dict[int, int]:
        """The first row with the hash of each of some rows."""
        hashes = self._read()
        return {row: int(np.argmax(hashes == hashes[row])) for row in rows}

    def _read(self) -> Hashes:
        if not self._n_rows:
            return np.zeros(0, np.uint64)
        return np.memmap(self._path, np.uint64, "r")
