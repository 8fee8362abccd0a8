"""The help of every verb begins with two examples that it would take, common options first."""

import shlex
from functools import cache
from itertools import takewhile

import pytest
from cyclopts import App
from everyday_run import command

from headway.cli import function_of
from headway.commands.corpus_rewrite import droppable
from headway.commands.verbs import EXAMPLES, VERBS
from headway.tasks.described import flags

GROUPED = ("train", "prepare", "translate", "evaluate", "inspect")


@cache
def options(verb: str) -> dict[str, str]:
    """The options of a verb, and the title of the group that each stands in."""
    found = App(default_command=function_of(verb)).assemble_argument_collection()
    named = [one for one in found if one.names and one.names[0].startswith("--")]
    return {one.names[0]: one.parameter.group[0].name for one in named}


@cache
def help_page(verb: str) -> str:
    return command(verb, "--help").out


@pytest.mark.parametrize("verb", VERBS)
def test_two_examples_of_options_that_exist_stand_above_all(verb):
    first, second = EXAMPLES[verb]
    shown = help_page(verb)
    assert shown.index("For example:") < shown.index(first) < shown.index(second)
    assert shown.index(second) < shown.index("Usage:")
    assert VERBS[verb] in " ".join(shown.split())
    known = {*options(verb), *flags()}
    for example in EXAMPLES[verb]:
        words = shlex.split(example)
        assert words[:2] == ["headway", verb]
        assert {word for word in words if word.startswith("--")} <= known


def test_an_example_drops_kinds_that_there_are():
    words = shlex.split(EXAMPLES["prepare"][1])
    behind = words[words.index("--drop") + 1 :]
    kinds = list(takewhile(lambda word: not word.startswith("--"), behind))
    assert kinds
    assert {*kinds} <= droppable().keys()


def test_the_options_of_an_example_go_together(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # where there is no run: said once the options are taken
    for example in EXAMPLES["score"]:
        assert "runs/lm" in command(*shlex.split(example)[1:]).err


def test_the_help_says_what_the_docstring_does():
    shown = " ".join(help_page("check").split())
    assert "Without --accept and --measure nothing is changed." in shown


@pytest.mark.parametrize("verb", GROUPED)
def test_the_common_options_come_first(verb):
    shown = help_page(verb)
    titles = [line.split(" ")[1] for line in shown.splitlines() if line.startswith("╭─ ")]
    assert titles[0:2] in (["Arguments", "Most"], ["Most", "To"])
    assert {name for name, title in options(verb).items() if title == "Most used"}
    for name in options(verb):
        assert f"{name} " in shown


def test_what_is_said_of_an_option_is_not_broken_where_its_docstring_is():
    shown = " ".join(help_page("train").replace("│", " ").split())
    assert "of language models tiny, small, base" in shown
    assert "[default: False]" not in shown
