"""How fast a file is translated, beside another checkout of headway, in one run.

Each version translates all lines of --source with the model of --run, greedily and with a beam of
5, in a process of its own, one after the other in every round (before, now, before, now ...), so
that what else the machine does hits both alike. The clock runs from text to text, after a first
call on a few lines; loading is not counted. A ratio is the median over rounds of the seconds before
by the seconds now; texts that differ are counted. Without --run a tiny model with random weights
takes the place of a trained one, whose outputs all run to their limits.
Run: python benchmarks/decoding_speed.py --before DIR --run RUN --source FILE --rounds 5
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

SEARCHES: dict[str, dict[str, Any]] = {"greedy": {"method": "greedy"}, "beam 5": {"beam": 5}}
HERE = Path(__file__).resolve().parent.parent


def one_side(asked: argparse.Namespace) -> None:
    """Translate with whatever headway is on the path; one JSON line for each search."""
    import torch

    from headway.translator import Translator

    lines = asked.source.read_text(encoding="utf-8").splitlines()[: asked.lines or None]
    translator = Translator.load(asked.run, device="cpu")
    torch.set_num_threads(asked.threads)  # after loading: earlier versions set them there
    for name in asked.search:
        options = SEARCHES[name]
        translator.translate(lines[:4], **options)
        clock = time.perf_counter()
        texts = translator.translate(lines, **options)
        seconds = time.perf_counter() - clock
        print(json.dumps({"search": name, "seconds": seconds, "texts": texts}))


def measured(checkout: Path, asked: argparse.Namespace) -> dict[str, dict[str, Any]]:
    """A process that uses the sources of `checkout`."""
    command = [sys.executable, __file__, "--side", "--run", asked.run, "--source", asked.source]
    command += ["--threads", asked.threads, "--lines", asked.lines, "--search", *asked.search]
    environment = {**os.environ, "PYTHONPATH": str(checkout / "src")}
    environment.pop("OMP_NUM_THREADS", None)
    output = subprocess.run(
        list(map(str, command)), env=environment, stdout=subprocess.PIPE, check=True, text=True
    ).stdout
    reports = [json.loads(line) for line in output.splitlines()]
    return {report["search"]: report for report in reports}


def random_run(folder: Path, source: Path) -> Path:
    """A run folder with the tiny shape, its weights as they are after one update."""
    run = folder / "run"
    command = [sys.executable, "-m", "headway", "train", "--source", source, "--target", source]
    command += ["--preset", "tiny", "--training.max-steps", "1", "--out", run]
    environment = {**os.environ, "PYTHONPATH": str(HERE / "src")}
    subprocess.run(list(map(str, command)), env=environment, check=True)
    return run


def main() -> None:
    """Rounds, then a line for each search."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--before", type=Path, help="another checkout of headway")
    parser.add_argument("--run", type=Path)
    parser.add_argument("--source", type=Path, required=True)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--lines", type=int, default=0, help="the first ones only; 0 = all")
    parser.add_argument("--search", nargs="*", default=list(SEARCHES), choices=list(SEARCHES))
    parser.add_argument("--side", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.side:
        one_side(asked)
        return
    with tempfile.TemporaryDirectory() as folder:
        asked.run = asked.run or random_run(Path(folder), asked.source)
        rounds = []
        for number in range(asked.rounds):
            rounds.append((measured(asked.before, asked), measured(HERE, asked)))
            print(f"round {number + 1} of {asked.rounds} done", file=sys.stderr)
    for name in asked.search:
        pairs = [(before[name], now[name]) for before, now in rounds]
        ratio = median(before["seconds"] / now["seconds"] for before, now in pairs)
        differing = sum(
            one != other
            for one, other in zip(pairs[0][0]["texts"], pairs[0][1]["texts"], strict=True)
        )
        print(
            f"{name:7} before {median(before['seconds'] for before, _ in pairs):6.2f} s, "
            f"now {median(now['seconds'] for _, now in pairs):6.2f} s, {ratio:.2f}x; "
            f"{differing} of {len(pairs[0][0]['texts'])} texts differ"
        )


if __name__ == "__main__":
    main()
