"""Training word vectors on files of several sizes: does memory stay flat?

Writes files of made-up words: as many frequent ones as --words, with Zipf frequencies, and among
them --rare (a share) that occur nowhere else, as typing errors and numbers do. Each is trained on
by `headway train` with its default flags in a process of its own, with a cache of its own, for one
epoch or --steps stretches of 20,000 words, and looked at ten times a second.

Run: python benchmarks/word2vec_memory.py [--megabytes 200 2000] [--words 200000] [--rare 0.03]
     [--threads 1] [--steps 0] [--folder DIR] [--record FILE]
2,000 MB need 4 GB of disk in --folder. Linux only: it reads /proc.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
import record

LIMIT_MB = 1_000
MOST_GROWTH = 1.1
"""Of the peak while learning, from the smallest file to the largest. While words are counted, it
grows with the different ones, up to a bound."""
LINE = 20
"""Words."""
AT_ONCE = 100_000
"""Lines."""


class Peaks(NamedTuple):
    """What a training used."""

    reading_mb: float
    """Resident, before the first stretch was learned."""
    learning_mb: float
    seconds: float
    said: str


def write_text(path: Path, n_bytes: int, n_words: int, rare: float) -> None:
    """Lines of words of equal length until there are so many bytes."""
    rng = np.random.default_rng(1)
    words = spelled(b"word", np.arange(n_words))
    odds = np.cumsum(1 / np.arange(10, n_words + 10))  # the first is 1 % of the text or so
    drawn = np.searchsorted(odds, odds[-1] * rng.random(1 << 23)).astype(np.uint32)
    drawn = np.concatenate([drawn, np.arange(n_words, dtype=np.uint32)])  # each of them occurs
    n_rare = 0
    with path.open("wb") as file:
        while file.tell() < n_bytes:
            text = words[drawn[rng.integers(0, len(drawn), AT_ONCE * LINE)]]
            [places] = np.nonzero(rng.random(len(text)) < rare)
            text[places] = spelled(b"rare", n_rare + np.arange(len(places)))
            n_rare += len(places)
            text[LINE - 1 :: LINE, -1] = ord("\n")
            file.write(text.tobytes())


def spelled(begin: bytes, numbers: np.ndarray) -> np.ndarray:
    """A word for each number, eight hexadecimal digits and a space behind: [words, bytes]."""
    digits = (numbers[:, None] >> np.arange(28, -4, -4)) & 15
    letters = np.frombuffer(b"abcdefghijklmnop", np.uint8)[digits]
    whole = np.full((len(numbers), len(begin) + 9), ord(" "), np.uint8)
    whole[:, : len(begin)] = np.frombuffer(begin, np.uint8)
    whole[:, len(begin) : -1] = letters
    return whole


def resident_mb(pid: int) -> float:
    """Of a process, now."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0.0
    found = [line.split()[1] for line in status.splitlines() if line.startswith("VmRSS")]
    return int(found[0]) / 1024 if found else 0.0


def train(text: Path, run: Path, threads: int, steps: int) -> Peaks:
    """Train on it, and look on."""
    length = ["--training.max-steps", str(steps)] if steps else ["--training.epochs", "1"]
    flags = [*length, "--runtime.threads", str(threads)]
    names = ["--task", "word-vectors", "--corpus", str(text), "--out", str(run)]
    command = [sys.executable, "-m", "headway", "train", *names, *flags]
    environment = os.environ | {"HEADWAY_CACHE": str(run.with_suffix(".cache"))}
    begun, peaks = time.monotonic(), [0.0, 0.0]
    log = run.with_suffix(".log")
    with log.open("w") as said:
        process = subprocess.Popen(command, stderr=said, env=environment)
        while process.poll() is None:
            learning = (run / "metrics.jsonl").exists()
            peaks[learning] = max(peaks[learning], resident_mb(process.pid))
            time.sleep(0.1)
    if process.returncode:
        raise SystemExit(log.read_text())
    return Peaks(*peaks, time.monotonic() - begun, log.read_text())


def main() -> int:
    """Print a row a size; exit status 1 where a limit was broken."""
    options = record.parser(__doc__)
    options.add_argument("--megabytes", type=int, nargs="+", default=[200, 2000])
    options.add_argument("--words", type=int, default=200_000)
    options.add_argument("--rare", type=float, default=0.03)
    options.add_argument("--threads", type=int, default=1)
    options.add_argument("--steps", type=int, default=0, help="stretches to learn; 0: one epoch")
    options.add_argument("--folder", type=Path, default=None, help="where files are written")
    record.add_record_option(options)
    told = options.parse_args()
    rows = []
    with tempfile.TemporaryDirectory(dir=told.folder) as folder:
        for megabytes in told.megabytes:
            text = Path(folder, f"{megabytes}.txt")
            write_text(text, megabytes * 10**6, told.words, told.rare)
            peaks = train(text, Path(folder, f"run-{megabytes}"), told.threads, told.steps)
            text.unlink()
            print(peaks.said)
            rows.append({"megabytes": megabytes, **peaks._asdict()})
            print(
                f"| {megabytes:,} MB | {peaks.reading_mb:,.0f} | {peaks.learning_mb:,.0f} | "
                f"{peaks.seconds:,.0f} |",
                flush=True,
            )
    record.write(told.record, "word2vec_memory", seeds=[1], figures={"rows": rows})
    highest = max(max(row["reading_mb"], row["learning_mb"]) for row in rows)
    growth = rows[-1]["learning_mb"] / rows[0]["learning_mb"]
    return int(highest > LIMIT_MB or growth > MOST_GROWTH)


if __name__ == "__main__":
    sys.exit(main())
