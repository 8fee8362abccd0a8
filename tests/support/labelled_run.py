"""A small run of text classification: sentences, and the topics that they are of."""

from pathlib import Path

from everyday_run import Finished, command
from topics import lines, topic_of

SIZES = (
    "--model.type=transformer",
    "--model.d-model=16",
    "--model.d-ff=16",
    "--model.layers=2",
    "--model.heads=2",
)
STEPS = ("--training.max-steps=60", "--training.learning-rate=0.01", "--text.unit=words")


def write_labelled(path: Path, n: int, seed: int) -> Path:
    """Sentences under the name of their topic."""
    rows = lines(n, seed)
    topics = [next(filter(None, map(topic_of, row.split()))) for row in rows]
    text = "".join(f"{topic}\t{row}\n" for topic, row in zip(topics, rows, strict=True))
    path.write_text(text, encoding="utf-8")
    return path


def train_labelled(out: Path, train: Path, valid: Path | None, *flags: str) -> Finished:
    """In a second or two; it knows nearly all topics."""
    files = ["--corpus", str(train), *(["--valid-corpus", str(valid)] if valid else [])]
    names = ("train", "--task", "classification", *files, "--out", str(out))
    done = command(*names, *SIZES, *STEPS, *flags)
    assert done.status == 0, done.err
    return done
