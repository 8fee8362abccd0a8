"""Going on with a run that was stopped: as it was, with the files that it began with."""

from pathlib import Path
from typing import Any

from headway import runtime as machine
from headway.config import merge
from headway.errors import ConfigError, DataError, RunError
from headway.runs.kind import Kind, Request, Run, Say
from headway.runs.loading import fitting_vocabulary
from headway.runs.settings import Settings, preset
from headway.training.checkpoint import WEIGHTS, folder_of, resumable
from headway.training.run_folder import RunFolder
from headway.training.tensor_files import shapes


def stopped_run(kind: Kind, request: Request, say: Say) -> Run | None:
    """The run in the folder, ready to go on as if it had never stopped; None if it is finished.

    Raises:
        ConfigError: other settings are given than it has.
        DataError: a file has changed since.
    """
    folder = RunFolder(request.out)
    folder.refuse_unwritable()
    folder.refuse_damaged()
    settings = Settings.of_run(folder, kind)
    refuse_changes(kind, request, settings)
    if folder.finished:
        say(f"{request.out} is finished; nothing to resume.")
        return None
    data = kind.read(settings, vocabulary_of_newest(kind, settings, folder), say)
    if folder.data.exists():
        refuse_changed_data(folder, data)
    else:
        say(f"{folder.data} is gone: whether the files are still the same cannot be checked")
    return Run(kind, folder, settings, data, machine.start(settings.runtime), say)


def vocabulary_of_newest(kind: Kind, settings: Settings, folder: RunFolder) -> Any:
    """The vocabulary of a run whose settings are those of the newest checkpoint that can be read.

    Nothing has been built yet: a model of any size may stand in config.toml.
    """
    for step in reversed(resumable(folder.checkpoints)):
        weights = folder_of(folder.checkpoints, step) / WEIGHTS
        try:
            shapes(weights)
        except RunError:  # which is said when it is set aside
            continue
        return fitting_vocabulary(kind, settings, folder, weights)
    return kind.vocabulary(folder.path)


def refuse_changes(kind: Kind, request: Request, settings: Settings) -> None:
    """Raise ConfigError when a resumed run is given other settings than it has.

    Files are compared by their checksums, later.
    """
    given, before = request.sections, settings.sections()
    base = merge(preset(kind, request.preset, given)) if request.preset else {}
    if before.get("training", {}).get("budget"):
        base.get("training", {}).pop("max_steps", None)  # the budget's length stands
    now = Settings.of(merge(before, base, given), kind).sections()
    kind.refuse_changed_use(now.get("data", {}), before.get("data", {}))
    for section, values in now.items():
        for key, value in values.items():
            had = before[section][key]
            if section != "data" and value != had:
                raise ConfigError(
                    f"A resumed run keeps its settings; [{section}] {key} is {had!r}, "
                    f"got {value!r}. Leave it out, or start a new run."
                )


def refuse_changed_data(folder: RunFolder, data: Any) -> None:
    """Raise DataError when a file is no longer what the run began with."""
    record = folder.record()["sha256"]
    for name, found in data.checksums.items():
        if record.get(str(Path(name).absolute()), found) != found:
            raise DataError(
                f"A run goes on with the files that it began with; {name} has changed since. "
                "Put it back, or start a new run."
            )
