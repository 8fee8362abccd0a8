"""Are headway's figures those that others got for the same outputs?

Scores outputs of public systems and compares with the figures that are listed beside them: of
WMT22's systems BLEU with its precisions, brevity penalty and lengths, with one reference and with
two, chrF, and TER where it is given; of a small Transformer the tokenized BLEU of 32.81 that its
author published. Then one output under every convention. Exit status 1 where a figure differs.
Run: python benchmarks/score_card.py --data DIR [--record FILE]
"""

import csv
import math
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import NamedTuple

import record

from headway.core.bleu import bleu_formula, bleu_statistics
from headway.core.errors import DataError
from headway.core.lines import read_lines
from headway.metrics.corpus_scores import chrf_statistics, counted
from headway.metrics.evaluation import ter_statistics
from headway.metrics.score_card import ScoreCard, score_card
from headway.metrics.tokenizers import bleu_metric

SHOWN = ("wmt22-en-de", "hyp.PROMT.de")
TOKENIZED = {"multi30k en-de": "multi30k-en-de-psh150204"}


class Check(NamedTuple):
    """One figure of one output, as listed and as found."""

    output: str
    figure: str
    listed: str
    found: str


def lines(file: Path) -> list[str]:
    """All lines of a file, packed or not; raises DataError without one."""
    for path in (file, file.with_name(file.name + ".gz")):
        if path.exists():
            return [line or "" for line in read_lines(path)]
    raise DataError(f"--data must hold the outputs that are scored; there is no {file}[.gz].")


def files(peers: Path, direction: str, system: str) -> tuple[Path, list[Path]]:
    """A system's output and its references."""
    if direction in TOKENIZED:
        folder = peers / TOKENIZED[direction]
        return folder / "hyp.tok.de", [folder / "ref.tok.de"]
    folder, target = peers / f"wmt22-{direction}", direction.partition("-")[2]
    return folder / f"hyp.{system}.{target}", [folder / f"ref{x}.{target}" for x in "AB"]


def checks_of(peers: Path, row: dict[str, str]) -> Iterator[Check]:
    """Every figure of one line of the list."""
    output_file, reference_files = files(peers, row["direction"], row["system"])
    output, (reference, *more) = lines(output_file), [lines(path) for path in reference_files]
    language = output_file.suffix[1:]
    metric = bleu_metric(row["tokenizer"].split()[0])
    bleu = bleu_statistics(output, reference, metric)
    length, reference_length, *counts = bleu.counts.sum(0).tolist()
    precisions = [100 * match / total for match, total in zip(counts[:4], counts[4:], strict=True)]

    def check(figure: str, found: float, digits: int) -> Iterator[Check]:
        if row[figure] != "-":
            listed = f"{float(row[figure]):.{digits}f}"
            yield Check(
                f"{row['direction']} {row['system']}", figure, listed, f"{found:.{digits}f}"
            )

    yield from check("segments", len(output), 0)
    yield from check("BLEU_refA", bleu.score(), 2)
    for n, (listed, found) in enumerate(
        zip(row["precisions"].split("/"), precisions, strict=True), 1
    ):
        yield Check(f"{row['direction']} {row['system']}", f"precision {n}", listed, f"{found:.1f}")
    yield from check("BP", min(1.0, math.exp(1 - reference_length / length)), 4)
    yield from check("sys_len", length, 0)
    yield from check("ref_len", reference_length, 0)
    if more:
        both = counted(metric, bleu_formula, output, [reference, *more])
        yield from check("BLEU_refA+B", both.score(), 2)
        yield from check("chrF2_refA", chrf_statistics(output, reference).score(), 2)
    if row["TER_refA"] != "-":
        ter = ter_statistics(output, [reference], target_language=language)
        yield from check("TER_refA", ter.score(), 2)


def card_of(peers: Path) -> tuple[ScoreCard, float]:
    """One output under every convention, and the processor's seconds that took."""
    folder, name = SHOWN
    output, reference = lines(peers / folder / name), lines(peers / folder / "refA.de")
    started = time.process_time()
    card = score_card(output, reference, target_language="de")
    return card, time.process_time() - started


def main() -> int:
    """Check, print, record; exit status 1 where a figure differs."""
    parser = record.parser(__doc__)
    record.add_data_option(parser)
    record.add_record_option(parser)
    asked = parser.parse_args()
    peers: Path = asked.data / "peers"
    listing = csv.DictReader(lines(peers / "expected_scores.tsv"), delimiter="\t")
    checks = [check for row in listing for check in checks_of(peers, row)]
    differing = [check for check in checks if check.listed != check.found]
    headline = [check for check in checks if check.figure.startswith(("BLEU", "chrF", "TER"))]
    print(record.table(Check._fields, headline))
    if differing:
        print("\nDiffering:\n" + record.table(Check._fields, differing))
    print(f"\n{len(checks) - len(differing)} of {len(checks)} figures agree\n")
    card, seconds = card_of(peers)
    rows = [[row.name, f"{row.score:.2f}", row.compares_to] for row in card.rows]
    print(record.table(["convention", "score", "compares to"], rows) + "\n")
    for row in card.rows:
        print(f"{row.name}: `{row.signature}`")
    print(f"\n{' '.join(SHOWN)}: {seconds:.1f} s of one core for all rows")
    figures = {
        "checks": len(checks),
        "differing": [check._asdict() for check in differing],
        "output": "/".join(SHOWN),
        "score_card": [asdict(row) for row in card.rows],
        "score_card_cpu_s": round(seconds, 2),
    }
    record.write(asked.record, "score_card", seeds=[], figures=figures)
    return 1 if differing else 0


if __name__ == "__main__":
    raise SystemExit(record.exit_status(main))
