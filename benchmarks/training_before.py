"""How fast `tiny` trains, beside another checkout of headway, in one run, and whether the weights
are the same.

Each version trains on the same files for some updates in a process of its own, one after the other
in every round (before, now, before, now ..). Speed is target tokens a second over the second half
of the updates. Run: python benchmarks/training_before.py --before DIR --source F --target F
"""

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

HERE = Path(__file__).resolve().parent.parent


def trained(checkout: Path, asked: argparse.Namespace, folder: Path) -> tuple[float, str]:
    """Target tokens a second, and the SHA-256 of the last checkpoint's weights."""
    half = asked.steps // 2
    command = [
        sys.executable, "-m", "headway", "train", "--preset", "tiny", "--out", str(folder),
        "--source", str(asked.source), "--target", str(asked.target), "--data.valid-size", "20",
        f"--training.max-steps={asked.steps}", f"--training.checkpoint-every={asked.steps}",
        f"--training.log-every={half}", "--training.valid-sentences=1",
        "--training.average=1", "--no-training.tune-length-penalty",
        f"--runtime.threads={asked.threads}", "--runtime.device=cpu",
    ]  # fmt: skip
    environment = {**os.environ, "PYTHONPATH": str(checkout / "src")}
    environment["HEADWAY_CACHE"] = str(folder.with_name(f"cache-{checkout.name}"))
    subprocess.run(command, env=environment, check=True, capture_output=True, cwd=folder.parent)
    lines = (folder / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    first, last = (line for line in map(json.loads, lines) if "loss" in line)
    tokens = last["target_tokens"] - first["target_tokens"]
    weights = folder / "checkpoints" / f"step-{asked.steps}" / "weights.safetensors"
    digest = hashlib.sha256(weights.read_bytes()).hexdigest()
    return tokens / (last["time_s"] - first["time_s"]), digest


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--before", type=Path, required=True, help="another checkout of headway")
    options.add_argument("--source", type=Path, required=True)
    options.add_argument("--target", type=Path, required=True)
    options.add_argument("--steps", type=int, default=60)
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--threads", type=int, default=2)
    asked = options.parse_args()
    ratios, digests = [], set()
    with tempfile.TemporaryDirectory() as name:
        for number in range(asked.rounds):
            speeds = []
            for what, checkout in (("before", asked.before.resolve()), ("now", HERE)):
                speed, digest = trained(checkout, asked, Path(name) / f"{what}-{number}")
                speeds.append(speed)
                digests.add(digest)
            ratios.append(speeds[1] / speeds[0])
            print("before {:,.0f}, now {:,.0f} target tokens/s".format(*speeds), flush=True)
    same = "the same weights" if len(digests) == 1 else "OTHER WEIGHTS"
    print(f"median {median(ratios):.2f}x over {asked.rounds} rounds; {same}")


if __name__ == "__main__":
    main()
