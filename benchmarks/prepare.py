"""Preparing a large corpus: does memory stay flat, and how many tokens a second does a core do?

Generates pairs (made-up words with Zipf frequencies; every tenth pair's target is written without
spaces, as Chinese is), prepares them as `headway train` would in a process of its own, and prints
what that process used. Run: python benchmarks/prepare.py [--pairs 5000000] [--folder DIR]
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

MEMORY_LIMIT_MB = 500
LEAST_TOKENS_PER_CORE_S = 300_000
WORDS = 30_000
IDEOGRAPHS = 4_000
CHUNK = 20_000


def words(seed: int) -> list[str]:
    """Made-up words of one to four syllables."""
    random = np.random.default_rng(seed)
    onsets, vowels = list("bdfghklmnprstvz"), ["a", "e", "i", "o", "u", "ei", "au"]
    syllables = [onset + vowel for onset in onsets for vowel in vowels]
    return ["".join(random.choice(syllables, size=random.integers(1, 5))) for _ in range(WORDS)]


def zipf(n: int) -> np.ndarray:
    """Cumulative probabilities of n things, the r-th about 1/r as frequent as the first."""
    return np.cumsum(1 / np.arange(1, n + 1)) / np.sum(1 / np.arange(1, n + 1))


def generate(folder: Path, n_pairs: int) -> tuple[Path, Path]:
    """Write source.en and target.xx of `n_pairs` lines, 6 to 18 words each."""
    random = np.random.default_rng(1)
    lexicons = np.array(words(1), object), np.array(words(2), object)
    ideographs = np.array([chr(0x4E00 + i) for i in range(IDEOGRAPHS)], object)
    odds, ideograph_odds = zipf(WORDS), zipf(IDEOGRAPHS)
    files = folder / "source.en", folder / "target.xx"
    with (
        files[0].open("w", encoding="utf-8") as left,
        files[1].open("w", encoding="utf-8") as right,
    ):
        for start in range(0, n_pairs, CHUNK):
            lengths = random.integers(6, 19, size=min(CHUNK, n_pairs - start))
            drawn = np.searchsorted(odds, random.random(int(lengths.sum())))
            signs = np.searchsorted(ideograph_odds, random.random(int(lengths.sum())))
            ends = np.cumsum(lengths)
            for i, (begin, end) in enumerate(zip(ends - lengths, ends, strict=True)):
                left.write(" ".join(lexicons[0][drawn[begin:end]]) + "\n")
                if i % 10:
                    right.write(" ".join(lexicons[1][drawn[begin:end]]) + "\n")
                else:
                    right.write("".join(ideographs[signs[begin:end]]) * 2 + "\n")
    return files


def memory_mb() -> tuple[float, float]:
    """Resident memory of this process: now, and at its highest."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    fields = dict(line.split(":", 1) for line in lines)
    return tuple(int(fields[name].split()[0]) / 1024 for name in ("VmRSS", "VmHWM"))  # type: ignore


def measure(source: Path, target: Path, root: Path) -> dict[str, float]:
    """Prepare once, in this process; megabytes above the imports, and seconds."""
    from headway.data.prepared import DataSettings, prepare_corpus
    from headway.text.corpora import Corpus
    from headway.text.subwords import TextSettings

    before, _ = memory_mb()
    started, started_cpu = time.perf_counter(), time.process_time()
    peaks: dict[str, float] = {}

    def note(stage: str, _done: int, _total: int | None) -> None:
        peaks[f"peak_mb, {stage}"] = round(memory_mb()[1] - before)

    prepared = prepare_corpus(
        Corpus((source,), (target,)),
        DataSettings(),
        TextSettings(),
        root=root,
        say=lambda message: print(message, file=sys.stderr),
        progress=note,
    )
    cpu_s = time.process_time() - started_cpu
    content = prepared.train.content
    n_tokens = content["source_tokens"] + content["target_tokens"]
    return {
        "pairs_read": prepared.report.read,
        "pairs_kept": prepared.report.kept,
        "tokens": n_tokens,
        "wall_s": round(time.perf_counter() - started, 1),
        "cpu_s": round(cpu_s, 1),
        "tokens_per_core_s": round(n_tokens / cpu_s),
        **peaks,
        "peak_mb_above_imports": round(memory_mb()[1] - before),
    }


def main() -> int:
    """Generate, measure in a fresh process, print; exit status 1 if a limit is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=5_000_000)
    parser.add_argument("--folder", type=Path, help="for the generated files and the cache")
    parser.add_argument("--measure", type=Path, nargs=3, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.measure:
        print(json.dumps(measure(*asked.measure)))
        return 0
    with tempfile.TemporaryDirectory(dir=asked.folder) as folder:
        files = generate(Path(folder), asked.pairs)
        command = [sys.executable, __file__, "--measure", *map(str, files), f"{folder}/cache"]
        result = subprocess.run(command, check=True, stdout=subprocess.PIPE, env=os.environ)
    measured = json.loads(result.stdout)
    for name, value in measured.items():
        print(f"{name:32} {value:>14,}")
    memory_fits = measured["peak_mb_above_imports"] < MEMORY_LIMIT_MB
    fast_enough = measured["tokens_per_core_s"] >= LEAST_TOKENS_PER_CORE_S
    print(f"memory under {MEMORY_LIMIT_MB} MB: {memory_fits}; {LEAST_TOKENS_PER_CORE_S:,} tokens/s "
          f"a core: {fast_enough}")  # fmt: skip
    return 0 if memory_fits and fast_enough else 1


if __name__ == "__main__":
    raise SystemExit(main())
