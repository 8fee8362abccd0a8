"""Every setting that can stand in a config.toml is described, and a command prints it."""

import dataclasses
import json
import re
from typing import Any

import pytest
from everyday_run import command

import headway
from headway.core.config import SECTIONS, build, read_toml
from headway.core.errors import ConfigError
from headway.core.runtime import RuntimeSettings
from headway.operations.option_errors import meant_by
from headway.operations.shipped import SHIPPED
from headway.runs.settings import RunSection
from headway.tasks import TASKS, task_spec
from headway.tasks.described import flags, settings


def every_field() -> list[tuple[str, type, "dataclasses.Field[Any]"]]:
    """Section, dataclass, field: of every task and every type of model."""
    found = []
    for kind in map(task_spec, TASKS):
        models = [("model", config) for config, _ in kind.models.values()]
        sections = [*kind.sections.items(), ("run", RunSection), ("runtime", RuntimeSettings)]
        for section, config in (*sections, *models):
            found += [(section, config, field) for field in dataclasses.fields(config)]
    return found


@pytest.fixture(scope="module")
def printed() -> str:
    done = command("settings")
    assert done.status == 0
    return done.out


def test_no_setting_is_without_a_description_that_the_command_prints(printed):
    rows = {(one.section, one.key) for one in settings() if one.description}
    fields = {(section, field.name) for section, _, field in every_field()}
    assert sorted(fields - rows) == []
    assert [one for one in settings() if not one.description] == []
    on_one_line = " ".join(printed.split())
    for one in settings():
        assert f"{one.flag} {one.description}" in on_one_line


def test_the_settings_of_a_run_are_among_them():
    known = {(one.section, one.key) for one in settings()}
    stored = read_toml(SHIPPED / "config.toml")
    assert {(section, key) for section, keys in stored.items() for key in keys} <= known


def test_each_has_the_default_and_the_range_of_its_dataclass():
    rows = {(one.section, one.key, one.default) for one in settings()}
    assert {(s, f.name, f.default) for s, _, f in every_field()} <= rows
    configs = {c for _, c, _ in every_field()}
    n_ranges = 0
    for one in settings():
        for rule, bound in re.findall(r"at (least|most) ([\d,]+(?![\d.]))", one.range):
            beyond = int(bound.replace(",", "")) + (1 if rule == "most" else -1)
            for config in configs:
                if one.defined_in in (f"{b.__module__}.{b.__name__}" for b in config.__mro__):
                    with pytest.raises(ConfigError, match=one.key):
                        build(config, {one.key: beyond}, section=one.section)
                    n_ranges += 1
    assert n_ranges > 100
    numbers = [one for one in settings() if one.type.startswith(("a whole number", "a number"))]
    without = {(one.section, one.key) for one in numbers if not one.range}
    assert without == {("decoding", "seed")}


def test_json_holds_the_same():
    done = command("settings", "--json")
    rows = json.loads(done.out)["settings"]
    assert [(row["flag"], row["description"]) for row in rows] == [
        (one.flag, one.description) for one in settings()
    ]


@pytest.mark.parametrize("name", [*SECTIONS, "recurrent", "learning-rate", "training.patience"])
def test_a_section_a_type_of_model_and_a_setting_are_shown_alone(name):
    shown = command("settings", name).out
    assert "default" in shown
    assert shown.count("default") < len(settings())


def test_what_is_none_is_refused_with_what_is_near():
    done = command("settings", "lr")
    assert done.status == 2
    assert "did you mean --training.learning-rate?" in done.err
    assert "headway settings lists all" in command("settings", "frobnicate").err


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("--lr", "--training.learning-rate"),
        ("--batch-size", "--training.batch-tokens"),
        ("--batch_size", "--training.batch-tokens"),
        ("--dropout", "--model.dropout"),
        ("--beam-size", "--decoding.beam"),
        ("--lerning-rate", "--training.learning-rate"),
        ("--seed", "--decoding.seed"),
        ("--frobnicate", ""),
    ],
)
def test_what_other_toolkits_call_a_setting_leads_to_it(given, meant):
    assert meant_by(given, flags()) == meant


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["train", "--out", "o", "--lr", "1"], "did you mean --training.learning-rate"),
        (["train", "--out", "o", "--batch-size", "1"], "did you mean --training.batch-tokens"),
        (["translate", "demo", "--seed", "1"], "did you mean --decoding.seed"),
        (["train", "--out", "o", "--bugdet", "1h"], "did you mean --budget"),
    ],
)
def test_an_unknown_option_is_refused_with_the_setting_that_is_meant(given, message):
    done = command(*given)
    assert done.status == 2
    assert message in done.err


@pytest.mark.parametrize(
    ("name", "meant"),
    [("learning_rate", 'settings={"training": {"learning_rate": ..}}'), ("soruce", "source")],
)
def test_an_unknown_argument_of_train_is_refused_with_what_is_meant(name, meant):
    with pytest.raises(ConfigError, match=re.escape(f"did you mean {meant}?")):
        headway.train(out="o", **{name: 1})
