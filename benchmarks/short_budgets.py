"""A newcomer's first minutes: what a short budget gives, and what shortens the slow beginning.

With --budget each of --corpora gets `headway train --budget` and nothing else, for each seed, and
the test set under the run's own search: the figure that a newcomer gets. With --updates, ways of
beginning are compared by a fixed number of updates of 2,048 tokens, or twice as many of half of
that, on validation pairs alone: the loss and the BLEU of greedy search at the end. A run that was
made already is not made again; delete its folder to do so. Put an instruction set in force by
HEADWAY_ENGINE_LEVEL, ATEN_CPU_CAPABILITY and ONEDNN_MAX_CPU_ISA, and say --flags
--runtime.precision=fp32 for a processor without bf16.
Run: python benchmarks/short_budgets.py --data DIR --out DIR --budget 5m
"""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import record
import runs

from headway import Translator
from headway.core.run_folder import RunFolder

WHOLE = 2048
WAYS = {
    "as drawn": (WHOLE, ""),
    "pairs": (WHOLE, "pairs"),
    "smaller": (WHOLE // 2, ""),
    "pairs, smaller": (WHOLE // 2, "pairs"),
}
"""Tokens of a batch, and where embeddings begin."""


def main() -> int:
    """Train what is asked for, print one table, and write it down."""
    options = record.parser(__doc__)
    record.add_data_option(options)
    options.add_argument("--out", type=Path, required=True, metavar="DIR", help="of the runs")
    options.add_argument("--corpora", nargs="+", default=["tatoeba-en-zh"], choices=runs.CORPORA)
    options.add_argument("--seeds", nargs="+", type=int, default=[1])
    options.add_argument("--budget", help="train for this time, by default flags")
    options.add_argument("--updates", type=int, help="compare ways by so many whole updates")
    options.add_argument("--ways", nargs="+", default=[*WAYS], choices=WAYS)
    options.add_argument("--flags", nargs="*", default=[], help="more, for every training")
    record.add_record_option(options)
    args = options.parse_args()
    figures: list[dict[str, Any]] = []
    for corpus in args.corpora:
        for seed in args.seeds:
            where = args.out / corpus / str(seed)
            more = [f"--seed={seed}", *args.flags]
            if args.budget:
                figures.append(of_budget(corpus, args.data, where, args.budget, more))
            ways = args.ways if args.updates else ()
            figures += [of_way(corpus, args.data, where, way, args.updates, more) for way in ways]
    for one in figures:
        print("| " + " | ".join(f"{name} {value}" for name, value in one.items()) + " |")
    record.write(args.record, "short_budgets", seeds=args.seeds, figures={"trained": figures})
    return 0


def made(run: Path) -> bool:
    """Whether a training has ended there."""
    return RunFolder(run).config.exists() and RunFolder(run).finished


def of_budget(
    name: str, data: Path, where: Path, budget: str, more: Sequence[str]
) -> dict[str, Any]:
    """What `headway train --budget` gives, on the first test set."""
    corpus, run, begun = runs.CORPORA[name], where / f"budget-{budget}", time.monotonic()
    if not made(run):
        runs.train(corpus, data, run, [f"--budget={budget}", *more])
    took_s, known = time.monotonic() - begun, runs.facts(run)
    translator, test = Translator.load(run), corpus.tests[0]
    sources, references = corpus.lines(data, test)
    own = RunFolder(run).settings()["decoding"]
    written = translator.translate(sources)
    scores = runs.score(corpus, test, references, written, f"{own['method']} {own['beam']}")
    return {
        "corpus": name,
        "seed": known["seed"],
        "whole command, s": round(took_s),
        "in updates and validations, s": known["training_s"],
        "updates": known["updates"],
        "target tokens": known["target_tokens"],
        f"BLEU on {scores.test}, {scores.decoding}": round(scores.bleu["score"], 2),
        "low": round(scores.bleu["low"], 2),
        "high": round(scores.bleu["high"], 2),
        "lower-cased Moses": scores.moses_bleu,
    }


def of_way(
    name: str, data: Path, where: Path, way: str, updates: int, more: Sequence[str]
) -> dict[str, Any]:
    """What a way of beginning gives after so many tokens, on validation pairs."""
    size, begins = WAYS[way]
    steps, run = updates * WHOLE // size, where / f"{updates}-{'-'.join(way.split())}"
    if not made(run):
        flags = [
            f"--training.max-steps={steps}",
            f"--training.checkpoint-every={-(-steps // 4)}",
            f"--training.batch-tokens={size}",
            f"--init-embedding={begins}",
            "--training.average=1",
            "--no-training.tune-length-penalty",
        ]
        runs.train(runs.CORPORA[name], data, run, [*flags, *more])
    last = [line for line in RunFolder(run).read_log() if "valid_loss" in line][-1]
    return {
        "corpus": name,
        "seed": runs.facts(run)["seed"],
        "way": way,
        "updates": last["step"],
        "target tokens": last["target_tokens"],
        "validation loss": round(last["valid_loss"], 3),
        "greedy validation BLEU": round(last["bleu"], 2),
    }


if __name__ == "__main__":
    raise SystemExit(main())
