"""Labelled texts of four topics, and a classifier of them, trained in a second or two."""

from pathlib import Path

from everyday_run import Finished, command
from topics import TOPICS, lines

FLAGS = (
    "--training.max-steps=60", "--training.checkpoint-every=20", "--training.log-every=20",
    "--training.learning-rate=0.01", "--training.average=2", "--runtime.threads=1",
    "--runtime.device=cpu", "--model.d-model=16",
)  # fmt: skip
SMALL = {
    "transformer": ("--model.layers=1", "--model.d-ff=32", "--model.heads=2"),
    "lstm": ("--model.d-embedding=16",),
    "cnn": ("--model.maps=8",),
    "bag": (),
}


def labelled(n: int, seed: int = 1) -> list[tuple[str, str]]:
    """(label, text), the labels taking turns."""
    names = [*TOPICS]
    return [(names[i % 4], text) for i, text in enumerate(lines(n, seed))]


def write_labelled(path: Path, n: int = 200, seed: int = 1) -> Path:
    """The same as label TAB text."""
    rows = (f"{label}\t{text}\n" for label, text in labelled(n, seed))
    path.write_text("".join(rows), encoding="utf-8")
    return path


def train(corpus: Path, run: Path, *flags: str, model_type: str = "cnn") -> Finished:
    """The whole command."""
    names = ("--task", "classification", "--corpus", str(corpus), "--out", str(run))
    shape = (f"--model.type={model_type}", *SMALL[model_type])
    return command("train", *names, *FLAGS, *shape, *flags)
