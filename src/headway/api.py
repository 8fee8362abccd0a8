"""headway from Python: `headway.train(...)` does what `headway train` does."""

import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from headway.config import merge, read_toml
from headway.errors import ConfigError
from headway.runs.flags import sections_of
from headway.runs.kind import Request
from headway.runs.settings import task_of
from headway.runs.train import train as run_training
from headway.tasks import kind_named
from headway.training.run_folder import RunFolder

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
    `say`, by default to stderr. Raises a `headway.errors.UserError` for what the caller can put
    right.
    """
    sections = merge(read_toml(Path(config)) if config else {}, settings or {}, sections_of(flags))
    folder = RunFolder(Path(out))
    stored = folder.settings() if resume and folder.config.exists() else {}
    try:
        kind = kind_named(task_of(merge(stored, sections)))
    except ConfigError as error:
        raise ConfigError(f"in {folder.config}: {error}" if stored else str(error)) from None
    request = Request(sections, Path(out), preset, resume)
    return run_training(kind, request, say or partial(print, file=sys.stderr, flush=True)).path
