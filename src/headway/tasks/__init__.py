"""Tasks: each is a `headway.runs.kind.Kind` in a file or folder here, and a line in `TASKS`."""

import importlib

from headway.errors import settings as refused
from headway.runs.kind import Kind

TASKS = {"translation": "headway.tasks.translation.kind:KIND"}
"""Where the `Kind` of each task is; it is imported when it is asked for."""


def kind_named(name: str) -> Kind:
    """What a task brings; raises ConfigError for one that is not known."""
    if name not in TASKS:
        raise refused.unknown_name("--task", name, TASKS)
    module, _, value = TASKS[name].partition(":")
    kind: Kind = getattr(importlib.import_module(module), value)
    return kind
