"""Sizes and lengths that follow the corpus and the budget."""

import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from headway.core.config import merge
from headway.core.run_folder import RunFolder
from headway.core.runtime import Runtime
from headway.core.trainer import Trainer
from headway.core.training_interfaces import Progress
from headway.core.training_settings import fitted_warmup
from headway.models import PRESETS
from headway.runs import fitting, gradient
from headway.runs.fitting import (
    SEEN,
    Rehearsal,
    fit_dropout,
    fit_steps,
    fit_validations,
    spacing,
    time_to_learn,
)
from headway.runs.settings import Settings
from headway.runs.short_budgets import hopeless
from headway.runs.task_spec import Run, Sizes
from headway.translation.spec import SPEC


def corpus(target_tokens: int) -> Sizes:
    return Sizes(distinct=target_tokens, per_pass=target_tokens)


def test_dropout_does_not_fall_as_the_corpus_is_seen_more_often():
    found = [fit_dropout(passes)[0] for passes in (1.0, 9.9, 10.0, 39.0, 40.0, 1000.0)]
    assert found == sorted(found)
    assert found[0] == 0.1  # the paper's
    assert found[-1] < 0.5


def test_steps_and_validations_fit_into_the_budget():
    for left_s in (60.0, 1800.0, 86_400.0):
        for validation_s in (0.01, 2.0):
            n_validations = fit_validations(left_s, validation_s)
            closing_s = 10 * validation_s
            within_s = time_to_learn(left_s, closing_s)
            assert 0.9 * left_s < within_s + closing_s <= left_s
            steps, why = fit_steps(
                corpus(10**6), Rehearsal(2000.0, 0.2, validation_s, 0.0), within_s, n_validations,
            )  # fmt: skip
            taken_s = steps * 0.2 + n_validations * validation_s
            assert within_s - 0.2 < taken_s <= within_s
            assert "200 ms" in why


def test_half_of_the_time_at_least_is_for_learning():
    assert time_to_learn(60.0, 50.0) == 30.0
    steps, _ = fit_steps(
        corpus(10**6), Rehearsal(2000.0, 0.5, 20.0, 0.0), 30.0, 4,
    )  # fmt: skip
    assert steps == 30, "half of that for updates, however long validations take"


@pytest.mark.parametrize("name", PRESETS)
@pytest.mark.parametrize("more", [{}, {"checkpoint_every": 200}])
def test_a_budget_sets_the_length_unless_the_user_does(name, more, monkeypatch):
    trainer = SimpleNamespace(task=SimpleNamespace(unit="target tokens"), eval_model=None)
    monkeypatch.setattr(gradient, "build_trainer", lambda run, reporter: trainer)
    monkeypatch.setattr(fitting, "timed_updates", lambda *_: (1000.0, 0.1))
    kind = replace(
        SPEC, rehearse=lambda *_: None, rehearse_end=None, sizes=lambda _: corpus(1_000_000)
    )

    def fitted(**own: int) -> tuple[Any, list[str]]:
        given: dict[str, dict[str, Any]] = {"training": {"budget": "2h", **more, **own}}
        said: list[str] = []
        settings = Settings.of(merge(PRESETS[name], given), kind)
        runtime = Runtime(torch.device("cpu"), torch.float32, 1, "a CPU")
        run = Run(kind, RunFolder(Path()), settings, None, runtime, said.append, given)
        return gradient.fit(run).training, said

    training, said = fitted()
    assert 0 < training.within_s < 7200
    assert 0 < training.max_steps < 72_000 + 1, "at 0.1 s each"
    if "warmup_steps" not in PRESETS[name]["training"]:
        slow = PRESETS[name]["model"]["type"] in ("transformer", "ablated")
        assert training.warmup_steps == fitted_warmup(training.max_steps, 4 if slow else 8)
    assert training.checkpoint_every == more.get("checkpoint_every", training.checkpoint_every) > 0
    training, said = fitted(max_steps=100_000)
    assert (training.within_s, training.max_steps) == (0, 100_000)
    assert "the budget of 2h does not shorten them" in said[0]


def test_without_a_budget_the_corpus_is_seen_a_number_of_times():
    for tokens, epochs in ((SEEN // 1000, 100), (SEEN // 50, 50), (10**9, 10)):
        steps, why = fit_steps(
            corpus(tokens), Rehearsal(1000.0, 1.0, 1.0, 0.0), None, 40,
        )  # fmt: skip
        assert steps == pytest.approx(epochs * tokens / 1000, abs=1)
        assert f"{epochs} times" in why


def test_tuning_is_shorter_than_training_from_the_start():
    for tokens in (10_000, 10**6, 10**9):
        lengths = [
            fit_steps(
                corpus(tokens), Rehearsal(1000.0, 1.0, 1.0, 0.0), None, 40, tuned,
            )[0]
            for tuned in (True, False)
        ]  # fmt: skip
        assert 3 * tokens <= 1000 * lengths[0] < 1000 * lengths[1]
    assert fit_validations(None, 1.0, tuned=True) < fit_validations(None, 1.0)


def test_validations_are_forty_at_most_and_four_at_least():
    assert fit_validations(None, 5.0) == 40
    assert fit_validations(10_000.0, 0.0) == 40
    assert fit_validations(400.0, 1.0) == 12, "three hundredths of the time"
    assert fit_validations(10.0, 5.0) == 4


@pytest.mark.parametrize("steps", [1, 3, 4, 12, 60, 79, 80, 799, 800, 10_000])
def test_validations_of_a_short_training_are_not_closer_than_tells_anything(steps):
    every, n = spacing(steps, 40), steps // spacing(steps, 40)
    assert n >= min(4, steps)
    assert every >= 20 or n < 8, "four, or twenty updates apart"
    assert n <= 41
    assert spacing(steps, 40, tuned=True) == max(1, steps // 40)


@pytest.mark.parametrize(("steps", "warmup"), [(1, 1), (80, 20), (10**6, 4000)])
def test_the_warm_up_is_a_part_of_the_updates_up_to_the_papers(steps, warmup):
    assert fitted_warmup(steps) == warmup
    assert 1 <= fitted_warmup(steps, 20) <= fitted_warmup(steps, 8) <= warmup


def run_of(name: str, **own: Any) -> Run:
    """One whose preset was chosen for its data."""
    given = {"training": own}
    runtime = Runtime(torch.device("cpu"), torch.float32, 1, "a CPU")
    settings = Settings.of(merge(PRESETS[name], given), SPEC)
    return Run(SPEC, RunFolder(Path()), settings, None, runtime, print, given, name)


def test_a_budget_that_teaches_nothing_is_said_with_one_that_is_enough():
    sizes, run = corpus(3_000_000), run_of("recurrent")
    warning, remedy = hopeless(run, sizes, 900_000.0, "target tokens", 1000.0, ["tiny"])
    assert "0.3 times through the corpus" in warning
    assert "--preset tiny" in remedy
    minutes = int(re.search(r"--budget (\d+)h", remedy)[1]) * 60
    assert minutes * 60 * 1000.0 >= 10_000_000, "what is recommended is enough"
    assert fitting.teaches_nothing(sizes, 900_000.0)
    assert not fitting.teaches_nothing(sizes, 10_000_000.0)


def test_a_small_corpus_seen_often_and_a_large_one_seen_in_part_are_no_cause_to_warn():
    assert not fitting.teaches_nothing(corpus(5_000), 20_000.0)
    assert not fitting.teaches_nothing(corpus(10**9), 30_000_000.0)
    _, remedy = hopeless(run_of("tiny"), corpus(5_000), 4_000.0, "target tokens", 1000.0, [])
    assert "--budget 1m for 50,000 target tokens; or about 8% of the corpus" in remedy


@pytest.mark.parametrize(
    ("name", "own", "warned"),
    [
        ("tiny", {}, False),
        ("tiny", {"init_embedding": "pairs"}, False),
        ("tiny", {"init_embedding": ""}, True),
        ("tiny", {"freeze": ("encoder",)}, True),
        ("recurrent", {}, True),
    ],
)
def test_who_begins_at_the_pairs_needs_fewer_of_them(name, own, warned):
    run, sizes = run_of(name, **own), corpus(3_000_000)
    told = ("target tokens", 1000.0, ())
    assert bool(hopeless(run, sizes, 226_000.0, *told)) == warned
    assert hopeless(run, sizes, 37_000.0, *told)


class Paced(Trainer[Any]):
    """A trainer whose updates take as long as they are told, by a clock of its own."""

    def __init__(self, step_s: float) -> None:
        self.step_s, self.now_s = step_s, 0.0
        self.progress, self.device = Progress(), torch.device("cpu")

    def train_step(self) -> torch.Tensor:
        self.now_s += self.step_s
        self.progress.sums["units"] += 100
        return torch.zeros(())


@pytest.mark.parametrize(
    ("step_s", "budget_s", "timed"), [(0.4, 300.0, 8), (0.4, 3600.0, 24), (9.0, 300.0, 4)]
)
def test_the_speed_is_measured_in_a_hundredth_of_the_budget(step_s, budget_s, timed, monkeypatch):
    trainer: Any = Paced(step_s)
    monkeypatch.setattr(fitting, "time", SimpleNamespace(monotonic=lambda: trainer.now_s))
    units, found_s = fitting.timed_updates(trainer, budget_s / 100)
    assert (units, found_s) == (100, pytest.approx(step_s))
    assert round(trainer.now_s / step_s) == 3 + timed


@pytest.mark.parametrize("parent", ["", "runs/general"])
def test_a_smaller_model_is_the_remedy_only_where_the_sizes_are_free(parent):
    said: list[str] = []
    given = {"training": {"budget": "1s", "init_from": parent, "valid_sentences": 5}}
    settings = Settings.of(merge(PRESETS["tiny"], given), SPEC)
    runtime = Runtime(torch.device("cpu"), torch.float32, 1, "a CPU")
    run = Run(SPEC, RunFolder(Path()), settings, None, runtime, said.append, given)
    pace = Rehearsal(1.0, 1.0, 1.0, 1.0)
    fitting.time_left(run, settings.training, None, pace)
    [told] = said
    assert "Take a longer --budget" in told
    assert ("or a smaller model: --" in told) == (not parent), told
