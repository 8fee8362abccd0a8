"""Texts that differ in case, digits, punctuation or spaces only: repeated, or leaked into training.

Each text becomes a hash of its letters, and these stay in memory: 16 bytes a pair.
"""

from collections.abc import Callable, Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from headway.core.cleaning import Pair
from headway.core.dedup_split import Hashes, Marks, PairHashes, repeats
from headway.doctor.batches import PairBatch, folded_hashes
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


class RepeatCheck:
    symptoms = NEAR_DUPLICATE, TRANSLATED_TWICE, NEAR_LEAKAGE

    def __init__(
        self,
        log: FindingsLog,
        valid: Iterable[PairBatch],
        again: Callable[[], Iterator[Pair]],
    ) -> None:
        """`valid` are the pairs that training should not contain, `again` gives all of training
        once more, to show some."""
        self._log, self._again = log, again
        self._sources, self._pairs = [np.zeros(0, np.uint64)], [np.zeros(0, np.uint64)]
        folded = [[folded_hashes(side) for side in batch.sides] for batch in valid]
        self._valid = [
            np.unique(np.concatenate([np.zeros(0, np.uint64), *(sides[n] for sides in folded)]))
            for n in (0, 1)
        ]

    def add(self, batch: PairBatch) -> None:
        found = PairHashes(*map(folded_hashes, batch.sides))
        self._sources.append(found.source)
        self._pairs.append(found.of_pairs())
        leaks = np.isin(found.source, self._valid[0]) | np.isin(found.target, self._valid[1])
        for pair in batch.marked(leaks):
            self._log.take(NEAR_LEAKAGE, pair)

    def conclude(self) -> None:
        sources, pairs = np.concatenate(self._sources), np.concatenate(self._pairs)
        repeated = repeats(pairs).later
        self._show(NEAR_DUPLICATE, repeated, pairs)
        self._show(TRANSLATED_TWICE, repeats(sources).later & ~repeated, sources)

    def _show(self, symptom: Symptom, marks: Marks, hashes: Hashes) -> None:
        """Take down the marked pairs: all of them if each is heard, else those to be shown."""
        n_marked = np.count_nonzero(marks)
        rows = np.flatnonzero(marks) if self._log.heard else _first(marks, EXAMPLES)
        values, firsts = np.unique(hashes, return_index=True)
        of_rows = firsts[np.searchsorted(values, hashes[rows])]
        twins = dict(zip(rows.tolist(), of_rows.tolist(), strict=True))
        first_rows = set(twins.values())
        first: dict[int, str] = {}
        for row, pair in enumerate(self._again() if n_marked else ()):
            if row in first_rows:
                first[row] = pair.origin
            if marks[row]:
                like = f"as {first[twins[row]]}" if row in twins else ""
                self._log.take(symptom, pair, like)
            if row == rows[-1]:
                break
        self._log.count(symptom, int(n_marked) - len(rows))


def _first(marks: Marks, n: int) -> NDArray[np.int64]:
    """The first `n` marked rows, without listing all others."""
    end = int(np.searchsorted(np.cumsum(marks, dtype=np.uint32), n)) + 1
    return np.flatnonzero(marks[:end])
