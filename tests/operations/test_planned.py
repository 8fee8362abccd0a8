"""A budget that holds, under a clock that the test turns: the pace changes, the end keeps."""

import math
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
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
)
from torch import nn

from headway.core import trainer as loop
from headway.core.errors import ConfigError, RunError
from headway.core.run_folder import RunFolder
from headway.core.schedules import DECAYING
from headway.core.trainer import Trainer
from headway.core.training_interfaces import Batch, Validation
from headway.exchange.curves import planned
from headway.operations.time_budget import SMALL, PlannedTraining, planned_step
from headway.runs.gradient import trainer_of

PLANNED = PlannedTraining(
    max_steps=120, checkpoint_every=10, log_every=1, warmup_steps=15, learning_rate=0.05,
    batch_tokens=1, patience=0, average=2, within_s=133.0,
)  # fmt: skip
"""As if an update and a validation took a second each."""
Rehearsal = Callable[[int], float]


class Timed(Regression):
    """Update n takes `pace(n)` seconds of the clock, each validation one."""

    def __init__(self, pace: Rehearsal, kill_at: int = 0) -> None:
        super().__init__(kill_at=kill_at)
        self.pace, self.now = pace, 0.0

    def next_batch(self) -> Batch:
        batch = super().next_batch()
        self.now += self.pace(self.n)
        return batch

    def validate(self, model: nn.Module) -> Validation:
        self.now += 1.0
        return super().validate(model)


@pytest.fixture
def trainer_in(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Trainer[Timed]]:
    """As a fresh process would build it, with the clock of its task."""

    def built(
        path: Path, pace: Rehearsal, settings: PlannedTraining = PLANNED, kill_at: int = 0
    ) -> Trainer[Timed]:
        path.mkdir(exist_ok=True)
        torch.manual_seed(6)
        task = Timed(pace, kill_at)
        monkeypatch.setattr(loop.time, "monotonic", lambda: task.now)
        return trainer_of(
            network(), network(), task, RunFolder(path), settings,
            dtype=torch.float32, reporter=Listener(),
        )  # fmt: skip

    return built


def steady(n: int) -> float:
    return 1.0


def slower(n: int) -> float:
    return 1.0 if n <= 54 else 2.5


def faster(n: int) -> float:
    return 1.0 if n <= 54 else 0.3


def half_as_fast_as_measured(n: int) -> float:
    return 2.0


def by_turns(n: int) -> float:
    return 0.5 if n // 36 % 2 else 1.6


def wavering(n: int) -> float:
    return 0.95 if n // 10 % 2 else 1.05


PACES = [slower, faster, half_as_fast_as_measured, by_turns]


def rates(trainer: Trainer[Any]) -> list[float]:
    lines = trainer.folder.read_log()
    return [line["learning_rate"] for line in lines if "learning_rate" in line]


# -- the budget -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("schedule", "pace"),
    [*(("linear", pace) for pace in PACES), ("cosine", slower), ("inverse-square-root", faster)],
)
def test_at_whatever_pace_training_ends_in_time_and_the_rate_never_jumps(
    tmp_path, trainer_in, schedule, pace
):
    trainer = trainer_in(tmp_path / "run", pace, replace(PLANNED, schedule=schedule))
    progress = trainer.train(never)
    assert progress.finished
    assert progress.time_s == pytest.approx(PLANNED.within_s, rel=2 / SMALL)
    found = rates(trainer)
    assert len(found) == progress.step
    top = found.index(max(found))
    assert found[:top] == sorted(found[:top])
    assert found[top:] == sorted(found[top:], reverse=True)
    if schedule in DECAYING:
        assert found[-1] == pytest.approx(PLANNED.learning_rate / 100)
    said = [line for line in trainer.reporter.said if line.startswith("plan: ")]
    log = trainer.folder.read_log()
    logged = [(line["step"], line["planned"]) for line in log if "planned" in line]
    assert 1 <= len(said) == len(logged) <= 6
    assert trainer.settings.plans == tuple(logged)
    assert said[0].startswith(f"plan: {logged[0][1]:,} updates instead of 120: they take ")
    assert planned(log, 120) == progress.step
    steepest = PLANNED.learning_rate / PLANNED.warmup_steps
    for at, end in trainer.settings.plans:
        assert abs(found[at] - found[at - 1]) <= steepest * PLANNED.max_steps / (end - at)


@pytest.mark.parametrize(
    ("within_s", "pace"),
    [(PLANNED.within_s, steady), (PLANNED.within_s, wavering), (0.0, slower)],
)
def test_nothing_is_planned_anew_at_the_pace_as_planned_nor_without_a_budget(
    tmp_path, trainer_in, within_s, pace
):
    trainer = trainer_in(tmp_path / "run", pace, replace(PLANNED, within_s=within_s))
    progress = trainer.train(never)
    assert progress.step == PLANNED.max_steps
    assert not trainer.settings.plans
    assert not within_s or progress.time_s == pytest.approx(within_s, rel=2 / SMALL)


def test_where_updates_slow_down_the_end_gets_more_time_as_it_will_too(tmp_path, trainer_in):
    settings = replace(PLANNED, within_s=133.0, closing_s=20.0)
    progress = trainer_in(tmp_path / "run", half_as_fast_as_measured, settings).train(never)
    pace = progress.time_s / progress.step  # updates and validations
    closing_s = 20.0 * pace / (133.0 / 120)
    assert progress.time_s + closing_s == pytest.approx(133.0 + 20.0, rel=0.04)


def test_nothing_is_planned_once_patience_has_ended_training(tmp_path, trainer_in):
    settings = replace(PLANNED, schedule="inverse-square-root", patience=5)
    trainer = trainer_in(tmp_path / "run", slower, settings)
    trainer.task.scores = [-float(n) for n in range(40)]
    assert trainer.train(never).step == 60  # where `slower` has another plan made
    assert trainer.progress.finished
    assert not trainer.settings.plans
    assert trainer.reporter.said == []


# -- resuming and repeating -------------------------------------------------------------------


def test_stopped_or_killed_and_resumed_equals_never_stopped(tmp_path, trainer_in):
    whole = trainer_in(tmp_path / "whole", slower)
    whole.train(never)
    choose(whole)
    assert whole.settings.plans[0][0] == 60
    for step in (5, 60, 61):
        run = tmp_path / f"stopped-{step}"
        first = trainer_in(run, slower)
        first.train(stop_after(step, first))
    with pytest.raises(KilledError):
        trainer_in(tmp_path / "killed", slower, kill_at=68).train(never)
    for run in sorted(tmp_path.glob("*ed*")):
        again = trainer_in(run, slower)
        assert again.resume()
        again.train(never)
        choose(again)
        assert everything(run) == everything(tmp_path / "whole")


def test_a_run_that_is_given_the_plans_of_another_has_its_weights(tmp_path, trainer_in):
    planned = trainer_in(tmp_path / "planned", by_turns)
    planned.train(never)
    assert planned.settings.plans
    settings = replace(planned.settings, within_s=0.0)
    repeated = trainer_in(tmp_path / "repeated", steady, settings)
    repeated.train(never)
    for trainer in (planned, repeated):
        choose(trainer)
    assert rates(repeated) == rates(planned)
    one, other = (everything(tmp_path / name) for name in ("planned", "repeated"))
    assert one["model.safetensors"] == other["model.safetensors"]


def test_plans_of_a_checkpoint_that_contradict_each_other_are_refused(tmp_path, trainer_in):
    trainer = trainer_in(tmp_path / "run", slower)
    trainer.train(stop_after(66, trainer))
    trainer.settings = replace(trainer.settings)
    object.__setattr__(trainer.settings, "plans", ((50, 40),))
    trainer.save()
    with pytest.raises(RunError, match=r"got \[50, 40\] after"):
        trainer_in(tmp_path / "run", slower).resume()


# -- where a step stands in the schedule --------------------------------------------------------


@st.composite
def some_plans(draw: st.DrawFn) -> tuple[int, tuple[tuple[int, int], ...]]:
    max_steps = draw(st.integers(2, 300))
    last, end, plans = 0, max_steps, []
    for _ in range(draw(st.integers(0, 4))):
        if end - last < 2:
            break
        last = draw(st.integers(last + 1, end - 1))
        end = draw(st.integers(last + 1, last + 300))
        plans.append((last, end))
    return max_steps, tuple(plans)


@given(some_plans())
def test_stretched_steps_go_from_the_first_to_the_last_without_a_jump(case):
    max_steps, plans = case
    settings = PlannedTraining(max_steps=max_steps, plans=plans)
    last = settings.last_step()
    places = [planned_step(step, settings) for step in range(last + 1)]
    assert places[0] == 0
    assert places[-1] == pytest.approx(max_steps)
    at, end, done = 0, max_steps, 0.0
    for step in range(1, last + 1):  # by adding up what is left, shared among the updates left
        done += (max_steps - done) / (end - step + 1)
        assert places[step] == pytest.approx(done)
        for at, new_end in plans:
            if at == step:
                end = new_end


@given(some_plans(), st.data())
def test_after_a_new_plan_the_rate_comes_down_in_a_line_over_a_tenth_of_it(case, data):
    max_steps, plans = case
    settings = PlannedTraining(max_steps=max_steps, plans=plans, learning_rate=1.0, warmup_steps=1)
    end = plans[-1][1] if plans else max_steps
    landing = data.draw(st.integers(1, end - 1))
    last = settings.last_step(landing)
    assert last == min(landing + max(1, end // 10), end)
    found = [settings.rate(step, landing) for step in range(landing, last + 1)]
    assert found[0] == settings.rate(landing)
    assert found[-1] == pytest.approx(found[0] / 100)
    for rate, following in pairwise(found):
        assert rate - following == pytest.approx(0.99 * found[0] / (last - landing))


@pytest.mark.parametrize(
    "plans", [((0, 90),), ((50, 50),), ((100, 200),), ((50, 90), (50, 80)), ((50, 60), (70, 90))]
)
def test_plans_that_nobody_can_have_made_are_refused(plans):
    with pytest.raises(ConfigError, match="each plan is made before training ends"):
        PlannedTraining(max_steps=100, plans=plans)


def test_a_schedule_without_plans_is_as_it_was():
    settings = replace(SETTINGS, schedule="cosine")
    halfway = SETTINGS.warmup_steps + (SETTINGS.max_steps - SETTINGS.warmup_steps) // 2
    assert settings.rate(halfway) == pytest.approx(0.05 * (0.01 + 0.99 * 0.5))
    assert math.isclose(settings.rate(SETTINGS.max_steps), 0.0005)
