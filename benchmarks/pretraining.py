"""What pre-training an encoder on plain text adds to a classifier, by the number of labels.

On TREC (six classes) and SST-2 (DIR/cls): the first n of the training texts in an order of the
seed (`--sizes`; 0 is all of them), a tenth of these held out, and `headway train --task
classification` from scratch (a Transformer of the shape of --parent), with the --parent's trunk
frozen, and with all of it tuned (layers nearer to the input more slowly): as many updates each.
Accuracy on TREC's test texts and on SST-2's validation texts, which nothing else sees here (there
are half as many as test texts): the mean over seeds (--seeds, the first three of them where there
are 1,000 labels or more), and its 95 % interval from the seeds, which stand for other samples of
labels as well (Student's t). Labels that a small sample has not are never right.

What was finished in --out is not done again. Prints a table in Markdown.
"""

import contextlib
import json
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import record
from classification import SCORED, SETS, files_of, rows_of
from scipy.stats import t as student

from headway import cli
from headway.core.errors import HeadwayError
from headway.core.run_folder import RunFolder
from headway.labelling.vocabulary import load_labels
from headway.tasks import brought_by_run

UPDATES = {100: 120, 300: 200, 1000: 400, 0: 800}
BATCH_TOKENS = {100: 512, 300: 512, 1000: 512, 0: 1024}
RATES = {"scratch": 1e-3, "frozen": 1e-2, "tuned": 1e-3}
"""Each the best of two to five ways on TREC with 300 labels, under seeds 11 to 13."""
LAYER_DECAY = 0.8
"""Of what is tuned; without, it was not ahead of scratch there."""
SHAPE = ("layers", "d_model", "d_ff", "heads", "dropout")


def flags_of(way: str, n: int, parent: Path) -> list[str]:
    """What `headway train` is told besides the files."""
    steps = UPDATES[n]
    flags = [
        f"--training.max-steps={steps}", f"--training.checkpoint-every={steps}",
        f"--training.batch-tokens={BATCH_TOKENS[n]}", f"--training.learning-rate={RATES[way]}",
        "--training.average=1", "--training.patience=0",
    ]  # fmt: skip
    if way == "scratch":
        shape = RunFolder(parent).settings()["model"]
        each = (f"--model.{name.replace('_', '-')}={shape[name]}" for name in SHAPE)
        return [*flags, "--model.type=transformer", *each]
    gently = ["--freeze", "encoder"] if way == "frozen" else ["--training.layer-decay", LAYER_DECAY]
    return [*flags, "--init-from", str(parent), *map(str, gently)]


def accuracy(train: Path, test: Path, run: Path, flags: Sequence[str]) -> float:
    """Of a run with such flags on the test texts; kept in the run's folder. All in this process,
    which has loaded torch already. Raises HeadwayError where training fails."""
    if not (run / SCORED).exists():
        names = ["--task", "classification", "--corpus", str(train), "--out", str(run), "--resume"]
        with run.with_suffix(".log").open("w") as log, contextlib.redirect_stderr(log):
            if cli.main(["train", *names, *flags]):
                raise HeadwayError(f"training failed; {log.name} says why")
        rows, known = [*rows_of(test)], load_labels(run)[0]
        some = run.with_suffix(".test.tsv")  # labels that were not among the n are never right
        kept = ["\t".join(row) + "\n" for row in rows if row[0] in known]
        some.write_text("".join(kept), encoding="utf-8")
        found = brought_by_run(run, "evaluate labels")(run, [some])
        score = found.figures["accuracy"].score * len(kept) / len(rows)
        (run / SCORED).write_text(json.dumps(score), encoding="utf-8")
    return float(json.loads((run / SCORED).read_text("utf-8")))


def sample(train: Path, n: int, seed: int, out: Path) -> Path:
    """A file of n of the labelled texts."""
    rows = [*rows_of(train)]
    chosen = np.random.default_rng(seed).permutation(len(rows))[: n or None]
    file = out / f"{train.parent.name}-{train.stem}-{n}-{seed}.tsv"
    file.write_text("".join("\t".join(rows[i]) + "\n" for i in chosen), encoding="utf-8")
    return file


def interval(scores: list[float]) -> tuple[float, float]:
    """Of the mean, 95 %."""
    mean, error = statistics.mean(scores), statistics.stdev(scores) / len(scores) ** 0.5
    half = float(student.ppf(0.975, len(scores) - 1)) * error
    return mean - half, mean + half


def main() -> None:
    options = record.parser(__doc__)
    record.add_data_option(options)
    options.add_argument("--parent", type=Path, required=True, help="a masked language model")
    options.add_argument("--out", type=Path, required=True, help="folder for the runs")
    options.add_argument("--sets", nargs="+", choices=("trec", "sst2"), default=["trec", "sst2"])
    options.add_argument("--sizes", nargs="+", type=int, choices=UPDATES, default=[*UPDATES])
    options.add_argument("--ways", nargs="+", choices=RATES, default=[*RATES])
    options.add_argument("--seeds", nargs="+", type=int, default=[1, 2, 3, 4, 5])
    record.add_record_option(options)
    told = options.parse_args()
    told.out.mkdir(parents=True, exist_ok=True)
    rows: list[dict[str, Any]] = []
    print("| set | labels | what | accuracy, % | 95 % | each seed |\n|---|---|---|---|---|---|")
    for name in told.sets:
        train, test, valid = files_of(SETS[name], told.data, told.out)
        test = valid or test
        for n in told.sizes:
            seeds = told.seeds if 0 < n < 1000 else told.seeds[:3]
            for way in told.ways:
                scores = []
                for seed in seeds:
                    flags = [*flags_of(way, n, told.parent), f"--runtime.seed={seed}"]
                    file, run = (
                        sample(train, n, seed, told.out),
                        told.out / f"{name}-{n}-{way}-{seed}",
                    )
                    scores.append(accuracy(file, test, run, [*flags, "--runtime.threads=1"]))
                low, high = interval(scores)
                mean = statistics.mean(scores)
                rows.append({"set": name, "labels": n, "way": way, "accuracy": mean, "low": low,
                             "high": high, "scores": scores})  # fmt: skip
                each = ", ".join(f"{score:.1f}" for score in scores)
                print(
                    f"| {SETS[name].name} | {n or 'all'} | {way} | {mean:.1f} "
                    f"| {low:.1f} to {high:.1f} | {each} |", flush=True,
                )  # fmt: skip
    record.write(told.record, "pretraining", seeds=told.seeds, figures={"rows": rows})


if __name__ == "__main__":
    main()
