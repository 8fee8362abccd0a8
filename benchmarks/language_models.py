"""Language models on the same words, each with the same time: test perplexity, beside a peer.

--words DIR holds train.txt, valid.txt and test.txt of words apart, rare ones as <unk>. Each type is
trained by `headway train --budget`, n-grams are counted, and --peer FILE (a script that trains
pytorch's word_language_model example on such a folder) takes its turn with the same minutes and
threads. --at-once says how many run side by side: what else the machine does then hits all alike.
Perplexity is per word, line ends counted, over the whole test file; bits per character as well,
but where words are unknown they flatter everybody alike. --plot F.png draws it.
Each row is kept in OUT/rows.jsonl as soon as it is known, and what stands there with the same
words, minutes and threads is not trained again: the hours can be spread over several sittings.
--speed N trains nothing to the end: it measures the words a second of N updates at the peer's
shape (2 layers of 200, untied, 20 rows of 35 words), headway's in each of --precisions, one after
the other and all over again --rounds times. With one thread the clocks of all of them read the
processor's time, so that what else the machine does hits none of them.
Run: python benchmarks/language_models.py --words DIR --minutes 30 --threads 2 --seeds 1 2
     python benchmarks/language_models.py --words DIR --speed 200 --threads 1 --peer FILE
"""

import argparse
import itertools
import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import record

from headway.core.disk import checksum
from headway.core.errors import HeadwayError

NEURAL = ("nnlm", "rnn", "lstm", "gru", "transformer")
COUNTED = ("add-one", "kneser-ney", "modified-kneser-ney")
SEEDED = ("lstm", "transformer", "rnn")
"""Those that are trained with every seed; the others with the first."""
PEERS_SHAPE = {
    "lstm": {"layers": 2, "d-model": 200, "dropout": 0.2},
    "transformer": {
        "layers": 2, "d-model": 200, "dropout": 0.2, "heads": 2, "d-ff": 200, "norm": "post",
        "positions": "sinusoidal", "activation": "relu",
    },
}  # fmt: skip
PEERS_ROWS, PEERS_WINDOW = 20, 35
BY_THE_PROCESSOR = (
    "import runpy, sys, time; time.time = time.monotonic = time.process_time; "
    "del sys.argv[0]; run = runpy.run_path if sys.argv[0].endswith('.py') else runpy.run_module; "
    "run(sys.argv[0], run_name='__main__')"
)
"""Runs a script, or a module, whose clocks read the processor's time."""


class Job(NamedTuple):
    """One model to train and to score."""

    name: str
    seed: int
    command: list[str]
    run: Path | None
    """None for the peer, which scores itself."""


def jobs(asked: argparse.Namespace) -> Iterator[Job]:
    """All that is asked for."""
    words: Path = asked.words
    for kind in asked.types:
        seeds = asked.seeds if kind in SEEDED else asked.seeds[:1]
        for seed in seeds:
            run = asked.out / f"{kind}-{seed}"
            shape = (
                ["--model.type", "ngram", "--model.smoothing", kind, "--model.order", "5"]
                if kind in COUNTED
                else ["--model.type", kind, "--budget", f"{asked.minutes:g}m"]
            )
            command = [
                *(sys.executable, "-m", "headway", "train", "--task", "language-model"),
                *("--corpus", str(words / "train.txt"), "--out", str(run), "--seed", str(seed)),
                *("--text.unit", "words", "--text.min-count", "1", *shape),
                *("--runtime.threads", str(asked.threads)),
            ]
            if kind not in COUNTED:
                command += ["--valid-corpus", str(words / "valid.txt")]
            yield Job(kind, seed, command, run)
    for model in asked.peer_models if asked.peer else ():
        script = [sys.executable, str(asked.peer), "--data", str(words), "--model", model]
        more = ["--minutes", str(asked.minutes), "--threads", str(asked.threads)]
        yield Job(f"peer {model}", 1, [*script, *more], None)


def done(job: Job, asked: argparse.Namespace) -> dict[str, Any]:
    """Train and score one, or what an earlier sitting found."""
    kept: Path = asked.out / "rows.jsonl"
    given = {
        "model": job.name,
        "seed": job.seed,
        "budget": asked.minutes,
        "threads": asked.threads,
        "words": checksum(asked.words / "train.txt")[:12],
    }
    lines = kept.read_text(encoding="utf-8").splitlines() if kept.exists() else []
    for known in map(json.loads, lines):
        if given.items() <= known.items():
            return dict(known)
    if job.run is not None:
        shutil.rmtree(job.run, ignore_errors=True)  # of a sitting that was stopped
    begun = time.monotonic()
    trained = subprocess.run(job.command, capture_output=True, text=True, check=False)
    minutes = (time.monotonic() - begun) / 60
    if trained.returncode:
        raise HeadwayError(f"{job.name} failed: {trained.stderr[-2000:]}")
    if job.run is None:
        found = json.loads(trained.stdout.strip().splitlines()[-1])
        figures = {"perplexity": found["test"], "words_s": found["words_s"]}
        parameters = re.search(r"([\d,]+) parameters", trained.stdout)
    else:
        command = [sys.executable, "-m", "headway", "evaluate", str(job.run)]
        scored = subprocess.run(
            [*command, "--corpus", str(asked.words / "test.txt"), "--json"],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        found = json.loads(scored.stdout)
        figures = {
            "perplexity": found["perplexity_per_word"],
            "bits_per_character": found["bits_per_character"],
            "by_position": found["by_position"],
            "words_s": tokens_s(job.run),
        }
        parameters = re.search(r"of ([\d,]+) parameters", trained.stderr)
    n_parameters = int(parameters[1].replace(",", "")) if parameters else 0
    told = {"parameters": n_parameters, "revision": record.revision()}
    row = {**given, "minutes": round(minutes, 1), **figures, **told}
    print(json.dumps(row), flush=True)
    kept.parent.mkdir(parents=True, exist_ok=True)
    with kept.open("a", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")
    return row


def tokens_s(run: Path) -> int:
    """Tokens a second of the updates alone."""
    log = run / "metrics.jsonl"
    if not log.exists():
        return 0
    lines = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    spent = n_tokens = 0.0
    for one, other in itertools.pairwise(lines):
        if "loss" in one and "loss" in other:  # no validation between them
            spent += other["time_s"] - one["time_s"]
            n_tokens += other["tokens"] - one["tokens"]
    return round(n_tokens / spent) if spent else 0


def speed_jobs(asked: argparse.Namespace, words: Path) -> Iterator[Job]:
    """A round of all that train at the peer's shape, the peer behind headway."""
    start = [sys.executable, "-c", BY_THE_PROCESSOR] if asked.threads == 1 else [sys.executable]
    module = ["headway"] if asked.threads == 1 else ["-m", "headway"]
    for model in asked.peer_models:
        shape = {f"model.{name}": value for name, value in PEERS_SHAPE[model].items()}
        flags = {
            **shape, "model.type": model, "model.tied": "false", "model.output-bias": "true",
            "text.unit": "words", "text.min-count": 1, "training.window": PEERS_WINDOW,
            "training.batch-tokens": PEERS_ROWS * PEERS_WINDOW, "training.max-steps": asked.speed,
            "training.checkpoint-every": asked.speed, "training.learning-rate": 1e-3,
            "runtime.threads": asked.threads,
        }  # fmt: skip
        for precision in asked.precisions:
            run = asked.out / f"speed-{model}-{precision}"
            given = {**flags, "runtime.precision": precision, "out": run}
            listed = [part for name, value in given.items() for part in (f"--{name}", str(value))]
            files = ["--corpus", words / "train.txt", "--valid-corpus", words / "valid.txt"]
            train = [*module, "train", "--task", "language-model", *map(str, files), *listed]
            yield Job(f"{model} {precision}", 1, [*start, *train], run)
        minutes = asked.speed / 300  # about as long
        script = [str(asked.peer), "--data", str(words), "--model", model, "--every", "1000"]
        more = ["--minutes", str(minutes), "--threads", str(asked.threads)]
        yield Job(f"{model} peer", 1, [*start, *script, *more], None)


def speeds(asked: argparse.Namespace) -> dict[str, list[int]]:
    """Words a second of each, round by round."""
    found: dict[str, list[int]] = {}
    with tempfile.TemporaryDirectory() as folder:
        words = Path(folder)
        text = (asked.words / "train.txt").read_text(encoding="utf-8")
        every_word = "\n".join(dict.fromkeys(text.split()))  # the speed rests on how many they are
        for part, n in (("train", 2_000), ("valid", 100), ("test", 100)):
            lines = (asked.words / f"{part}.txt").read_text(encoding="utf-8").splitlines()
            some = [every_word] * (part == "train") + lines[:n]
            (words / f"{part}.txt").write_text("\n".join(some) + "\n", encoding="utf-8")
        for _ in range(asked.rounds):
            for job in speed_jobs(asked, words):
                if job.run is not None:
                    shutil.rmtree(job.run, ignore_errors=True)
                trained = subprocess.run(job.command, capture_output=True, text=True, check=False)
                if trained.returncode:
                    raise HeadwayError(f"{job.name} failed: {trained.stderr[-2000:]}")
                last = trained.stdout.strip().splitlines()[-1:]
                each = json.loads(last[0])["words_s"] if job.run is None else tokens_s(job.run)
                found.setdefault(job.name, []).append(each)
                print(f"{job.name}: {each:,} words/s", flush=True)
    return found


def speed_table(found: dict[str, list[int]]) -> str:
    """For people: the best of all rounds, and how far ahead of the peer in each."""
    lines = ["| model | words/s | ahead of the peer, by round | median |", "|---|---|---|---|"]
    for name, each in found.items():
        peer = found[f"{name.split()[0]} peer"]
        ratios = [ours / theirs for ours, theirs in zip(each, peer, strict=True)]
        shown = ", ".join(f"{ratio:.2f}" for ratio in ratios)
        lines.append(f"| {name} | {max(each):,} | {shown} | {median(ratios):.2f} |")
    return "\n".join(lines)


def table(rows: Sequence[dict[str, Any]]) -> str:
    """For people; the best last."""
    head = (
        "| model | seed | parameters | minutes | words/s | perplexity per word | bits/character |"
    )
    lines = [head, "|---|---|---|---|---|---|---|"]
    for row in sorted(rows, key=lambda row: -row["perplexity"]):
        bits = row.get("bits_per_character")
        lines.append(
            f"| {row['model']} | {row['seed']} | {row['parameters']:,} | {row['minutes']} "
            f"| {row['words_s']:,} | {row['perplexity']:.1f} | {f'{bits:.3f}' if bits else ''} |"
        )
    return "\n".join(lines)


def draw(rows: Sequence[dict[str, Any]], file: Path, minutes: float) -> None:
    """A bar for each model."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    names = list(dict.fromkeys(row["model"] for row in rows))
    of = {n: [row["perplexity"] for row in rows if row["model"] == n] for n in names}
    names.sort(key=lambda n: -sum(of[n]) / len(of[n]))
    means = [sum(of[n]) / len(of[n]) for n in names]
    figure, axes = pyplot.subplots(figsize=(7, 0.5 * len(names) + 1.4), layout="constrained")
    colours = ["#9aa5b1" if n.startswith("peer") else "#2a6fbb" for n in names]
    bars = axes.barh(names, means, color=colours)
    axes.bar_label(bars, [f"{mean:,.0f}" for mean in means], padding=3)
    axes.set_xlabel("test perplexity per word, line ends counted (lower is better)")
    axes.set_xscale("log")
    axes.set_xlim(min(means) / 1.5, max(means) * 2.2)
    axes.set_title(f"The same words, {minutes:g} minutes each (n-grams: seconds)")
    axes.legend(
        [pyplot.Rectangle((0, 0), 1, 1, color=c) for c in ("#2a6fbb", "#9aa5b1")],
        ["headway", "peer"],
        loc="upper right",
    )
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(file, dpi=150)


def main() -> int:
    """Train all, print the table."""
    options = record.parser(__doc__)
    options.add_argument("--words", type=Path, required=True)
    options.add_argument("--out", type=Path, required=True, help="for the run folders")
    options.add_argument("--minutes", type=float, default=30)
    options.add_argument("--threads", type=int, default=2)
    options.add_argument("--at-once", type=int, default=1)
    options.add_argument("--types", nargs="*", default=[*COUNTED, *NEURAL])
    options.add_argument("--seeds", nargs="+", type=int, default=[1, 2])
    options.add_argument("--peer", type=Path)
    options.add_argument("--peer-models", nargs="*", default=["lstm", "transformer"])
    options.add_argument("--plot", type=Path)
    options.add_argument("--speed", type=int, metavar="N", help="updates to time; trains no model")
    options.add_argument("--precisions", nargs="+", default=["fp32", "bf16"])
    options.add_argument("--rounds", type=int, default=3)
    record.add_record_option(options)
    asked = options.parse_args()
    if asked.speed:
        if not asked.peer:
            options.error("--speed is measured beside a peer: name its script with --peer FILE")
        found = speeds(asked)
        print(speed_table(found))
        record.write(asked.record, "language_models", seeds=[1], figures={"words_s": found})
        return 0
    with ThreadPoolExecutor(asked.at_once) as pool:
        rows = list(pool.map(lambda job: done(job, asked), jobs(asked)))
    print(table(rows))
    if asked.plot:
        draw(rows, asked.plot, asked.minutes)
    record.write(asked.record, "language_models", seeds=asked.seeds, figures={"rows": rows})
    return 0


if __name__ == "__main__":
    sys.exit(main())
