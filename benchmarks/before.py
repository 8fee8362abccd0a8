"""Training or translating, beside another checkout of headway, in one run.

    python benchmarks/before.py train --before DIR --source F --target F
    python benchmarks/before.py translate --before DIR --source F (--run RUN | --target F)

Each version works in a process of its own, one after the other in every round (before, now, before,
now ..), so that what else the machine does hits both alike; ratios are medians over rounds.
`train`: target tokens a second of `tiny` over the second half of --steps updates, and whether the
weights are the same. `translate`: seconds from text to text for all lines, greedily and with a beam
of 5, after a first call on a few lines; texts that differ are counted. Without --run a tiny model
of one update takes the place of a trained one, whose outputs all run to their limits.
"""

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

from record import parser

SEARCHES: dict[str, dict[str, Any]] = {"greedy": {"method": "greedy"}, "beam 5": {"beam": 5}}
HERE = Path(__file__).resolve().parent.parent


def output_of(checkout: Path, command: list[Any], cache: Path) -> str:
    """What a Python process prints that has the sources of `checkout`, and a cache of its own."""
    environment = {**os.environ, "PYTHONPATH": str(checkout / "src"), "HEADWAY_CACHE": str(cache)}
    environment.pop("OMP_NUM_THREADS", None)
    done = subprocess.run(
        [sys.executable, *map(str, command)],
        env=environment, stdout=subprocess.PIPE, check=True, text=True,
    )  # fmt: skip
    return done.stdout


def train_command(asked: argparse.Namespace, folder: Path) -> list[Any]:
    """`tiny` for some updates, with nothing but the updates."""
    return [
        "-m", "headway", "train", "--preset", "tiny", "--out", folder, "--source", asked.source,
        "--target", asked.target, "--data.valid-size", "20",
        f"--training.max-steps={asked.steps}", f"--training.checkpoint-every={asked.steps}",
        f"--training.log-every={max(1, asked.steps // 2)}", "--training.valid-sentences=1",
        "--training.average=1", "--no-training.tune-length-penalty",
        f"--runtime.threads={asked.threads}", "--runtime.device=cpu",
    ]  # fmt: skip


def trained(checkout: Path, asked: argparse.Namespace, folder: Path) -> tuple[float, str]:
    """Target tokens a second, and the SHA-256 of the last checkpoint's weights."""
    output_of(checkout, train_command(asked, folder), folder.with_name(f"{folder.name}-cache"))
    lines = (folder / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    first, last = (line for line in map(json.loads, lines) if "loss" in line)
    tokens = last["target_tokens"] - first["target_tokens"]
    weights = folder / "checkpoints" / f"step-{asked.steps}" / "weights.safetensors"
    digest = hashlib.sha256(weights.read_bytes()).hexdigest()
    return tokens / (last["time_s"] - first["time_s"]), digest


def compare_training(asked: argparse.Namespace, folder: Path) -> None:
    """Speeds and weights, in turn."""
    ratios, digests = [], set()
    for number in range(asked.rounds):
        speeds = []
        for what, checkout in (("before", asked.before), ("now", HERE)):
            speed, digest = trained(checkout, asked, folder / f"{what}-{number}")
            speeds.append(speed)
            digests.add(digest)
        ratios.append(speeds[1] / speeds[0])
        print("before {:,.0f}, now {:,.0f} target tokens/s".format(*speeds), flush=True)
    same = "the same weights" if len(digests) == 1 else "OTHER WEIGHTS"
    print(f"median {median(ratios):.2f}x over {asked.rounds} rounds; {same}")


def translate_here(asked: argparse.Namespace) -> None:
    """Translate with whatever headway is on the path; one JSON line for each search."""
    import torch

    from headway.translator import Translator

    lines = asked.source.read_text(encoding="utf-8").splitlines()[: asked.lines or None]
    translator = Translator.load(asked.run, device="cpu")
    torch.set_num_threads(asked.threads)  # after loading: earlier versions set them there
    for name, options in SEARCHES.items():
        translator.translate(lines[:4], **options)
        clock = time.perf_counter()
        texts = translator.translate(lines, **options)
        print(json.dumps([name, time.perf_counter() - clock, texts]))


def compare_translating(asked: argparse.Namespace, folder: Path) -> None:
    """Seconds and texts, in turn."""
    cache = folder / "cache"
    if asked.run is None:
        asked.run, asked.steps = folder / "run", 1
        output_of(HERE, train_command(asked, asked.run), cache)
    command = [__file__, "translate", "--side", "--run", asked.run, "--source", asked.source]
    command += ["--threads", asked.threads, "--lines", asked.lines]
    found: dict[str, list[list[Any]]] = {name: [] for name in SEARCHES}
    for _ in range(asked.rounds):
        for checkout in (asked.before, HERE):
            for line in output_of(checkout, command, cache).splitlines():
                name, *measured = json.loads(line)
                found[name].append(measured)
    for name, measured in found.items():
        before, now = measured[::2], measured[1::2]
        ratio = median(one[0] / other[0] for one, other in zip(before, now, strict=True))
        seconds = [median(one[0] for one in some) for some in (before, now)]
        differing = sum(a != b for a, b in zip(before[0][1], now[0][1], strict=True))
        print(
            f"{name:7} before {seconds[0]:6.2f} s, now {seconds[1]:6.2f} s, {ratio:.2f}x; "
            f"{differing} of {len(now[0][1])} texts differ"
        )


def main() -> None:
    """Measure and print."""
    options = parser(__doc__)
    options.add_argument("what", choices=["train", "translate"])
    options.add_argument("--before", type=lambda name: Path(name).resolve(), default=HERE)
    options.add_argument("--source", type=Path, required=True)
    options.add_argument("--target", type=Path, help="of a training, and where there is no --run")
    options.add_argument("--run", type=Path)
    options.add_argument("--steps", type=int, default=60)
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--threads", type=int, default=2)
    options.add_argument("--lines", type=int, default=0, help="the first ones only; 0 = all")
    options.add_argument("--side", action="store_true", help=argparse.SUPPRESS)
    asked = options.parse_args()
    if asked.side:
        translate_here(asked)
        return
    with tempfile.TemporaryDirectory() as folder:
        compare = compare_training if asked.what == "train" else compare_translating
        compare(asked, Path(folder))


if __name__ == "__main__":
    main()
