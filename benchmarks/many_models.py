"""Many models into one: runs alone, as an ensemble, by minimum Bayes risk, and
students that were distilled from them, on the test sets of a public corpus.

Trains nothing: the runs are there (docs/training.md has the commands). Each system is scored with
beam 5 by cased sacreBLEU with interval, chrF, and for Multi30k the lower-cased Moses-tokenized BLEU
of the papers; processor seconds are of this process, with one thread. What was scored already in
FILE with the same weights is not translated again.
Run: python benchmarks/many_models.py --data DIR --corpus multi30k-en-de --runs A B [C ..]
     [--students S ..] [--split test_2016_flickr] --record FILE
"""

import argparse
import json
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import record
import runs
import torch

from headway import Translator
from headway.core.disk import checksum
from headway.core.run_folder import RunFolder
from headway.translation.minimum_bayes_risk import decide_by_mbr


class Measured(NamedTuple):
    """One way to translate with some runs."""

    name: str
    folders: tuple[Path, ...]
    mbr: int = 0
    method: str = "beam"

    def key(self, split: str) -> list[Any]:
        """What tells it from others: weights, search and texts."""
        return [[checksum(RunFolder(one).model) for one in self.folders], *self[2:], split]


def systems(asked: argparse.Namespace) -> Iterator[Measured]:
    """Each run alone, ensembles of the first 2, 3, .., students; then the first run, the students
    and the largest ensemble by minimum Bayes risk."""
    folders = tuple(asked.runs)
    for n, one in enumerate(folders, 1):
        yield Measured(f"run {n}", (one,))
    for n in range(2, len(folders) + 1):
        yield Measured(f"ensemble of {n}", folders[:n])
    for n, one in enumerate(asked.students, 1):
        yield Measured(f"student {n}", (one,))
    yield Measured(f"run 1, MBR of {asked.mbr} of the beam", folders[:1], asked.mbr)
    for n, one in enumerate(asked.students, 1):
        yield Measured(f"student {n}, MBR of {asked.mbr} of the beam", (one,), asked.mbr)
    yield Measured(f"run 1, MBR of {asked.mbr} samples", folders[:1], asked.mbr, "sampling")
    if len(folders) > 1:
        name = f"ensemble of {len(folders)}, MBR of {asked.mbr} of the beam"
        yield Measured(name, folders, asked.mbr)


def measured(
    system: Measured, corpus: runs.Corpus, sources: list[str], references: list[str], split: str
) -> dict[str, Any]:
    """Its scores on a split, and the processor's seconds."""
    folders = [*system.folders]
    translator = Translator.load(folders if len(folders) > 1 else folders[0], device="cpu")
    if system.mbr:
        decide_by_mbr(translator.plain, system.mbr)
    translator.translate(sources[:4])  # what is compiled and packed once
    begun = time.process_time()
    output = translator.translate(sources, method=system.method, beam=5)
    seconds = time.process_time() - begun
    scores = runs.score(corpus, split, references, output, "beam 5")
    return {"system": system.name, "key": system.key(split), "seconds": seconds, **asdict(scores)}


def known(file: Path) -> dict[str, dict[str, Any]]:
    """What earlier calls have scored, by its key."""
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    rows = [row for line in lines for row in json.loads(line).get("rows", ())]
    return {json.dumps(row["key"]): row for row in rows}


def main() -> int:
    """Score, print, record."""
    parser = record.parser(__doc__)
    record.add_data_option(parser)
    parser.add_argument("--corpus", choices=runs.CORPORA, required=True)
    parser.add_argument("--runs", type=Path, nargs="+", required=True, metavar="RUN")
    parser.add_argument("--students", type=Path, nargs="+", default=[], metavar="RUN")
    parser.add_argument("--mbr", type=int, default=30, metavar="N", help="candidates (30)")
    parser.add_argument("--split", help="default: the corpus's first test set")
    record.add_record_option(parser, required=True)
    asked = parser.parse_args()
    torch.set_num_threads(1)
    corpus = runs.CORPORA[asked.corpus]
    split = asked.split or corpus.tests[0]
    sources, references = corpus.lines(asked.data, split)
    before, rows = known(asked.record), list[dict[str, Any]]()
    for system in systems(asked):
        row = before.get(json.dumps(system.key(split)))
        if row is None:
            row = measured(system, corpus, sources, references, split)
            facts = {str(one): runs.facts(one) for one in system.folders}
            figures = {"corpus": asked.corpus, "runs": facts, "rows": [row]}
            record.write(asked.record, "many_models", seeds=[], figures=figures)
        rows.append({**row, "system": system.name})
        print(f"{system.name}: BLEU {row['bleu']['score']:.2f}", flush=True)
    cells = [
        [
            row["system"],
            f"{row['bleu']['score']:.2f} ({row['bleu']['low']:.2f} to {row['bleu']['high']:.2f})",
            f"{row['chrf']['score']:.2f}",
            "-" if row["moses_bleu"] is None else f"{row['moses_bleu']:.2f}",
            f"{row['seconds']:.1f}",
        ]
        for row in rows
    ]
    header = ["system", "BLEU (95 % interval)", "chrF", "lower-cased Moses BLEU", "CPU seconds"]
    print(f"\n{asked.corpus}, {split}\n\n{record.table(header, cells)}")
    return 0


if __name__ == "__main__":
    raise SystemExit(record.exit_status(main))
