"""The files of a run folder: each compared with its checksum, sealed anew, or copied."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

from torch import nn

from headway.core import checkpoint, tensor_files
from headway.core.config import format_toml, parse_toml
from headway.core.disk import checksum, write_bytes
from headway.core.errors import ConfigError, OutOfReachError, RunError, command
from headway.core.optimizer import saved_tensors
from headway.core.run_folder import CHECKS, CONFIG, CONSTANT, SEAL, RunFolder
from headway.core.tensor_files import save_tensors
from headway.operations.locks import Say
from headway.operations.shipped import only_writer_of_run, open_folder
from headway.runs.quality_gate import stored_gates


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
        run = folder.settings().get("run")
        finished = folder.finished or bool(run and run.get("finished"))  # or the model is lost
        on = f"The run is unfinished: {command('train', '--out', path, '--resume')} goes on."
        note = on if run is not None and not finished else ""
        yield FileState(CONFIG, "whole" if CONFIG in sums else "unsealed", note)
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
        if not (settings := parse_toml(whatever_the_seal, folder.config)):
            raise ConfigError(f"{folder.config} has no settings. Put it back from a copy.")
        folder.write_sealed(format_toml(settings), sums)


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
        why = str(error).partition(". See what can be done")[0]  # that is here
        return FileState(name, "damaged", f"{why}. {remedy}")


def _model(folder: RunFolder, *, finished: bool) -> Iterator[FileState]:
    remedy = gone = "Take it from a copy of the run."
    if checkpoint.resumable(folder.checkpoints):
        gone = f"Have it chosen again: {command('train', '--out', folder.path, '--resume')}"
        remedy = f"Delete {folder.model}. {gone}"
    if folder.model.exists():
        yield _weights(folder.model.name, partial(tensor_files.check, folder.model), remedy)
    elif finished or not folder.checkpoints.is_dir():
        yield FileState(folder.model.name, "damaged", f"It is missing. {gone}")


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


_COPIED = (*CONSTANT, CHECKS, "precision.json", "README.md", CONFIG)
"""config.toml comes last: only with it is the folder a run."""


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
