"""A few hundred everyday sentences, and a translator trained on them in a second or two.

It learns next to nothing: the tests that use it look at what is written, not at how good it is.
"""

import contextlib
import io
import json
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from headway.cli import main
from headway.core.config import merge
from headway.core.run_folder import RunFolder
from headway.demo import generate
from headway.translation.corpus_task import CorpusTask

SETTINGS: dict[str, dict[str, Any]] = {
    "text": {"vocabulary_size": 700},
    "data": {"valid_size": 20, "max_length": 100},
    "model": {
        "encoder_layers": 1, "decoder_layers": 1, "d_model": 32, "d_ff": 32, "heads": 2,
        "dropout": 0.1,
    },
    "training": {
        "max_steps": 12, "checkpoint_every": 4, "batch_tokens": 400, "learning_rate": 0.01,
        "log_every": 2, "average": 2, "valid_sentences": 10,
    },
    "decoding": {"beam": 2, "max_extra_length": 4, "length_penalty": 4.0},  # or nothing is said
    "runtime": {"threads": 1, "device": "cpu"},
}  # fmt: skip
"""Small and quick; the same as `FLAGS`."""

FLAGS = [
    f"--{section}.{key.replace('_', '-')}={value}"
    for section, values in SETTINGS.items()
    for key, value in values.items()
]


class Finished(NamedTuple):
    """What a command left behind."""

    status: int
    out: str
    err: str


def command(*arguments: str) -> Finished:
    """Run the command line in this process."""
    out, err = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="\n"), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = main(list(arguments))
    out.flush()
    return Finished(status, out.buffer.getvalue().decode(), err.getvalue())  # type: ignore[attr-defined]


def write_pairs(folder: Path, name: str, pairs: list[tuple[str, str]]) -> tuple[Path, Path]:
    """The two aligned files."""
    files = folder / f"{name}.en", folder / f"{name}.zh"
    for file, side in zip(files, zip(*pairs, strict=True), strict=True):
        file.write_text("".join(f"{text}\n" for text in side), encoding="utf-8")
    return files


def write_corpus(folder: Path, n_pairs: int = 300, seed: int = 1) -> tuple[Path, Path]:
    """Generated pairs as train.en and train.zh."""
    return write_pairs(folder, "train", generate(n_pairs, seed))


def train(files: tuple[Path, Path], run: Path, *more: str) -> Finished:
    """`headway train` with the small settings."""
    source, target = files
    return command(
        "train", "--source", str(source), "--target", str(target), "--out", str(run), *FLAGS, *more
    )


def unfinish(run: Path) -> None:
    """Have a run look as if its training were not over."""
    folder = RunFolder(run)
    folder.write_settings(merge(folder.settings(), {"run": {"finished": False}}))
    folder.card.unlink(missing_ok=True)


def left_behind(run: Path) -> dict[str, Any]:
    """What must be the same, bit for bit, however often a training was stopped; no times."""
    log = (run / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    lines = [json.loads(line) for line in log]
    for line in lines:
        del line["time_s"]
    last = max((run / "checkpoints").glob("step-*"), key=lambda path: int(path.name[5:]))
    there = [run / name for name in ("tokenizer.json", "labels.json") if (run / name).exists()]
    return {
        "metrics": lines,
        "model": (run / "model.safetensors").read_bytes(),
        "weights": (last / "weights.safetensors").read_bytes(),
        "optimizer": (last / "resume.safetensors").read_bytes(),
        **{file.name: file.read_bytes() for file in there},
    }


def check_stopped_and_resumed(
    begin: Callable[[Path], Finished],
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    task: Any = CorpusTask,
    at_update: int = 7,
) -> Finished:
    """A training that Ctrl-C stops in an update goes on to the same end: `begin(run)` has the
    command begin it. The runs are left as `whole` and `stopped` in the folder; what the first said.
    """
    finished = begin(folder / "whole")
    assert finished.status == 0, finished.err
    next_batch, calls = task.next_batch, list[int]()

    def interrupted(self: Any) -> Any:
        calls.append(1)
        if len(calls) == at_update:
            signal.raise_signal(signal.SIGINT)
        return next_batch(self)

    with monkeypatch.context() as patch:
        patch.setattr(task, "next_batch", interrupted)
        assert begin(folder / "stopped").status == 130
    again = command("train", "--out", str(folder / "stopped"), "--resume")
    assert again.status == 0, again.err
    assert f"goes on from step {at_update}\n" in again.err
    assert left_behind(folder / "stopped") == left_behind(folder / "whole")
    return finished
