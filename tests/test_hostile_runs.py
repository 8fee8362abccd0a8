"""Run folders made to harm are refused at once, in words that name them; so are absurd settings.

In this process, without measuring: `python benchmarks/faults.py hostile` gives each of them to four
verbs in processes of their own, and measures time and memory.
"""

import shutil
from collections.abc import Iterator
from pathlib import Path

import faults
import pytest
from everyday_run import command

from headway.core.errors import UserError
from headway.runs.loading import open_run
from headway.runs.parent import Parent
from headway.translation.spec import SPEC

LARGE = ("two million pieces", "a header of a million lists", "a metrics.jsonl of one line")
"""Seconds each; left to the benchmark."""


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """One for all: what goes on reads the corpus as it was encoded for the first."""
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("HEADWAY_CACHE", str(folder))
        yield folder


@pytest.fixture(autouse=True)
def own_cache(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADWAY_CACHE", str(cache))


def spoiled(everyday_run: Path, folder: Path, name: str, *, stopped: bool = False) -> Path:
    run = folder / "hostile"
    shutil.copytree(everyday_run, run)
    if stopped:
        faults.make_stopped(run)
    faults.HARMS[name](run)
    return run


@pytest.mark.parametrize(
    "name",
    [n for n in faults.HARMS if "translate" in faults.needed_by(n) and n not in LARGE],
)
def test_what_harms_is_neither_opened_nor_begun_with(everyday_run, tmp_path, name):
    run = spoiled(everyday_run, tmp_path, name)
    with pytest.raises(UserError, match=str(run)):
        open_run(SPEC, run)
    with pytest.raises(UserError, match=str(run)):
        Parent.open(run, SPEC)


@pytest.mark.usefixtures("torch_settings_restored")
@pytest.mark.parametrize(
    "name",
    [n for n in faults.HARMS if list(faults.needed_by(n)) == ["resume"] and n not in LARGE],
)
def test_what_harms_is_not_gone_on_with(everyday_run, tmp_path, name):
    run = spoiled(everyday_run, tmp_path, name, stopped=True)
    finished = command("train", "--out", str(run), "--resume")
    assert finished.status == 2, finished.err
    assert str(run) in finished.err
    assert "bug in headway" not in finished.err


def test_a_link_to_a_file_of_the_user_is_not_written_to(everyday_run, tmp_path):
    run = spoiled(everyday_run, tmp_path, "model.safetensors, the user's", stopped=True)
    before = (tmp_path / "mine").read_bytes()
    assert command("train", "--out", str(run), "--resume").status == 2
    assert (tmp_path / "mine").read_bytes() == before


@pytest.mark.parametrize("name", ["checkpoints, the user's", "a checkpoint, the user's"])
def test_nothing_behind_a_link_is_deleted(everyday_run, tmp_path, name):
    run = spoiled(everyday_run, tmp_path, name, stopped=True)
    [theirs] = tmp_path.glob("my-*")
    before = {path: path.read_bytes() for path in theirs.rglob("*") if path.is_file()}
    (theirs / ".mine.part").mkdir()
    assert command("train", "--out", str(run), "--resume").status == 2
    assert {path: path.read_bytes() for path in theirs.rglob("*") if path.is_file()} == before
    assert (theirs / ".mine.part").exists()


def test_sixty_kinds_and_more_are_known():
    assert len(faults.HARMS) >= 60
