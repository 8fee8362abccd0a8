"""What a distilled student gained in speed and lost in quality, beside its teacher, in one run.

Both translate all lines of --source in turn (teacher, student, teacher, ..), greedily and with the
beam and length penalty of their own, in each precision; the clock runs from text to text, after a
first call on a few lines. A ratio is the median over rounds of the teacher's seconds by the
student's. Quality is sacreBLEU with an interval, and the paired bootstrap's p of their difference.
Run: python benchmarks/distilled.py --teacher RUN --student RUN --source FILE --reference FILE
    [--precisions fp32 int8] [--rounds 5] [--threads 2] [--record FILE]
"""

import time
from dataclasses import asdict
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import record
import torch

from headway import Translator
from headway.core.bleu import bleu_statistics
from headway.metrics.corpus_scores import with_interval
from headway.metrics.evaluation import difference

SEARCHES: dict[str, dict[str, Any]] = {"greedy": {"method": "greedy"}, "own beam": {}}


class Side(NamedTuple):
    """A run in one precision."""

    name: str
    translator: Translator

    def timed(self, lines: list[str], how: dict[str, Any]) -> tuple[float, list[str]]:
        """Seconds, and what was written."""
        began = time.perf_counter()
        written = self.translator.translate(lines, **how)
        return time.perf_counter() - began, written


def beside(
    sides: tuple[Side, Side], lines: list[str], references: list[str], rounds: int, search: str
) -> dict[str, Any]:
    """Seconds of each in every round, their ratio, and the scores of what they wrote."""
    seconds: tuple[list[float], list[float]] = [], []
    written: list[list[str]] = [[], []]
    for side in sides:
        side.timed(lines[:8], SEARCHES[search])
    for _ in range(rounds):
        for number, side in enumerate(sides):
            spent, written[number] = side.timed(lines, SEARCHES[search])
            seconds[number].append(spent)
    counts = [bleu_statistics(some, references) for some in written]
    return {
        "search": search,
        "seconds": seconds,
        "ratio": median(one / other for one, other in zip(*seconds, strict=True)),
        "bleu": [asdict(with_interval(one)) for one in counts],
        "p": difference(*counts).p_value,
    }


def main() -> int:
    """Measure, print a table, record."""
    options = record.parser(__doc__)
    for name in ("teacher", "student", "source", "reference"):
        options.add_argument(f"--{name}", type=Path, required=True)
    options.add_argument("--precisions", nargs="+", default=["fp32"])
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--threads", type=int, default=2)
    record.add_record_option(options)
    given = options.parse_args()
    torch.set_num_threads(given.threads)
    lines = given.source.read_text(encoding="utf-8").splitlines()
    references = given.reference.read_text(encoding="utf-8").splitlines()
    found = []
    for precision in given.precisions:
        teacher, student = (
            Side(name, Translator.load(run, device="cpu", precision=precision, say=print))
            for name, run in (("teacher", given.teacher), ("student", given.student))
        )
        for search in SEARCHES:
            result = beside((teacher, student), lines, references, given.rounds, search)
            found.append({"precision": precision, **result})
    rows = [
        [
            one["precision"],
            one["search"],
            *(f"{len(lines) / median(some):,.0f}" for some in one["seconds"]),
            f"{one['ratio']:.2f}x",
            *("{score:.2f} ({low:.1f} to {high:.1f})".format(**some) for some in one["bleu"]),
            f"{one['p']:.3f}",
        ]
        for one in found
    ]
    header = ["precision", "search", "teacher, lines/s", "student", "ratio", "BLEU", "student", "p"]
    print(record.table(header, rows))
    record.write(given.record, "distilled", seeds=[], figures={"measured": found})
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
