"""Trainings by several processes whose ranks are killed and stopped, and whose network is cut.

Small trainings on made-up pairs under torchrun's agent with restarts, disturbed at random moments,
from --seed; on one machine processes are forked, so that a start does not import torch anew. Every
row that a process learns is written down, by a hook that is the benchmark's own.

    equal     SIGKILL and SIGSTOP of random ranks, the number of processes stays: the finished model
              and its checkpoints must have the bits of a training that nobody disturbed
    link      the same on two "machines", network namespaces of this one (needs root): their link is
              cut for 1 to 20 seconds while they learn, processes are killed on either
    changed   each time a rank is killed, all ends and goes on with another number of processes
              (torchrun with 2 or 3, or headway alone): every pair of each pass exactly once
    slow      two "machines" over a link of 20 ms and 10 Mbit/s, then at full speed: time an update
Each training is a line in --results; the table is over all lines there, so that a part can be done
piece by piece (--first is the number of the first training). Not beside other work: what is lost by
a busy machine's pauses would count as a rank that died.
Run: python benchmarks/rank_kills.py equal --trainings 32 --results kills.jsonl
"""

import argparse
import hashlib
import json
import multiprocessing
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

os.environ["OMP_NUM_THREADS"] = "1"  # before torch is loaded, and forked

import record
from torch.distributed.launcher.api import LaunchConfig, elastic_launch

from headway.cli import main as headway_main
from headway.core.trainer import Trainer
from headway.core.translation_task import TranslationTask

HERE = Path(__file__).resolve()
N_PAIRS, STEPS = 300, 120
LOST_AFTER_S = 6
LIMIT_S = 300.0
NAMES = {"a": "10.83.0.1", "b": "10.83.0.2"}
SHAPE = {
    "model": {"d_model": 16, "heads": 2, "d_ff": 32, "encoder_layers": 1, "decoder_layers": 1},
    "training": {"max_steps": STEPS, "checkpoint_every": 10, "batch_tokens": 512},
}


# -- a training that writes down what it learns ---------------------------------------------------


def written_down(log: str, arguments: Sequence[str]) -> int:
    """Run headway; each learned row goes to a file of this process below `log`, with its step."""
    path = Path(log, f"{time.time_ns()}-{os.getpid()}")
    file = path.open("w", encoding="utf-8", buffering=1)
    step, loss = Trainer.train_step, TranslationTask.loss
    now: dict[str, Any] = {}

    def train_step(self: Any) -> Any:
        world = getattr(self, "world", None)
        start = world.watch.everyone[0]["nonce"] if world else str(os.getpid())
        now.update(start=start, step=self.progress.step + 1)
        return step(self)

    def learned(self: Any, model: Any, batch: Any) -> Any:
        rows = [int(row) for row in batch.rows[1]]
        file.write(json.dumps({**now, "rows": rows}) + "\n")
        return loss(self, model, batch)

    Trainer.train_step, TranslationTask.loss = train_step, learned  # type: ignore[method-assign]
    return headway_main(list(arguments))


def learned_rows(log: Path) -> list[list[int]]:
    """By step, what was learned by those who made that update last: rows of all processes."""
    by_step: dict[int, tuple[int, list[int]]] = {}
    starts: dict[str, int] = {}
    for path in sorted(log.iterdir(), key=lambda path: int(path.name.partition("-")[0])):
        for text in path.read_text(encoding="utf-8").splitlines():
            line = json.loads(text)
            start = starts.setdefault(line["start"], len(starts))
            before, rows = by_step.get(line["step"], (-1, []))
            if start >= before:
                rows = rows if start == before else []
                by_step[line["step"]] = start, [*rows, *line["rows"]]
    assert sorted(by_step) == list(range(1, len(by_step) + 1)), "steps are missing"
    return [by_step[step][1] for step in sorted(by_step)]


def wrong_passes(log: Path, n_rows: int) -> str:
    """What is wrong with the passes over `n_rows` pairs; "" where each pair comes once in each."""
    seen, n_passes = set[int](), 0
    for step, rows in enumerate(learned_rows(log), 1):
        if len({*rows}) < len(rows) or seen & {*rows}:
            return f"a pair comes twice in pass {n_passes + 1}, at step {step}"
        seen |= {*rows}
        if len(seen) == n_rows:
            seen, n_passes = set(), n_passes + 1
    if n_passes < 3:
        return f"only {n_passes} whole passes"
    return "" if max(seen, default=0) < n_rows else "a row that is none"


# -- starting, disturbing, comparing --------------------------------------------------------------


def write_pairs(folder: Path) -> None:
    """Sentences of 60 words; the target has them backwards."""
    draw = random.Random(3)
    lines = [
        draw.choices([f"w{i}" for i in range(60)], k=draw.randint(3, 9)) for _ in range(N_PAIRS)
    ]
    for name, step in (("a.en", 1), ("a.de", -1)):
        texts = [" ".join([*line[::step], f"n{n}"]) for n, line in enumerate(lines)]
        (folder / name).write_text("\n".join(texts) + "\n", encoding="utf-8")


def training(folder: Path, out: Path) -> list[str]:
    """The command line of headway."""
    flags = ["--source", str(folder / "a.en"), "--target", str(folder / "a.de"), "--preset", "tiny"]
    for section, keys in SHAPE.items():
        for key, value in keys.items():
            flags += [f"--{section}.{key.replace('_', '-')}", str(value)]
    return ["train", "--resume", "--out", str(out), *flags]


def environment(folder: Path) -> dict[str, str]:
    """One thread a process, a cache of its own, ranks that are missed soon."""
    return {
        **os.environ, "OMP_NUM_THREADS": "1", "HEADWAY_CACHE": str(folder / "cache"),
        "HEADWAY_LOST_AFTER": str(LOST_AFTER_S), "HEADWAY_MEETS_WITHIN": "20",
        "PYTHONPATH": str(HERE.parent.parent / "src"),
        "GLOG_minloglevel": "2", "TORCH_CPP_LOG_LEVEL": "ERROR",
    }  # fmt: skip


def rank(log: str, words: list[str]) -> None:
    """One process of several, which does not take the agent's signals for its own."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, signal.SIG_DFL)
    if status := written_down(log, words):
        sys.exit(status)


class Forked:
    """A process that has this one's memory, with the words of `subprocess.Popen`."""

    def __init__(self, work: Callable[[], None]) -> None:
        self.process = multiprocessing.get_context("fork").Process(target=work)
        self.process.start()
        self.pid = self.process.pid or 0

    def poll(self) -> int | None:
        """Its status, if it has ended."""
        return self.process.exitcode

    def wait(self, timeout: float) -> int:
        """Its status."""
        self.process.join(timeout)
        if self.process.exitcode is None:
            raise subprocess.TimeoutExpired("a forked training", timeout)
        return self.process.exitcode


class Training:
    """torchrun on one machine or two, or headway alone, and the processes below it."""

    def __init__(self, folder: Path, out: Path, log: Path, *, world: int, restarts: int) -> None:
        """`world` 0: two machines with a process each."""
        log.mkdir(exist_ok=True)
        self.alone, self.stopped = world == 1, set[int]()
        self.said = out.with_suffix(".said")
        words = training(folder, out)
        if world:
            work = partial(self.forked, environment(folder), world, restarts, log, words)
            self.parents: list[Any] = [Forked(work)]
            return
        run = [sys.executable, "-m", "torch.distributed.run", "--max-restarts", str(restarts)]
        at = ["--rdzv-backend", "c10d", "--rdzv-endpoint", f"{NAMES['a']}:29871"]
        two = [*run, "--nnodes", "2", "--nproc-per-node", "1", *at, "--rdzv-id", out.name]
        with self.said.open("a") as file:
            how: Any = {"stdout": file, "stderr": subprocess.STDOUT, "env": environment(folder)}
            self.parents = [
                subprocess.Popen(
                    [*on_machine(folder, name), *two, "--local-addr", ip, str(HERE), "rows",
                     str(log), *words], start_new_session=True, **how
                ) for name, ip in NAMES.items()
            ]  # fmt: skip

    def forked(
        self, environ: dict[str, str], world: int, restarts: int, log: Path, words: list[str]
    ) -> None:
        """One machine's agent, as torchrun's main function starts it; or headway alone."""
        os.setsid()
        os.environ.update(environ)
        with self.said.open("a", buffering=1) as file:
            os.dup2(file.fileno(), 1)
            os.dup2(file.fileno(), 2)
        sys.stdout = sys.stderr = os.fdopen(2, "w", buffering=1, closefd=False)
        if world == 1:
            sys.exit(written_down(str(log), words))
        config = LaunchConfig(
            min_nodes=1, max_nodes=1, nproc_per_node=world, run_id=log.name, monitor_interval=0.1,
            rdzv_backend="c10d", rdzv_endpoint="localhost:0", max_restarts=restarts,
            start_method="fork", metrics_cfg={},
        )  # fmt: skip
        elastic_launch(config, rank)(str(log), words)

    @property
    def running(self) -> bool:
        """Whether any of it is."""
        return any(parent.poll() is None for parent in self.parents)

    def ranks(self) -> list[int]:
        """Process ids of the ranks that are there now."""
        found, below = [], {parent.pid for parent in self.parents}
        if self.alone:
            return [parent.pid for parent in self.parents if parent.poll() is None]
        lines = subprocess.run(
            ["ps", "-eo", "pid=,ppid=,args="], capture_output=True, text=True, check=True
        ).stdout.splitlines()
        for line in sorted(lines, key=lambda line: int(line.split()[0])):
            pid, parent, words = line.split(maxsplit=2)
            if int(parent) in below:
                below.add(int(pid))
                if "torch.distributed.run" not in words and "resource_tracker" not in words:
                    found.append(int(pid))
        return found

    def disturb(self, draw: random.Random) -> str:
        """Kill or stop a rank; returns what was done."""
        number = draw.choice((signal.SIGKILL, signal.SIGKILL, signal.SIGSTOP))
        if self.alone:  # nobody would miss it
            number = signal.SIGKILL
        awake = [pid for pid in self.ranks() if pid not in self.stopped]
        if len(awake) < (2 if number == signal.SIGSTOP else 1):
            return ""  # where all are stopped, nobody is left to notice
        harmed = draw.choice(awake)
        try:
            os.kill(harmed, number)
        except ProcessLookupError:
            return ""
        if number == signal.SIGSTOP:
            self.stopped.add(harmed)
        return number.name

    def end(self) -> list[int]:
        """The statuses, within `LIMIT_S`; what is left then is killed."""
        until = time.monotonic() + LIMIT_S
        try:
            return [parent.wait(max(0.1, until - time.monotonic())) for parent in self.parents]
        except subprocess.TimeoutExpired:
            return [-1]
        finally:
            self.kill()

    def kill(self) -> None:
        """Everything that is left."""
        for pid in {*self.ranks(), *(p.pid for p in self.parents if p.poll() is None)}:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        for parent in self.parents:
            parent.wait(20)


def bits(out: Path) -> dict[str, str]:
    """Digests of the finished model and of all its checkpoints."""
    files = [out / "model.safetensors", *sorted(out.glob("checkpoints/step-*/*.safetensors"))]
    return {
        str(file.relative_to(out)): hashlib.sha256(file.read_bytes()).hexdigest() for file in files
    }


def n_rows(out: Path) -> int:
    """How many pairs are learned from."""
    table = json.loads((out / "data.json").read_text(encoding="utf-8"))
    return int(table["train"]["kept"])


# -- two machines ---------------------------------------------------------------------------------


def ip(*words: str) -> None:
    """One command of iproute2."""
    subprocess.run(["ip", *words], check=True, capture_output=True)


def on_machine(folder: Path, name: str) -> list[str]:
    """What stands before a command that runs on one of the two."""
    (folder / "hosts").write_text(
        "127.0.0.1 localhost\n" + "".join(f"{at} node-{one}\n" for one, at in NAMES.items())
    )
    inside = f'mount --bind {folder}/hosts /etc/hosts; hostname node-{name}; exec "$@"'
    apart = ["unshare", "--uts", "--mount", "bash", "-c", inside, "machine"]
    return ["ip", "netns", "exec", f"headway-{name}", *apart]


@contextmanager
def two_machines() -> Iterator[None]:
    """Two network namespaces, joined by a link."""
    remove_machines()
    try:
        for name in NAMES:
            ip("netns", "add", f"headway-{name}")
            ip("-n", f"headway-{name}", "link", "set", "lo", "up")
        ip("link", "add", "to-b", "netns", "headway-a", "type", "veth",
           "peer", "name", "to-a", "netns", "headway-b")  # fmt: skip
        for name, link, address in (("a", "to-b", NAMES["a"]), ("b", "to-a", NAMES["b"])):
            ip("-n", f"headway-{name}", "addr", "add", f"{address}/24", "dev", link)
            ip("-n", f"headway-{name}", "link", "set", link, "up")
        yield
    finally:
        remove_machines()


def remove_machines() -> None:
    """And their link with them."""
    for name in NAMES:
        command = ["ip", "netns", "delete", f"headway-{name}"]
        subprocess.run(command, capture_output=True, check=False)


def set_link(how: str) -> None:
    """`up` or `down`."""
    ip("-n", "headway-b", "link", "set", "to-a", how)


def why_no_machines() -> str:
    """Why there cannot be two, in words."""
    if os.geteuid():
        return "needs root: network namespaces are made"
    missing = [name for name in ("ip", "tc", "unshare") if not shutil.which(name)]
    return f"needs {', '.join(missing)}" if missing else ""


# -- the parts ------------------------------------------------------------------------------------


def equal(folder: Path, number: int, draw: random.Random) -> dict[str, Any]:
    """A training under torchrun, disturbed, beside one that was not."""
    world = 2 if number % 4 else 3
    out, log = folder / f"equal-{number}", folder / f"equal-{number}.rows"
    run = Training(folder, out, log, world=world, restarts=20)
    done = disturbed(run, draw, lambda: run.disturb(draw))
    return judged(folder, out, log, world, run.end(), done)


def link(folder: Path, number: int, draw: random.Random) -> dict[str, Any]:
    """The same on two machines; the link is cut."""

    def harm() -> str:
        if draw.random() < 0.3:
            return run.disturb(draw)
        cut_s = draw.uniform(1, 20)
        set_link("down")
        time.sleep(cut_s)
        set_link("up")
        return f"cut {cut_s:.0f} s"

    out, log = folder / f"link-{number}", folder / f"link-{number}.rows"
    run, done = Training(folder, out, log, world=0, restarts=20), list[str]()
    for reached in sorted(draw.randint(1, STEPS) for _ in range(draw.choice((1, 2)))):
        while run.running and step_of(out) < reached:
            time.sleep(0.05)
        if run.running:
            done.append(harm())
    return judged(folder, out, log, 2, run.end(), [one for one in done if one])


def disturbed(run: Training, draw: random.Random, harm: Callable[[], str]) -> list[str]:
    """One to three harms, at moments anywhere between the start and the end."""
    done = []
    for _ in range(draw.choice((1, 1, 2, 2, 3))):
        until = time.monotonic() + draw.uniform(0.5, 14)
        while run.running and time.monotonic() < until:
            time.sleep(0.05)
        if run.running:
            done.append(harm())
    return [one for one in done if one]


def changed(folder: Path, number: int, draw: random.Random) -> dict[str, Any]:
    """Two or three numbers of processes in one training."""
    out, log = folder / f"changed-{number}", folder / f"changed-{number}.rows"
    worlds, done = [draw.choice((1, 2, 3))], list[str]()
    for _ in range(draw.choice((1, 2))):
        worlds.append(draw.choice([n for n in (1, 2, 3) if n != worlds[-1]]))
    for world in worlds:
        run = Training(folder, out, log, world=world, restarts=0)
        if world is not worlds[-1] or len(done) < len(worlds) - 1:
            reached = draw.randint(1, STEPS * (len(done) + 1) // len(worlds))
            while run.running and step_of(out) < reached:
                time.sleep(0.05)
            done.append(run.disturb(draw))
        status = run.end()
    done = [one for one in done if one]
    return judged(folder, out, log, 0, status, done) | {"worlds": worlds}


def step_of(out: Path) -> int:
    """The last update that the run's log tells."""
    try:
        return int(json.loads((out / "metrics.jsonl").read_bytes().splitlines()[-1])["step"])
    except (OSError, ValueError, IndexError, KeyError):
        return 0


def judged(
    folder: Path, out: Path, log: Path, world: int, status: list[int], done: list[str]
) -> dict[str, Any]:
    """What became of a training; `world` 0: of several, so that no bits are compared."""
    found: dict[str, Any] = {"harm": done, "finished": not any(status), "wrong": ""}
    said = out.with_suffix(".said").read_text(errors="replace")
    found["starts"] = said.count(f"read {N_PAIRS} pairs")
    if any(status):
        found["wrong"] = f"statuses {status}"
    elif wrong := wrong_passes(log, n_rows(out)):
        found["wrong"] = wrong
    elif world and bits(out) != bits(reference(folder, world)):
        found["wrong"] = "other bits"
    if "bug in headway" in said:
        found["wrong"] = found["wrong"] or "an error called a bug"
    if not found["wrong"]:
        shutil.rmtree(out)
        shutil.rmtree(log)
    return found


def reference(folder: Path, world: int) -> Path:
    """A training by so many processes that nobody disturbed."""
    out, log = folder / f"undisturbed-{world}", folder / f"undisturbed-{world}.rows"
    if not out.exists():
        status = Training(folder, out, log, world=world, restarts=0).end()
        assert not any(status), out.with_suffix(".said")
        assert not wrong_passes(log, n_rows(out)), log
    return out


PARTS = {"equal": equal, "link": link, "changed": changed}


def slow(folder: Path) -> None:
    """Prints seconds an update over a slow link and over a fast one, and how it ended."""
    for name in ("slow", "fast"):
        for machine, device in (("a", "to-b"), ("b", "to-a")):
            how = ["add", "dev", device, "root", "netem", "delay", "20ms", "rate", "10mbit"]
            if name == "fast":
                how = ["del", "dev", device, "root"]
            ip("netns", "exec", f"headway-{machine}", "tc", "qdisc", *how)
        out, log = folder / name, folder / f"{name}.rows"
        run = Training(folder, out, log, world=0, restarts=0)
        status = run.end()
        last = json.loads((out / "metrics.jsonl").read_bytes().splitlines()[-1])
        same = bits(out) == bits(reference(folder, 2))
        print(f"{name} link: {last['time_s'] / last['step']:.3f} s an update, statuses {status}, "
              f"{'the same bits' if same else 'OTHER BITS'}")  # fmt: skip


def table(results: Path) -> int:
    """Print what all lines say; returns how many trainings went wrong."""
    lines = [json.loads(line) for line in results.read_text(encoding="utf-8").splitlines()]
    print("| part | trainings | finished | SIGKILL | SIGSTOP | link cut | starts | right |")
    print("|---|---|---|---|---|---|---|---|")
    for part in PARTS:
        some = [line for line in lines if line["part"] == part]
        harm = [one.split()[0] for line in some for one in line["harm"] if one]
        row = [len(some), sum(line["finished"] for line in some), harm.count("SIGKILL"),
               harm.count("SIGSTOP"), harm.count("cut"), sum(line["starts"] for line in some),
               sum(not line["wrong"] for line in some)]  # fmt: skip
        print(f"| {part} | {' | '.join(map(str, row))} |")
    for line in lines:
        if line["wrong"]:
            print(f"{line['part']} {line['number']}: {line['wrong']}; {', '.join(line['harm'])}")
    return sum(bool(line["wrong"]) for line in lines)


def main() -> int:
    """Disturb trainings of one part."""
    options = record.parser(__doc__)
    options.add_argument("part", choices=[*PARTS, "slow", "table"])
    options.add_argument("--trainings", type=int, default=4)
    options.add_argument("--first", type=int, default=0)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--results", type=Path, default=Path("rank-kills.jsonl"))
    options.add_argument("--keep", type=Path, help="work here, and keep what went wrong")
    record.add_record_option(options)
    asked = options.parse_args()
    needs_machines = asked.part in ("link", "slow")
    if needs_machines and (why := why_no_machines()):
        print(f"{asked.part} is left out: it {why}.")
        return 0
    import_module("headway.distributed.training")  # and what it loads late, once for all
    import_module("torch._inductor")
    if asked.part != "table":
        with tempfile.TemporaryDirectory() as made:
            folder = asked.keep or Path(made)
            folder.mkdir(parents=True, exist_ok=True)
            write_pairs(folder)
            if needs_machines:
                with two_machines():
                    worked(folder, asked)
            else:
                worked(folder, asked)
    wrong = table(asked.results) if asked.results.exists() else 0
    figures = {"results": asked.results.read_text().splitlines() if asked.results.exists() else []}
    record.write(asked.record, "rank_kills", seeds=[asked.seed], figures=figures)
    return int(bool(wrong))


def worked(folder: Path, asked: argparse.Namespace) -> None:
    """One part, training by training."""
    if asked.part == "slow":
        slow(folder)
        return
    for number in range(asked.first, asked.first + asked.trainings):
        began = time.monotonic()
        draw = random.Random(f"{asked.seed} {asked.part} {number}")
        found = {"part": asked.part, "number": number, **PARTS[asked.part](folder, number, draw)}
        found["s"] = round(time.monotonic() - began)
        with asked.results.open("a", encoding="utf-8") as file:
            file.write(json.dumps(found) + "\n")
        print(json.dumps(found), flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["rows"]:
        sys.exit(written_down(sys.argv[2], sys.argv[3:]))
    sys.exit(main())
