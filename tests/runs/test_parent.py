"""A run that begins with another's weights: which may be a parent, and what is kept of it."""

from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from headway.core import checkpoint
from headway.core.disk import checksum
from headway.core.errors import ConfigError, RunError
from headway.core.run_folder import RunFolder
from headway.runs.parent import Parent, first_score
from headway.runs.transfer import InitialWeights, Transferred, beginning


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
    with pytest.raises(RunError, match="does not exist"):
        Parent.open(tmp_path / "none")


def test_damaged_weights_are_refused(tmp_path):
    folder = finished(tmp_path / "run")
    whole = folder.model.read_bytes()
    for damaged in (whole[: len(whole) // 2], b"", b"\xff" * 40):
        folder.model.write_bytes(damaged)
        with pytest.raises(RunError, match="cannot be used"):
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


# -- a beginning in part ------------------------------------------------------------------------


def model() -> nn.Module:
    """Two parts; the second shares a weight with the first."""
    torch.manual_seed(4)
    made = nn.ModuleDict({"encoder": nn.Linear(3, 3), "head": nn.Linear(3, 3, bias=False)})
    made["head"].weight = made["encoder"].weight
    made["new"] = nn.Linear(3, 2)
    return made


def fresh() -> dict[str, Tensor]:
    return {name: parameter.detach() for name, parameter in model().named_parameters()}


def begun(parent: dict[str, Tensor], reinit: list[str], of: nn.Module) -> InitialWeights:
    return beginning(fresh(), Transferred(parent, {}, [*parent]), reinit, of)


def test_what_the_parent_has_is_taken_and_the_rest_is_drawn():
    parent = {
        "encoder.weight": torch.ones(3, 3),
        "encoder.bias": torch.ones(3),
        "old": torch.ones(1),
    }
    found = begun(parent, [], model())
    assert found.taken == ["encoder.weight", "encoder.bias"]
    assert found.drawn == ["new.weight", "new.bias"]
    assert [*found.unused] == ["old"]
    assert torch.equal(found.weights["encoder.weight"], torch.ones(3, 3))
    assert torch.equal(found.weights["new.weight"], fresh()["new.weight"])
    said = "parameters: 12 taken (encoder); 8 drawn anew (new); 1 of the parent not used (old)"
    assert str(found) == said


def test_of_a_part_that_both_have_in_other_sizes_each_is_counted_in_its_own():
    parent = {"encoder.weight": torch.ones(3, 3), "encoder.bias": torch.ones(3)}
    left = {"new.weight": torch.ones(7, 3), "new.bias": torch.ones(7)}
    brought = Transferred(parent, left, [*parent, *left])
    said = str(beginning(fresh(), brought, [], model()))
    assert (
        said
        == "parameters: 12 taken (encoder); 8 drawn anew (new); 28 of the parent not used (new)"
    )


@pytest.mark.parametrize("part", ["encoder", "encoder.weight", "head"])
def test_a_part_may_be_drawn_anew_under_any_name_of_it(part):
    parent = {name: torch.ones_like(tensor) for name, tensor in fresh().items()}
    found = begun(parent, [part], model())
    assert "encoder.weight" in found.drawn
    assert ("encoder.bias" in found.drawn) == (part == "encoder")
    assert torch.equal(found.weights["encoder.weight"], fresh()["encoder.weight"])
    with pytest.raises(ConfigError, match="--reinit names a part of the model; got 'decoder'"):
        begun(parent, ["decoder"], model())


def test_other_shapes_and_nothing_in_common_are_refused_with_the_remedy():
    with pytest.raises(
        RunError, match=r"encoder.bias should be \(3,\), found \(4,\).*--reinit enc"
    ):
        begun({"encoder.bias": torch.ones(4)}, [], model())
    with pytest.raises(RunError, match="none of encoder.weight, .* is there"):
        begun({"other": torch.ones(4)}, [], model())


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ([{"step": 0, "valid_loss": 2.0, "bleu": 7.5}, {"step": 3, "loss": 1.0}], ("bleu", 7.5)),
        ([{"step": 3, "loss": 1.0, "gradient_norm": 0.5}], None),
        ([{"step": 3, "valid_loss": 1.0, "bleu": 9.5}], None),
        ([], None),
    ],
)
def test_the_score_before_the_first_update_is_told_where_it_is_known(tmp_path, lines, expected):
    folder = RunFolder(tmp_path)
    folder.metrics.write_bytes(b"\x00 lost\n")
    for line in lines:
        folder.log(line)
    assert first_score(folder) == expected
