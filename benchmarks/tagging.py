"""Tagging from scratch: LSTM and Transformer, with a chain over tags and without, F1 of entities.

On Resume-zh, Weibo-zh, WNUT-17 and WikiANN-en (DIR/ner): `headway train --task tagging` with
default flags, and with those of --variants, validated on the set's own validation file; strict F1
of entities on its test file: of each seed, with a bootstrap's 95 % interval over sentences of the
first. With --parent, a run such as of masked-language-model, the English sets begin with it.

What was finished in --out is not done again. Prints a table in Markdown.
"""

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import record

SETS = {
    "resume-zh": "Resume-zh",
    "weibo-zh": "Weibo-zh",
    "wnut17-en": "WNUT-17",
    "wikiann-en": "WikiANN-en",
}
VARIANTS = {
    "default": (),
    "linear": ("--model.head", "linear"),
    "no-spelling": ("--model.spelling", "false"),
    "transformer": ("--model.type", "transformer"),
}
PARENT = "parent"
SCORED = "scored.json"


def scored(files: dict[str, Path], run: Path, flags: Sequence[str]) -> dict[str, Any]:
    """What `headway evaluate` says of a run with such flags on the test file, and seconds of its
    training; kept in the run's folder."""
    if not (run / SCORED).exists():
        call, begun = [sys.executable, "-m", "headway"], time.monotonic()
        named = ["--corpus", str(files["train"]), "--valid-corpus", str(files["valid"])]
        subprocess.run(
            [*call, "train", "--task", "tagging", *named, "--out", str(run), "--resume", *flags],
            check=True, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        took_s = time.monotonic() - begun
        evaluated = [*call, "evaluate", str(run), "--corpus", str(files["test"]), "--json"]
        told = json.loads(subprocess.run(evaluated, check=True, stdout=subprocess.PIPE).stdout)
        (run / SCORED).write_text(json.dumps({**told, "took_s": took_s}), encoding="utf-8")
    found: dict[str, Any] = json.loads((run / SCORED).read_text("utf-8"))
    return found


def row(name: str, variant: str, found: Sequence[dict[str, Any]]) -> str:
    """Of a table in Markdown."""
    f1 = [one["f1"]["score"] for one in found]
    low, high = (found[0]["f1"][end] for end in ("low", "high"))
    each = ", ".join(f"{score:.1f}" for score in f1)
    minutes = statistics.mean(one["took_s"] for one in found) / 60
    scores = f"{statistics.mean(f1):.1f} ({each}) | {low:.1f} to {high:.1f}"
    return f"| {SETS[name]} | {variant} | {scores} | {minutes:.1f} |"


def main() -> None:
    """Measure, and print the table."""
    parser = record.parser(__doc__)
    record.add_data_option(parser)
    record.add_record_option(parser)
    parser.add_argument("--out", type=Path, required=True, help="folder of the runs")
    parser.add_argument("--sets", nargs="+", choices=SETS, default=[*SETS])
    parser.add_argument("--variants", nargs="+", choices=VARIANTS, default=[*VARIANTS])
    parser.add_argument("--seeds", nargs="+", type=int, default=[1, 2, 3])
    parser.add_argument("--parent", type=Path, help="a run to begin the English sets with")
    parser.add_argument("--flags", nargs="*", default=["--runtime.threads=1"])
    options = parser.parse_args()
    variants = {name: VARIANTS[name] for name in options.variants}
    if options.parent:
        variants[PARENT] = ("--init-from", str(options.parent), "--model.type", "transformer")
    print("| set | what | test F1: mean (each seed) | interval of the first | minutes |")
    print("|---|---|---|---|---|")
    figures = {}
    for name in options.sets:
        files = {
            part: next((options.data / "ner" / name).glob(f"{part}.conll*"))
            for part in ("train", "valid", "test")
        }
        for variant, flags in variants.items():
            if variant == PARENT and not name.endswith("-en"):
                continue
            found = [
                scored(
                    files, options.out / f"{name}-{variant}-{seed}",
                    [*flags, "--seed", str(seed), *options.flags],
                )
                for seed in options.seeds
            ]  # fmt: skip
            print(row(name, variant, found), flush=True)
            figures[f"{name} {variant}"] = [one["f1"]["score"] for one in found]
    record.write(options.record, "tagging", seeds=options.seeds, figures=figures)


if __name__ == "__main__":
    main()
