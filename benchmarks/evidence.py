"""Which of the words that a labeller's evidence names are to be believed, by removing them.

    python benchmarks/evidence.py RUN .. --corpus F [--texts N] [--record FILE]

For each run of text classification: how far the probability of the predicted label falls without
the words that gradient times input names, those that attention names, and random ones, for several
numbers of words; and gradient times input as it is where what LayerNorms divide by is not held.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

from record import add_record_option, parser, write

from headway.classification.reading import ClassifiedFiles, read_labelled
from headway.inspection.opened_labellers import classifier
from headway.labelling.deletion import DeletionTest, Fall, deletion_test
from headway.labelling.evidence import GRADIENT

REMOVED = (1, 2, 3, 5)
"""Words of a text."""


def measured(run: Path, corpus: Path, n_texts: int) -> dict[str, Any]:
    """Of evenly spread texts."""
    inspected = classifier(run)
    rows = read_labelled([corpus], ClassifiedFiles())
    rows = rows[:: max(1, len(rows) // n_texts)][:n_texts]
    texts = [one for row in rows for one in inspected.read(row.text)]
    print(f"{run}: {len(texts):,} texts of {corpus.name}")
    found: dict[str, Any] = {"run": run.name}
    for k in REMOVED:
        test = deletion_test(inspected.reader, texts, k)
        free = deletion_test(replace(inspected.reader, norms_held=False), texts, k)
        if test is None or free is None:
            continue
        falls = {**test.falls, "gradient, norms free": free.falls[GRADIENT]}
        found[str(k)] = DeletionTest(falls, k).as_dict()
        print(f"  {test.told()}; gradient with norms free {Fall.of(free.falls[GRADIENT])}")
    return found


def main() -> None:
    """Read the flags, measure, record."""
    options = parser(__doc__)
    options.add_argument("runs", type=Path, nargs="+", metavar="RUN")
    options.add_argument("--corpus", type=Path, required=True, help="labelled texts")
    options.add_argument("--texts", type=int, default=1_000, help="at most so many (1,000)")
    add_record_option(options)
    asked = options.parse_args()
    found = [measured(run, asked.corpus, asked.texts) for run in asked.runs]
    write(asked.record, "evidence", seeds=[1], figures={"runs": found})


if __name__ == "__main__":
    main()
