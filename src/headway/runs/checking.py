"""A run's own files: what is whole and what is damaged, which texts it was made from, what a
quicker way to translate costs it; and a copy of what publishing it takes."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from torch import nn

from headway.core import checkpoint, tensor_files
from headway.core.bleu import bleu_statistics
from headway.core.config import format_toml, parse_toml
from headway.core.disk import checksum, digest, refuse_large, write_bytes, write_text
from headway.core.errors import ConfigError, HeadwayError, OutOfReachError, RunError, command
from headway.core.optimizer import saved_tensors
from headway.core.run_folder import CHECKS, CONFIG, CONSTANT, SEAL, RunFolder
from headway.core.tensor_files import save_tensors
from headway.operations.locks import Say
from headway.operations.shipped import only_writer_of_run, open_folder


class FileState(NamedTuple):
    """One file, or one checkpoint, of a run."""

    name: str
    """Below the run folder."""
    state: str
    """`whole`, `unsealed` (no checksum to compare: an earlier version wrote it), or `damaged`."""
    note: str = ""
    """What is wrong, and what can be done."""


def check_run(path: Path) -> Iterator[FileState]:
    """Every file that headway wrote, with the reason and a remedy where it is damaged.

    Raises:
        RunError: there is no run.
    """
    folder = open_folder(path)
    finished = False
    try:
        sums = folder.sealed()
        finished = folder.finished
        yield FileState(CONFIG, "whole" if CONFIG in sums else "unsealed")
    except (RunError, ConfigError) as error:
        sums = {}
        yield FileState(CONFIG, "damaged", str(error))
    names = {file.name for file in folder.constant_files()} | set(sums) - {CONFIG}
    for name in sorted(names):
        yield _constant(folder, name, sums.get(name))
    if folder.precision.exists():
        sound, note = bool(stored_gates(folder)), "Delete it: it is measured anew when asked for."
        yield FileState(folder.precision.name, *(("whole",) if sound else ("damaged", note)))
    yield from _model(folder, finished=finished)
    yield from _checkpoints(folder, finished=finished)
    yield from _log(folder)


def accept(path: Path, say: Say) -> None:
    """Take config.toml and what it seals for right as they are now, after a change by hand.

    Raises:
        ConfigError: config.toml is no list of settings.
        RunError: there is no run.
        TakenError: another process writes to it.
    """
    open_folder(path)
    with only_writer_of_run(path, say) as folder:
        files = [*folder.constant_files(), *filter(Path.exists, [folder.checks])]
        sums = {file.name: checksum(file) for file in files}
        whatever_the_seal = folder.text(folder.config).partition(SEAL)[0]
        folder.write_sealed(format_toml(parse_toml(whatever_the_seal, folder.config)), sums)


def _constant(folder: RunFolder, name: str, expected: str | None) -> FileState:
    file = folder.path / name
    if not file.exists():
        needed = {folder.data.name: "to train on", CHECKS: "to check translations"}
        if name in needed:
            return FileState(name, "whole", f"not there: only needed {needed[name]}")
        return FileState(name, "damaged", "It is missing. Take it from a copy of the run.")
    if expected is None or checksum(file) == expected:
        return FileState(name, "whole" if expected else "unsealed")
    notes = {
        folder.data.name: (
            "Take it from a copy of the run. Nothing writes it anew: deleted, nobody can tell "
            "whether texts have changed, and a run with --init-from needs a checkpoint to go on."
        ),
        CHECKS: f"Delete it; anew: {command('check', folder.path, '--measure')}",
    }
    usual = (
        "It is not as headway wrote it. Take it from a copy of the run; if it was changed on "
        f"purpose: {command('check', folder.path, '--accept')}"
    )
    return FileState(name, "damaged", notes.get(name, usual))


def _weights(name: str, check: Callable[[], bool], remedy: str) -> FileState:
    """`check` says whether there is a checksum, and raises RunError where it is another."""
    try:
        return FileState(name, "whole" if check() else "unsealed")
    except OutOfReachError as error:
        return FileState(name, "damaged", str(error))
    except RunError as error:
        return FileState(name, "damaged", f"{error}. {remedy}")


def _model(folder: RunFolder, *, finished: bool) -> Iterator[FileState]:
    remedy = "Take it from a copy of the run."
    if checkpoint.resumable(folder.checkpoints):
        again = command("train", "--out", folder.path, "--resume")
        remedy = f"Delete {folder.model}, then have it chosen again: {again}"
    if folder.model.exists():
        yield _weights(folder.model.name, partial(tensor_files.check, folder.model), remedy)
    elif finished or not folder.checkpoints.is_dir():
        yield FileState(folder.model.name, "damaged", f"It is missing. {remedy}")


def _checkpoints(folder: RunFolder, *, finished: bool) -> Iterator[FileState]:
    what = (
        "nothing needs it any more"
        if finished
        else ("--resume goes on without it, if another one is whole")
    )
    resumable = checkpoint.resumable(folder.checkpoints)
    for step in checkpoint.steps(folder.checkpoints):
        place = checkpoint.folder_of(folder.checkpoints, step)
        check = partial(tensor_files.check, place / checkpoint.WEIGHTS)
        if step in resumable:
            check = partial(_resumes, folder.checkpoints, step)
        yield _weights(str(place.relative_to(folder.path)), check, f"Leave it: {what}.")


def _resumes(checkpoints: Path, step: int) -> bool:
    checkpoint.read(checkpoints, step)
    return True


def _log(folder: RunFolder) -> Iterator[FileState]:
    if not folder.metrics.exists():
        return
    lines = folder.metrics.read_text(encoding="utf-8", errors="replace").splitlines()
    n_odd = len(lines) - len(folder.read_log())
    note = f"{n_odd} of {len(lines)} lines cannot be read. They are passed over." if n_odd else ""
    yield FileState(folder.metrics.name, "damaged" if n_odd else "whole", note)


# -- the texts that it was made from ----------------------------------------------------------


_MOST_BYTES = 1 << 40


def why_not_read(folder: RunFolder, files: Iterable[Path]) -> str:
    """Why the files that a run names are not read, in words; nothing if all are what they were.

    A run that was made elsewhere can name any file of this machine in its config.toml. Only one
    whose bytes have the checksum in data.json is read: who wrote that down had those bytes already.
    """
    try:
        stored = folder.record()["sha256"] if folder.data.exists() else {}
        for path in files:
            place = str(path.absolute())
            if not path.exists():
                return f"{place} is gone"
            if place not in stored:
                return f"{folder.data} has no checksum of {place}"
            refuse_large(path, _MOST_BYTES)
            if checksum(path) != stored[place]:
                return f"{place} has changed since"
    except (HeadwayError, OSError) as error:
        return str(error)
    return ""


# -- a copy -----------------------------------------------------------------------------------


_COPIED = (*CONSTANT, CHECKS, "precision.json", "README.md", CONFIG)
"""The last is where it is that there is a run."""


def save_copy(run: Path | None, model: nn.Module, out: Path) -> Path:
    """Write a run folder with the files of `run` and the weights that `model` has now.

    Checkpoints, the log of training and lists of likely words stay behind. Returns `out`.

    Raises:
        RunError: `run` is gone, or None; or there is something in `out`.
        DiskError: the disk is full or cannot be written to.
    """
    if run is None:
        raise RunError(
            "a model is saved with the files of the run that it was loaded from; this one was made "
            "in memory. Load a run, and give its model these weights."
        )
    source = open_folder(run)
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise RunError(f"save writes to a folder of its own; {out} is there already. Name another.")
    with only_writer_of_run(out, lambda _: None) as copy:
        save_tensors(saved_tensors(model), copy.model)
        for file in (source.path / name for name in _COPIED):
            if file.is_file():
                write_bytes(out / file.name, file.read_bytes())
    return out


# -- may a quicker way to translate take the place of the usual one? --------------------------


MOST_LOST = 0.3
"""BLEU."""
MOST_SHIFT = 0.01
"""Of the ratio of lengths, in tokens of BLEU, to those of the references."""


class Gate(NamedTuple):
    """What a run's validation pairs say of its usual way and of the quicker one."""

    usual: float
    """BLEU of what the usual way writes."""
    quick: float
    usual_length: float
    """Tokens that it writes for each of the references'."""
    quick_length: float
    n_pairs: int

    @property
    def open(self) -> bool:
        """Nothing is lost that counts."""
        shift = abs(self.quick_length - self.usual_length)
        return self.usual - self.quick <= MOST_LOST and shift <= MOST_SHIFT

    def in_words(self) -> str:
        """Both scores and both lengths."""
        return (
            f"on {self.n_pairs:,} validation pairs BLEU {self.quick:.2f}, without "
            f"{self.usual:.2f}; {self.quick_length:.3f} times the references' length, without "
            f"{self.usual_length:.3f}"
        )

    def refuse_closed(self, what: str, remedy: str) -> None:
        """Raise ConfigError where too much is lost; `what` names the quicker way."""
        if not self.open:
            raise ConfigError(
                f"{what} may cost {MOST_LOST} BLEU and {MOST_SHIFT:.0%} of length at most; "
                f"{self.in_words()}. {remedy}"
            )

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> "Gate":
        """What `_asdict` gave."""
        return cls(**{name: stored[name] for name in cls._fields})


def measured(
    usual: Sequence[str], quick: Sequence[str], references: Sequence[str], language: str | None
) -> Gate:
    """Of what both ways wrote for the same sources; `language` is that of the references."""
    both = [
        bleu_statistics(written, references, target_language=language) for written in (usual, quick)
    ]
    before, after = (float(one.counts[:, 0].sum() / one.counts[:, 1].sum()) for one in both)
    return Gate(both[0].score(), both[1].score(), before, after, len(references))


def known(folder: RunFolder) -> dict[str, Gate]:
    """By precision, what was measured of the weights that the run has; nothing of other weights, or
    where the file is not as it was written."""
    stored = stored_gates(folder)
    if not stored or stored["weights"] != checksum(folder.model):
        return {}
    return {name: Gate.from_dict(one) for name, one in stored["gates"].items()}


def keep(folder: RunFolder, precision: str, gate: Gate) -> None:
    """Write it beside what is known already of the same weights, under a checksum of its own.

    Raises:
        DiskError: the folder cannot be written to.
    """
    gates = {**known(folder), precision: gate}
    stored: dict[str, Any] = {
        "weights": checksum(folder.model),
        "gates": {name: one._asdict() for name, one in gates.items()},
    }
    text = json.dumps({**stored, "sha256": digest(stored)}, indent=1)
    write_text(folder.precision, f"{text}\n")


def stored_gates(folder: RunFolder) -> dict[str, Any]:
    """What `keep` wrote; nothing where there is no such file, or it is damaged."""
    try:
        stored: dict[str, Any] = json.loads(folder.precision.read_text(encoding="utf-8"))
        sound = stored.pop("sha256") == digest(stored)
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return {}
    return stored if sound else {}
