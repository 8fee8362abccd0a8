"""The help of every verb begins with two examples that it would take, common options first."""

import importlib
import inspect
import shlex
from dataclasses import fields
from keyword import iskeyword
from typing import get_args

import pytest
from everyday_run import command

from headway.cli import VERBS
from headway.commands.help_pages import EXAMPLES, GROUPS
from headway.tasks.described import flags


def options(verb: str) -> list[str]:
    name = f"{verb}_" if iskeyword(verb) else verb
    function = getattr(importlib.import_module(f"headway.commands.{name}"), name)
    parameters = inspect.signature(function).parameters.values()
    named = [one for one in parameters if one.kind is one.KEYWORD_ONLY]
    bundles = [get_args(one.annotation)[0] for one in named if one.name == "told"]
    return [one.name for one in named] + [field.name for one in bundles for field in fields(one)]


@pytest.mark.parametrize("verb", VERBS)
def test_two_examples_of_options_that_exist_stand_above_all(verb):
    first, second = EXAMPLES[verb]
    shown = command(verb, "--help").out
    assert shown.index("For example:") < shown.index(first) < shown.index(second)
    assert shown.index(second) < shown.index("Usage:")
    assert VERBS[verb] in " ".join(shown.split())
    known = {f"--{name.rstrip('_').replace('_', '-')}" for name in options(verb)} | {*flags()}
    for example in EXAMPLES[verb]:
        words = shlex.split(example)
        assert words[:2] == ["headway", verb]
        assert {word for word in words if word.startswith("--")} <= known


@pytest.mark.parametrize("verb", GROUPS)
def test_groups_hold_options_of_the_verb_once_and_the_common_come_first(verb):
    grouped = " ".join(GROUPS[verb].values()).split()
    assert len(grouped) == len(set(grouped))
    assert set(grouped) <= set(options(verb))
    assert next(iter(GROUPS[verb])) == "Most used"
    shown = command(verb, "--help").out
    places = [shown.index(f"─ {title} ") for title in GROUPS[verb]]
    assert places == sorted(places)
    for name in grouped:
        assert f"--{name.rstrip('_').replace('_', '-')} " in shown


def test_what_is_said_of_an_option_is_not_broken_where_its_docstring_is():
    shown = " ".join(command("train", "--help").out.replace("│", " ").split())
    assert "of language models tiny, small, base" in shown
    assert "[default: False]" not in shown
