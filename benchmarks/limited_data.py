"""What helps a translator that has little data: each way alone beside the plain one.

Every way is a list of flags of `headway train`, on the preset `tiny`, for the same number of
updates, with each of --seeds on each of --corpora; ways are chosen by validation pairs alone. A row
of the table has the lowest validation loss, BLEU on validation of the weights that the run chose
under its own search, what that is more than the plain way's, and the time of the updates beside the
plain way's. `both ways first` makes half of its updates on the pairs in both directions, the other
half from there on in one (Ding et al. 2021). The test set is translated for the ways of --test
only. A queue: what is finished in --out is not done again, what was stopped (Ctrl-C, --minutes)
goes on; --pairs N takes the first N of each corpus, whose shortage then shows in fewer updates.
Run: python benchmarks/limited_data.py --data DIR --out DIR --updates 8000 --seeds 1 2 3
"""

import argparse
import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from statistics import mean
from typing import Any, NamedTuple

import record
import runs

from headway.core.errors import HeadwayError
from headway.core.lines import read_lines
from headway.core.run_folder import RunFolder
from headway.operations.shipped import open_folder

PLAIN, BOTH = "plain", "both ways first"
WAYS: Mapping[str, Sequence[str]] = {
    PLAIN: (),
    "weight decay 0.1": ("--training.weight-decay", "0.1"),
    "weight decay 0.3": ("--training.weight-decay", "0.3"),
    "weight decay 1": ("--training.weight-decay", "1"),
    "weight decay 3": ("--training.weight-decay", "3"),
    BOTH: (),
    "vocabulary 6k": ("--text.vocabulary-size", "6000"),
    "shorter warm-up": (),
    "dropout 0.3": ("--model.dropout", "0.3"),
    "dropout 0.4": ("--model.dropout", "0.4"),
}
"""What each adds to the flags that all have."""
SHORTER = 8
"""Of the updates one in so many is the shorter warm-up; the usual is a quarter."""
VALIDATIONS = 12


class StoppedByClockError(HeadwayError):
    """The minutes of this call are over."""


class Job(NamedTuple):
    """One training."""

    corpus: str
    way: str
    seed: int

    @property
    def name(self) -> str:
        return f"{self.way.replace(' ', '-').lower()}-seed-{self.seed}"


class Queue:
    """Trainings below a folder, one after the other."""

    def __init__(self, asked: argparse.Namespace) -> None:
        self.asked = asked
        self.until = time.monotonic() + 60 * asked.minutes if asked.minutes else None

    def jobs(self) -> list[Job]:
        """All, the plain way first; each seed of all before the next."""
        asked = self.asked
        return [
            Job(corpus, way, seed)
            for seed in asked.seeds
            for corpus in asked.corpora
            for way in asked.only
        ]

    def folder(self, job: Job) -> Path:
        asked = self.asked
        size = f"{asked.pairs or 'all'}-pairs-{asked.updates}-updates"
        return Path(asked.out) / job.corpus / size / job.name

    def files(self, corpus: str) -> list[Path]:
        """Both sides to learn from."""
        asked, known = self.asked, runs.CORPORA[corpus]
        sides = known.source, known.target
        whole = [known.file(asked.data, known.train, language) for language in sides]
        if not asked.pairs:
            return whole
        some = [Path(asked.out) / corpus / f"{asked.pairs}.{language}" for language in sides]
        if not all(path.exists() for path in some):
            for path, side in zip(some, known.lines(asked.data, known.train), strict=True):
                path.parent.mkdir(parents=True, exist_ok=True)
                lines = (f"{line}\n" for line in islice(side, asked.pairs))
                path.write_text("".join(lines), encoding="utf-8")
        return some

    def both_ways(self, corpus: str, source: Path, target: Path) -> list[Path]:
        """Each side before the other, in files that name no language: none is told which."""
        known, found = runs.CORPORA[corpus], list[Path]()
        texts = [
            "".join(f"{line or ''}\n" for line in read_lines(side)) for side in (source, target)
        ]
        for name, order in ((known.source, texts), (known.target, texts[::-1])):
            found.append(Path(self.asked.out) / corpus / f"{source.stem}-{name}-first.txt")
            found[-1].parent.mkdir(parents=True, exist_ok=True)
            found[-1].write_text("".join(order), encoding="utf-8")
        return found

    def train(self, job: Job) -> Path:
        """The finished run of a job."""
        run, updates = self.folder(job), self.asked.updates
        source, target = self.files(job.corpus)
        if job.way == BOTH:
            before = run.with_name(f"{run.name}-first")
            first, second = self.both_ways(job.corpus, source, target)
            told = ["--source", first, "--target", second, *self.flags(job, updates // 2)]
            self.headway(before, told)
            begun = ["--init-from", before, "--data.old-share", "0"]
            self.headway(run, ["--source", source, "--target", target, *begun,
                               *self.flags(job, updates - updates // 2, preset=False)])  # fmt: skip
            return run
        files = ["--source", source, "--target", target]
        self.headway(run, [*files, *self.flags(job, updates)])
        return run

    def flags(self, job: Job, updates: int, *, preset: bool = True) -> list[str]:
        """What makes a training, but for its files."""
        known = runs.CORPORA[job.corpus]
        valid = [
            known.file(self.asked.data, known.valid, side) for side in (known.source, known.target)
        ]
        told: list[Any] = ["--valid-source", valid[0], "--valid-target", valid[1]]
        told += ["--training.valid-sentences", self.asked.valid, "--runtime.seed", job.seed]
        told += ["--training.max-steps", updates, "--runtime.threads", self.asked.threads]
        told += ["--training.checkpoint-every", max(1, updates // VALIDATIONS)]
        told += ["--preset", "tiny"] if preset else []
        if job.way == "shorter warm-up":
            told += ["--training.warmup-steps", updates // SHORTER]
        return [*map(str, told), *WAYS[job.way], *self.asked.settings]

    def headway(self, run: Path, flags: Sequence[object]) -> None:
        """`headway train`, unless that is done; raises StoppedByClockError where it is time."""
        if RunFolder(run).config.exists() and open_folder(run).finished:
            return
        command = [sys.executable, "-m", "headway", "train", "--out", str(run), *map(str, flags)]
        if RunFolder(run).config.exists():
            command = [*command[:6], "--resume"]
        log = run.with_name(f"{run.name}.log")
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("a", encoding="utf-8") as out:
            process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT)
            try:
                left = None if self.until is None else max(1.0, self.until - time.monotonic())
                status = process.wait(left)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGINT)  # it saves
                process.wait()
                raise StoppedByClockError("the minutes of this call are over") from None
            except KeyboardInterrupt:
                process.wait()  # it has heard the same Ctrl-C
                raise
        if status:
            raise HeadwayError(f"Training must end with a model; {log} says why it did not.")

    def scored(self, job: Job, split: str) -> float:
        """BLEU of a finished run on validation or test pairs, under its own search."""
        known, run = runs.CORPORA[job.corpus], self.folder(job)
        kept = run / f"bleu-{split}.json"
        if not kept.exists():
            sides = [
                known.file(self.asked.data, split, one) for one in (known.source, known.target)
            ]
            command = [*(sys.executable, "-m", "headway", "evaluate", str(run), "--json"),
                       *("--source", str(sides[0]), "--reference", str(sides[1]))]  # fmt: skip
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
            if done.returncode:
                raise HeadwayError("`headway evaluate` must end well; what it printed says why.")
            kept.write_text(done.stdout, encoding="utf-8")
        return float(json.loads(kept.read_text(encoding="utf-8"))["bleu"]["score"])

    def found(self, job: Job) -> dict[str, Any]:
        """What a finished run says of itself."""
        log = open_folder(self.folder(job)).read_log()
        losses = [line["valid_loss"] for line in log if "valid_loss" in line]
        known = runs.CORPORA[job.corpus]
        tested = self.scored(job, known.tests[0]) if job.way in self.asked.test else None
        return {
            **job._asdict(), "loss": min(losses), "bleu": self.scored(job, known.valid),
            "time_s": log[-1]["time_s"], "target_tokens": log[-1]["target_tokens"], "test": tested,
        }  # fmt: skip


def rows(found: Sequence[Mapping[str, Any]], ways: Sequence[str]) -> Iterator[list[str]]:
    """Means over the seeds that the plain way has, too, and each seed's gain."""
    plain = {one["seed"]: one for one in found if one["way"] == PLAIN}
    for way in ways:
        each = [one for one in found if one["way"] == way and one["seed"] in plain]
        if not each:
            continue
        gains = [one["bleu"] - plain[one["seed"]]["bleu"] for one in each]
        tests = [one["test"] for one in each if one["test"] is not None]
        yield [
            way,
            f"{mean(one['loss'] for one in each):.3f}",
            f"{mean(one['bleu'] for one in each):.2f}",
            f"{mean(gains):+.2f} ({' '.join(f'{gain:+.1f}' for gain in gains)})",
            f"{mean(one['time_s'] / plain[one['seed']]['time_s'] for one in each):.2f}",
            f"{mean(tests):.2f}" if tests else "",
        ]


def main() -> int:
    parser = record.parser(__doc__)
    record.add_data_option(parser)
    parser.add_argument("--out", type=Path, metavar="DIR", required=True, help="of the runs")
    known = ("multi30k-en-de", "tatoeba-en-zh", "pydocs-en-zh")
    parser.add_argument("--corpora", nargs="+", choices=runs.CORPORA, default=known)
    parser.add_argument("--only", nargs="+", choices=WAYS, default=list(WAYS))
    parser.add_argument("--seeds", nargs="+", type=int, default=[1, 2, 3], metavar="N")
    parser.add_argument("--updates", type=int, default=8000, metavar="N", help="of each training")
    parser.add_argument("--pairs", type=int, default=0, metavar="N", help="of each corpus; 0: all")
    parser.add_argument("--valid", type=int, default=1000, metavar="N", help="pairs validated on")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=0, help="of this call; 0: to the end")
    parser.add_argument("--test", nargs="*", choices=WAYS, default=[], help="ways to be tested")
    record.add_record_option(parser)
    parser.add_argument("--settings", nargs=argparse.REMAINDER, default=[], help="for all of them")
    asked = parser.parse_args()
    queue, found = Queue(asked), list[dict[str, Any]]()
    for job in queue.jobs():
        try:
            queue.train(job)
        except StoppedByClockError:
            print(f"{job.corpus}, {job.name}: stopped; the same command goes on")
            break
        found.append(queue.found(job))
        print(json.dumps(found[-1]), flush=True)
    for corpus in asked.corpora:
        of_corpus = [one for one in found if one["corpus"] == corpus]
        head = ["way", "lowest loss", "validation BLEU", "gain (each seed)", "time", "test BLEU"]
        print(f"\n{corpus}\n\n{record.table(head, [*rows(of_corpus, asked.only)])}")
    figures = {"updates": asked.updates, "pairs": asked.pairs, "found": found}
    record.write(asked.record, "limited_data", seeds=asked.seeds, figures=figures)
    return 0


if __name__ == "__main__":
    raise SystemExit(record.exit_status(main))
