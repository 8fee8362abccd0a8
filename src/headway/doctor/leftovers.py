"""What a file format left in the text: escaped characters, quotation marks around fields."""

import re

import numpy as np

from headway.core.cleaning import Pair
from headway.doctor.batches import Marks, PairBatch
from headway.doctor.findings import FindingsLog, Symptom

ENTITIES = Symptom(
    "entities",
    "HTML entities",
    "Such as &quot; for a quotation mark: text was escaped and never put back. A model learns to "
    "write them.",
    "Replace them by the characters that they stand for, on both sides alike; in texts that are "
    "HTML they belong.",
    tolerated=0.01,
)
QUOTED = Symptom(
    "quoted",
    "both sides in quotation marks",
    "Programs that write tables put fields into quotation marks; here nothing is taken off, and a "
    "model learns to write them. Direct speech may look the same.",
    "If they are not part of the text, write the table anew without quotation marks.",
    tolerated=0.1,
)
SYMPTOMS = (ENTITIES, QUOTED)

_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,30});")


class Leftovers:
    """Looks for what readers of the original program never saw."""

    def __init__(self, notes: FindingsLog) -> None:
        """Tell `notes`."""
        self._notes = notes
        self._n_pairs = 0

    def add(self, batch: PairBatch) -> None:
        """Take the next pairs."""
        self._n_pairs += len(batch.pairs)
        for pair in batch.marked(_either(batch, "&")):
            if entity := _ENTITY.search(pair.source) or _ENTITY.search(pair.target):
                self._notes.take(ENTITIES, pair, entity[0])
        for pair in batch.marked(_either(batch, '"')):
            if _is_quoted(pair):
                self._notes.take(QUOTED, pair)

    def conclude(self) -> None:
        """Tell what was found."""
        self._notes.conclude(SYMPTOMS, self._n_pairs)


def _is_quoted(pair: Pair) -> bool:
    return all(len(text) > 1 and text[0] == text[-1] == '"' for text in pair[:2])


def _either(batch: PairBatch, character: str) -> Marks:
    """The pairs of which either side has the character: [pairs]."""
    source, target = (side.count(np.equal(side.codes, ord(character))) > 0 for side in batch.sides)
    return source | target
