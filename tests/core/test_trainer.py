"""The loop on a task small enough to run hundreds of times: resuming equals never stopping."""

import math
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from regression import (
    SETTINGS,
    KilledError,
    Listener,
    Regression,
    choose,
    everything,
    network,
    never,
    stop_after,
    untimed,
)
from safetensors.torch import load_file
from torch import Tensor, nn

from headway.core import checkpoint
from headway.core.dropout import Dropout
from headway.core.errors import HeadwayError, OutOfReachError, RunError
from headway.core.optimizer import FlatAdam
from headway.core.run_folder import RunFolder
from headway.core.trainer import Progress, Trainer
from headway.core.training_interfaces import Batch, TaskState, Validation
from headway.operations.recovery import upgraded
from headway.operations.time_budget import PlannedTraining
from headway.runs.fine_tuning import start_from
from headway.runs.gradient import trainer_of


def trainer_in(
    path: Path,
    settings: PlannedTraining = SETTINGS,
    dtype: torch.dtype = torch.float32,
    **options: Any,
) -> Trainer[Regression]:
    """As a fresh process would build it."""
    model: nn.Module = network()
    if dtype != torch.float32:
        model = nn.Sequential(Cast(dtype), model)
    twin = network() if dtype == torch.float32 else nn.Sequential(Cast(torch.float32), network())
    path.mkdir(exist_ok=True)
    torch.manual_seed(6)
    return trainer_of(
        model, twin, Regression(**options), RunFolder(path), settings,
        dtype=dtype, reporter=Listener(),
    )  # fmt: skip


class Cast(nn.Module):
    """Brings the input to the precision that the model computes in."""

    def __init__(self, dtype: torch.dtype) -> None:
        super().__init__()
        self.dtype = dtype

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.to(self.dtype)


@pytest.fixture(scope="module", params=[torch.float32, torch.bfloat16], ids=["float32", "bfloat16"])
def dtype(request: pytest.FixtureRequest) -> torch.dtype:
    return request.param


@pytest.fixture(scope="module")
def never_stopped(tmp_path_factory: pytest.TempPathFactory, dtype: torch.dtype) -> dict[str, Any]:
    run = tmp_path_factory.mktemp("never-stopped") / "run"
    trainer = trainer_in(run, dtype=dtype)
    trainer.train(never)
    choose(trainer)
    return everything(run)


# -- resuming ---------------------------------------------------------------------------------


@pytest.mark.parametrize("step", range(1, 12))
def test_stopped_after_any_step_and_resumed_equals_never_stopped(
    tmp_path, dtype, never_stopped, step
):
    first = trainer_in(tmp_path / "run", dtype=dtype)
    progress = first.train(stop_after(step, first))
    assert progress.step == step
    assert not progress.finished
    again = trainer_in(tmp_path / "run", dtype=dtype)
    assert again.resume()
    assert again.progress.step == step
    again.train(never)
    choose(again)
    assert everything(tmp_path / "run") == never_stopped


@pytest.mark.parametrize("step", range(1, 13))
def test_killed_in_any_step_and_resumed_equals_never_stopped(tmp_path, dtype, never_stopped, step):
    with pytest.raises(KilledError):
        trainer_in(tmp_path / "run", dtype=dtype, kill_at=step).train(never)
    with (tmp_path / "run" / "metrics.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"step": 1')  # the kill came while a line was written
    again = trainer_in(tmp_path / "run", dtype=dtype)
    n_whole = (step - 1) // 3 * 3
    assert again.resume() == bool(n_whole)
    assert again.progress.step == n_whole
    again.train(never)
    choose(again)
    assert everything(tmp_path / "run") == never_stopped


def test_stopped_again_and_again_equals_never_stopped(tmp_path, dtype, never_stopped):
    for step in range(1, 13):
        trainer = trainer_in(tmp_path / "run", dtype=dtype)
        assert trainer.resume() == (step > 1)
        trainer.train(stop_after(step, trainer))
    choose(trainer)
    assert everything(tmp_path / "run") == never_stopped


def test_with_the_newest_checkpoint_damaged_the_one_before_gives_the_same(
    tmp_path, dtype, never_stopped
):
    with pytest.raises(KilledError):
        trainer_in(tmp_path / "run", dtype=dtype, kill_at=11).train(never)
    file = tmp_path / "run" / "checkpoints" / "step-9" / "resume.safetensors"
    file.write_bytes(file.read_bytes()[:-1] + b"?")
    again = trainer_in(tmp_path / "run", dtype=dtype)
    assert again.resume()
    assert again.progress.step == 6
    assert "step-9" in again.reporter.said[0]
    again.train(never)
    choose(again)
    shutil.rmtree(tmp_path / "run" / "checkpoints" / "damaged-step-9")  # it was kept
    assert everything(tmp_path / "run") == never_stopped


@pytest.mark.parametrize(
    ("of", "name"), [(checkpoint, "load_tensors"), (FlatAdam, "load_state_dict")]
)
def test_for_want_of_memory_nothing_is_lost_and_going_on_later_equals_never_stopping(
    tmp_path, dtype, never_stopped, monkeypatch, of, name
):
    with pytest.raises(KilledError):
        trainer_in(tmp_path / "run", dtype=dtype, kill_at=11).train(never)

    def refused(*_: object) -> None:
        raise RuntimeError("CUDA error: out of memory")

    def held() -> dict[Path, bytes]:
        files = (tmp_path / "run").rglob("*")
        return {file: file.read_bytes() for file in files if file.is_file()}

    before = held()
    with monkeypatch.context() as patch:
        patch.setattr(of, name, refused)
        with pytest.raises(OutOfReachError, match="step-9 cannot be read just now"):
            trainer_in(tmp_path / "run", dtype=dtype).resume()
    assert held() == before
    again = trainer_in(tmp_path / "run", dtype=dtype)
    assert again.resume()
    again.train(never)
    choose(again)
    assert everything(tmp_path / "run") == never_stopped


def test_killed_while_it_chooses_the_weights_it_chooses_the_same_again(tmp_path):
    first = trainer_in(tmp_path / "run")
    first.train(never)
    said = choose(first)
    chosen = everything(tmp_path / "run")
    again = trainer_in(tmp_path / "run")
    assert again.resume()
    again.train(never)
    assert again.progress.step == 12
    assert choose(again) == said
    assert everything(tmp_path / "run") == chosen


# -- metrics.jsonl ----------------------------------------------------------------------------


def test_metrics_are_what_they_say(tmp_path):
    trainer = trainer_in(tmp_path / "run")
    losses = []
    update = trainer.train_step
    trainer.train_step = lambda: losses.append(update()) or losses[-1]  # type: ignore[method-assign]
    trainer.train(never)
    log = trainer.folder.read_log()
    steps = [line["step"] for line in log if "loss" in line]
    assert steps == [2, 3, 4, 6, 8, 9, 10, 12]
    assert [line["step"] for line in log if "bleu" in line] == [3, 6, 9, 12]
    before = 0
    for line in log:
        assert line["source_tokens"] == 3 * line["step"]
        assert line["target_tokens"] == 4 * line["step"]
        if "loss" in line:
            mean = sum(loss.item() for loss in losses[before : line["step"]])
            assert line["loss"] == pytest.approx(mean / (4 * (line["step"] - before)), abs=1e-5)
            assert line["learning_rate"] == SETTINGS.rate(line["step"])
            before = line["step"]
        else:
            assert line["valid_loss"] == 1.25
    times = [line["time_s"] for line in log]
    assert times == sorted(times)


def test_on_resume_metrics_are_cut_at_the_checkpoint(tmp_path):
    with pytest.raises(KilledError):
        trainer_in(tmp_path / "run", kill_at=9).train(never)
    folder = RunFolder(tmp_path / "run")
    assert folder.read_log()[-1]["step"] == 8
    trainer_in(tmp_path / "run").resume()
    assert folder.read_log()[-1]["step"] == 6


# -- validation, patience, choice -------------------------------------------------------------


def test_validations_do_not_change_training(tmp_path):
    weights = []
    for name, every in (("often", 1), ("seldom", 12)):
        settings = PlannedTraining(**{**vars(SETTINGS), "checkpoint_every": every, "log_every": 1})
        trainer = trainer_in(tmp_path / name, settings)
        trainer.train(never)
        weights.append(trainer.optimizer.masters.clone())
        assert trainer.task.n_validations == 12 // every
    assert torch.equal(*weights)


def test_the_bests_weights_are_in_the_model_file_at_once(tmp_path):
    trainer = trainer_in(tmp_path / "run", scores=[1.0, 7.0, 3.0, 7.0])
    trainer.train(never)
    assert trainer.progress.best_step == 6  # the first of two equal ones
    assert trainer.reporter.best == [True, True, False, False]
    model = load_file(tmp_path / "run" / "model.safetensors")
    best = load_file(tmp_path / "run" / "checkpoints" / "step-6" / "weights.safetensors")
    assert all(torch.equal(model[name], best[name]) for name in best)
    assert set(model) == set(dict(trainer.eval_model.named_parameters()))


@pytest.mark.parametrize(("patience", "last"), [(1, 9), (2, 12), (3, 12), (0, 12)])
def test_patience_counts_validations_without_a_better_score(tmp_path, patience, last):
    constant = {"patience": patience, "schedule": "inverse-square-root"}
    settings = PlannedTraining(**{**vars(SETTINGS), **constant})
    trainer = trainer_in(tmp_path / "run", settings, scores=[1.0, 7.0, 3.0, 7.0])
    progress = trainer.train(never)
    assert progress.finished
    assert progress.step == last


@pytest.mark.parametrize("kill_at", [0, 5, 8, 11])
@pytest.mark.parametrize("scores", [[0.01] * 4, [0.14, 0.13, 0.0, 0.12]])
def test_while_the_loss_falls_and_scores_cannot_be_told_apart_training_goes_on(
    tmp_path, scores, kill_at
):
    settings = replace(SETTINGS, patience=1, schedule="inverse-square-root")
    options = {"scores": scores, "losses": [4.0, 3.0, 2.0, 1.0], "noise": 0.5}
    trainer = trainer_in(tmp_path / "run", settings, kill_at=kill_at, **options)
    if kill_at:
        with pytest.raises(KilledError):
            trainer.train(never)
        trainer = trainer_in(tmp_path / "run", settings, **options)
        trainer.resume()
    progress = trainer.train(never)
    assert progress.step == progress.best_step == 12
    assert "step 12" in choose(trainer) or "the average" in choose(trainer)
    options["losses"] = [1.0, 2.0, 3.0, 4.0]
    rising = trainer_in(tmp_path / "rising", settings, **options).train(never)
    assert (rising.step, rising.best_step) == (6, 3)


@pytest.mark.parametrize(
    ("scores", "losses", "best"),
    [
        ([20.0, 21.0, 20.9, 20.0], [4.0, 3.0, 2.0, 1.0], 9),  # the last lost more than noise
        ([20.0, 20.9, 20.8, 20.7], [4.0, 3.0, 3.5, 3.2], 6),  # no loss as low as the best one's
        ([20.0, 19.7, 19.4, 19.1], [4.0, 3.0, 2.0, 1.0], 6),  # no creeping down: 20 is the measure
        ([20.0, 20.1, 20.2, 20.3], [1.0, 2.0, 3.0, 4.0], 12),  # a higher score needs no loss
    ],
)
def test_of_scores_that_cannot_be_told_apart_the_lowest_loss_is_the_best(
    tmp_path, scores, losses, best
):
    trainer = trainer_in(tmp_path / "run", scores=scores, losses=losses, noise=0.5)
    assert trainer.train(never).best_step == best


def test_of_weights_that_cannot_be_told_apart_by_score_those_of_the_lowest_loss_are_left(tmp_path):
    trainer = trainer_in(tmp_path / "run", scores=[1.0, 2.0, 7.0, 3.0])
    trainer.train(never)
    found = iter([(3.0, 9.0), (1.0, 8.8), (0.5, 8.4), (2.0, 8.9)])  # loss and score
    said = trainer.choose(lambda model: Validation(*next(found), "bleu", noise=0.5))
    assert said.startswith("the average of 2 checkpoints up to the best (")
    assert all(f" {score}0" in said for score in (9.0, 8.8, 8.4, 8.9))
    assert said.endswith("; so near, the lower loss decides)")


def test_patience_that_runs_out_at_the_end_announces_nothing(tmp_path):
    scores = [1.0, 2.0, 3.0, 0.0]
    trainer = trainer_in(tmp_path / "run", replace(SETTINGS, patience=1), scores=scores)
    assert trainer.train(never).step == 12
    assert trainer.progress.finished
    assert not trainer.progress.decay_start
    assert trainer.reporter.said == []


def test_patience_is_remembered_when_training_resumes(tmp_path):
    changes = {"patience": 2, "max_steps": 30, "schedule": "inverse-square-root"}
    settings = PlannedTraining(**{**vars(SETTINGS), **changes})
    scores = [7.0, 3.0, 4.0, 5.0]
    with pytest.raises(KilledError):
        trainer_in(tmp_path / "run", settings, scores=scores, kill_at=8).train(never)
    again = trainer_in(tmp_path / "run", settings, scores=scores)
    again.resume()
    assert again.progress.since_best == 1
    assert again.train(never).step == 9
    assert again.train(never).step == 9  # finished stays finished


@pytest.mark.parametrize("kill_at", [0, 8, 11])
def test_a_decaying_rate_comes_down_before_training_ends_early(tmp_path, kill_at):
    changes = {"patience": 2, "max_steps": 30, "schedule": "linear", "log_every": 1}
    settings = PlannedTraining(**{**vars(SETTINGS), **changes})
    scores = [7.0, 3.0, 4.0, 9.0]
    trainer = trainer_in(tmp_path / "run", settings, scores=scores, kill_at=kill_at)
    if kill_at:
        with pytest.raises(KilledError):
            trainer.train(never)
        trainer = trainer_in(tmp_path / "run", settings, scores=scores)
        trainer.resume()
    progress = trainer.train(never)
    assert progress.finished
    assert progress.decay_start == 9  # two validations, at 6 and 9, were no better than that at 3
    assert progress.step == 9 + 30 // 10
    assert progress.best_step == 12  # where it came down is validated as well
    rates = [line["learning_rate"] for line in trainer.folder.read_log() if "loss" in line]
    assert len(rates) == 12
    assert rates[8:] == sorted(rates[8:], reverse=True)
    assert rates[11] == pytest.approx(rates[8] / 100)


def test_what_is_averaged_ends_at_the_best_and_is_kept(tmp_path):
    trainer = trainer_in(tmp_path / "run", scores=[1.0, 2.0, 7.0, 3.0])
    trainer.train(never)
    assert trainer.averaged() == [6, 9]
    kept = checkpoint.steps(tmp_path / "run" / "checkpoints")
    assert kept == [6, 9, 12]
    assert checkpoint.resumable(tmp_path / "run" / "checkpoints") == [9, 12]
    average = checkpoint.average(tmp_path / "run" / "checkpoints", [6, 9])
    parts = [
        load_file(tmp_path / "run" / "checkpoints" / f"step-{step}" / "weights.safetensors")
        for step in (6, 9)
    ]
    for name, tensor in average.items():
        torch.testing.assert_close(tensor, (parts[0][name] + parts[1][name]) / 2)


def test_the_weights_of_every_checkpoint_are_kept_on_request(tmp_path):
    settings = replace(SETTINGS, keep_all=True)
    trainer_in(tmp_path / "run", settings, scores=[1.0, 2.0, 7.0, 3.0]).train(never)
    assert checkpoint.steps(tmp_path / "run" / "checkpoints") == [3, 6, 9, 12]
    assert checkpoint.resumable(tmp_path / "run" / "checkpoints") == [9, 12]


@pytest.mark.parametrize("clip_norm", [0.0, 0.1])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_the_gradient_norm_is_logged_as_it_was_before_clipping(tmp_path, dtype, clip_norm):
    settings = replace(SETTINGS, log_every=1, max_steps=1, clip_norm=clip_norm)
    trainer = trainer_in(tmp_path / "run", settings, dtype)
    trainer.train(never)
    line = trainer.folder.read_log()[0]
    model = network().eval()  # dropout begins at nothing
    task = Regression()
    batch = task.next_batch()
    gradients = torch.autograd.grad(task.loss(model, batch) / batch.units, [*model.parameters()])
    expected = math.sqrt(sum(float(g.square().sum()) for g in gradients))
    rel = 1e-4 if dtype == torch.float32 else 0.03
    assert line["gradient_norm"] == pytest.approx(expected, rel=rel)
    assert expected > 0.1  # it was clipped


@pytest.mark.parametrize(
    ("name", "steps"),
    [
        ("the best checkpoint, step 9", [9]),
        ("the last checkpoint, step 12", [12]),
        ("the average of 2 checkpoints up to the best", [6, 9]),
        ("the average of the last 2 checkpoints", [9, 12]),
    ],
)
def test_the_weights_that_score_best_are_left_in_the_model_file(tmp_path, name, steps):
    trainer = trainer_in(tmp_path / "run", scores=[1.0, 2.0, 7.0, 3.0])
    trainer.train(never)
    wanted = checkpoint.average(tmp_path / "run" / "checkpoints", steps)

    def score(model: nn.Module) -> Validation:
        assert not model.training
        assert torch.is_inference_mode_enabled()
        weights = dict(model.named_parameters())
        same = all(torch.equal(weights[name], tensor) for name, tensor in wanted.items())
        return Validation(1.0, 9.0 if same else 8.0, "bleu")

    said = trainer.choose(score)
    assert said.split(" (")[0] == name
    assert f"{name} 9.00" in said
    assert said.count("8.00") == 3
    model = load_file(tmp_path / "run" / "model.safetensors")
    assert all(torch.equal(model[name], tensor) for name, tensor in wanted.items())


def test_of_equals_an_average_is_taken_and_nothing_is_scored_twice(tmp_path):
    trainer = trainer_in(tmp_path / "run", scores=[1.0, 2.0, 3.0, 7.0])
    trainer.train(never)
    seen: list[dict[str, torch.Tensor]] = []

    def score(model: nn.Module) -> Validation:
        seen.append({name: tensor.clone() for name, tensor in model.named_parameters()})
        return Validation(1.0, 1.0, "bleu")

    assert trainer.choose(score).startswith("the average of")
    assert len(seen) == 2  # the last checkpoint is the best one
    assert not all(torch.equal(seen[0][name], tensor) for name, tensor in seen[1].items())


def test_a_loss_that_is_not_finite_is_said_and_the_last_checkpoint_stays(tmp_path):
    trainer = trainer_in(tmp_path / "run")
    loss = trainer.task.loss

    def explode(model: nn.Module, batch: Batch) -> Tensor:
        return loss(model, batch) * (1.0 if trainer.task.n < 5 else float("nan"))

    trainer.task.loss = explode  # type: ignore[method-assign]
    with pytest.raises(HeadwayError, match="must stay finite; it is nan at step .*learning-rate"):
        trainer.train(never)
    whole = checkpoint.read_newest(tmp_path / "run" / "checkpoints", pytest.fail)
    assert whole is not None
    assert whole.step == 3
    assert all(tensor.isfinite().all() for tensor in whole.weights.values())


def test_dropout_grows_to_its_full_strength_over_its_warm_up(tmp_path):
    trainer = trainer_in(tmp_path / "run")
    (dropout,) = (layer for layer in trainer.model.modules() if isinstance(layer, Dropout))
    strengths: list[float] = []
    loss = trainer.task.loss

    def watch(model: nn.Module, batch: Batch) -> Tensor:
        strengths.append(dropout.strength)
        return loss(model, batch)

    trainer.task.loss = watch  # type: ignore[method-assign]
    trainer.train(never)
    grown = [step / 8 * 0.3 for step in range(8)] + [0.3] * 4
    assert strengths == pytest.approx(grown)


def test_without_a_warm_up_dropout_is_there_from_the_start(tmp_path):
    trainer = trainer_in(tmp_path / "run", replace(SETTINGS, dropout_warmup=0))
    (dropout,) = (layer for layer in trainer.model.modules() if isinstance(layer, Dropout))
    trainer.train_step()
    assert dropout.strength == 0.3


# -- the learning rate ------------------------------------------------------------------------


@pytest.mark.parametrize("schedule", ["paper", "inverse-square-root", "linear", "cosine"])
def test_every_schedule_can_be_chosen(schedule):
    settings = PlannedTraining(**{**vars(SETTINGS), "schedule": schedule, "max_steps": 100})
    rates = [settings.rate(step) for step in range(1, 101)]
    assert max(rates) == rates[3]
    assert rates[3] == pytest.approx(0.05)


def test_a_run_can_be_moved_while_it_is_stopped(tmp_path):
    first = trainer_in(tmp_path / "run")
    first.train(stop_after(5, first))
    shutil.move(tmp_path / "run", tmp_path / "elsewhere")
    again = trainer_in(tmp_path / "elsewhere")
    assert again.resume()
    assert again.train(never).step == 12


# -- begun with other weights -----------------------------------------------------------------


def other_weights() -> dict[str, Tensor]:
    torch.manual_seed(9)
    return {name: torch.randn_like(p) for name, p in network().named_parameters()}


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_training_begins_with_the_weights_measures_and_saves_them(tmp_path, dtype):
    trainer = trainer_in(tmp_path / "run", dtype=dtype)
    weights = {
        name: torch.randn(shape, generator=torch.Generator().manual_seed(3))
        for name, shape in trainer.optimizer.shapes.items()
    }
    start_from(trainer, weights)
    for name, parameter in trainer.model.named_parameters():
        torch.testing.assert_close(parameter.float(), weights[name].to(dtype).float())
    for name, tensor in checkpoint.read(trainer.folder.checkpoints, 0).weights.items():
        assert torch.equal(tensor, weights[name])
    assert trainer.folder.read_log()[0]["step"] == 0
    assert trainer.progress.validated == [0]


def test_stopped_right_after_the_first_measurement_equals_never_stopping(tmp_path):
    first = trainer_in(tmp_path / "whole")
    start_from(first, other_weights())
    first.train(lambda: False)
    stopped = trainer_in(tmp_path / "stopped")
    start_from(stopped, other_weights())
    again = trainer_in(tmp_path / "stopped")
    assert again.resume()
    again.train(lambda: False)
    for name, tensor in first.optimizer.weights().items():
        assert torch.equal(tensor, again.optimizer.weights()[name])
    steps = [line["step"] for line in again.folder.read_log()]
    assert steps == [line["step"] for line in first.folder.read_log()]


def test_a_measurement_whose_checkpoint_was_lost_is_made_again_and_logged_once(tmp_path):
    trainer = trainer_in(tmp_path / "run")
    start_from(trainer, other_weights())
    checkpoint.discard(checkpoint.folder_of(trainer.folder.checkpoints, 0))
    again = trainer_in(tmp_path / "run")
    assert not again.resume()
    start_from(again, other_weights())
    assert [line["step"] for line in again.folder.read_log()] == [0]


def test_the_first_weights_stay_the_model_if_nothing_better_is_found(tmp_path):
    weights = other_weights()
    trainer = trainer_in(tmp_path / "run", scores=[5.0, 4.0, 3.0, 2.0, 1.0])
    trainer.task.scores = [9.0]  # what they score before the first update
    start_from(trainer, weights)
    trainer.task.scores = [5.0, 4.0, 3.0, 2.0, 1.0]
    trainer.train(lambda: False)
    assert "began with" in choose(trainer)
    assert isinstance(trainer.reporter, Listener)
    assert trainer.reporter.best == [True, False, False, False, False]
    kept = load_file(trainer.folder.model)
    for name, tensor in weights.items():
        assert torch.equal(kept[name], tensor)


def test_weights_of_another_shape_are_refused(tmp_path):
    trainer = trainer_in(tmp_path / "run")
    with pytest.raises(RunError, match="must fit the model; 0.weight should be"):
        start_from(trainer, {name: torch.zeros(1) for name in trainer.optimizer.shapes})


# -- accumulation -----------------------------------------------------------------------------


class Points:
    """Linear regression on points that come one by one, or two at a time."""

    unit, counted = "points", ("points",)

    def __init__(self, n_at_once: int) -> None:
        self.n, self.n_at_once = 0, n_at_once

    def next_batch(self) -> Batch:
        x = torch.sin(torch.arange(self.n, self.n + self.n_at_once).float())[:, None] * 3
        self.n += self.n_at_once
        return Batch(x, units=len(x), counts={"points": len(x)})

    def loss(self, model: nn.Module, batch: Batch) -> Tensor:
        return (model(batch.rows) - batch.rows.cos()).square().sum()

    def split_batch(self, batch: Batch, n: int) -> list[Batch]:
        return [Batch(rows, len(rows), {}) for rows in batch.rows.tensor_split(n) if len(rows)]

    def validate(self, model: nn.Module) -> Validation:
        return Validation(1.0, 0.0, "bleu")

    def state_dict(self) -> TaskState:
        return TaskState({"n": self.n}, {})

    def load_state_dict(self, state: TaskState) -> None:
        self.n = state.countable["n"]


def test_batches_whose_gradients_are_added_up_make_the_update_of_one_batch_of_all(tmp_path):
    def trained(n_at_once: int, accumulate: int) -> tuple[dict[str, Tensor], list[dict[str, Any]]]:
        torch.manual_seed(5)
        models = [nn.Linear(1, 1), nn.Linear(1, 1)]
        folder = RunFolder(tmp_path / f"{n_at_once}-{accumulate}")
        folder.path.mkdir()
        settings = replace(SETTINGS, accumulate=accumulate, dropout_warmup=0)
        trainer = trainer_of(
            *models, Points(n_at_once), folder, settings, dtype=torch.float32, reporter=Listener()
        )
        trainer.train(never)
        return trainer.optimizer.weights(), untimed(folder.read_log())

    (whole, log), (parts, log_of_parts) = trained(6, 1), trained(2, 3)
    for name in whole:
        torch.testing.assert_close(parts[name], whole[name])
    for line, other in zip(log, log_of_parts, strict=True):
        assert line["points"] == other["points"] == 6 * line["step"]
        assert line.get("loss", 0) == pytest.approx(other.get("loss", 0), abs=1e-5)


def test_progress_of_the_first_version_is_read():
    """It counted tokens under fixed names."""
    stored = {
        "step": 5, "time_s": 0.5, "source_tokens": 693, "target_tokens": 489, "validated": [4],
        "best_step": 4, "best_score": 1.5, "since_best": 0,
        "sums": {"loss": 380.3, "tokens": 76, "time_s": 0.01}, "landing": 0, "finished": False,
    }  # fmt: skip
    progress = Progress(**upgraded(stored))
    assert progress.counts == {"source_tokens": 693, "target_tokens": 489}
    assert progress.sums == {"loss": 380.3, "units": 76, "time_s": 0.01}
    assert (progress.step, progress.best_score, progress.validated) == (5, 1.5, [4])
