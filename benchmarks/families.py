"""Families of translators on public pairs: of equal size, tuned alike, in equal time.

The recurrent ones (Elman's cell, LSTM, GRU) attend as Bahdanau et al. 2015 do; ConvS2S is Gehring
et al. 2017, ByteNet Kalchbrenner et al. 2016. Each has about as many parameters as the preset
`tiny`; dropout, and how it grows in the warm-up, is what `headway train` fits. On each corpus each
tries the same --peaks of the learning rate for --trial, with the first of --seeds, and learns with
the best of them for --budget under every seed; then `headway compare` has all of one seed translate
the test set, and writes its page (with --pages that of the first seed, without the corpus's texts,
to be shown to others). Two columns read the curves where the quickest had ended, and
where the slowest had: equal time and equal tokens, the rates still falling. Started again, it goes
on, also with more --only, --seeds or --peaks.
Run: python benchmarks/families.py --data DIR --out DIR --budget 20m --trial 4m --seeds 1 2 3
"""

import argparse
import json
import math
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

import record
import runs
from whys import plots

from headway.core.errors import HeadwayError
from headway.core.run_folder import RunFolder
from headway.models import PRESETS
from headway.operations.shipped import open_folder

RECURRENT = ("--model.type", "recurrent", "--model.attention", "additive", "--model.recurrence")
FAMILIES: Mapping[str, Sequence[str]] = {
    "rnn": (*RECURRENT, "rnn", "--model.d-model", "400"),
    "lstm": (*RECURRENT, "lstm", "--model.d-model", "224"),
    "gru": (*RECURRENT, "gru"),
    "convs2s": ("--model.type", "convolutional"),
    "bytenet": ("--model.type", "bytenet"),
    "transformer": (
        *("--model.type", "transformer"),
        *(
            flag
            for name, value in PRESETS["tiny"]["model"].items()
            if name not in ("type", "dropout")
            for flag in (f"--model.{name.replace('_', '-')}", str(value))
        ),
    ),
}
"""Flags that make each: with 8,000 sub-words 2.30 to 2.38 million parameters, 4 % apart."""
PEAKS = ("0.001", "0.002", "0.004", "0.008")
SAME = (
    "--text.vocabulary-size", "8000", "--training.batch-tokens", "2048", "--decoding.beam", "5",
)  # fmt: skip
Losses = Mapping[str, float]
"""The lowest validation loss of a family by the peak of its learning rate."""


def main() -> int:
    parser = record.parser(__doc__)
    record.add_data_option(parser)
    parser.add_argument("--out", type=Path, metavar="DIR", required=True, help="of the runs")
    parser.add_argument("--corpora", nargs="+", default=["multi30k-en-de", "tatoeba-en-zh"])
    parser.add_argument("--only", nargs="+", choices=FAMILIES, default=list(FAMILIES))
    parser.add_argument("--budget", default="20m", metavar="TIME", help="of each training")
    parser.add_argument("--trial", default="4m", metavar="TIME", help="of each rate that is tried")
    parser.add_argument("--peaks", nargs="+", default=list(PEAKS), metavar="RATE")
    parser.add_argument("--seeds", nargs="+", type=int, default=[1], metavar="N")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--pages", type=Path, metavar="DIR", help="of pages without texts")
    parser.add_argument("--plot", type=Path, metavar="PNG", help="draw the learning curves")
    record.add_record_option(parser)
    asked = parser.parse_args()
    if len(asked.only) < 2:
        parser.error("families are compared: --only names two or more")
    tried: dict[str, dict[str, Losses]] = {}
    found: dict[str, list[dict[str, Any]]] = {}
    for corpus in asked.corpora:
        tried[corpus] = {name: trials(name, corpus, asked) for name in asked.only}
        found[corpus] = [compared(corpus, tried[corpus], seed, asked) for seed in asked.seeds]
        print(f"\n{corpus}\n\n{report(found[corpus], tried[corpus])}", flush=True)
    if asked.plot:
        draw({corpus: of_seeds[0] for corpus, of_seeds in found.items()}, asked.plot)
    figures = {
        "budget": asked.budget,
        "trial": asked.trial,
        "threads": asked.threads,
        "trials": tried,
        "corpora": {
            corpus: [without_texts(one) for one in of_seeds] for corpus, of_seeds in found.items()
        },
    }
    record.write(asked.record, "families", seeds=asked.seeds, figures=figures)
    return 0


def flags_of(name: str, peak: str, seed: int, asked: argparse.Namespace) -> list[str]:
    """What makes a training of a family, but for its length."""
    given = ("--training.learning-rate", peak, "--runtime.seed", str(seed))
    return [*FAMILIES[name], *SAME, *given, "--runtime.threads", str(asked.threads)]


def trials(name: str, corpus: str, asked: argparse.Namespace) -> dict[str, float]:
    """The lowest validation loss of each peak of the learning rate within --trial."""
    losses = {}
    for peak in asked.peaks:
        tried = f"tried-{asked.trial}-seed-{asked.seeds[0]}"
        run = asked.out / corpus / tried / f"{name}-{peak}"
        flags = flags_of(name, peak, asked.seeds[0], asked)
        trained(runs.CORPORA[corpus], asked.data, run, [*flags, "--budget", asked.trial])
        log = open_folder(run).read_log()
        losses[peak] = min(line["valid_loss"] for line in log if "valid_loss" in line)
    return losses


def best(losses: Losses) -> str:
    """The peak of the lowest loss."""
    return min(losses, key=losses.__getitem__)


def trained(corpus: runs.Corpus, data: Path, run: Path, flags: Sequence[str]) -> None:
    """Train, unless that is done."""
    if not (RunFolder(run).config.exists() and open_folder(run).finished):
        runs.train(corpus, data, run, flags)


def compared(
    name: str, tried: Mapping[str, Losses], seed: int, asked: argparse.Namespace
) -> dict[str, Any]:
    """Train every family on a corpus from one seed, and say what `headway compare` finds."""
    corpus, folders = runs.CORPORA[name], []
    for family, losses in tried.items():
        peak = best(losses)
        folders.append(asked.out / name / f"{asked.budget}-seed-{seed}" / peak / family)
        flags = flags_of(family, peak, seed, asked)
        trained(corpus, asked.data, folders[-1], [*flags, "--budget", asked.budget])
    test = corpus.tests[0]
    source, reference = (
        str(corpus.file(asked.data, test, language)) for language in (corpus.source, corpus.target)
    )
    page, shown = asked.out / f"{name}-seed-{seed}.html", "10"
    if asked.pages and seed == asked.seeds[0]:
        page, shown = asked.pages / f"families-{name}.html", "0"
    command = [
        *(sys.executable, "-m", "headway", "compare", *map(str, folders)),
        *("--source", source, "--reference", reference, "--page", str(page), "--json"),
        *("--texts", shown),
    ]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise HeadwayError("`headway compare` must end well; what it printed above says why.")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def report(found: Sequence[Mapping[str, Any]], tried: Mapping[str, Losses]) -> str:
    """The table of one corpus: means over the seeds, the BLEU of each seed beside its mean."""
    rows = []
    for place, name in enumerate(tried):
        seeds = [one["runs"][place] for one in found]
        bleu = [run["figures"]["BLEU"]["value"] for run in seeds]
        each = ", ".join(f"{value:.1f}" for value in bleu)
        ends = [
            mean([at(one["runs"][place]["curves"]["bleu"], of, least(one, of)) for one in found])
            for of in ("time_s", "tokens")
        ]
        rows.append([
            name,
            f"{seeds[0]['parameters']:,}",
            best(tried[name]),
            f"{mean([run['updates'] for run in seeds]):,.0f}",
            f"{mean([sum(run['counts'].values()) for run in seeds]) / 1e6:.1f} M",
            f"{mean([run['time_s'] for run in seeds]) / 60:.1f}",
            f"{mean(bleu):.1f} ({each})" if len(found) > 1 else interval(seeds[0]),
            *(f"{value:.1f}" for value in ends),
        ])  # fmt: skip
    time_s, tokens = (mean([least(one, of) for one in found]) for of in ("time_s", "tokens"))
    head = [
        *("family", "parameters", "peak rate", "updates", "tokens", "minutes", "test BLEU"),
        *(f"validation after {time_s / 60:.1f} min", f"after {tokens / 1e6:.1f} M tokens"),
    ]
    return record.table(head, rows)


def interval(run: Mapping[str, Any]) -> str:
    """The test BLEU of one run with its 95 % interval."""
    bleu = run["figures"]["BLEU"]
    return f"{bleu['value']:.1f} ({bleu['low']:.1f} to {bleu['high']:.1f})"


def least(found: Mapping[str, Any], of: str) -> float:
    """Where the first curve of all families ends, in seconds or tokens."""
    return float(min(run["curves"]["bleu"][-1][of] for run in found["runs"]))


def at(curve: Sequence[Mapping[str, float]], of: str, until: float) -> float:
    """The last value that was measured up to that time, or number of tokens."""
    before = [point["value"] for point in curve if point[of] <= until]
    return before[-1] if before else math.nan


def without_texts(found: Mapping[str, Any]) -> dict[str, Any]:
    """All figures; the sentences side by side are not ours to keep."""
    return {name: value for name, value in found.items() if name != "side_by_side"}


def draw(found: Mapping[str, Mapping[str, Any]], path: Path) -> None:
    """Validation BLEU over minutes and over tokens, a row for each corpus."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 3.6 * len(found)), layout="constrained")
    grid = figure.subplots(len(found), 2, squeeze=False, sharey="row")
    for axes, (corpus, one) in zip(grid, found.items(), strict=True):
        for place, unit, of in (
            (axes[0], "minutes", "time_s"),
            (axes[1], "million tokens", "tokens"),
        ):
            scale = 60 if of == "time_s" else 1e6
            curves = {
                run["name"]: [(p[of] / scale, p["value"]) for p in run["curves"]["bleu"]]
                for run in one["runs"]
            }
            plots.lines(place, curves, title=corpus, x=unit, y="validation BLEU")
    figure.savefig(path, dpi=110, metadata={"Software": None})


if __name__ == "__main__":
    raise SystemExit(record.exit_status(main))
