"""Going on with a run that was stopped, with the texts that it began with, if they still are."""

import json
from collections.abc import Iterable, Mapping
from os.path import realpath
from pathlib import Path
from typing import Any

from headway.core import runtime as machine
from headway.core.checkpoint import WEIGHTS, folder_of, resumable
from headway.core.config import Sections, merge
from headway.core.disk import checksum
from headway.core.errors import ConfigError, HeadwayError, RunError
from headway.core.run_folder import RunFolder
from headway.core.tensor_files import shapes
from headway.core.train import refuse_changed
from headway.runs.loading import fitting_vocabulary
from headway.runs.settings import Settings, preset, type_of
from headway.runs.task_spec import Request, Run, Say, TaskSpec


def stopped_run(spec: TaskSpec, request: Request, say: Say) -> Run | None:
    """The run in the folder, ready to go on as if it had never stopped; None if it is finished.

    Raises:
        ConfigError: other settings or files are given than it has.
        DataError: a file has changed since.
    """
    folder: RunFolder = request.folder
    refuse_unwritable(folder)
    settings = Settings.of_run(folder, spec)
    folder.refuse_damaged()
    if request.sections or request.preset:
        asked = folder.record().get("asked") if folder.data.exists() else None
        refuse_changes(spec, request, settings, asked or {})
    if folder.finished:
        say(f"{folder.path} is finished; nothing to resume.")
        return None
    data = spec.read(settings, vocabulary_of_newest(spec, settings, folder), say)
    if folder.data.exists():
        refuse_changed_data(folder, data)
    else:
        say(f"{folder.data} is gone: whether the files are still the same cannot be checked")
    return Run(spec, folder, settings, data, machine.start(settings.runtime), say, request=request)


def vocabulary_of_newest(spec: TaskSpec, settings: Settings, folder: RunFolder) -> Any:
    """The vocabulary of a run whose settings are those of the newest checkpoint that can be read.

    Nothing has been built yet: a model of any size may stand in config.toml.
    """
    for step in reversed(resumable(folder.checkpoints)):
        weights = folder_of(folder.checkpoints, step) / WEIGHTS
        try:
            found = shapes(weights)
        except RunError:  # which is said when it is set aside
            continue
        return fitting_vocabulary(spec, settings, folder, weights, found)
    return spec.vocabulary(folder.path)


def refuse_changes(
    spec: TaskSpec, request: Request, settings: Settings, asked: Mapping[str, Any]
) -> None:
    """Raise ConfigError when a resumed run is given other settings or files than it has.

    What is given may also be what was `asked` for when the run began
    (`headway.runs.train.asked_for`), whatever came of it: 8,000 sub-words where there were fewer.
    """
    had, began, below = settings.sections(), asked.get("sections", {}), Sections()
    if request.preset and request.preset != asked.get("preset"):
        below = preset(spec, request.preset, request.sections)
    made_since = {"training": {"plans": ()}} if "plans" in had["training"] else Sections()
    base = merge(below)
    if settings.training.budget:
        base.get("training", {}).pop("max_steps", None)  # the budget's length stands
    given = merge(base, request.sections)
    given.get("training", {}).pop("upload", None)  # may be another for each start
    wanted = merge(had, made_since, given)
    now = {"model": {"type": type_of(spec, wanted)}}
    if now["model"]["type"] == settings.model_type:
        made = Settings.of(wanted, spec)
        had = merge(had, {"data": spec.absolute(settings.data)})
        now = merge(made.sections(), {"data": spec.absolute(made.data)})
    for section, keys in given.items():
        for key in [key for key in keys if key in now.get(section, {})]:
            got, stored = now[section][key], had[section][key]
            once = began.get(section, {}).get(key, stored)
            if got != stored and json.dumps(got) != json.dumps(once):  # where tuples are lists
                raise ConfigError(
                    f"A resumed run keeps its settings and its files; [{section}] {key} is "
                    f"{stored!r}, got {got!r}. Leave it out, or start a new run."
                )


def refuse_changed_data(folder: RunFolder, data: Any) -> None:
    """Raise DataError when a file is no longer what the run began with."""
    refuse_changed(folder, {str(Path(name).absolute()): of for name, of in data.checksums.items()})


def refuse_unwritable(folder: RunFolder) -> None:
    """Raise RunError where writing would change a file elsewhere, or wait for ever."""
    written = folder.config, folder.tokenizer, folder.model, folder.metrics, folder.card
    folders = [folder.checkpoints, *folder.checkpoints.glob("*"), folder.path / ".smoothing"]
    for place in (*written, folder.data, folder.checks, *folders):
        elsewhere = not Path(realpath(place)).is_relative_to(folder.path.resolve())
        fits = not place.is_symlink() if place in folders else place.is_file()
        if (place.exists() or place.is_symlink()) and (elsewhere or not fits):
            raise RunError(
                f"a run that goes on writes to its own files, and deletes some; {place} is a link "
                "to another place, or no file. Put a copy there."
            )


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
            if checksum(path) != stored[place]:
                return f"{place} has changed since"
    except (HeadwayError, OSError) as error:
        return str(error)
    return ""
