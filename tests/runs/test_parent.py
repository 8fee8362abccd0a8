"""A run that begins with another's weights: which may be a parent, and what is kept of it."""

from pathlib import Path

import pytest
import torch
from torch import Tensor

from headway.disk import checksum
from headway.errors import RunError
from headway.runs.parent import Parent
from headway.training import checkpoint
from headway.training.run_folder import RunFolder


def finished(path: Path, weights: dict[str, Tensor] | None = None) -> RunFolder:
    """A run folder with all that makes it a parent."""
    path.mkdir()
    folder = RunFolder(path)
    folder.write_settings({"model": {"type": "transformer"}})
    checkpoint.save_tensors(weights or {"a": torch.ones(2)}, folder.model)
    folder.card.write_text("# done", encoding="utf-8")
    return folder


def test_a_parent_gives_its_weights_and_their_checksum(tmp_path):
    weights = {"a": torch.randn(3, 2), "b": torch.zeros(1)}
    parent = Parent.open(finished(tmp_path / "run", weights).path)
    assert parent.sha256 == checksum(tmp_path / "run" / "model.safetensors")
    assert {name: tensor.tolist() for name, tensor in parent.weights().items()} == {
        name: tensor.tolist() for name, tensor in weights.items()
    }


@pytest.mark.parametrize("missing", ["model", "card"])
def test_a_run_that_is_not_finished_is_no_parent(tmp_path, missing):
    folder = finished(tmp_path / "run")
    getattr(folder, missing).unlink()
    with pytest.raises(RunError, match="only a finished run.*--out .*run --resume"):
        Parent.open(folder.path)


def test_nothing_is_no_parent(tmp_path):
    with pytest.raises(RunError, match="holds nothing"):
        Parent.open(tmp_path / "none")


def test_damaged_weights_are_refused(tmp_path):
    folder = finished(tmp_path / "run")
    whole = folder.model.read_bytes()
    for damaged in (whole[: len(whole) // 2], b"", b"\xff" * 40):
        folder.model.write_bytes(damaged)
        with pytest.raises(RunError, match="cannot be read"):
            Parent.open(folder.path)
    folder.model.unlink()
    checkpoint.save_tensors({"a": torch.tensor([1.0, float("nan")])}, folder.model)
    with pytest.raises(RunError, match="a of .* is not finite"):
        Parent.open(folder.path)


def test_weights_that_changed_since_are_refused(tmp_path):
    folder = finished(tmp_path / "run")
    parent = Parent.open(folder.path)
    checkpoint.save_tensors({"a": torch.zeros(1)}, folder.model)
    with pytest.raises(RunError, match="has changed since"):
        parent.weights()
