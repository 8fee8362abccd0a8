"""A run folder: sealed, checked, and nobody else's files touched."""

import errno
import io
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from headway.core.disk import DiskError, checksum
from headway.core.errors import ConfigError, RunError, UserError
from headway.core.run_folder import CONSTANT, RunFolder, write_json
from headway.core.tensor_files import check
from headway.operations.locks import TakenError
from headway.operations.shipped import only_writer_of_run
from headway.runs.checking import accept, check_run
from headway.runs.train import write_record

SECTIONS = {"run": {"task": "translation"}, "model": {"type": "bag"}, "runtime": {"seed": 1}}


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    """A run of which only small files are there; its owner keeps a log in the folder meanwhile."""
    with only_writer_of_run(tmp_path / "run", pytest.fail) as folder:
        (tmp_path / "run" / "train.log").write_text("begun", encoding="utf-8")
        folder.tokenizer.write_text("{}", encoding="utf-8")
        folder.write_data({"sha256": {}})
        folder.write_settings(SECTIONS)
    return folder


def test_what_was_written_is_read_back(folder: RunFolder) -> None:
    assert folder.settings() == SECTIONS
    assert folder.record() == {"sha256": {}}
    assert sorted(folder.sealed()) == ["config.toml", "data.json", "tokenizer.json"]
    folder.refuse_damaged()


def test_what_is_no_run_is_told_what_writes_one(tmp_path: Path) -> None:
    with pytest.raises(RunError, match=r"`headway train` or `import` writes; .* no config.toml"):
        RunFolder.open(tmp_path)


def test_files_of_somebody_else_are_not_sealed(folder: RunFolder) -> None:
    (folder.path / "train.log").write_text("begun, and gone on", encoding="utf-8")
    folder.refuse_damaged()
    assert "train.log" not in [found.name for found in check_run(folder.path)]


def test_every_flipped_bit_of_the_settings_is_noticed_or_changes_nothing(folder: RunFolder) -> None:
    whole = folder.config.read_bytes()
    for at in range(len(whole)):
        folder.config.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        found, said = SECTIONS, str(folder.config)
        try:
            found = folder.settings()
        except UserError as error:
            said = str(error)
        assert found == SECTIONS
        assert str(folder.config) in said


def test_the_seal_stays_when_settings_are_written_again(folder: RunFolder) -> None:
    folder.tokenizer.write_text("[]", encoding="utf-8")  # damage meanwhile
    folder.finish(SECTIONS)
    with pytest.raises(RunError, match="tokenizer.json is not as headway wrote it"):
        folder.refuse_damaged()


def test_a_change_on_purpose_can_be_accepted(folder: RunFolder) -> None:
    text = folder.config.read_text(encoding="utf-8")
    folder.config.write_text(text.replace("seed = 1", "seed = 2"), encoding="utf-8")
    with pytest.raises(RunError, match="headway check .* --accept"):
        folder.settings()
    assert {one.name: one.state for one in check_run(folder.path)}["config.toml"] == "damaged"
    accept(folder.path, pytest.fail)
    assert folder.settings()["runtime"] == {"seed": 2}
    assert {one.state for one in check_run(folder.path) if one.name != "model.safetensors"} == {
        "whole"
    }


def test_settings_that_are_gone_are_not_accepted(folder: RunFolder) -> None:
    folder.config.write_text("", encoding="utf-8")
    with pytest.raises(ConfigError, match="has no settings"):
        accept(folder.path, pytest.fail)
    assert not folder.config.read_bytes()


def test_a_finished_run_has_nothing_of_what_a_killed_process_was_writing(folder: RunFolder) -> None:
    (folder.path / ".model.safetensors.1.part").touch()
    folder.finish(SECTIONS)
    assert not list(folder.path.glob(".*"))


def test_a_finished_run_that_has_lost_its_model_is_damaged(folder: RunFolder) -> None:
    def state() -> str | None:
        return {one.name: one.state for one in check_run(folder.path)}.get("model.safetensors")

    folder.checkpoints.mkdir()
    assert state() is None  # training has not come so far
    folder.finish(SECTIONS)
    assert state() == "damaged"


def test_what_is_said_of_damaged_weights_names_the_run_that_they_are_of(folder: RunFolder) -> None:
    weights = folder.checkpoints / "step-1" / "weights.safetensors"
    weights.parent.mkdir(parents=True)
    for file in (weights, folder.model):
        file.write_bytes(b"cut")
        with pytest.raises(RunError) as refused:
            check(file)
        assert str(refused.value).endswith(f". See what can be done: headway check {folder.path}")
    damaged = [one for one in check_run(folder.path) if one.state == "damaged"]
    assert [one.name for one in damaged] == ["model.safetensors", "checkpoints/step-1"]
    assert not any("headway check" in one.note for one in damaged)  # it is what was asked
    elsewhere = folder.path.parent / "model.safetensors"
    elsewhere.write_bytes(b"cut")
    with pytest.raises(RunError) as refused:
        check(elsewhere)
    assert str(refused.value).endswith(". Take it from a copy.")


def test_what_is_accepted_keeps_every_checksum(folder: RunFolder) -> None:
    write_json(folder.checks, {"held": {}})
    folder.finish(SECTIONS)
    sealed = folder.sealed()
    folder.tokenizer.write_text("[]", encoding="utf-8")
    accept(folder.path, pytest.fail)
    folder.refuse_damaged()
    again = folder.sealed()
    assert again.keys() == sealed.keys() >= {"checks.json", "tokenizer.json"}
    changed = {name for name in sealed if again[name] != sealed[name]}
    assert changed == {"config.toml", "tokenizer.json"}
    with (
        only_writer_of_run(folder.path, pytest.fail),
        pytest.raises(TakenError),
    ):
        accept(folder.path, pytest.fail)


def test_line_ends_of_another_system_are_no_damage(folder: RunFolder) -> None:
    folder.config.write_bytes(folder.config.read_bytes().replace(b"\n", b"\r\n"))
    assert folder.settings() == SECTIONS


def test_an_empty_folder_goes_again_and_a_taken_one_is_refused(
    tmp_path: Path, folder: RunFolder
) -> None:
    with only_writer_of_run(tmp_path / "new", pytest.fail):
        assert (tmp_path / "new").is_dir()
    assert not (tmp_path / "new").exists()
    with (
        only_writer_of_run(folder.path, pytest.fail) as again,
        pytest.raises(RunError, match="already holds a run"),
    ):
        again.refuse_taken()


WRITTEN = ("README.md", "checks.json", "metrics.jsonl", *CONSTANT)


@pytest.mark.parametrize("name", WRITTEN)
def test_a_folder_with_a_file_of_somebody_elses_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text('{"versions": "1.0"}', encoding="utf-8")
    with pytest.raises(RunError, match=f"has {name} and no run. Give another folder to --out"):
        RunFolder(tmp_path).refuse_taken()


def test_a_start_that_was_killed_may_be_made_again(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    folder.write_data({"sha256": {}, "versions": {"headway": "0.1.0"}})
    for name in CONSTANT[1:]:
        (tmp_path / name).write_text("{}", encoding="utf-8")
    (tmp_path / "train.log").write_text("mine", encoding="utf-8")
    folder.refuse_taken()
    write_record(folder, SimpleNamespace(checksums={}, record=dict), None)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data.json", "train.log"]
    folder.card.write_text("mine", encoding="utf-8")
    with pytest.raises(RunError, match=r"has README\.md and no run"):
        folder.refuse_taken()


class Refusing(io.FileIO):
    """A file on a disk that is full for one write, and then takes three bytes at a time."""

    n_writes = 0

    def write(self, data: Any) -> int:
        self.n_writes += 1
        if self.n_writes == 1:
            raise OSError(errno.ENOSPC, "No space left on device")
        return super().write(bytes(data)[:3])


def test_a_line_of_the_log_that_was_refused_is_not_written_after_all(tmp_path, monkeypatch):
    folder = RunFolder(tmp_path)
    files = []

    def opened(path: Path, mode: str, buffering: int = -1, **_: Any) -> Any:
        files.append(Refusing(path, "a"))
        return files[-1] if buffering == 0 else io.TextIOWrapper(io.BufferedWriter(files[-1]))

    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", opened)
        with pytest.raises(DiskError, match="its disk is full"):
            folder.log({"step": 1})
        assert not folder.metrics.stat().st_size
        files.clear()
        patch.setattr(Refusing, "n_writes", 1)
        folder.log({"step": 1})
    assert folder.read_log() == [{"step": 1}]


@pytest.mark.parametrize("text", ["[[]]", '{"a":' * 100_000, "", "\x00", "7"])
def test_checks_that_are_none_are_refused(tmp_path, text):
    folder = RunFolder(tmp_path)
    folder.checks.write_text(text, encoding="utf-8")
    with pytest.raises(RunError, match=r"checks\.json is not as headway wrote it"):
        folder.table(folder.checks)


def test_checks_are_sealed_when_the_run_is_finished(tmp_path):
    folder = RunFolder(tmp_path)
    sections = {"model": {"d_model": 16}}
    folder.write_settings(sections)
    write_json(folder.checks, {"held": {}})
    assert "checks.json" not in folder.sealed()
    folder.finish(sections)
    assert folder.sealed()["checks.json"] == checksum(folder.checks)
    folder.refuse_damaged()
    folder.checks.write_text("{}", encoding="utf-8")
    with pytest.raises(RunError):
        folder.refuse_damaged()
