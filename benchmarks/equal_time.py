"""headway beside JoeyNMT, Hugging Face's Marian and Eole: equal time from raw files to a model.

Every toolkit has --minutes of the same --cores for a corpus, preparation included, one after the
other. headway is told its budget and nothing else. The others get what helps them: the shape of
the published system on Multi30k (JoeyNMT and Eole pre-norm, their default), a joint vocabulary as
large as headway's (10,000 pieces at most), batches as small as headway's, and a trial before their
clock starts, so that warm-up (an eighth), dropout (headway's rule) and checkpoints fit the time.
JoeyNMT averages its five best checkpoints, Eole its weights all the way, as their documents have
it, and both may go on to the next checkpoint after their time. All search with a beam of 5 and are
scored by one sacreBLEU. Each cell (a corpus, a seed, a toolkit) is a line of --record. Started
again with the same --record, those that are there are not measured again; delete a line to measure
its cell anew. The last line of a cell says the processor, and how many of the cores other programs
kept busy: above 0.15, measure again. The others are installed by 00_setup_venvs.sh (main joeynmt
eole) in $PEERS_HOME.
Run: python benchmarks/equal_time.py --data DIR --out DIR --minutes 30 --record FILE
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import mean
from subprocess import DEVNULL, STDOUT
from typing import Any, NamedTuple

import record
import runs
import torch
from equal_time_peers import LONGEST, training
from training_speed import peers_home

from headway import Translator
from headway.core.errors import ConfigError, HeadwayError
from headway.core.subword_training import fitted_vocabulary_size
from headway.runs.fitting import fit_dropout

TOOLKITS = {"headway": "", "joeynmt": "joeynmt", "marian": "transformers", "eole": "eole"}
"""What is compared, and the package of which the version is recorded."""
CORPORA = ("multi30k-en-de", "tatoeba-en-de", "tatoeba-en-zh", "pydocs-en-zh")
SHAPE = {"layers": 4, "d_model": 128, "d_ff": 256, "heads": 4}
RECIPE = {**SHAPE, "batch": 2048, "rate": 2e-3, "smoothing": 0.1}
"""Published with larger batches and a rate of 5e-3. Of 1e-3, 2e-3 and 4e-3 the second was best:
`marian`, 500 updates on Multi30k, validation loss 4.17, 3.46, 3.92 nats."""
SAVED = {"joeynmt": "Checkpoint saved in", "eole": "Saving config and vocab", "marian": "Saved"}
"""What the log of each says of a checkpoint, which is complete when the next update is told of."""
HELPERS = Path(__file__).with_name("equal_time_peers.py")


class Cell(NamedTuple):
    """One training and its scores."""

    corpus: str
    toolkit: str
    seed: int
    minutes: float


class Learned(NamedTuple):
    """How a training went."""

    seconds: float
    """From raw files to a model."""
    updates: int
    told: Mapping[str, Any]
    """The settings that were not the toolkit's own."""


def main() -> int:
    """Measure every cell that the record lacks, then print the table of all."""
    parser = record.parser(__doc__)
    record.add_data_option(parser)
    record.add_record_option(parser, required=True)
    parser.add_argument("--out", type=Path, metavar="DIR", required=True, help="of the trainings")
    parser.add_argument("--minutes", type=float, default=30, help="of each training")
    parser.add_argument("--corpora", nargs="+", choices=CORPORA, default=CORPORA)
    parser.add_argument("--toolkits", nargs="+", choices=TOOLKITS, default=list(TOOLKITS))
    parser.add_argument("--seeds", nargs="+", type=int, default=[1], metavar="N")
    parser.add_argument("--cores", nargs="+", type=int, default=[0, 1], metavar="N")
    asked = parser.parse_args()
    if asked.minutes < 1 or not {*asked.cores} <= os.sched_getaffinity(0):
        here = sorted(os.sched_getaffinity(0))
        parser.error(f"--minutes is 1 or more, and --cores are of those that there are: {here}")
    missing = [name for name in asked.toolkits if name != "headway" and not python(name).exists()]
    if missing:
        raise ConfigError(
            f"--toolkits must be installed; {', '.join(missing)} lack {python(missing[0])}. "
            "Run 00_setup_venvs.sh main joeynmt eole, or set PEERS_HOME."
        )
    os.sched_setaffinity(0, asked.cores)
    os.environ.update(OMP_NUM_THREADS=str(len(asked.cores)), CUDA_VISIBLE_DEVICES="")
    os.environ["TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD"] = "1"  # JoeyNMT's checkpoints are pickles
    for corpus in asked.corpora:
        for seed in asked.seeds:
            for toolkit in asked.toolkits:
                cell = Cell(corpus, toolkit, seed, asked.minutes)
                if cell not in measured(asked.record):
                    measure(cell, asked)
    print(f"\n{report(measured(asked.record), asked.minutes)}")
    return 0


def measure(cell: Cell, asked: argparse.Namespace) -> None:
    """Train, translate, score, record; a training that was interrupted begins anew."""
    folder = asked.out / f"{cell.minutes:g}m" / cell.corpus / f"{cell.toolkit}-{cell.seed}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    corpus = runs.CORPORA[cell.corpus]
    print(f"\n{cell.corpus}, {cell.toolkit}, seed {cell.seed}: {cell.minutes:g} min", flush=True)
    watched = record.OtherPrograms(asked.cores)
    learn = learn_headway if cell.toolkit == "headway" else learn_peer
    learned = learn(cell, folder, asked)
    others = watched.busy()
    scores = []
    for test in corpus.tests:
        sources, references = corpus.lines(asked.data, test)
        said = translate(cell.toolkit, folder, test, sources)
        scores.append(runs.score(corpus, test, references, said, "beam 5"))
        print(f"{test}: BLEU {scores[-1].bleu['score']:.2f}, chrF {scores[-1].chrf['score']:.2f}")
        for i in (0, len(said) // 2):
            print(f"  {sources[i]}\n  = {references[i]}\n  > {said[i]}")
    figures = {
        **cell._asdict(),
        **learned._asdict(),
        "version": package_version(cell.toolkit),
        "others": round(others, 2),
        "processor": record.processor(),
        "scores": [asdict(one) for one in scores],
    }
    record.write(asked.record, "equal_time", seeds=[cell.seed], figures=figures)
    print(f"{learned.updates:,} updates in {learned.seconds / 60:.1f} min on {record.processor()}; "
          f"of cores {asked.cores} other programs kept {others:.2f} busy", flush=True)  # fmt: skip


def learn_headway(cell: Cell, folder: Path, asked: argparse.Namespace) -> Learned:
    """`headway train` with a budget."""
    told = {"budget": f"{cell.minutes * 60:g}s", "seed": cell.seed}
    flags = [f"--{name}={value}" for name, value in told.items()]
    began = time.monotonic()
    runs.train(runs.CORPORA[cell.corpus], asked.data, folder / "run", flags)
    seconds = time.monotonic() - began
    return Learned(seconds, runs.facts(folder / "run")["updates"], told)


def learn_peer(cell: Cell, folder: Path, asked: argparse.Namespace) -> Learned:
    """Prepare; a trial that does not count; train, and average."""
    corpus = runs.CORPORA[cell.corpus]
    pairs = list(zip(*corpus.lines(asked.data, corpus.train), strict=True))
    size = fitted_vocabulary_size(len(pairs), sum(len(a) + len(b) for a, b in pairs))
    fast = "_bf16" in record.processor()  # there Eole is quicker with bf16; Marian never is
    job: dict[str, Any] = {
        "folder": str(folder),
        "seed": cell.seed,
        "coverage": 0.9995 if corpus.target == "zh" else 1.0,
        "recipe": {
            **RECIPE,
            "vocabulary": min(size, 10_000),
            "dropout": 0.1,
            "precision": "bf16" if fast and cell.toolkit == "eole" else "fp32",
        },
        "files": {
            name: [str(corpus.file(asked.data, split, language)) for language in languages]
            for name, split, languages in (
                ("train", corpus.train, (corpus.source, corpus.target)),
                ("valid", corpus.valid, (corpus.source, corpus.target)),
                *((test, test, (corpus.source,)) for test in corpus.tests),
            )
        },
    }
    began = time.monotonic()
    called(helper("prepare", job), folder / "prepare.log")
    left = cell.minutes * 60 - (time.monotonic() - began)
    trial_s = min(60.0, cell.minutes * 30)
    pace = run(cell.toolkit, {**job, "updates": 10**6, "seconds": 1e9}, "trial", trial_s)
    updates = max(1, round((left - pace.before_s) / pace.step_s))
    units = (folder / "train.pieces.target").read_text(encoding="utf-8").split(" ")
    dropout, why = fit_dropout(updates * RECIPE["batch"] / len(units))
    print(f"a trial: {pace.step_s:.2f} s an update, {updates:,} fit; dropout {dropout}: {why}")
    job["recipe"]["dropout"] = dropout
    began = time.monotonic()
    trained = run(cell.toolkit, {**job, "updates": updates, "seconds": left}, "model", left)
    if cell.toolkit == "joeynmt":
        average(folder / "model")
    seconds = cell.minutes * 60 - left + time.monotonic() - began
    return Learned(seconds, trained.updates, job["recipe"])


class Pace(NamedTuple):
    """What a toolkit's log says of its speed."""

    before_s: float
    """Until the first updates that it told of."""
    step_s: float
    updates: int


def run(toolkit: str, job: dict[str, Any], name: str, within_s: float) -> Pace:
    """Let a toolkit train: a trial for so long from its first updates, else in all, and then to the
    end of its next checkpoint. Raises HeadwayError where it ends by itself without a model.
    """
    log = Path(job["folder"]) / f"{name}.log"
    command = helper("marian", job)
    if toolkit != "marian":
        command = [str(python(toolkit)), *training(toolkit, job, name)]
    seen, in_time, ended, now = list[tuple[float, int]](), 0, False, 0.0
    began = time.monotonic()
    with log.open("w") as into:
        process = subprocess.Popen(command, stdout=into, stderr=STDOUT)
    try:
        while process.poll() is None and not ended and now < 5 * within_s:
            time.sleep(0.2)
            text, now = log.read_text(errors="replace"), time.monotonic() - began
            steps = re.findall(r"\bStep:? +(\d+)", text)
            saves = len(re.findall(rf"{SAVED[toolkit]}.*?\bStep", text, re.DOTALL))
            if steps and (not seen or int(steps[-1]) > seen[-1][1]):
                seen.append((now, int(steps[-1])))
            if name == "trial":
                ended = len(seen) > 1 and now > seen[0][0] + within_s
            elif now < within_s:
                in_time = saves
            else:
                ended = saves > in_time
    finally:
        process.kill()
        process.wait()
    if not seen or (not ended and process.returncode):
        raise HeadwayError(
            f"{toolkit} must train; it ended, or made no checkpoint; {log} says why."
        )
    (first_s, first), (last_s, last) = seen[0], seen[-1]
    return Pace(first_s, (last_s - first_s) / max(1, last - first), last)


def translate(toolkit: str, folder: Path, test: str, sources: Sequence[str]) -> list[str]:
    """What a toolkit makes of a test set with a beam of 5."""
    if toolkit == "headway":
        translator = Translator.load(folder / "run")
        search = runs.decodings(translator.settings.decoding)["beam 5"]
        return runs.translate(translator, sources, search)
    output = folder / f"{test}.{toolkit}"
    if toolkit == "marian":
        job = json.loads((folder / "marian.json").read_text(encoding="utf-8"))
        job |= {"split": test, "output": str(output)}
        called(helper("generate", job), folder / "generate.log")
    elif toolkit == "eole":
        command = [
            *(python(toolkit), "-m", "eole.bin.main", "predict"),
            *("-model_path", newest_of_eole(folder / "model")),
            *("-src", folder / f"{test}.pieces.source", "-output", output, "-beam_size", "5"),
            *("-batch_size", "32", "-max_length", str(LONGEST)),
        ]
        called(command, folder / "predict.log")
    else:
        settings = json.loads((folder / "model.joeynmt.yaml").read_text(encoding="utf-8"))
        best = str(folder / "model" / "mean.ckpt")
        settings["testing"] |= {"load_model": best, "batch_size": 32, "max_output_length": -1}
        file = folder / "translate.joeynmt.yaml"
        file.write_text(json.dumps(settings), encoding="utf-8")
        command = [python(toolkit), "-m", "joeynmt", "translate", file]
        with (folder / f"{test}.source").open() as lines, output.open("w") as into:
            called(command, folder / "translate.log", lines, into)
    said = output.read_text(encoding="utf-8").removesuffix("\n").split("\n")
    if toolkit == "eole":
        said = ["".join(line.split()).replace("▁", " ").strip() for line in said]
    if len(said) != len(sources):
        raise HeadwayError(f"{toolkit} must translate {len(sources)} lines; got {len(said)}.")
    return said


def newest_of_eole(model: Path) -> Path:
    """The last checkpoint that is complete."""
    complete = [file.parent for file in model.glob("step_*/config.json")]
    return max(complete, key=lambda folder: int(folder.name.removeprefix("step_")))


def average(model: Path) -> None:
    """The mean of the checkpoints that JoeyNMT kept, as its scripts/average_checkpoints.py does."""
    kept = [path for path in model.glob("*.ckpt") if path.stem.isdigit()]
    states = [torch.load(path, "cpu", weights_only=True)["model_state"] for path in kept]
    weights = {
        name: torch.stack([state[name] for state in states]).mean(0)
        if value.is_floating_point()
        else value
        for name, value in states[0].items()
    }
    torch.save({"model_state": weights}, model / "mean.ckpt")


def python(toolkit: str) -> Path:
    """The interpreter of a toolkit's environment."""
    name = "main" if toolkit == "marian" else toolkit
    return peers_home() / "venv" / name / "bin" / "python"


def package_version(toolkit: str) -> str:
    """Of what was measured."""
    if toolkit == "headway":
        return record.versions()["headway"]
    code = f"import importlib.metadata; print(importlib.metadata.version({TOOLKITS[toolkit]!r}))"
    done = subprocess.run([python(toolkit), "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def helper(what: str, job: Mapping[str, Any]) -> list[str]:
    """A command of `equal_time_peers.py`."""
    file = Path(job["folder"]) / f"{what}.json"
    file.write_text(json.dumps(job, ensure_ascii=False), encoding="utf-8")
    return [str(python("marian")), str(HELPERS), what, str(file)]


def called(command: Sequence[Any], log: Path, given: Any = DEVNULL, output: Any = STDOUT) -> None:
    """Run a command to its end; raises HeadwayError where that is a bad one."""
    with log.open("w") as into:
        output = into if output == STDOUT else output
        done = subprocess.run(
            [*map(str, command)], stdin=given, stdout=output, stderr=into, check=False
        )
    if done.returncode:
        raise HeadwayError(f"A toolkit's command must end well; this did not, {log} says why.")


def measured(file: Path) -> dict[Cell, dict[str, Any]]:
    """The cells that a record has."""
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    found = [line for line in map(json.loads, lines) if line["benchmark"] == "equal_time"]
    return {Cell(*(line[name] for name in Cell._fields)): line for line in found}


def report(cells: Mapping[Cell, Mapping[str, Any]], minutes: float) -> str:
    """BLEU of each test set by toolkit, the mean over the seeds that there are."""
    scores: dict[tuple[str, str], dict[str, list[float]]] = {}
    for cell, line in cells.items():
        for one in line["scores"] if cell.minutes == minutes else ():
            by_toolkit = scores.setdefault((cell.corpus, one["test"]), {})
            by_toolkit.setdefault(cell.toolkit, []).append(one["bleu"]["score"])
    rows = []
    for row, found in scores.items():
        means = {name: f"{mean(bleu):.2f} ({len(bleu)})" for name, bleu in found.items()}
        rows.append([*row, *(means.get(name, "-") for name in TOOLKITS)])
    head = ["corpus", "test set", *(f"{name}: BLEU (seeds)" for name in TOOLKITS)]
    return f"{minutes:g} minutes each\n\n{record.table(head, rows)}"


if __name__ == "__main__":
    raise SystemExit(record.exit_status(main))
