"""Bulk translation: speed beside one `headway translate` per core, and what is left after kills.

    python benchmarks/bulk.py --part ratio --run RUN --lines 200000
    python benchmarks/bulk.py --part kills --run RUN --lines 10000000 --kills 30
    python benchmarks/bulk.py --part ray --run RUN --lines 200000 --kills 10
    python benchmarks/bulk.py --part reader --lines 2000000

`ratio`: the same lines by hand (cut in as many files as there are processes, one `headway
translate` of one thread for each, at the same time) and with `--shards`, in turn (A B A B): lines
a second by the clock, start included, medians, and lines that differ.
`kills`: `--shards` while, at random moments, a random worker, the parent, or all of them are killed
(SIGKILL); what was killed as a whole is begun again with the same command. Every line of the end is
compared with what the line is translated to by itself; lines lost, repeated or changed are counted.
`ray`: the same on a cluster of Ray on this machine, of whose workers random ones are killed.
`reader`: processor time of the process that reads, hands out and writes, while a process gives each
line back as it is; and of reading over a .gz, as a machine does whose shards come later.

Lines are short sentences of the demo's grammar, distinct ones repeated in another order each time.
Linux only: it reads /proc.
"""

import argparse
import gzip
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import record

from headway.bulk.attempts import BlockOutput, BlockPart
from headway.bulk.job import translate_shards_of
from headway.bulk.shards import ShardFolder
from headway.demo import generate
from headway.operations.processes import JobPart, WorkerPool

N_DISTINCT, STEP, MOST_CHARACTERS = 20_000, 7919, 60
ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1"}


def headway(*words: str | Path) -> list[str]:
    """The command line."""
    return [sys.executable, "-m", "headway", *map(str, words)]


def order(n_lines: int) -> Iterator[int]:
    """Which of the distinct sentences each line is: all of them, in another order each time."""
    for line in range(n_lines):
        yield (line * STEP + line // N_DISTINCT) % N_DISTINCT


def sentences() -> list[str]:
    """The distinct ones; long ones are left out, which may be translated in portions."""
    found = [english for english, _ in generate(2 * N_DISTINCT, 7)]
    return [one for one in found if len(one) <= MOST_CHARACTERS][:N_DISTINCT]


def write(file: Path, some: list[str], n_lines: int) -> None:
    """The lines, packed."""
    with gzip.open(file, "wt", compresslevel=1, encoding="utf-8") as lines:
        lines.writelines(f"{some[at]}\n" for at in order(n_lines))


def written(out: Path) -> Iterator[str]:
    """The lines of all shards, in their order."""
    for shard in sorted(out.glob("[!.]*")):
        yield from unpacked(shard)


def unpacked(file: Path) -> Iterator[str]:
    """Its lines, with their ends."""
    with gzip.open(file, "rt", encoding="utf-8", newline="\n") as lines:
        yield from lines


def in_shards(options: argparse.Namespace, text: Path, out: Path, *others: str) -> list[str]:
    """The command that is measured."""
    sizes = f"--processes={options.processes}", f"--shard-lines={options.shard_lines}"
    words = headway("translate", options.run, text, "--out", out, "--shards")
    return [*words, *sizes, *options.how, *others]


def descendants(pid: int) -> list[int]:
    """Children, and theirs."""
    try:
        some = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []
    return [one for child in map(int, some) for one in (child, *descendants(child))]


def peak_mb(pid: int) -> float:
    """The most that a process had resident so far."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0.0
    return float(status.partition("VmHWM:")[2].split()[0]) / 1024 if "VmHWM:" in status else 0.0


def kill(pid: int) -> bool:
    """Whether it was there to be killed."""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


def ratio(options: argparse.Namespace, folder: Path) -> dict[str, object]:
    """By hand and with --shards, in turn."""
    some, n = sentences(), options.processes
    whole, halves = folder / "all.gz", [folder / f"{part}.gz" for part in range(n)]
    write(whole, some, options.lines)
    which = list(order(options.lines))
    for part, half in enumerate(halves):
        mine = which[part * len(which) // n : (part + 1) * len(which) // n]
        with gzip.open(half, "wt", compresslevel=1, encoding="utf-8") as lines:
            lines.writelines(f"{some[at]}\n" for at in mine)
    speeds: dict[str, list[float]] = {"by hand": [], "--shards": []}
    how = [*options.how, "--runtime.threads=1"]
    for turn in range(options.rounds):
        began, jobs = time.monotonic(), list[subprocess.Popen[bytes]]()
        for half in halves:
            command = headway("translate", options.run, half, "--out", f"{half}.out.gz", *how)
            jobs.append(subprocess.Popen(command, env=ENVIRONMENT, stderr=subprocess.DEVNULL))
        assert [job.wait() for job in jobs] == [0] * n
        speeds["by hand"].append(options.lines / (time.monotonic() - began))
        began = time.monotonic()
        out = folder / f"out-{turn}"
        command = in_shards(options, whole, out)
        subprocess.run(command, env=ENVIRONMENT, stderr=subprocess.DEVNULL, check=True)
        speeds["--shards"].append(options.lines / (time.monotonic() - began))
        print({way: round(found[-1]) for way, found in speeds.items()}, flush=True)
    by_hand = [line for half in halves for line in unpacked(Path(f"{half}.out.gz"))]
    differ = sum(a != b for a, b in zip(by_hand, written(out), strict=True))
    ways = {way: median(found) for way, found in speeds.items()}
    rows = [(way, f"{found:,.0f}", f"{found / ways['by hand']:.3f}") for way, found in ways.items()]
    print(record.table(("way", "lines/s", "ratio"), rows))
    print(f"{differ} of {options.lines:,} lines differ")
    return {"lines_s": speeds, "differ": differ}


def kills(options: argparse.Namespace, folder: Path, *, on_ray: bool) -> dict[str, object]:
    """Killed at random moments, and begun again until it ends."""
    some, chance = sentences(), random.Random(options.seed)
    text, alone, out = folder / "all.gz", folder / "distinct", folder / "out"
    write(text, some, options.lines)
    alone.write_text("".join(f"{one}\n" for one in some), "utf-8")
    began = time.monotonic()
    command = headway("translate", options.run, alone, "--out", folder / "wanted", *options.how)
    subprocess.run(command, env=ENVIRONMENT, stderr=subprocess.DEVNULL, check=True)
    alone_s = time.monotonic() - began
    wanted = (folder / "wanted").read_text("utf-8").splitlines(keepends=True)
    each_s = 0.6 * alone_s * options.lines / N_DISTINCT / options.processes / options.kills
    command = in_shards(options, text, out, *(["--on=ray"] if on_ray else []))
    killed, n_starts, peak = {"worker": 0, "parent": 0, "all": 0}, 0, 0.0
    began = time.monotonic()
    status = -1
    while status:
        n_starts += 1
        job = subprocess.Popen(command, env=ENVIRONMENT, start_new_session=True)
        next_s = time.monotonic() + each_s * chance.uniform(0.3, 1.7)
        try:
            while (found := job.poll()) is None:
                time.sleep(0.2)
                peak = max(peak, peak_mb(job.pid))
                workers = workers_of(job.pid, on_ray=on_ray)
                n_killed = sum(killed.values())
                if n_killed == options.kills or time.monotonic() < next_s or not workers:
                    continue
                what = "worker" if on_ray else chance.choice(("worker", "worker", "parent", "all"))
                some_worker = chance.choice(workers)
                all_of_it = [job.pid, *workers]
                victims = {"worker": [some_worker], "parent": [job.pid], "all": all_of_it}[what]
                killed[what] += max(map(kill, victims))
                next_s = time.monotonic() + each_s * chance.uniform(0.3, 1.7)
        finally:
            job.kill()
        status = found
        assert status in (0, -signal.SIGKILL), f"it ended with {status}"
    seconds = time.monotonic() - began
    n_lines = n_changed = 0
    for line, at in zip(written(out), order(options.lines), strict=True):
        n_lines += 1
        n_changed += line != wanted[at]
    figures = {"lines": n_lines, "changed": n_changed, "killed": killed, "starts": n_starts,
               "seconds": round(seconds), "parent_peak_mb": round(peak)}  # fmt: skip
    print(record.table(tuple(figures), [tuple(figures.values())]))
    return figures


def echoed(part: BlockPart) -> BlockOutput:
    """Every line as it was."""
    return BlockOutput(b"\n".join(line or b"" for line in part.lines) + b"\n", len(part.lines))


def reader(options: argparse.Namespace, folder: Path) -> dict[str, object]:
    """Lines a second of processor time of the one that reads."""
    text = folder / "all.gz"
    write(text, sentences(), options.lines)
    n_bytes = sum(len(line) for line in unpacked(text))
    speeds = {}
    for what, part in {"reads, hands out, writes": (1, 1), "reads over": (3, 3)}.items():
        out = ShardFolder(folder / f"out-{part[0]}", print)
        out.agree({"shard_lines": options.lines})
        pool = WorkerPool(echoed, 1)
        began = time.process_time()
        translate_shards_of([text], out, pool, options.lines, JobPart(*part), lambda _: None)
        speeds[what] = round(options.lines / (time.process_time() - began))
    rows = [
        (what, f"{n:,}", f"{n * n_bytes / options.lines / 1e6:.0f}") for what, n in speeds.items()
    ]
    print(record.table(("reader", "lines/s", "MB/s of text"), rows))
    return {"lines_s": speeds, "bytes_a_line": n_bytes / options.lines}


def workers_of(pid: int, *, on_ray: bool) -> list[int]:
    """The processes that translate."""
    if not on_ray:
        return descendants(pid)
    found = []
    for one in descendants(pid):
        try:
            name = Path(f"/proc/{one}/cmdline").read_text()
        except OSError:
            continue
        if name.startswith("ray::on_worker"):
            found.append(one)
    return found


def main() -> int:
    parser = record.parser(__doc__)
    parser.add_argument("--part", choices=("ratio", "kills", "ray", "reader"), required=True)
    parser.add_argument("--run", default="demo", help="a run that translates from English")
    parser.add_argument("--lines", type=int, default=200_000)
    parser.add_argument("--shard-lines", type=int, default=100_000)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--how", nargs="*", default=["--beam=1", "--precision=fp32"])
    parser.add_argument("--folder", type=Path, help="where files lie meanwhile")
    record.add_record_option(parser)
    options = parser.parse_args()
    with TemporaryDirectory(dir=options.folder) as place:
        if options.part in ("ratio", "reader"):
            figures = {"ratio": ratio, "reader": reader}[options.part](options, Path(place))
        else:
            figures = kills(options, Path(place), on_ray=options.part == "ray")
    record.write(
        options.record, f"bulk {options.part}", seeds=[options.seed],
        figures={"lines_asked": options.lines, **figures},
    )  # fmt: skip
    return 0


if __name__ == "__main__":
    sys.exit(record.exit_status(main))
