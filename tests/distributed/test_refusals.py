"""Processes that are not alike, and what several cannot share: a sentence that names the remedy."""

import errno
import re
from pathlib import Path
from unittest.mock import MagicMock

import pytest
import torch
from everyday_run import FLAGS, command, write_corpus
from several_processes import command_by_processes

from headway.core.disk import DiskError
from headway.core.errors import HeadwayError, RunError, StoppedError, UserError
from headway.core.run_folder import RunFolder
from headway.distributed import training
from headway.distributed.launch import KilledError

pytestmark = pytest.mark.usefixtures("torch_settings_restored")


def words(place: Path) -> list[str]:
    files = write_corpus(place)
    return ["train", "--source", str(files[0]), "--target", str(files[1]),
            "--out", str(place / "run"), *FLAGS]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("command", "Give every machine the same command"),
        ("settings", "Put --out on a disk that all machines share"),
    ],
)
def test_processes_that_differ_are_refused(tmp_path: Path, name: str, remedy: str) -> None:
    (tmp_path / "config.toml").write_text("[run]\n", encoding="utf-8")
    told = training.likeness(RunFolder(tmp_path))
    assert training.seen(tmp_path, told).path == tmp_path
    here = re.escape(str(told[name]))
    said = f"all processes are started alike; {name} is other for process 0, here it is {here}"
    with pytest.raises(RunError, match=f"{said}. {remedy}"):
        training.seen(tmp_path, {**told, name: "other"})


def test_a_folder_that_is_not_shared_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="every process reads the run folder; .*Put --out on a disk"):
        training.seen(tmp_path / "elsewhere", {})


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (DiskError(Path("cache"), OSError(errno.ENOSPC, "No space left on device")), UserError),
        (RunError("it is gone."), UserError),
        (KilledError("no batch."), HeadwayError),
        (StoppedError("it was asked to stop."), StoppedError),
    ],
)
def test_whatever_a_process_says_of_itself_has_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: HeadwayError, kind: type[Exception]
) -> None:
    """Errors that are made of other things than a sentence, too."""
    world = MagicMock(rank=1)
    world.watch.name.return_value = "process 1 on host b"
    world.hear.return_value = {"finished": False}
    monkeypatch.setattr(training, "ProcessGroup", lambda: world)
    monkeypatch.setattr(training, "whole_machine", lambda: None)
    monkeypatch.setattr(training, "seen", MagicMock(side_effect=error))
    with pytest.raises(HeadwayError, match="^process 1 on host b: ") as raised:
        training.join_in(MagicMock(folder=RunFolder(tmp_path)))
    assert str(raised.value) == f"process 1 on host b: {error}"
    assert type(raised.value) is kind


def test_another_text_is_told_by_the_process_that_has_it(tmp_path: Path) -> None:
    hear = training.ProcessGroup.hear

    def changed(self: training.ProcessGroup, name: str) -> object:
        told = hear(self, name)
        for side in ("en", "zh"):
            with (tmp_path / f"train.{side}").open("a", encoding="utf-8") as file:
                file.write("one more\n")
        return told

    def before(rank: int) -> None:
        if rank:
            training.ProcessGroup.hear = changed  # type: ignore[method-assign]

    log = tmp_path / "said"
    assert command_by_processes(2, words(tmp_path), log, before)[1] == 2
    heard = Path(f"{log}.1").read_text(encoding="utf-8")
    assert heard.startswith("headway: error: process 1 on ")
    assert "train.en has changed since" in heard
    assert "error" not in Path(f"{log}.0").read_text(encoding="utf-8")


def test_what_is_counted_is_refused_before_a_run_is_written(tmp_path: Path) -> None:
    files = write_corpus(tmp_path)
    out = tmp_path / "run"
    task = ("--task", "language-model", "--preset", "ngram", "--corpus", str(files[0]))
    log = tmp_path / "said"
    assert command_by_processes(2, ["train", *task, "--out", str(out)], log) == [2, None]
    said = "language-model by ngram is not. Leave torchrun and --processes out"
    assert said in Path(f"{log}.0").read_text(encoding="utf-8")
    assert Path(f"{log}.1").read_text(encoding="utf-8") == ""
    assert not out.exists()


@pytest.mark.parametrize("device", ["auto", "cpu"])
def test_a_gpu_is_not_for_two_processes_but_its_machine_is(tmp_path: Path, device: str) -> None:
    def before(rank: int) -> None:
        torch.cuda.is_available = lambda: True
        torch.cuda.device_count = lambda: 1
        torch.cuda.get_device_name = lambda: "a pretended one"

    log, out = tmp_path / "said", tmp_path / "run"
    asked = [*words(tmp_path), f"--runtime.device={device}"]
    expected = [0, 0] if device == "cpu" else [2, None]
    assert command_by_processes(2, asked, log, before) == expected
    said = Path(f"{log}.0").read_text(encoding="utf-8")
    refused = re.search("each process needs a GPU of its own; process 1 on .* has none", said)
    assert bool(refused) == (device == "auto")
    assert out.exists() == (device == "cpu")


@pytest.mark.parametrize("n", ["0", "-2", "2000"])
def test_a_number_of_processes_is_refused(tmp_path: Path, n: str) -> None:
    done = command(*words(tmp_path), "--processes", n)
    assert (done.status, f"from 1 to 1,024; got {n}" in done.err) == (2, True)


def test_processes_within_processes_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORLD_SIZE", "2")
    done = command(*words(tmp_path), "--processes", "2")
    assert (done.status, "Leave one of the two out" in done.err) == (2, True)


def test_restarts_of_torchrun_need_resume(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TORCHELASTIC_MAX_RESTARTS", "3")
    log = tmp_path / "said"
    assert command_by_processes(2, words(tmp_path), log) == [2, None]
    assert "goes on by --resume; it is not given" in Path(f"{log}.0").read_text(encoding="utf-8")
