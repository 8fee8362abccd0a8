"""Pictures: MNIST by patches and by convolutions, and what a trunk that saw other classes is worth.

--part mnist: trains each of --models on the training pictures of --data DIR/img/mnist with default
flags, and scores it on the test pictures.
--part transfer: pre-trains on the classes 0 to 4 (--pretrain updates), then learns 5 to 9 from
--each pictures a class (drawn by the seed) with --updates updates: from scratch; with the lowest k
layers copied, the others drawn anew, the copied ones frozen or tuned; for each k of --layers (the
last one is the whole trunk). Scored on the test pictures of 5 to 9. --plot F.png draws it.
Rows are kept in OUT/rows.jsonl as soon as they are known and not measured again. Intervals are of
Student's t over seeds, 95 %; of one run Wilson's.
Run: python benchmarks/images.py --data DIR --out OUT --part mnist
     python benchmarks/images.py --data DIR --out OUT --part transfer --seeds 1 2 3 4 5
"""

import argparse
import gzip
import json
import math
import struct
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import mean, stdev
from typing import Any, NamedTuple

import numpy as np
import record
import runs

import headway
from headway.images.decoding import labels_beside, read_idx
from headway.images.predicting import evaluated
from headway.labelling.scores import LabelScores

DEPTH = 4
"""Layers of both models by default."""
T_97_5 = {
    2: 12.706,
    3: 4.303,
    4: 3.182,
    5: 2.776,
    6: 2.571,
    7: 2.447,
    8: 2.365,
    9: 2.306,
    10: 2.262,
}
"""Student's t by the number of seeds."""
PEAK = 2e-3
"""Of the learning rate, for every way alike: a tuned run would take a third of its parent's, which
is too little for layers that are drawn anew."""
BELOW = {"cnn": (), "transformer": ("encoder.from_vectors", "encoder.positions")}
ABOVE = {"cnn": (), "transformer": ("encoder.norm",)}
"""What lies below the first layer and above the last one."""


class Row(NamedTuple):
    """One run of the transfer."""

    model: str
    way: str
    """scratch, frozen or tuned."""
    copied: int
    """Layers that were copied from the run of other classes."""
    seed: int
    each: int
    updates: int
    accuracy: float


def subset(images: Path, each: int, seed: int, place: Path) -> Path:
    """So many pictures of each of the classes 5 to 9, as idx."""
    pictures, labels = read_idx(images, 3), read_idx(labels_beside(images), 1)
    random = np.random.default_rng(seed)
    chosen = [random.choice(np.flatnonzero(labels == label), each, False) for label in range(5, 10)]
    rows = np.sort(np.concatenate(chosen))
    place.mkdir(parents=True, exist_ok=True)
    for name, array in (("images-idx3", pictures[rows]), ("labels-idx1", labels[rows])):
        sides = struct.pack(f">{array.ndim}I", *array.shape)
        content = bytes([0, 0, 8, array.ndim]) + sides + array.tobytes()
        (place / f"{name}-ubyte.gz").write_bytes(gzip.compress(content, mtime=0))
    return place / "images-idx3-ubyte.gz"


def train(out: Path, corpus: Path, model: str, seed: int, updates: int, **training: Any) -> Path:
    """A run of 5 or of the other five classes; one that is there already is not trained again."""
    only = [str(label) for label in (range(5) if not training.pop("upper") else range(5, 10))]
    settings = {
        "run": {"task": "images"},
        "data": {"corpus": [str(corpus)], "only": only},
        "training": {"max_steps": updates, "learning_rate": PEAK, **training},
        "runtime": {"seed": seed, "threads": 1},
    }
    if "init_from" not in training:
        settings["model"] = {"type": model}
    if not (out / "README.md").exists():
        headway.train(out=out, settings=settings, say=lambda _: None, resume=out.exists())
    return out


def parts(model: str, copied: int) -> tuple[list[str], list[str]]:
    """What is copied, and what is drawn anew, where so many layers are copied."""
    if copied == DEPTH:
        return ["encoder"], ["head"]
    own = [*BELOW[model], *(f"encoder.{n}" for n in range(copied))]
    return own, [*(f"encoder.{n}" for n in range(copied, DEPTH)), *ABOVE[model], "head"]


def measured(asked: argparse.Namespace, model: str, seed: int) -> Iterator[Row]:
    """Every way of one model under one seed, scratch first."""
    images = asked.data / "img" / "mnist" / "train-images-idx3-ubyte.gz"
    test = asked.data / "img" / "mnist" / "test-images-idx3-ubyte.gz"
    few = subset(images, asked.each, seed, asked.out / f"few-{asked.each}-{seed}")
    place = asked.out / f"{model}-{seed}"
    parent = train(place / "parent", images, model, seed, asked.pretrain, upper=False)
    ways = [("scratch", 0)] + [(way, k) for k in asked.layers for way in ("frozen", "tuned")]
    for way, k in ways:
        training: dict[str, Any] = {"upper": True}
        if k:
            own, anew = parts(model, k)
            training |= {"init_from": str(parent), "reinit": anew}
            training |= {"freeze": own} if way == "frozen" else {}
        run = train(place / f"{way}-{k}", few, model, seed, asked.updates, **training)
        accuracy = evaluated(run, [test]).figures["accuracy"].score
        yield Row(model, way, k, seed, asked.each, asked.updates, round(accuracy, 2))


def interval(values: Sequence[float]) -> str:
    """The mean of seeds, and half its interval."""
    if len(values) < 2:
        return f"{values[0]:.2f}"
    half = T_97_5[len(values)] * stdev(values) / math.sqrt(len(values))
    return f"{mean(values):.2f} ± {half:.2f}"


def transfer(asked: argparse.Namespace) -> list[Row]:
    """Measure what is not known yet, and print all."""
    file = asked.out / "rows.jsonl"
    asked.out.mkdir(parents=True, exist_ok=True)
    lines = file.read_text("utf-8").splitlines() if file.exists() else []
    known = [Row(**json.loads(line)) for line in lines]
    for seed in asked.seeds:
        for model in asked.models:
            n_ways = 1 + 2 * len(asked.layers)
            if sum((row.model, row.seed) == (model, seed) for row in known) >= n_ways:
                continue
            for row in measured(asked, model, seed):
                if row in known:
                    continue
                known.append(row)
                with file.open("a", encoding="utf-8") as rows:
                    rows.write(json.dumps(row._asdict()) + "\n")
                print(*row, flush=True)
    cells = []
    for model in asked.models:
        scratch = {row.seed: row.accuracy for row in known if row[:2] == (model, "scratch")}
        for way, k in [("scratch", 0)] + [
            (w, k) for w in ("frozen", "tuned") for k in asked.layers
        ]:
            found = {row.seed: row.accuracy for row in known if row[:3] == (model, way, k)}
            ahead = [found[seed] - scratch[seed] for seed in found if seed in scratch]
            if found:
                values = [*found.values()]
                cells.append([model, way, k, len(values), interval(values), interval(ahead)])
    head = ["model", "way", "layers copied", "seeds", "accuracy (%)", "ahead of scratch"]
    print(record.table(head, cells))
    return known


def draw(rows: Sequence[Row], path: Path) -> None:
    """Accuracy by the number of layers copied, frozen and tuned, a panel a model."""
    from matplotlib.figure import Figure

    models = list(dict.fromkeys(row.model for row in rows))
    figure = Figure((4.6 * len(models), 3.6), dpi=120, layout="constrained")
    panels = figure.subplots(1, len(models), sharey=True, squeeze=False)[0]
    for axes, model in zip(panels, models, strict=True):
        for way, colour in (("tuned", "#2563a8"), ("frozen", "#c2600c")):
            counts = sorted({row.copied for row in rows if row[:2] == (model, way)} | {0})
            at_0 = (model, "scratch", 0)
            each = [
                [row.accuracy for row in rows if row[:3] == ((model, way, k) if k else at_0)]
                for k in counts
            ]
            halves = [
                T_97_5[len(one)] * stdev(one) / math.sqrt(len(one)) if len(one) > 1 else 0.0
                for one in each
            ]
            means = [mean(one) for one in each]
            label = f"copied layers {way}"
            axes.errorbar(counts, means, halves, label=label, color=colour, marker="o", capsize=3)
        axes.set(title=model, xlabel="layers copied from 0-4 (0: from scratch)")
        axes.set_xticks(range(DEPTH + 1))
        axes.grid(axis="y", alpha=0.3)
    panels[0].set_ylabel(f"accuracy on 5-9 (%), {rows[0].each} pictures a class")
    panels[0].legend(loc="lower left")
    figure.savefig(path)


def mnist(asked: argparse.Namespace) -> list[dict[str, Any]]:
    """Each model with default flags, scored on the test pictures."""
    folder, found = asked.data / "img" / "mnist", []
    for seed in asked.seeds:
        for model in asked.models:
            run = asked.out / f"mnist-{model}-{seed}"
            corpus = str(folder / "train-images-idx3-ubyte.gz")
            flags = ["--task", "images", "--corpus", corpus, "--model.type", model]
            if not (run / "README.md").exists():
                runs.headway_train(run, [*flags, "--seed", str(seed), "--runtime.threads", "1"])
            scores: LabelScores = evaluated(run, [folder / "test-images-idx3-ubyte.gz"])
            log = headway_log(run)
            accuracy = scores.figures["accuracy"]
            found.append({"model": model, "seed": seed, **log, "accuracy": asdict(accuracy)})
    cells = [
        [one["model"], one["seed"], one["updates"], f"{one['training_s']:.0f}",
         "{score:.2f} ({low:.2f} to {high:.2f})".format(**one["accuracy"])]
        for one in found
    ]  # fmt: skip
    print(record.table(["model", "seed", "updates", "seconds", "accuracy (%)"], cells))
    return found


def headway_log(run: Path) -> dict[str, float]:
    """Updates and seconds of a run."""
    from headway.core.run_folder import RunFolder

    last = RunFolder(run).read_log()[-1]
    return {"updates": last["step"], "training_s": last["time_s"]}


def main() -> int:
    options = record.parser(__doc__)
    record.add_data_option(options)
    record.add_record_option(options)
    options.add_argument("--out", type=Path, required=True, help="where runs and rows are kept")
    options.add_argument("--part", choices=("mnist", "transfer"), required=True)
    options.add_argument("--models", nargs="+", default=["cnn", "transformer"])
    options.add_argument("--seeds", type=int, nargs="+", default=[1])
    options.add_argument("--each", type=int, default=100, help="pictures a class")
    options.add_argument("--pretrain", type=int, default=500, help="updates on 0 to 4")
    options.add_argument("--updates", type=int, default=250, help="of each run on 5 to 9")
    options.add_argument("--layers", type=int, nargs="+", default=[1, 2, 3, 4])
    options.add_argument("--plot", type=Path)
    asked = options.parse_args()
    if asked.part == "mnist":
        figures: Any = {"runs": mnist(asked)}
    else:
        rows = transfer(asked)
        if asked.plot:
            draw(rows, asked.plot)
        figures = {"rows": [row._asdict() for row in rows]}
    record.write(asked.record, f"images {asked.part}", seeds=asked.seeds, figures=figures)
    return 0


if __name__ == "__main__":
    raise SystemExit(record.exit_status(main))
