"""headway from Python: `headway.train(...)` does what `headway train` does."""

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from headway.core.config import Sections, merge, read_toml
from headway.core.errors import ConfigError, DataError
from headway.core.run_folder import RunFolder
from headway.operations.argument_types import path, string, table
from headway.operations.option_errors import no_flag, told_of_data
from headway.operations.shipped import only_writer_of_run, open_folder, place_of
from headway.runs.flags import FLAGS, ShortFlag
from headway.runs.settings import task_of
from headway.runs.task_spec import Request
from headway.tasks import brought, task_spec, verbs
from headway.tasks.word_vectors import refuse_no_vectors, word_vectors

PathLike = str | Path


def train(
    *,
    out: PathLike,
    config: PathLike | None = None,
    preset: str | None = None,
    resume: bool = False,
    settings: Mapping[str, Mapping[str, Any]] | None = None,
    processes: int = 1,
    say: Callable[[str], None] | None = None,
    **flags: Any,
) -> Path:
    """Train a translator on pairs of texts; returns the run folder.

    `flags` are those of `headway train`, with the same meaning (`headway.runs.flags.FLAGS`):
    `source="a.en", target="a.de"`, `pairs=["big.tmx", "mine.tsv@8:tag=mine"]`, `valid_source`,
    `budget="30m"`, `init_from="runs/general"`, ..

    `settings` holds sections as in config.toml, such as `{"training": {"budget": "30m"}}`. Flags go
    on top of them, they on top of `config` (a TOML file), that on top of `preset`. Messages go to
    `say`, by default to stderr, as those of several `processes` always do. Raises a `UserError` for
    what the caller can put right.
    """
    if os.environ.get("RANK", "0") != "0":  # one of many, and not the first
        from headway.distributed.training import join_in

        return join_in(Request({}, RunFolder(Path(out)), None, True, word_vectors, task_spec))
    say = say or (lambda message: print(message, file=sys.stderr, flush=True))
    _refuse_types(out, config, preset, settings)
    if unknown := [name for name in flags if name not in FLAGS]:
        from headway.tasks.described import flags as every_setting  # and torch

        raise no_flag(unknown[0], FLAGS, every_setting())
    given = merge(read_toml(Path(config)) if config else {}, settings or {}, sections_of(flags))
    beginnings: dict[str, Path] = {}
    for key in ("init_from", "init_embedding"):  # to be found from any folder
        named = given.get("training", {}).get(key)
        if named and (key, named) != ("init_embedding", "pairs"):  # which are no file
            beginnings[key] = place_of(Path(named)).absolute()
            given = merge(given, {"training": {key: str(beginnings[key])}})
    with only_writer_of_run(Path(out), say) as folder, ExitStack() as stack:
        stored = folder.settings() if resume and folder.config.exists() else {}
        if processes == 1 and (url := merge(stored, given).get("training", {}).get("upload")):
            from headway.operations.uploads import uploaded

            stored = stack.enter_context(uploaded(url, folder, resume, say))
        if not stored:
            folder.refuse_taken()
        task = _readable_task(folder, stored, given, config, resume)
        for key, place in beginnings.items() if not stored else ():
            (open_folder if key == "init_from" else refuse_no_vectors)(place)
        if processes == 1:
            if "WORLD_SIZE" in os.environ:
                from headway.distributed.training import train as run_training
            else:
                from headway.runs.train import train as run_training  # and torch: seconds
            request = Request(given, folder, preset, resume, word_vectors, task_spec)
            return run_training(task_spec(task), request, say).path
    from headway.distributed.launch import train_by_processes

    return train_by_processes(processes, Path(out), given, preset)


def _refuse_types(out: Any, config: Any, preset: Any, settings: Any) -> None:
    for name, given in (("out", out), ("config", config or ""), ("preset", preset or "")):
        if not isinstance(given, str | Path) or (name, given) == ("out", ""):
            (string if name == "preset" else path)(given, name)
    for one in settings.values() if isinstance(settings, Mapping) else [settings or {}]:
        if not isinstance(one, Mapping):
            table(one, "settings", '{"training": {"budget": "30m"}}')


def _readable_task(
    folder: RunFolder, stored: Sections, given: Sections, config: PathLike | None, resume: bool
) -> str:
    """The task of a run, whose files can be read: else refused, before torch is loaded."""
    try:
        task = task_of(merge(stored, given))
        if "files" in verbs(task) and (not stored or not folder.finished):
            brought(task, "files", folder.path)(stored or given)
        return task
    except ConfigError as error:
        unsaved = f" {folder.path} holds no run to resume." if resume and not stored else ""
        raise ConfigError(
            f"in {folder.config}: {error}" if stored else f"{error}{unsaved}"
        ) from None
    except DataError as error:
        raise DataError(f"{error}{told_of_data(config) if config else ''}") from None


def sections_of(flags: Mapping[str, Any], known: Mapping[str, ShortFlag] = FLAGS) -> Sections:
    """The settings that flags stand for; one that is None, or an empty list, was not given.

    Raises ConfigError for a name that is not known.
    """
    sections: Sections = {}
    for name, value in flags.items():
        if name not in known:
            raise no_flag(name, known)
        if value is None or value in ([], ()):
            continue
        flag = known[name]
        given = str(value) if isinstance(value, Path) else value
        if flag.many:
            given = listed(value, name)
            given = flag.read(given) if flag.read else given
        sections = merge(sections, {flag.section: {flag.key or name: given}})
    return sections


def listed(value: Any, name: str = "") -> list[str]:
    """One path or several, as a list; raises ArgumentTypeError for anything else."""
    several = list(value) if isinstance(value, list | tuple | Iterator) else [value]
    return [one if isinstance(one, str) else str(path(one, name)) for one in several]
