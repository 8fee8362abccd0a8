"""First stage: each file cleaned by the rules of every corpus, and the keys of its pairs sorted."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from headway.core.cleaning import Report
from headway.core.dedup_split import Hashes
from headway.core.disk import checksum, write_text
from headway.corpora.alignment import suspicious
from headway.corpora.cache import sealed_folder
from headway.corpora.corpus import read_pairs
from headway.corpora.many_pieces import blocks, clean_block, hashes
from headway.corpora.pieces import Piece, add_report
from headway.corpora.shifts import suspicions
from headway.large_corpora.plan import ShardPlan

SORTED_ROWS = 1 << 20
"""Keys that are sorted at a time, in 30 MB of memory."""


class SortedKeys:
    """Writes the keys of pairs in sorted runs; of a run's equal keys only the first."""

    def __init__(self, folder: Path) -> None:
        self.ends: list[int] = []
        """Where each run ends."""
        self._files = [(folder / name).open("wb") for name in ("keys", "rows", "later")]
        self._waiting: list[Hashes] = []
        self._n_waiting = self._n_rows = 0

    def add(self, keys: Hashes) -> None:
        """The keys of the next pairs."""
        self._waiting.append(keys)
        self._n_waiting += len(keys)
        if self._n_waiting >= SORTED_ROWS:
            self._write()

    def close(self) -> None:
        """Write what is left."""
        if self._n_waiting:
            self._write()
        for file in self._files:
            file.close()

    def _write(self) -> None:
        keys = np.concatenate(self._waiting)
        order = np.argsort(keys, kind="stable")  # equal keys stay in their order
        ordered = keys[order]
        first = np.concatenate([[True], ordered[1:] != ordered[:-1]])
        rows = (self._n_rows + order).astype(np.uint32)
        for file, some in zip(
            self._files, (ordered[first], rows[first], rows[~first]), strict=True
        ):
            file.write(some.tobytes())
        self.ends.append((self.ends[-1] if self.ends else 0) + int(first.sum()))
        self._n_rows += len(keys)
        self._waiting, self._n_waiting = [], 0


def clean_unit(plan: ShardPlan, number: int) -> None:
    """Clean one unit into work/clean-NUMBER; its keys go to work/keys-NUMBER, the rest that was
    found to work/unit-NUMBER. What an ended process left there is gone on with."""
    unit = plan.units[number]
    part = plan.corpus.parts[unit.part]
    folder, read, found, pieces, may_hold = plan.place("clean", number), Report(), Report(), [], 0
    folder.mkdir(parents=True, exist_ok=True)
    with sealed_folder(plan.place("keys", number)) as (keys_folder, content):
        keys = SortedKeys(keys_folder)
        for block in blocks(read_pairs(plan.corpus.alone(part), read)):
            if block.number % unit.of != unit.first:
                continue
            one = clean_block(folder, "train", plan.data.cleaning(), block)
            add_report(found, one.report)
            keys.add(hashes([one.piece]).of_pairs())
            pieces.append([one.piece.name, one.piece.n_rows])
            may_hold |= one.may_hold_codes
        keys.close()
        content["ends"] = keys.ends
    known: dict[str, Any] = {"pieces": pieces, "may_hold_codes": bool(may_hold)}
    known["sha256"] = {str(path.absolute()): checksum(path) for path in part.files}
    for piece in pieces_of(plan, number, known):
        if suspicious(piece.rows_by_file()):
            found.suspicions += suspicions(piece.rows_by_file())
    if unit.first == 0:  # what each of them has read
        add_report(found, read)
    known["report"] = found.as_dict()
    write_text(plan.place("unit", number), json.dumps(known))


def pieces_of(plan: ShardPlan, number: int, known: dict[str, Any] | None = None) -> list[Piece]:
    """The pieces of a unit that was cleaned, in their order."""
    folder, unit = plan.place("clean", number), plan.units[number]
    files = [plan.corpus.parts[unit.part].name]
    found = plan.known(number) if known is None else known
    return [Piece(folder / name, name, files, n, n) for name, n in found["pieces"]]
