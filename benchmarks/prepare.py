"""Preparing large corpora: tokens a second and core, memory of all processes, and is it linear?

Makes corpora of several sizes, prepares each as `headway train` would in a process of its own
(which starts others), and prints what they used together. Without --data the pairs are made-up
words with Zipf frequencies, a tenth of the targets without spaces, as Chinese is. With --data DIR
(a folder with train.en and train.de, or whatever --languages says, .gz or not) they are altered
from those: the beginning of one pair, the end of another. A twentieth of the pairs are repeated.

Run: python benchmarks/prepare.py [--pairs 1000000 3000000 10000000] [--workers 2]
     [--data DIR --languages en de] [--folder DIR]
10 million pairs need 8 GB of disk in --folder. Linux only: it reads /proc.
"""

import argparse
import gzip
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

MEMORY_LIMIT_MB = 600
LEAST_TOKENS_PER_CORE_S = 400_000
MOST_GROWTH = 1.1
WORDS = 30_000
IDEOGRAPHS = 4_000
CHUNK = 20_000
REPEATED = 20  # one pair of so many is there twice

Texts = Iterator[tuple[str, str]]


def words(seed: int) -> list[str]:
    """Made-up words of one to four syllables."""
    rng = np.random.default_rng(seed)
    onsets, vowels = list("bdfghklmnprstvz"), ["a", "e", "i", "o", "u", "ei", "au"]
    syllables = [onset + vowel for onset in onsets for vowel in vowels]
    return ["".join(rng.choice(syllables, size=rng.integers(1, 5))) for _ in range(WORDS)]


def zipf(n: int) -> np.ndarray:
    """Cumulative probabilities of n things, the r-th about 1/r as frequent as the first."""
    return np.cumsum(1 / np.arange(1, n + 1)) / np.sum(1 / np.arange(1, n + 1))


def made_up() -> Texts:
    """Pairs without end, of 6 to 18 words."""
    rng = np.random.default_rng(1)
    lexicons = np.array(words(1), object), np.array(words(2), object)
    ideographs = np.array([chr(0x4E00 + i) for i in range(IDEOGRAPHS)], object)
    odds, ideograph_odds = zipf(WORDS), zipf(IDEOGRAPHS)
    while True:
        lengths = rng.integers(6, 19, size=CHUNK)
        drawn = np.searchsorted(odds, rng.random(int(lengths.sum())))
        signs = np.searchsorted(ideograph_odds, rng.random(int(lengths.sum())))
        ends = np.cumsum(lengths)
        for i, (begin, end) in enumerate(zip(ends - lengths, ends, strict=True)):
            spaced = " ".join(lexicons[1][drawn[begin:end]])
            unspaced = "".join(ideographs[signs[begin:end]]) * 2
            yield " ".join(lexicons[0][drawn[begin:end]]), spaced if i % 10 else unspaced


def altered(folder: Path, languages: tuple[str, str]) -> Texts:
    """Pairs without end: each has its first half from one pair of the data, the rest of another."""
    sources, targets = (lines_of(folder, language) for language in languages)
    rng = random.Random(1)
    while True:
        one, other = rng.randrange(len(sources)), rng.randrange(len(sources))
        yield crossed(sources[one], sources[other]), crossed(targets[one], targets[other])


def lines_of(folder: Path, language: str) -> list[str]:
    """The lines of train.LANGUAGE, or of train.LANGUAGE.gz."""
    plain = folder / f"train.{language}"
    packed = folder / f"train.{language}.gz"
    data = plain.read_bytes() if plain.exists() else gzip.decompress(packed.read_bytes())
    return data.decode("utf-8").splitlines()


def crossed(one: str, other: str) -> str:
    """The first half of one text and the second half of the other."""
    gap = " " if " " in one else ""
    first, second = (text.split() if gap else list(text) for text in (one, other))
    return gap.join(first[: len(first) // 2 + 1] + second[len(second) // 2 :])


def write(texts: Texts, n_pairs: int, folder: Path) -> tuple[Path, Path]:
    """Write source.en and target.xx of `n_pairs` lines."""
    files = folder / "source.en", folder / "target.xx"
    with (
        files[0].open("w", encoding="utf-8") as left,
        files[1].open("w", encoding="utf-8") as right,
    ):
        for i in range(n_pairs):
            if i % REPEATED or not i:
                source, target = next(texts)
            left.write(source + "\n")
            right.write(target + "\n")
    return files


def measure(source: Path, target: Path, root: Path, workers: int) -> dict[str, object]:
    """Prepare once, from this process; its resident memory before, CPU seconds of each stage."""
    from headway.corpora.cleaned import clean_corpus
    from headway.corpora.corpus import Corpus
    from headway.corpora.prepared import prepare_corpus
    from headway.corpora.settings import DataSettings, TranslationText

    before = memory_mb([os.getpid()])
    began: dict[str, float] = {}

    def note(stage: str, _done: int, _total: int | None) -> None:
        began.setdefault(stage, sum(os.times()[:4]))  # of children too, once they have ended

    corpus, data = Corpus((source,), (target,)), DataSettings(workers=workers)
    clean_corpus(corpus, data.cleaning(), root, workers=workers, progress=note)
    note("learning and encoding", 0, None)
    prepared = prepare_corpus(
        corpus, data, TranslationText(), root=root, say=lambda line: print(line, file=sys.stderr)
    )
    stages = [*began.values(), sum(os.times()[:4])]
    return {
        "imports_mb": before,
        "pairs_read": prepared.report.read,
        "pairs_kept": prepared.report.kept,
        "tokens": sum(int(n.sum()) for n in prepared.train.lengths.values()),
        "stages_cpu_s": {
            stage: round(end - start, 1)
            for stage, start, end in zip(began, stages, stages[1:], strict=False)
        },
    }


def memory_mb(processes: list[int]) -> float:
    """Resident memory of some processes together, those that have ended left out."""
    n_pages = 0
    for process in processes:
        try:
            n_pages += int(Path(f"/proc/{process}/statm").read_text().split()[1])
        except OSError:
            continue
    return n_pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def family(process: int) -> list[int]:
    """A process and its children."""
    try:
        threads = list(Path(f"/proc/{process}/task").iterdir())
        return [process, *(int(c) for t in threads for c in (t / "children").read_text().split())]
    except OSError:
        return [process]


def watched(command: list[str], result: Path) -> dict[str, object]:
    """Run a command; what it wrote to `result`, and what it and its children used."""
    started = time.perf_counter()
    peak = 0.0
    with subprocess.Popen(command) as process:
        while True:
            peak = max(peak, memory_mb(family(process.pid)))
            ended, status, usage = os.wait4(process.pid, os.WNOHANG)
            if ended:
                process.returncode = os.waitstatus_to_exitcode(status)
                break
            time.sleep(0.1)
    if process.returncode:
        raise SystemExit(f"exit status {process.returncode}: {' '.join(command)}")
    measured = json.loads(result.read_text(encoding="utf-8"))
    cpu_s = usage.ru_utime + usage.ru_stime
    return measured | {
        "wall_s": round(time.perf_counter() - started, 1),
        "cpu_s": round(cpu_s, 1),
        "tokens_per_core_s": round(measured["tokens"] / cpu_s),
        "cpu_us_per_pair": round(1e6 * cpu_s / measured["pairs_read"], 2),
        "peak_mb_above_imports": round(peak - measured["imports_mb"]),
    }


def main() -> int:
    """Make, measure in fresh processes, print; exit status 1 if a limit is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, nargs="+", default=[1_000_000, 3_000_000, 10_000_000])
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--languages", nargs=2, default=["en", "de"])
    parser.add_argument("--folder", type=Path, help="for the corpora and the cache")
    parser.add_argument("--measure", nargs=5, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.measure:
        *paths, workers, result = asked.measure
        measured = measure(*map(Path, paths), int(workers))
        Path(result).write_text(json.dumps(measured), encoding="utf-8")
        return 0
    if asked.folder:
        asked.folder.mkdir(parents=True, exist_ok=True)
    rows = []
    for n_pairs in asked.pairs:
        with tempfile.TemporaryDirectory(dir=asked.folder) as name:
            folder = Path(name)
            texts = altered(asked.data, tuple(asked.languages)) if asked.data else made_up()
            files = write(texts, n_pairs, folder)
            inside = [*files, folder / "cache", asked.workers, folder / "result.json"]
            command = [sys.executable, __file__, "--measure", *map(str, inside)]
            rows.append(watched(command, folder / "result.json"))
        print(json.dumps(rows[-1]), flush=True)
    growth = rows[-1]["cpu_us_per_pair"] / rows[0]["cpu_us_per_pair"]
    limits = {
        f"memory under {MEMORY_LIMIT_MB} MB": all(
            row["peak_mb_above_imports"] < MEMORY_LIMIT_MB for row in rows
        ),
        f"{LEAST_TOKENS_PER_CORE_S:,} tokens/s a core at {asked.pairs[-1]:,} pairs": (
            rows[-1]["tokens_per_core_s"] >= LEAST_TOKENS_PER_CORE_S
        ),
        f"CPU time of a pair grows by less than {MOST_GROWTH} (here {growth:.2f})": (
            growth < MOST_GROWTH
        ),
    }
    for limit, kept in limits.items():
        print(f"{'yes' if kept else 'NO '}  {limit}")
    return 0 if all(limits.values()) else 1


if __name__ == "__main__":
    raise SystemExit(main())
