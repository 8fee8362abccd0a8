"""Preparing 10^6 to 10^8 pairs into shards: is what must go gone, how fast, in how much memory?

Writes packed TSV files of made-up pairs (words with Zipf frequencies) of which it is known which
are repeats of earlier ones in any file (a twentieth), empty (1%), of unequal lengths (1%), too long
(1 in 10,000), and runs `headway prepare --shards` on them in a process of its own, which starts
others. Counts must be exact. With --leaks a validation file shares the sources of 1,000 of them.
Prints pairs a second, processor time a pair, and the largest memory of all processes together
(proportional set size, PSS, from /proc, looked at twice a second), and how both grow.

Run: python benchmarks/large_corpus.py [--pairs 1000000 3000000 10000000] [--workers 2] [--leaks]
     [--sample-lines 1000000] [--folder DIR] [--encoding]
A million pairs need 0.3 GB in --folder. Linux only: it reads /proc.
"""

import argparse
import gzip
import json
import multiprocessing
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from functools import cache, partial
from pathlib import Path

import numpy as np
from prepare import words, zipf

N_FILES = 24
PHRASES = 100_000
N_LEAKS = 1_000
MOST_MEMORY_MB = 2_000
MOST_GROWTH = 1.1


@cache
def phrases(seed: int) -> list[str]:
    """Three to five words each."""
    rng = np.random.default_rng(seed)
    lexicon, odds = np.array(words(seed), object), zipf(30_000)
    lengths = rng.integers(3, 6, size=PHRASES)
    drawn = lexicon[np.searchsorted(odds, rng.random(int(lengths.sum())))]
    return [" ".join(some) for some in np.split(drawn, np.cumsum(lengths)[:-1])]


def numbered(number: int, letters: str) -> str:
    """A word that no other number has."""
    found = ""
    while number or not found:
        number, rest = divmod(number, 20)
        found += letters[rest] + "aeiou"[rest % 5]
    return found


def clean_pair(number: int, sides: tuple[list[str], list[str]]) -> tuple[str, str]:
    """A pair whose sides no other number has."""
    draw = random.Random(number)
    source, target = (" ".join(draw.choices(side, k=2)) for side in sides)
    return (
        f"{source} {numbered(number, 'bcdfghjklmnpqrstvwxz')}",
        f"{target} {numbered(number, 'zxwvtsrqpnmlkjhgfdcb')}",
    )


def pair(number: int, sides: tuple[list[str], list[str]]) -> tuple[str, str, str]:
    """Source, target, and why it must be dropped; nothing if it must not."""
    if number % 20 == 7:
        return *clean_pair(number // 3 // 20 * 20, sides), "duplicate"
    source, target = clean_pair(number, sides)
    if number % 100 == 13:
        return source, "", "blank_side"
    if number % 100 == 33:
        return source, (target + " ") * 16, "length_ratio"
    if number % 10_000 == 53:
        return (source + " ") * 60, (target + " ") * 60, "too_long"
    return source, target, ""


def write_file(folder: Path, n_pairs: int, place: int) -> Counter[str]:
    """One of `N_FILES` files, and what must be dropped of it, by reason."""
    sides, must_go = (phrases(1), phrases(2)), Counter[str]()
    begin, end = (n_pairs * edge // N_FILES for edge in (place, place + 1))
    with gzip.open(folder / f"part-{place:02}.tsv.gz", "wt", 1, encoding="utf-8") as file:
        for number in range(begin, end):
            source, target, why = pair(number, sides)
            file.write(f"{source}\t{target}\n")
            must_go[why] += bool(why)
    return +must_go


def write_valid(folder: Path, n_pairs: int) -> Counter[str]:
    """New validation pairs; the sources of the first are some training pairs', which leak."""
    sides = phrases(1), phrases(2)
    step = n_pairs // N_LEAKS // 100 * 100
    with (folder / "valid.tsv").open("w", encoding="utf-8") as file:
        for i in range(2 * N_LEAKS):
            source, target = clean_pair(n_pairs + i, sides)
            if i < N_LEAKS:
                source, _ = clean_pair(i * step + 73, sides)
            file.write(f"{source}\t{target}\n")
    return Counter(leakage=N_LEAKS)


def memory_mb(root: int) -> float:
    """Of a process and all below it, what is shared parted among them."""
    parents: dict[int, list[int]] = {}
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            try:
                after = Path(entry.path, "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            parents.setdefault(int(after[1]), []).append(int(entry.name))
    found, waiting = 0, [root]
    while waiting:
        process = waiting.pop()
        waiting += parents.get(process, [])
        try:
            rollup = Path(f"/proc/{process}/smaps_rollup").read_text()
        except OSError:
            continue
        found += sum(int(line.split()[1]) for line in rollup.splitlines() if line[:4] == "Pss:")
    return found / 1024


def prepared(folder: Path, workers: int, sample_lines: int, *, leaks: bool) -> dict[str, float]:
    """Prepare the files of a folder: seconds, processor seconds, MB of memory and of disk."""
    command = [sys.executable, "-m", "headway", "prepare", "--shards", str(folder / "shards")]
    command += ["--data.workers", str(workers), "--json"]
    command += ["--text.sample-lines", str(sample_lines), "--pairs"]
    command += map(str, sorted(folder.glob("part-*.tsv.gz")))
    command += ["--valid-pairs", str(folder / "valid.tsv")] if leaks else []
    began, most = time.monotonic(), 0.0
    with (folder / "said").open("wb") as said, (folder / "report.json").open("wb") as report:
        process = subprocess.Popen(command, stdout=report, stderr=said)
        while True:
            ended, status, used = os.wait4(process.pid, os.WNOHANG)
            if ended:
                break
            most = max(most, memory_mb(process.pid))
            time.sleep(0.5)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit((folder / "said").read_text())
    stored = sum(f.stat().st_size for f in (folder / "shards").rglob("*") if f.is_file())
    return {
        "seconds": time.monotonic() - began,
        "processor_s": used.ru_utime + used.ru_stime,
        "memory_mb": most,
        "disk_mb": stored / 1e6,
    }


def encoding_ratio(n_texts: int = 20_000, rounds: int = 3) -> float:
    """How much quicker texts become ids where words are looked up, in turn, by medians."""
    from headway.core.subwords import Subwords
    from headway.tokenizers.word_cache import encoder_of

    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    sides = phrases(1), phrases(2)
    texts = [text for number in range(n_texts // 2) for text in clean_pair(number, sides)]
    subwords = Subwords.train(texts, vocabulary_size=16_000)
    times: dict[object, list[float]] = {subwords.encode_batch: [], encoder_of(subwords): []}
    for _ in range(rounds + 1):  # the first of each warms up
        for encode, taken in times.items():
            began = time.process_time()
            for start in range(0, len(texts), 2_000):
                encode(texts[start : start + 2_000])  # type: ignore[operator]
            taken.append(time.process_time() - began)
    anew, looked_up = (float(np.median(taken[1:])) for taken in times.values())
    return anew / looked_up


def main() -> None:
    """Print a line for each size, and how processor time and memory grow from the first to it."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--pairs", type=int, nargs="+", default=[1_000_000, 3_000_000, 10_000_000])
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--sample-lines", type=int, default=1_000_000, help="of the sub-words")
    parser.add_argument("--leaks", action="store_true")
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--encoding", action="store_true", help="only how texts become ids")
    options = parser.parse_args()
    if options.encoding:
        print(f"words looked up: {encoding_ratio():.2f} times as quick as every text anew")
        return
    rows, met = [], True
    for n_pairs in options.pairs:
        with tempfile.TemporaryDirectory(dir=options.folder) as name:
            folder = Path(name)
            with multiprocessing.Pool(options.workers) as pool:
                write = partial(write_file, folder, n_pairs)
                must_go = sum(pool.map(write, range(N_FILES), chunksize=1), Counter[str]())
            read = sum(file.stat().st_size for file in folder.glob("part-*")) / 1e6
            must_go += write_valid(folder, n_pairs) if options.leaks else Counter(held_out=1_000)
            row = prepared(folder, options.workers, options.sample_lines, leaks=options.leaks)
            report = json.loads((folder / "report.json").read_text())
            exact = Counter(report["dropped"]) == must_go and report["read"] == n_pairs
            shutil.rmtree(folder / "shards")
        if not exact:
            print(f"MUST GO {dict(must_go)}, WENT {report['dropped']} of {report['read']:,}")
        rows.append(row | {"pairs": n_pairs})
        time_each = 1e6 * row["processor_s"] / n_pairs
        first = rows[0]
        growth = time_each / (1e6 * first["processor_s"] / first["pairs"])
        more = row["memory_mb"] / first["memory_mb"]
        met &= exact and row["memory_mb"] < MOST_MEMORY_MB and growth < MOST_GROWTH
        print(
            f"{n_pairs:>11,} pairs of {read:,.0f} MB: {row['seconds']:,.0f} s, "
            f"{n_pairs / row['seconds']:,.0f} pairs/s, {time_each:.1f} us of processor a pair "
            f"({growth:.2f} of the first size's), memory {row['memory_mb']:,.0f} MB "
            f"({more:.2f} of the first's), shards {row['disk_mb']:,.0f} MB, "
            f"dropped {'exactly what must be' if exact else 'WRONGLY'}",
            flush=True,
        )
    print("reached" if met else "NOT REACHED")
    sys.exit(0 if met else 1)


if __name__ == "__main__":
    main()
