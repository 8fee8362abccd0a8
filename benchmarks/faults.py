"""Kills, failing disks, flipped bits, two at once, hostile folders: what a run must survive.

Each kind does its worst to small but whole trainings, in processes of their own whose calls to the
system are counted, and made to fail, by a library between Python and C. Everything is drawn from
--seed. What went wrong is listed; the exit status is 1 if anything did.

    kills     kill -9 at chosen writes, fsyncs, renames, .. (half of a write done), and at chosen
              times, or SIGTERM, up to three in a row; gone on with, all files must be those of a
              run left alone
    errors    one such call fails with EIO or ENOSPC, once or for good, in run folder and cache:
              no checkpoint may be lost, no error called a bug, and going on gives the same
    flips     one bit of any file of run folder, checkpoints and cache: no other text or model
              without a word
    pairs     two commands that write to the same place at the same moment: nothing is mixed
    hostile   run folders made to harm: refused within 2 s and 500 MB above torch, file named
Run: python benchmarks/faults.py kills --cases 200
"""

import argparse
import errno
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(HERE / "tests" / "support"))

import faults  # noqa: E402
import record  # noqa: E402
from faults import Ground, Trial  # noqa: E402


def kills(place: Ground, n_cases: int, rng: random.Random) -> Iterator[Trial]:
    """A quarter of them among the last calls, where the weights are chosen, a fifth by time, and a
    fifth asked to stop."""
    for number in range(n_cases):
        deaths: list[dict[str, float]] = []
        for _ in range(rng.choice((1, 1, 2, 3))):
            if (kind := rng.random()) < 0.2:
                deaths.append({"killed_after_s": rng.uniform(0.05, 1.5)})
            elif kind < 0.4:
                deaths.append({"at": rng.randint(1, place.n_calls), "error": -signal.SIGTERM})
            else:
                first = place.n_calls * 3 // 4 if rng.random() < 0.25 else 1
                deaths.append({"at": rng.randint(first, place.n_calls)})
        yield faults.killed(place, fresh(place, number), deaths)


def errors(place: Ground, n_cases: int, rng: random.Random, skip: int = 0) -> Iterator[Trial]:
    """Every call of a run, or as many as are asked for behind `skip`, with each kind of error."""
    kinds = [(error, lasting) for error in (errno.EIO, errno.ENOSPC) for lasting in (False, True)]
    cases = [(at, *kind) for at in range(1, place.n_calls + 1) for kind in kinds]
    rng.shuffle(cases)
    cases = cases[skip:]
    for number, (at, error, lasting) in enumerate(cases[:n_cases] if n_cases else cases):
        out = fresh(place, number)
        if number % 8 == 7:  # the cache, made anew
            shutil.rmtree(place.folder / "cache")
            below = place.folder / "cache"
            yield faults.failing(place, out, below, 1 + at % 150, error, lasting)
        else:
            yield faults.failing(place, out, out, at, error, lasting)


def flips(place: Ground, n_cases: int, rng: random.Random) -> Iterator[Trial]:
    """Files in turn."""
    files = faults.files_to_flip(place)
    for number in range(n_cases):
        yield faults.flipped(place, files[number % len(files)], rng)


def fresh(place: Ground, number: int) -> Path:
    """A place for a run; the one before is removed."""
    shutil.rmtree(place.folder / f"run{number - 1}", ignore_errors=True)
    return place.folder / f"run{number}"


def command(place: Ground, arguments: list[str]) -> list[str]:
    """A process of its own, begun at the same moment as another one."""
    return [sys.executable, "-m", "headway", *arguments]


def pairs(place: Ground, n_cases: int, rng: random.Random) -> Iterator[Trial]:
    """Every pair of verbs that write to one place."""
    environment = {**os.environ, "PYTHONPATH": str(HERE / "src"), "OMP_NUM_THREADS": "1",
                   "HEADWAY_CACHE": str(place.folder / "cache")}  # fmt: skip
    (place.folder / "b.en").write_text("The dog runs.\n" * 300, encoding="utf-8")
    text = str(place.folder / "b.en")
    for number in range(n_cases):
        out = fresh(place, number)
        how = number % 4
        if how == 1:  # both go on with a run that was killed
            place.nursery.life(place.train(out), below=out, at=rng.randint(60, place.n_calls - 5))
        if how == 3:
            shutil.rmtree(place.folder / "cache", ignore_errors=True)
        translate = ["translate", str(place.reference), text, "--out", str(out)]
        verbs = {
            0: [place.train(out), place.train(out)],
            1: [place.train(out), place.train(out)],
            2: [translate, [*translate, "--beam", "2"]],
            3: [["prepare", *place.train(out)[1:5]], place.train(out)],
        }[how]
        running = []
        for verb in verbs:
            running.append(
                subprocess.Popen(command(place, verb), env=environment, stderr=subprocess.PIPE,
                                 stdout=subprocess.PIPE, text=True)
            )  # fmt: skip
            time.sleep(rng.choice((0.0, 0.0, 0.1, 0.5)))
        said = [process.communicate()[1] for process in running]
        status = [process.returncode for process in running]
        what = " | ".join(verb[0] for verb in verbs) + f", case {number}"
        if set(status) - {0, 2} or 0 not in status:
            yield Trial(what, f"{status}: {' '.join(said)[-500:]}")
        elif 2 in status and not any("at it" in one or "already holds" in one for one in said):
            yield Trial(what, " ".join(said)[-500:])
        elif how == 2:
            lines = out.read_text(encoding="utf-8").splitlines()
            yield Trial(what, "" if len(lines) == 300 and len(set(lines)) == 1 else "mixed lines")
        else:
            yield Trial(what, faults.difference(out, place.reference))


def hostile(place: Ground, n_cases: int, rng: random.Random) -> Iterator[Trial]:
    """Each kind of harm with each verb that opens a run."""
    base = faults.good_load(place)
    for name in list(faults.HARMS)[: n_cases or None]:
        for verb in faults.VERBS:
            yield faults.harmed(place, name, verb, base)


KINDS = {"kills": kills, "errors": errors, "flips": flips, "pairs": pairs, "hostile": hostile}


def main() -> int:
    """Run the kinds that are asked for, and print what went wrong."""
    options = record.parser(__doc__)
    options.add_argument("kinds", nargs="+", choices=list(KINDS))
    options.add_argument("--cases", type=int, default=0, help="of each kind; 0: all there are")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument(
        "--skip", type=int, default=0, help="of errors: the first ones, which were made before"
    )
    options.add_argument("--folder", type=Path, help="where; in memory is quickest")
    record.add_record_option(options)
    asked: argparse.Namespace = options.parse_args()
    in_memory = Path("/dev/shm")
    parent = asked.folder or (in_memory if in_memory.is_dir() else None)
    failed = 0
    for kind in asked.kinds:
        with tempfile.TemporaryDirectory(dir=parent) as name, faults.ground(Path(name)) as place:
            clock, n = time.monotonic(), 0
            skip = {"skip": asked.skip} if kind == "errors" else {}
            for trial in KINDS[kind](place, asked.cases, random.Random(asked.seed), **skip):
                n += 1
                if trial.wrong:
                    failed += 1
                    print(f"{kind}: {trial.what}: {trial.wrong}", flush=True)
                if n % 50 == 0:
                    print(f"{kind}: {n} cases so far, {failed} wrong", flush=True)
        print(f"{kind}: {n} cases in {time.monotonic() - clock:.0f} s, {failed} wrong", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
