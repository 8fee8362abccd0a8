"""A run that is translated with CTranslate2: exported once, found again, and no other's."""

import json
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from everyday_run import Finished, command
from random_models import small

from headway.core.errors import ConfigError
from headway.core.tensor_files import load_tensors, save_tensors
from headway.operations.shipped import SHIPPED
from headway.runs.loading import open_run
from headway.translation import engines, exporting
from headway.translation.spec import SPEC
from headway.translator import Translator

TEXTS = "She reads a book.\n\nThe dog runs.\nWhere is my hat?\n"


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Some texts, an empty cache, and fewer sentences that an export compares than usual."""
    monkeypatch.setenv("HEADWAY_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(exporting, "SENTENCES", 20)
    file = tmp_path / "new.en"
    file.write_text(TEXTS, encoding="utf-8")
    return file


def translated(run: Path, file: Path, *options: str) -> Finished:
    """Greedily, with CTranslate2 unless an option says otherwise."""
    options = ("--method", "greedy", "--runtime.engine", "ctranslate2", *options)
    runtime = ("--runtime.threads", "1", "--runtime.device", "cpu")
    return command("translate", str(run), str(file), *options, *runtime)


def test_a_run_is_exported_once_and_anew_when_its_weights_are_others(
    file: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    shutil.copytree(SHIPPED, run)
    first = translated(run, file, "--json")
    assert "checked with CTranslate2" in first.err
    again = translated(run, file, "--json")
    assert "checked" not in again.err
    assert again.out == first.out
    ours = Translator.load(run, device="cpu").translate_fully(
        TEXTS.splitlines(), want_alignment=True, method="greedy"
    )
    for found, one in zip(json.loads(first.out)["translations"], ours, strict=True):
        assert found["target"] == one.target
        assert found["alignment"] == [list(pair) for each in one.n_best for pair in each.alignment]
    loaded = Translator.load(run, device="cpu", engine="ctranslate2")
    assert loaded.translate(TEXTS.splitlines(), method="greedy") == [one.target for one in ours]

    damaged = next((tmp_path / "cache").glob("ctranslate2-*/model.bin"))
    damaged.write_bytes(damaged.read_bytes()[:-1])
    assert "is damaged" in translated(run, file).err
    weights = load_tensors(run / "model.safetensors")
    weights["decoder.0.feed_forward.to_output.bias"][0] += 1
    save_tensors(weights, run / "model.safetensors")
    assert "checked with CTranslate2" in translated(run, file).err


def test_an_export_that_differs_is_not_searched_with(
    file: Path, everyday_run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def wrong(model, *others):  # type: ignore[no-untyped-def]
        weight = model.decoder[0].feed_forward.to_output.bias
        weight.data[0] += 0.5
        written(model, *others)
        weight.data[0] -= 0.5

    written = exporting.ctranslate2.write_ctranslate2
    monkeypatch.setattr(exporting.ctranslate2, "write_ctranslate2", wrong)
    assert "an exported model computes what the run does" in translated(everyday_run, file).err
    assert not list((file.parent / "cache").glob("ctranslate2-*"))


def test_what_it_cannot_do_is_refused(file: Path, everyday_run: Path) -> None:
    refused = translated(everyday_run, file, "--precision", "int8")
    assert refused.status == 2
    assert "the engine is ctranslate2" in refused.err
    opened = open_run(SPEC, everyday_run, device="cpu")
    others = replace(opened.settings, model_type="recurrent")
    for one, why in (
        (opened._replace(settings=others), "this one is of the type recurrent"),
        (opened._replace(device=torch.device("cuda")), "the model is on cuda"),
        (opened._replace(model=small(window=3)), "window 3"),
    ):
        with pytest.raises(ConfigError, match=rf"{why}.*Use --runtime\.engine auto"):
            engines.refuse_unheld(one)


def test_without_the_program_it_is_said_how_to_get_it(
    file: Path, everyday_run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ctranslate2", None)
    with pytest.raises(ConfigError, match=r"pip install 'headway\[export\]'"):
        Translator.load(everyday_run, device="cpu", engine="ctranslate2")
    Translator.load(everyday_run, device="cpu")


def test_training_refuses_it_before_it_begins(tmp_path: Path, everyday_files: tuple) -> None:
    names = [str(name) for name in everyday_files]
    files = ["--source", names[0], "--target", names[1], "--out", str(tmp_path / "run")]
    refused = command("train", *files, "--runtime.engine", "ctranslate2")
    assert refused.status == 2
    assert "runtime.engine ctranslate2, which `headway translate` takes" in refused.err
