"""Tasks: each is a `headway.runs.kind.Kind` in a file or folder here, and a line in `TASKS`."""

import importlib

from headway.errors import ConfigError
from headway.runs.kind import Kind
from headway.runs.settings import suggestion

TASKS = {"translation": "headway.tasks.translation.kind:KIND"}
"""Where the `Kind` of each task is; it is imported when it is asked for."""


def kind_named(name: str) -> Kind:
    """What a task brings; raises ConfigError for one that is not known."""
    if name not in TASKS:
        raise ConfigError(
            f"--task must be one of {', '.join(TASKS)}; got {name!r}.{suggestion(name, TASKS)}"
        )
    module, _, value = TASKS[name].partition(":")
    kind: Kind = getattr(importlib.import_module(module), value)
    return kind
