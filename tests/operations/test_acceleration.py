"""Compiled layers learn what layers learn, are compiled once, and leave no trace in a run."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import compiled_training
import pytest
import torch
from compiled_training import TRAINING, model_of

import headway
from headway.core.errors import ConfigError
from headway.earlier_translators.recurrent import RecurrentTranslator, RecurrentTranslatorConfig
from headway.operations.acceleration import CompiledDropout, accelerate


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """In a process without checks of shapes."""
    script, folder = Path(compiled_training.__file__), tmp_path_factory.mktemp("runs")
    done = subprocess.run(
        [sys.executable, str(script), str(folder)],
        env={**os.environ, "PYTHONPATH": str(Path(headway.__file__).parents[1])},
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("shapes", ["one shape", "any shape"])
def test_compiled_layers_learn_the_same_and_are_compiled_once_each(shapes, found):
    assert found[shapes]["apart"] < 1e-5
    assert found[shapes]["graphs"] == 2  # of a layer that reads, and of one that writes
    assert not found[shapes]["breaks"]


@pytest.mark.parametrize("shapes", ["one shape", "any shape"])
def test_a_stopped_and_resumed_run_is_one_that_never_stopped_and_has_the_usual_names(shapes, found):
    assert found[shapes]["resumed"]
    names = sorted(name for name, _ in model_of(0.2).named_parameters())
    assert found[shapes]["names"] == names


def test_dropout_grew_meanwhile(found):
    assert TRAINING.dropout_warmup < TRAINING.max_steps
    assert found["one shape"]["strength"] == 0.2


def test_dropout_drops_its_share():
    torch.manual_seed(1)
    dropout, x = CompiledDropout(0.3, torch.device("cpu")), torch.ones(400, 500)
    dropped = dropout(x)
    assert float((dropped == 0).float().mean()) == pytest.approx(0.3, abs=0.01)
    assert float(dropped.mean()) == pytest.approx(1, abs=0.01)
    assert torch.equal(dropout.eval()(x), x)


def test_a_model_of_other_parts_is_refused():
    model = RecurrentTranslator(
        RecurrentTranslatorConfig(d_embedding=8, d_model=8), vocabulary_size=20
    )
    with pytest.raises(ConfigError, match="Transformer's layers; got RecurrentTranslator"):
        accelerate(model, None, replace(TRAINING, compile=True))


def test_a_machine_without_a_compiler_is_told(monkeypatch):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(ConfigError, match=r"needs a C\+\+ compiler.*Install g\+\+"):
        accelerate(model_of(0.0), None, replace(TRAINING, compile=True))
