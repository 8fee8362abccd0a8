"""Tasks: what each brings is a table of "module:name" by verb, in its own package.

`train` is its `TaskSpec`, all that training knows of it; docs/architecture.md lists what stands
behind the other verbs. Nothing is imported before it is asked for.
"""

import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from headway.core import setting_errors as refused
from headway.core.config import Sections
from headway.operations.option_errors import wrong_task
from headway.operations.shipped import open_folder
from headway.runs.settings import task_of, type_of
from headway.runs.task_spec import TaskSpec

TASKS = {
    "translation": "headway.translation",
    "language-model": "headway.language_models",
    "word-vectors": "headway.word2vec",
    "classification": "headway.classification",
    "images": "headway.images",
    "tagging": "headway.tagging",
    "masked-language-model": "headway.masked_language_models",
}
"""The module of each task, in which its `VERBS` are; a run that says no task is of the first."""


def task_spec(name: str) -> TaskSpec:
    """What a task brings to training; raises ConfigError for one that is not known."""
    spec: TaskSpec = brought(name, "train", name)
    return spec


def model_type_of(sections: Sections) -> str:
    """The type of model of a run, given its settings."""
    return type_of(task_spec(task_of(sections)), sections)


def verbs(task: str) -> Mapping[str, str]:
    """Where a task has what it brings; raises ConfigError for one that is not known."""
    if task not in TASKS:
        raise refused.unknown_name("--task", task, TASKS)
    table: Mapping[str, str] = importlib.import_module(TASKS[task]).VERBS
    return table


def tasks_with(verb: str) -> list[str]:
    """The tasks that can do this, in whichever way (`inspect page`), the first one first."""
    return [task for task in TASKS if any(f"{one} ".startswith(f"{verb} ") for one in verbs(task))]


def objects_of(verb: str) -> dict[str, str]:
    """What may stand behind a verb (`arpa` behind `export`), each with the first task it is of."""
    words = [(one.split(), task) for task in reversed(TASKS) for one in verbs(task)]
    return {two[1]: task for two, task in words if two[0] == verb and len(two) > 1}


def brought(task: str, verb: str, asked: str | Path) -> Any:
    """What a task brings to a verb; `asked` is the run, or what else is of this task.

    Raises RunError, which names the tasks that can, where it brings nothing.
    """
    if verb not in verbs(task):
        raise wrong_task(asked, task, verbs(task), tasks_with(verb))
    module, _, name = verbs(task)[verb].partition(":")
    return getattr(importlib.import_module(module), name)


def brought_by_run(run: str | Path, verb: str) -> Any:
    """What the task of a run brings to a verb; raises RunError where there is none, or nothing."""
    return brought(task_of(open_folder(run).settings()), verb, run)
