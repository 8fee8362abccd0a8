"""Families of translators on public pairs: of equal size, tuned alike, in equal time.

The recurrent ones (Elman's cell, LSTM, GRU) attend as Bahdanau et al. 2015 do; ConvS2S is Gehring
et al. 2017, ByteNet Kalchbrenner et al. 2016. Each has about as many parameters as the preset
`tiny`. Each tries the same three peaks of the learning rate for --trial on the first corpus, and
learns with the best of them for --budget on every corpus; then `headway compare` has all of them
translate the test set, and writes its page. A budget becomes a number of updates by the speed at
the start, so minutes differ where a machine has other work; two columns read the curves where the
quickest had ended, and where the slowest had: equal time and equal tokens, the rates still falling.
Started again after a kill, it goes on.
Run: python benchmarks/families.py --data DIR --out DIR --budget 20m --trial 4m
"""

import argparse
import json
import math
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import record
import runs
from whys import plots

from headway.errors import HeadwayError
from headway.training.run_folder import RunFolder

RECURRENT = ("--preset", "recurrent", "--model.attention", "additive", "--model.recurrence")
FAMILIES: Mapping[str, Sequence[str]] = {
    "rnn": (*RECURRENT, "rnn", "--model.d-model", "400"),
    "lstm": (*RECURRENT, "lstm", "--model.d-model", "224"),
    "gru": (*RECURRENT, "gru"),
    "convs2s": ("--preset", "convolutional"),
    "bytenet": ("--preset", "bytenet"),
    "transformer": ("--preset", "tiny"),
}
"""Flags that make each: with 8,000 sub-words 2.30 to 2.38 million parameters, 4 % apart."""
PEAKS = ("0.001", "0.002", "0.004")
SAME = (
    "--text.vocabulary-size", "8000", "--training.batch-tokens", "2048", "--decoding.beam", "5",
    "--runtime.seed", "1",
)  # fmt: skip


def main() -> int:
    parser = record.parser(__doc__)
    record.add_data_option(parser)
    parser.add_argument("--out", type=Path, metavar="DIR", required=True, help="of the runs")
    parser.add_argument("--corpora", nargs="+", default=["multi30k-en-de", "tatoeba-en-zh"])
    parser.add_argument("--only", nargs="+", choices=FAMILIES, default=list(FAMILIES))
    parser.add_argument("--budget", default="20m", metavar="TIME", help="of each training")
    parser.add_argument("--trial", default="4m", metavar="TIME", help="of each rate that is tried")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--plot", type=Path, metavar="PNG", help="draw the learning curves")
    record.add_record_option(parser)
    asked = parser.parse_args()
    threads = ("--runtime.threads", str(asked.threads))
    tried = {name: trials(name, asked, threads) for name in asked.only}
    found = {corpus: compared(corpus, tried, asked, threads) for corpus in asked.corpora}
    for corpus, one in found.items():
        print(f"\n{corpus}\n\n{report(one, tried)}")
    if asked.plot:
        draw(found, asked.plot)
    figures = {
        "budget": asked.budget,
        "trial": asked.trial,
        "threads": asked.threads,
        "trials": tried,
        "corpora": {corpus: without_texts(one) for corpus, one in found.items()},
    }
    record.write(asked.record, "families", seeds=[1], figures=figures)
    return 0


def trials(name: str, asked: argparse.Namespace, threads: Sequence[str]) -> dict[str, float]:
    """The lowest validation loss of each peak of the learning rate within --trial."""
    losses, corpus = {}, runs.CORPORA[asked.corpora[0]]
    for peak in PEAKS:
        run = asked.out / "trials" / f"{name}-{peak}"
        given = [*FAMILIES[name], *SAME, *threads, "--training.learning-rate", peak]
        trained(corpus, asked.data, run, [*given, "--budget", asked.trial])
        log = RunFolder.open(run).read_log()
        losses[peak] = min(line["valid_loss"] for line in log if "valid_loss" in line)
    return losses


def best(losses: Mapping[str, float]) -> str:
    """The peak of the lowest loss."""
    return min(losses, key=losses.__getitem__)


def trained(corpus: runs.Corpus, data: Path, run: Path, flags: Sequence[str]) -> None:
    """Train, unless that is done."""
    if not (RunFolder(run).config.exists() and RunFolder.open(run).finished):
        runs.train(corpus, data, run, flags)


def compared(
    name: str,
    tried: Mapping[str, Mapping[str, float]],
    asked: argparse.Namespace,
    threads: Sequence[str],
) -> dict[str, Any]:
    """Train every family on a corpus, and say what `headway compare` finds."""
    corpus, folders = runs.CORPORA[name], []
    for family, losses in tried.items():
        folders.append(asked.out / name / family)
        rate = ("--training.learning-rate", best(losses))
        flags = [*FAMILIES[family], *SAME, *threads, *rate, "--budget", asked.budget]
        trained(corpus, asked.data, folders[-1], flags)
    test = corpus.tests[0]
    source, reference = (
        str(corpus.file(asked.data, test, language)) for language in (corpus.source, corpus.target)
    )
    page = asked.out / f"{name}.html"
    command = [
        *(sys.executable, "-m", "headway", "compare", *map(str, folders)),
        *("--source", source, "--reference", reference, "--page", str(page), "--json"),
    ]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise HeadwayError("`headway compare` must end well; what it printed above says why.")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def report(found: Mapping[str, Any], tried: Mapping[str, Mapping[str, float]]) -> str:
    """The table of one corpus."""
    curves = {run["name"]: run["curves"]["bleu"] for run in found["runs"]}
    least = {of: min(points[-1][of] for points in curves.values()) for of in ("time_s", "tokens")}
    rows = []
    for run in found["runs"]:
        bleu, curve = run["figures"]["BLEU"], curves[run["name"]]
        rows.append([
            run["name"],
            f"{run['parameters']:,}",
            best(tried[run["name"]]),
            f"{run['updates']:,}",
            f"{sum(run['counts'].values()) / 1e6:.1f} M",
            f"{run['time_s'] / 60:.1f}",
            f"{bleu['value']:.1f} ({bleu['low']:.1f} to {bleu['high']:.1f})",
            *(f"{at(curve, of, until):.1f}" for of, until in least.items()),
        ])  # fmt: skip
    head = [
        *("family", "parameters", "peak rate", "updates", "tokens", "minutes", "test BLEU"),
        f"validation after {least['time_s'] / 60:.1f} min",
        f"after {least['tokens'] / 1e6:.1f} M tokens",
    ]
    return record.table(head, rows)


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
