"""What tasks bring, by verb: every line leads somewhere, and who cannot is told who can."""

import importlib

import pytest

from headway import tasks
from headway.commands.verbs import VERBS
from headway.core.errors import ConfigError, RunError
from headway.operations.option_errors import wrong_task
from headway.runs.task_spec import TaskSpec


@pytest.mark.parametrize("task", tasks.TASKS)
def test_every_line_of_a_table_leads_to_something(task):
    for place in tasks.verbs(task).values():
        module, _, name = place.partition(":")
        assert callable(getattr(importlib.import_module(module), name)) or name.isupper()


@pytest.mark.parametrize("task", tasks.TASKS)
def test_a_task_is_called_as_its_own_description_says(task):
    assert isinstance(tasks.task_spec(task), TaskSpec)
    assert tasks.task_spec(task).name == task


def test_a_task_that_lacks_a_verb_is_told_which_have_it(monkeypatch):
    with pytest.raises(RunError, match="of the task language-model; runs/a is one of translation"):
        tasks.brought("translation", "generate", "runs/a")
    monkeypatch.setitem(tasks.TASKS, "letters", "letters")
    able = " or ".join(one for one in tasks.TASKS if one not in ("letters", "word-vectors"))
    with pytest.raises(RunError, match=f"of the task {able}; .* of letters"):
        tasks.brought("letters", "inspect", "it")
    with pytest.raises(ConfigError, match="'parsing'"):
        tasks.verbs("parsing")


def test_what_stands_behind_a_verb_is_found_with_its_task():
    found = tasks.objects_of("import")
    assert found.pop("marian") == "translation"
    assert found.pop("m2m100") == "translation"
    assert found.pop("arpa") == found.pop("gpt2") == "language-model"
    assert found.pop("bert") == found.pop("roberta") == "masked-language-model"
    assert {*found.values()} == {"word-vectors"}
    assert tasks.objects_of("export")["word2vec"] == "language-model"
    assert tasks.objects_of("translate") == {}


@pytest.mark.parametrize("task", tasks.TASKS)
def test_a_run_of_another_task_is_told_with_verbs_that_there_are(task):
    said = str(wrong_task("runs/a", task, tasks.verbs(task), ["translation"]))
    named = said.partition("which goes with headway ")[2].partition(". ")[0].split(", ")
    assert set(named) <= set(VERBS), said
    assert "evaluate" in named


OF_NO_TASK = {
    "demo", "prepare", "memory", "corrections", "settings", "complexity", "parameters", "check",
    "tokenize", "neighbours", "analogy", "similarity", "map",
}  # fmt: skip
"""Verbs that need no run, take one of any task, or ask for the `vectors` of one."""


def test_every_verb_is_of_some_task_or_of_none() -> None:
    """So a run that is refused is told all that it goes with."""
    tables = {one.partition(" ")[0] for task in tasks.TASKS for one in tasks.verbs(task)}
    assert {*VERBS} <= tables | OF_NO_TASK
    said = str(wrong_task("runs/a", "translation", tasks.verbs("translation"), ["tagging"]))
    assert " translate" in said
    assert " serve" in said
