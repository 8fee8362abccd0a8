"""Weight decay beside torch's AdamW, and in a run that is stopped."""

from pathlib import Path
from typing import Any

import pytest
import torch
from everyday_run import check_stopped_and_resumed, train, write_corpus
from torch import Tensor, nn

from headway.core.errors import ConfigError, StoppedError
from headway.core.trainer import Trainer
from headway.operations.shipped import open_folder
from headway.operations.time_budget import PlannedTraining
from headway.runs import fitting
from headway.runs.decayed_adam import OF_FEW_PAIRS, OF_OFTEN_SEEN, DecayedAdam


class Small(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(3)
        self.embedding, self.inner = nn.Embedding(5, 4, padding_idx=0), nn.Linear(4, 6)
        self.norm, self.outer = nn.LayerNorm(6), nn.Linear(6, 2)

    def learn(self, number: int) -> None:
        ids = torch.tensor([0, 1, 4]).add(number) % 5
        x = self.inner(self.embedding(ids).to(self.inner.weight.dtype))
        out = self.outer(self.norm(x)).float()
        (out.pow(2).sum() + number * out.sum()).backward()


def learned(model: Small, weight_decay: float, n: int, dtype: torch.dtype) -> dict[str, Tensor]:
    how: Any = {"betas": (0.9, 0.98), "epsilon": 1e-9, "weight_decay": weight_decay}
    adam = DecayedAdam(model, dtype, **how)
    for number in range(n):
        model.learn(number)
        adam.step(0.05, 0.0)
    return adam.weights()


def test_matrices_decay_as_by_adamw_and_biases_and_norms_do_not() -> None:
    found = learned(Small(), 0.5, 5, torch.float32)
    model = Small()
    matrices = [p for p in model.parameters() if p.ndim > 1]
    others = [p for p in model.parameters() if p.ndim == 1]
    assert (len(matrices), len(others)) == (3, 4)
    groups = [{"params": matrices, "weight_decay": 0.5}, {"params": others, "weight_decay": 0.0}]
    adamw = torch.optim.AdamW(groups, lr=0.05, betas=(0.9, 0.98), eps=1e-9)
    for number in range(5):
        model.learn(number)
        adamw.step()
        adamw.zero_grad()
    for name, wanted in model.named_parameters():
        torch.testing.assert_close(found[name], wanted.detach(), rtol=1e-5, atol=1e-6)
    assert not found["embedding.weight"][0].any()


def test_in_bfloat16_the_masters_decay_by_less_than_it_can_hold() -> None:
    """A ten-thousandth of a weight is lost in bfloat16, and not in float32."""
    model = Small()
    before = {name: one.detach().clone() for name, one in model.named_parameters()}
    adam = DecayedAdam(model, torch.bfloat16, betas=(0.9, 0.98), epsilon=1e-9, weight_decay=0.1)
    adam.step(1e-3, 0.0)  # no gradient: nothing else happens
    for name, one in adam.weights().items():
        kept = 1 - 1e-4 if one.ndim > 1 else 1.0
        torch.testing.assert_close(one, before[name] * kept, rtol=1e-7, atol=1e-7)


@pytest.mark.usefixtures("torch_settings_restored")
def test_a_run_stopped_and_resumed_equals_never_stopping(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = write_corpus(tmp_path, 100)
    check_stopped_and_resumed(
        lambda run: train(files, run, "--training.weight-decay=1"), tmp_path, monkeypatch
    )


def stopped_at_once(_trainer: object, _stop_asked: object) -> None:
    raise StoppedError("the settings are chosen")


@pytest.mark.usefixtures("torch_settings_restored")
@pytest.mark.parametrize(
    ("n_pairs", "more", "decay"),
    [
        (45, [], OF_FEW_PAIRS),
        (45, ["--training.weight-decay=0"], 0.0),
        (45, ["--training.layer-decay=0.9"], 0.0),
        (90, [], 0.0),  # they are not seen ten times
    ],
)
def test_few_pairs_that_are_seen_often_have_weights_that_decay(
    n_pairs, more, decay, tmp_path, monkeypatch
):
    monkeypatch.setattr(Trainer, "train", stopped_at_once)
    done = train(write_corpus(tmp_path, n_pairs), tmp_path / "run", *more)
    assert done.status == 130, done.err
    assert ("weight decay 0.3: few pairs" in done.err) == (decay > 0)
    assert open_folder(tmp_path / "run").settings()["training"]["weight_decay"] == decay


@pytest.mark.usefixtures("torch_settings_restored")
@pytest.mark.parametrize(("batch", "decay"), [("4096", OF_OFTEN_SEEN), ("512", 0.0)])
def test_many_pairs_decay_less_and_where_they_are_seen_a_hundred_times(
    batch: str, decay: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fitting, "FEW_DISTINCT", 1)  # these are many
    monkeypatch.setattr(Trainer, "train", stopped_at_once)
    done = train(write_corpus(tmp_path, 45), tmp_path / "run", f"--training.batch-tokens={batch}")
    assert done.status == 130, done.err
    assert ("weight decay 0.1: the corpus will be seen about 100" in done.err) == (decay > 0)
    assert open_folder(tmp_path / "run").settings()["training"]["weight_decay"] == decay


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"weight_decay": -1.0}, "weight_decay must be at least 0"),
        ({"weight_decay": 1e9}, "weight_decay must be at most 100"),
        ({"weight_decay": 0.1, "freeze": ("encoder",)}, "all weights learn alike"),
        ({"weight_decay": 0.1, "layer_decay": 0.9}, "all weights learn alike"),
    ],
)
def test_what_cannot_be_meant_is_refused(given: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        PlannedTraining(**given)
