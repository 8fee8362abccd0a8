"""A check in one file, as CONTRIBUTING.md says how: sources in capitals whose targets are not."""

import numpy as np

from headway.doctor.batches import PairBatch
from headway.doctor.findings import FindingsLog, Symptom

SHOUTING = Symptom(
    "shouting",
    "capitals on one side",
    "A source is written in capitals, and its translation is not.",
    "Leave them out: --drop shouting.",
    tolerated=0.01,
)


class ShoutingCheck:
    symptoms = (SHOUTING,)

    def __init__(self, log: FindingsLog) -> None:
        self.log = log

    def add(self, batch: PairBatch) -> None:
        shouted = [pair.source.isupper() and not pair.target.isupper() for pair in batch.pairs]
        for pair in batch.marked(np.array(shouted)):
            self.log.take(SHOUTING, pair)
