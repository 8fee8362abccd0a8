"""headway from Python: `headway.train(...)` does what `headway train` does."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from headway.core.config import Sections, merge, read_toml
from headway.core.errors import ConfigError, DataError
from headway.core.run_folder import RunFolder
from headway.core.settings import task_of
from headway.operations.argument_errors import no_path, no_settings, no_string
from headway.operations.option_errors import no_flag, told_of_data
from headway.operations.shipped import only_writer_of_run, open_folder
from headway.runs.flags import FLAGS, ShortFlag
from headway.runs.task_spec import Request
from headway.tasks import brought, task_spec, verbs

PathLike = str | Path


def train(
    *,
    out: PathLike,
    config: PathLike | None = None,
    preset: str | None = None,
    resume: bool = False,
    settings: Mapping[str, Mapping[str, Any]] | None = None,
    say: Callable[[str], None] | None = None,
    **flags: Any,
) -> Path:
    """Train a translator on pairs of texts; returns the run folder.

    `flags` are those of `headway train`, with the same meaning (`headway.runs.flags.FLAGS`):
    `source="a.en", target="a.de"`, `pairs=["big.tmx", "mine.tsv@8:tag=mine"]`, `valid_source`,
    `budget="30m"`, `init_from="runs/general"`, ..

    `settings` holds sections as in config.toml, such as `{"training": {"budget": "30m"}}`. Flags go
    on top of them, they on top of `config` (a TOML file), that on top of `preset`. Messages go to
    `say`, by default to stderr. Raises a `UserError` for what the caller can put
    right.
    """
    say = say or (lambda message: print(message, file=sys.stderr, flush=True))
    _refuse_types(out, config, preset, settings)
    if unknown := [name for name in flags if name not in FLAGS]:
        from headway.tasks.described import flags as every_setting  # and torch

        raise no_flag(unknown[0], FLAGS, every_setting())
    sections = merge(read_toml(Path(config)) if config else {}, settings or {}, sections_of(flags))
    request = Request(sections, Path(out), preset, resume)
    stored = _refuse_unusable(request, say, config)
    from headway.runs.train import train as run_training  # and torch, which takes seconds

    spec = task_spec(task_of(merge(stored, sections)))
    return run_training(spec, request, say).path


def _refuse_types(out: Any, config: Any, preset: Any, settings: Any) -> None:
    for name, path in (("out", out), ("config", config or ""), ("preset", preset or "")):
        if not isinstance(path, str | Path):
            raise no_path(path, name) if name != "preset" else no_string(path, name)
    tables = settings.values() if isinstance(settings, Mapping) else [settings or {}]
    if wrong := [one for one in tables if not isinstance(one, Mapping)]:
        raise no_settings(wrong[0], "settings", '{"training": {"budget": "30m"}}')


def _refuse_unusable(
    request: Request, say: Callable[[str], None], config: PathLike | None
) -> Sections:
    """Refuse, before torch is loaded, what cannot be read or written to, as `run_training` would.

    Returns the settings of the run that is gone on with, if there is one.
    """
    folder, given = RunFolder(request.out), request.sections
    stored = folder.settings() if request.resume and folder.config.exists() else {}
    with only_writer_of_run(request.out, say):
        if not stored:
            folder.refuse_taken()
    try:
        task = task_of(merge(stored, given))
        if "files" in verbs(task) and (not stored or not folder.finished):
            brought(task, "files", request.out)(stored or given)
    except ConfigError as error:
        raise ConfigError(f"in {folder.config}: {error}" if stored else str(error)) from None
    except DataError as error:
        raise DataError(f"{error}{told_of_data(config) if config else ''}") from None
    parent = given.get("training", {}).get("init_from")
    if parent and not stored:
        open_folder(Path(parent))
    return stored


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


def listed(value: Sequence[str | Path] | str | Path, name: str = "") -> list[str]:
    """One path or several, as a list; raises ArgumentTypeError for anything else."""
    several = list(value) if isinstance(value, list | tuple | Iterator) else [value]
    if wrong := [one for one in several if not isinstance(one, str | Path)]:
        raise no_path(wrong[0], name)
    return list(map(str, several))
