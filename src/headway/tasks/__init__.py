"""Tasks: each is a value of `headway.runs.task_spec.Kind` in its package, and a line in `TASKS`."""

import importlib
from collections.abc import Callable
from typing import Any

from headway.core import setting_errors as refused
from headway.core.config import Sections
from headway.runs.task_spec import Kind

TASKS = {
    "translation": "headway.translation.spec:KIND",
    "language-model": "headway.language_models.spec:KIND",
}
"""Where the `Kind` of each task is; it is imported when it is asked for."""

FILES = {
    "translation": "headway.translation.pairs:refuse_unreadable",
    "language-model": "headway.language_models.texts:refuse_unreadable",
}
"""Where a task refuses files that cannot be read, at once: without torch. It may be left out."""


def kind_named(name: str) -> Kind:
    """What a task brings; raises ConfigError for one that is not known."""
    refuse_unknown(name)
    kind: Kind = _found(TASKS[name])
    return kind


def refuse_unknown(name: str) -> None:
    """Raise ConfigError for a task that is not known."""
    if name not in TASKS:
        raise refused.unknown_name("--task", name, TASKS)


def refuse_unreadable(name: str, sections: Sections) -> None:
    """Raise ConfigError or DataError for a file that a task would read, and that is not there."""
    if name in FILES:
        refuse: Callable[[Sections], None] = _found(FILES[name])
        refuse(sections)


def _found(place: str) -> Any:
    module, _, value = place.partition(":")
    return getattr(importlib.import_module(module), value)
