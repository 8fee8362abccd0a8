"""What is whole and what is damaged in a run folder, and what can be done about it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from headway.core import checkpoint, tensor_files
from headway.core.config import format_toml, parse_toml
from headway.core.disk import checksum
from headway.core.errors import ConfigError, OutOfReachError, RunError, command
from headway.core.run_folder import CHECKS, CONFIG, SEAL, RunFolder
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
        if name == folder.data.name:
            return FileState(name, "whole", "not there: only needed to train on")
        if name == CHECKS:
            return FileState(name, "whole", "not there: only needed to check translations")
        return FileState(name, "damaged", "It is missing. Take it from a copy of the run.")
    if expected is None:
        return FileState(name, "unsealed")
    if checksum(file) == expected:
        return FileState(name, "whole")
    if name == folder.data.name:
        return FileState(
            name,
            "damaged",
            "Take it from a copy of the run. Nothing writes it anew: deleted, nobody can tell "
            "whether texts have changed, and a run with --init-from needs a checkpoint to go on.",
        )
    if name == CHECKS:
        return FileState(
            name, "damaged", f"Delete it; anew: {command('check', folder.path, '--measure')}"
        )
    return FileState(
        name,
        "damaged",
        "It is not as headway wrote it. Take it from a copy of the run; if it was changed on "
        f"purpose: {command('check', folder.path, '--accept')}",
    )


def _model(folder: RunFolder, *, finished: bool) -> Iterator[FileState]:
    if not folder.model.exists():
        if finished or not folder.checkpoints.is_dir():
            yield FileState(folder.model.name, "damaged", f"It is missing. {_model_remedy(folder)}")
        return
    try:
        sealed = tensor_files.check(folder.model)
    except OutOfReachError as error:
        yield FileState(folder.model.name, "damaged", str(error))
    except RunError as error:
        yield FileState(folder.model.name, "damaged", f"{error}. {_model_remedy(folder)}")
    else:
        yield FileState(folder.model.name, "whole" if sealed else "unsealed")


def _model_remedy(folder: RunFolder) -> str:
    if checkpoint.resumable(folder.checkpoints):
        again = command("train", "--out", folder.path, "--resume")
        return f"Delete {folder.model}, then have it chosen again: {again}"
    return "Take it from a copy of the run."


def _checkpoints(folder: RunFolder, *, finished: bool) -> Iterator[FileState]:
    resumable = checkpoint.resumable(folder.checkpoints)
    for step in checkpoint.steps(folder.checkpoints):
        place = checkpoint.folder_of(folder.checkpoints, step)
        name = str(place.relative_to(folder.path))
        try:
            if step in resumable:
                checkpoint.read(folder.checkpoints, step)
                sealed = True
            else:
                sealed = tensor_files.check(place / checkpoint.WEIGHTS)
        except OutOfReachError as error:
            yield FileState(name, "damaged", str(error))
        except RunError as error:
            without = "--resume goes on without it, if another one is whole"
            what = "nothing needs it any more" if finished else without
            yield FileState(name, "damaged", f"{error}. Leave it: {what}.")
        else:
            yield FileState(name, "whole" if sealed else "unsealed")


def _log(folder: RunFolder) -> Iterator[FileState]:
    if not folder.metrics.exists():
        return
    lines = folder.metrics.read_text(encoding="utf-8", errors="replace").splitlines()
    n_odd = sum(not _is_entry(line) for line in lines)
    if n_odd:
        note = f"{n_odd} of {len(lines)} lines cannot be read. They are passed over."
        yield FileState(folder.metrics.name, "damaged", note)
    else:
        yield FileState(folder.metrics.name, "whole")


def _is_entry(line: str) -> bool:
    try:
        return "step" in json.loads(line)
    except (ValueError, TypeError):
        return False
