"""One training by several processes beside one process: how fast, and how far the weights differ.

    speed   target tokens a second of training alone (no validation in them) by 2 processes of one
            thread each and by 1 process of two threads, in turn (A B A B), medians, on 4,000 pairs
            of Multi30k
    equal   the weights after --steps updates in float32 without dropout, by 1, 2 and 4 processes,
            with --training.accumulate 1 and 4: the largest distance of any tensor from that of one
            process, |a - b| / |b|, on made-up pairs
With --activation relu a unit that is at its bend for one word is active in one run and not in the
other, by rounding; Adam makes a whole step of that. With gelu, which has no bend, rounding stays.
Biases of keys are left out of `equal`: what a softmax is over does not change when all its inputs
rise alike, so their gradient is zero but for rounding, and Adam makes steps of whatever is there.
Not beside other work.
Run: python benchmarks/data_parallel.py speed --data DIR --record FILE
"""

import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

import record
from safetensors.torch import load_file

from headway.core.lines import read_lines
from headway.core.run_folder import RunFolder
from headway.demo import generate

NO_GRADIENT = ("to_key.bias",)


def trained(out: Path, files: Sequence[Path], n: int, *flags: str) -> RunFolder:
    """`headway train` by so many processes with two threads among them (one each, if more)."""
    shared = ["--processes", str(n)] if n > 1 else []
    named = ("--source", str(files[0]), "--target", str(files[1]), "--out", str(out))
    words = [sys.executable, "-m", "headway", "train", *named, *flags, *shared]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(words)}\n{done.stderr}")
    return RunFolder(out)


# -- speed ----------------------------------------------------------------------------------------


def speed(run: RunFolder, first: int) -> float:
    """Target tokens a second from update `first` to the last before the validation."""
    lines = [line for line in run.read_log() if "loss" in line and line["step"] >= first]
    begun, ended = lines[0], lines[-1]
    return (ended["target_tokens"] - begun["target_tokens"]) / (ended["time_s"] - begun["time_s"])


def measure_speed(
    data: Path, preset: str, steps: int, rounds: int, place: Path
) -> dict[str, float]:
    """Medians of both, and their ratio."""
    files = []
    for language in ("en", "de"):
        stem = data / "mt" / "multi30k" / f"train.{language}"
        lines = read_lines(stem if stem.exists() else stem.with_name(f"{stem.name}.gz"))
        files.append(place / f"train.{language}")
        files[-1].write_text("".join(f"{line}\n" for line in islice(lines, 4000)), "utf-8")
    found: dict[int, list[float]] = {1: [], 2: []}
    lengths = (f"--training.max-steps={steps}", f"--training.checkpoint-every={steps}")
    small_end = ("--training.log-every=5", "--training.valid-sentences=2", "--data.valid-size=10")
    for turn in range(rounds):
        for n in found:
            flags = (*lengths, *small_end, "--preset", preset, "--runtime.threads=2")
            run = trained(place / f"{preset}-{turn}-{n}", files, n, *flags)
            found[n].append(speed(run, 5))
            print(f"{preset}, {n} process(es): {found[n][-1]:,.0f} target tokens/s", flush=True)
    one, two = (statistics.median(found[n]) for n in (1, 2))
    return {"one_process": one, "two_processes": two, "ratio": two / one}


# -- equality -------------------------------------------------------------------------------------


def measure_equality(accumulate: int, activation: str, steps: int, place: Path) -> dict[str, float]:
    """The largest distance of any tensor, by the number of processes."""
    files = [place / "made.en", place / "made.zh"]
    for file, side in zip(files, zip(*generate(2000, 1), strict=True), strict=True):
        file.write_text("".join(f"{text}\n" for text in side), encoding="utf-8")
    sizes = ("encoder-layers=2", "decoder-layers=2", "d-model=64", "heads=4", "d-ff=128")
    shape = (*sizes, "dropout=0", f"activation={activation}")
    flags = (
        *(f"--model.{one}" for one in shape), "--text.vocabulary-size=1000",
        f"--training.accumulate={accumulate}", "--training.batch-tokens=512",
        f"--training.max-steps={steps}", f"--training.checkpoint-every={steps}",
        "--training.learning-rate=0.001", "--runtime.precision=fp32", "--runtime.threads=1",
        "--training.valid-sentences=2", "--data.valid-size=10",
    )  # fmt: skip
    weights = {}
    for n in (1, 2, 4):
        run = trained(place / f"equal-{accumulate}-{n}", files, n, *flags)
        weights[n] = load_file(run.checkpoints / f"step-{steps}" / "weights.safetensors")
    apart = {}
    for n in (2, 4):
        pairs = {k: (one, weights[n][k]) for k, one in weights[1].items()}
        each = {k: float((b - a).norm() / a.norm()) for k, (a, b) in pairs.items()}
        kept = {k: one for k, one in each.items() if not k.endswith(NO_GRADIENT)}
        worst = max(kept, key=kept.__getitem__)
        apart[f"{n} processes"] = kept[worst]
        print(f"accumulate {accumulate}, {n} processes: {kept[worst]:.1e} ({worst})", flush=True)
    return apart


def main() -> None:
    parser = record.parser(__doc__)
    parser.add_argument("what", choices=("speed", "equal"))
    parser.add_argument("--data", type=Path, metavar="DIR", help="of speed: holds mt/multi30k")
    parser.add_argument("--preset", nargs="+", default=["tiny", "small"], help="of speed")
    parser.add_argument("--steps", type=int, default=0, help="60 of speed, 200 of equal")
    parser.add_argument("--rounds", type=int, default=3, help="of speed")
    parser.add_argument("--activation", default="gelu", choices=("gelu", "relu"), help="of equal")
    record.add_record_option(parser)
    options = parser.parse_args()
    found: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for case in options.preset if options.what == "speed" else ("1", "4"):
            if options.what == "speed":
                steps = options.steps or 60
                one = measure_speed(options.data, case, steps, options.rounds, Path(folder))
            else:
                steps, bend = options.steps or 200, options.activation
                one = measure_equality(int(case), bend, steps, Path(folder))
            found[case] = one
            print(f"{options.what} {case}: {one}", flush=True)
    if options.record:
        record.write(options.record, "data_parallel", seeds=[1], figures={options.what: found})


if __name__ == "__main__":
    main()
