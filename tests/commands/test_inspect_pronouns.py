"""`headway inspect RUN --pronouns`: a table, and the same as JSON."""

import json
from pathlib import Path

import pytest
from everyday_run import command

from headway.commands import demo as demo_module
from headway.commands import inspect as inspect_module


@pytest.fixture(autouse=True)
def few_sentences(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"N_TRAIN": 100, "N_VALID": 10, "N_TEST": 10}.items():
        monkeypatch.setattr(demo_module, name, value)
    monkeypatch.setattr(inspect_module.pronouns, "__defaults__", (8, 7))


def test_every_layer_is_told_with_its_interval(everyday_run: Path) -> None:
    done = command("inspect", str(everyday_run), "--pronouns")
    assert done.status == 0, done.err
    for name in (
        'what "it" looks at, layer 0',
        'probe of the vector of "it", before layer 0',
        'probe of the vector of "it", layer 0',
        "deciding, layer 0",
        "naming, layer 0",
    ):
        assert name in done.out
    found = json.loads(command("inspect", str(everyday_run), "--pronouns", "--json").out)
    assert found["sentences"] == 8
    assert [one["layer"] for one in found["probe"]] == [-1, 0]
    for one in (found["translation"], *found["encoder"], *found["naming"]):
        assert 0 <= one["low"] <= one["right"] / one["of"] <= one["high"] <= 1
        assert one["of"] == 8


def test_it_takes_no_text_and_makes_no_page(everyday_run: Path) -> None:
    done = command("inspect", str(everyday_run), "I love cats.", "--pronouns")
    assert done.status == 2
    assert "--pronouns" in done.err
