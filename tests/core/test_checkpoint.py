"""A kill at any instant leaves a whole checkpoint; damage is noticed."""

import errno
import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import safetensors.torch
import torch

from headway.core import checkpoint, disk
from headway.core.disk import DiskError
from headway.core.errors import OutOfReachError, RunError
from headway.core.tensor_files import save_tensors

WEIGHTS = {"a": torch.arange(6.0).view(2, 3), "b.c": torch.tensor([1.5])}


def put(checkpoints: Path, step: int) -> None:
    """A checkpoint whose every part tells its step."""
    weights = {name: tensor + step for name, tensor in WEIGHTS.items()}
    resume = {"adam.step": torch.tensor([float(step)]), "random.cpu": torch.get_rng_state()}
    state = {"progress": {"best_score": float("-inf"), "time_s": 0.1 + step}, "position": [step]}
    checkpoint.write(checkpoints, step, weights, resume, state)


def check_whole(found: checkpoint.Checkpoint | None) -> int:
    """The step of a checkpoint that is in every part what `put` wrote."""
    assert found is not None
    for name, tensor in WEIGHTS.items():
        assert torch.equal(found.weights[name], tensor + found.step)
    assert found.resume["adam.step"].item() == found.step
    assert found.state["position"] == [found.step]
    assert found.state["progress"] == {"best_score": float("-inf"), "time_s": 0.1 + found.step}
    return found.step


def unheard(message: str) -> None:
    raise AssertionError(f"nothing is damaged, but it said: {message}")


def test_what_was_written_is_read_back(tmp_path):
    put(tmp_path / "checkpoints", 10)
    put(tmp_path / "checkpoints", 9)
    assert checkpoint.steps(tmp_path / "checkpoints") == [9, 10]
    assert check_whole(checkpoint.read(tmp_path / "checkpoints", 9)) == 9
    assert check_whole(checkpoint.read_newest(tmp_path / "checkpoints", unheard)) == 10


def test_no_checkpoint_is_none(tmp_path):
    assert checkpoint.read_newest(tmp_path / "nowhere", unheard) is None
    assert checkpoint.steps(tmp_path / "nowhere") == []


def test_the_files_are_safetensors_and_json(tmp_path):
    put(tmp_path, 3)
    folder = tmp_path / "step-3"
    assert sorted(file.name for file in folder.iterdir()) == [
        "resume.safetensors", "state.json", "weights.safetensors",
    ]  # fmt: skip
    assert json.loads((folder / "state.json").read_text(encoding="utf-8"))["step"] == 3
    assert set(safetensors.torch.load_file(folder / "weights.safetensors")) == set(WEIGHTS)


# -- kills ------------------------------------------------------------------------------------


def cut_in_half(path: Path) -> None:
    if path.is_file():
        os.truncate(path, path.stat().st_size // 2)


OPERATIONS: tuple[tuple[Any, str], ...] = (
    (disk, "sync"),
    (os, "replace"),
    (os, "rename"),
    (shutil, "rmtree"),
    (Path, "unlink"),
    (Path, "mkdir"),
    (Path, "touch"),
    (Path, "open"),
)


def break_off(name: str, path: Path) -> None:
    """What such an operation leaves when a kill comes half-way through it."""
    if name == "rmtree" and path.is_dir():  # some files are gone
        for file in sorted(path.iterdir())[:1]:
            os.unlink(file)
    if name == "sync":  # the system had not kept all of it yet
        cut_in_half(path)


def killed_everywhere(tmp_path: Path, work: Callable[[Path], None]) -> Iterator[Path]:
    """A folder as `work` leaves it when it is killed at its first, second, .. operation on files:
    before it, and half-way through it. A kill leaves what is on the disk at that instant: a copy.
    """
    folder, copies = tmp_path / "worked on", list[Path]()
    for step in (10, 20):
        put(folder, step)

    def copy() -> Path:
        copies.append(shutil.copytree(folder, tmp_path / str(len(copies))))
        return copies[-1]

    def watched(real: Callable[..., Any], name: str) -> Callable[..., Any]:
        def operation(path: Any, *arguments: Any, **options: Any) -> Any:
            copy()
            break_off(name, copy() / Path(path).relative_to(folder))
            return real(path, *arguments, **options)

        return operation

    with pytest.MonkeyPatch.context() as patch:
        for owner, name in OPERATIONS:
            patch.setattr(owner, name, watched(getattr(owner, name), name))
        work(folder)
    assert len(copies) > 2
    yield from copies


def test_a_kill_at_any_instant_of_writing_leaves_the_one_before_or_the_new_one(tmp_path):
    seen = set()
    for folder in killed_everywhere(tmp_path, lambda folder: put(folder, 30)):
        seen.add(check_whole(checkpoint.read_newest(folder, unheard)))
        put(folder, 30)  # and the same work can be done again
        assert check_whole(checkpoint.read_newest(folder, unheard)) == 30
    assert seen == {20, 30}


def test_a_kill_at_any_instant_of_tidying_up_leaves_what_was_to_be_kept(tmp_path):
    def tidy(folder: Path) -> None:
        checkpoint.keep_only(folder, to_resume=[20], weights=[10])

    for folder in killed_everywhere(tmp_path, tidy):
        assert check_whole(checkpoint.read_newest(folder, unheard)) == 20
        tidy(folder)
        assert checkpoint.steps(folder) == [10, 20]
        assert torch.equal(checkpoint.average(folder, [10])["a"], WEIGHTS["a"] + 10)

    def drop(folder: Path) -> None:
        checkpoint.keep_only(folder, to_resume=[20], weights=[])

    for folder in killed_everywhere(tmp_path / "drop", drop):
        assert check_whole(checkpoint.read_newest(folder, unheard)) == 20
        drop(folder)
        assert checkpoint.steps(folder) == [20]


def test_a_kill_while_a_step_is_written_again_leaves_the_one_before(tmp_path):
    for folder in killed_everywhere(tmp_path, lambda folder: put(folder, 20)):
        assert check_whole(checkpoint.read_newest(folder, unheard)) in (10, 20)


def test_a_kill_at_any_instant_leaves_the_old_model_or_the_new_one(tmp_path):
    def save(folder: Path) -> None:
        save_tensors({"a": torch.ones(3)}, folder / "model.safetensors")

    for folder in killed_everywhere(tmp_path, save):
        model = folder / "model.safetensors"
        if model.exists():
            assert safetensors.torch.load_file(model)["a"].tolist() == [1, 1, 1]
        save(folder)
        assert safetensors.torch.load_file(model)["a"].tolist() == [1, 1, 1]


def test_a_full_disk_is_an_error_that_leaves_the_one_before(tmp_path, monkeypatch):
    put(tmp_path, 10)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(DiskError, match="is full. Free some space"):
        put(tmp_path, 20)
    assert check_whole(checkpoint.read_newest(tmp_path, unheard)) == 10


# -- damage -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["weights.safetensors", "resume.safetensors", "state.json"])
def test_any_flipped_byte_is_noticed_said_and_the_one_before_is_used(tmp_path, name):
    put(tmp_path, 20)
    file = tmp_path / "step-20" / name
    whole = file.read_bytes()
    stride = 1 if len(whole) < 1000 else 97
    for i in range(0, len(whole), stride):
        file.write_bytes(whole[:i] + bytes([whole[i] ^ (1 << i % 7)]) + whole[i + 1 :])
        with pytest.raises(RunError, match="step-20"):
            checkpoint.read(tmp_path, 20)
    put(tmp_path, 10)
    said, file_as_it_was = list[str](), file.read_bytes()
    assert check_whole(checkpoint.read_newest(tmp_path, said.append)) == 10
    assert len(said) == 1
    assert "damaged" in said[0]
    assert "step-20" in said[0]
    assert "one before" in said[0]
    assert checkpoint.resumable(tmp_path) == [10]
    assert (tmp_path / "damaged-step-20" / name).read_bytes() == file_as_it_was


@pytest.mark.parametrize("name", ["weights.safetensors", "resume.safetensors", "state.json"])
@pytest.mark.parametrize("harm", ["cut", "empty", "gone"])
def test_a_cut_off_or_missing_file_is_noticed(tmp_path, name, harm):
    put(tmp_path, 10)
    put(tmp_path, 20)
    file = tmp_path / "step-20" / name
    if harm == "gone":
        file.unlink()
    else:
        os.truncate(file, file.stat().st_size - 1 if harm == "cut" else 0)
    said: list[str] = []
    assert check_whole(checkpoint.read_newest(tmp_path, said.append)) == 10
    # Without its state.json a folder holds bare weights, as those kept for the average do.
    assert bool(said) == ((name, harm) != ("state.json", "gone"))


def test_when_every_checkpoint_is_damaged_each_is_named_and_nothing_is_begun_anew(tmp_path):
    for step in (10, 20):
        put(tmp_path, step)
        os.truncate(tmp_path / f"step-{step}" / "weights.safetensors", 5)
    for _ in range(2):  # asking again changes nothing
        with pytest.raises(RunError, match="is damaged: .*step-20.*step-10.*delete"):
            checkpoint.read_newest(tmp_path, unheard)
    assert checkpoint.resumable(tmp_path) == [10, 20]


def test_of_a_step_that_is_damaged_again_the_last_is_kept(tmp_path):
    put(tmp_path, 10)
    for length in (5, 6):
        put(tmp_path, 20)
        os.truncate(tmp_path / "step-20" / "resume.safetensors", length)
        assert check_whole(checkpoint.read_newest(tmp_path, lambda _: None)) == 10
        kept = tmp_path / "damaged-step-20" / "resume.safetensors"
        assert kept.stat().st_size == length


@pytest.mark.parametrize("name", ["weights.safetensors", "resume.safetensors", "state.json"])
@pytest.mark.parametrize("number", [errno.EIO, errno.EACCES, errno.ENOMEM, errno.ESTALE])
def test_a_file_that_cannot_be_read_just_now_is_not_damaged(tmp_path, monkeypatch, name, number):
    for step in (10, 20):
        put(tmp_path, step)
    file, opened = tmp_path / "step-20" / name, Path.open

    def refused(path: Path, *arguments: Any, **options: Any) -> Any:
        if path == file:
            raise OSError(number, os.strerror(number), str(path))
        return opened(path, *arguments, **options)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", refused)
        with pytest.raises(OutOfReachError, match=f"step-20/{name} cannot be read just now"):
            checkpoint.read_newest(tmp_path, unheard)
    assert checkpoint.resumable(tmp_path) == [10, 20]
    assert check_whole(checkpoint.read_newest(tmp_path, unheard)) == 20


def test_a_folder_that_cannot_be_read_is_not_taken_for_empty(tmp_path, monkeypatch):
    put(tmp_path, 10)

    def refused(place: Path) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", str(place))

    monkeypatch.setattr(os, "listdir", refused)
    with pytest.raises(PermissionError):
        checkpoint.read_newest(tmp_path, unheard)


def test_folders_with_other_names_are_left_alone(tmp_path):
    put(tmp_path, 10)
    shutil.copytree(tmp_path / "step-10", tmp_path / "step-10 (copy)")
    shutil.copytree(tmp_path / "step-10", tmp_path / "step-best")
    assert checkpoint.steps(tmp_path) == [10]
    checkpoint.keep_only(tmp_path, to_resume=[], weights=[])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["step-10 (copy)", "step-best"]


# -- keeping and averaging --------------------------------------------------------------------


def test_it_keeps_what_is_asked_and_nothing_else(tmp_path):
    for step in (10, 20, 30, 40, 50):
        put(tmp_path, step)
    checkpoint.keep_only(tmp_path, to_resume=[40, 50], weights=[20, 40])
    assert checkpoint.steps(tmp_path) == [20, 40, 50]
    assert checkpoint.resumable(tmp_path) == [40, 50]
    assert [file.name for file in (tmp_path / "step-20").iterdir()] == ["weights.safetensors"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["step-20", "step-40", "step-50"]


def test_the_average_by_hand(tmp_path):
    for step in (10, 20, 60):
        put(tmp_path, step)
    average = checkpoint.average(tmp_path, [10, 20, 60])
    assert set(average) == set(WEIGHTS)
    for name, tensor in WEIGHTS.items():
        assert average[name].dtype == torch.float32
        torch.testing.assert_close(average[name], tensor + 30)
    assert torch.equal(checkpoint.average(tmp_path, [20])["a"], WEIGHTS["a"] + 20)
