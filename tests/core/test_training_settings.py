"""Laws of the section [training]."""

import pytest

from headway.core.errors import ConfigError
from headway.operations.time_budget import PlannedTraining, seconds


@pytest.mark.parametrize(
    ("budget", "length"),
    [
        ("90s", 90), ("30m", 1800), ("2h", 7200), ("1h30m", 5400), ("1d", 86_400),
        ("1.5h", 5400), ("1H30M", 5400), (" 30m ", 1800), (".5m", 30),
    ],
)  # fmt: skip
def test_a_budget_is_a_sum_of_times_with_units(budget, length):
    assert seconds(budget) == pytest.approx(length)


def test_no_budget_is_none():
    assert seconds("") is None


@pytest.mark.parametrize(
    "budget",
    [
        "30",
        "m",
        "h30",
        "30m5",
        "30 minutes",
        "-5m",
        "1h 30m",
        "²h",
        "0m",
        "0h0m",
        "1.2.3h",
        "..5m",
        "x",
    ],
)
def test_anything_else_is_refused_with_examples(budget):
    with pytest.raises(ConfigError, match="like 90s, 30m or 1h30m; got '"):
        seconds(budget)
    with pytest.raises(ConfigError, match="like 90s, 30m or 1h30m; got '"):
        PlannedTraining(budget=budget)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_steps": -1}, "max_steps must be at least 0; got -1"),
        ({"batch_tokens": -1}, "batch_tokens must be at least 0"),
        ({"checkpoint_every": -5}, "checkpoint_every must be at least 0"),
        ({"patience": -1}, "patience must be at least 0"),
        ({"learning_rate": -1e-3}, "learning_rate must be at least 0; got -0.001"),
        ({"clip_norm": -1.0}, "clip_norm must be at least 0; got -1.0"),
        ({"adam_beta1": 1.0}, "adam_beta1 must be at least 0 and below 1; got 1.0"),
        ({"adam_beta2": -0.1}, "adam_beta2 must be at least 0 and below 1; got -0.1"),
        ({"adam_epsilon": 0.0}, "adam_epsilon must be above 0; got 0.0"),
        ({"average": 0}, "average must be at least 1; got 0"),
        ({"accumulate": 0}, "accumulate must be at least 1"),
        ({"reinit": ("encoder",)}, "Leave --reinit out"),
        ({"log_every": 0}, "log_every must be at least 1"),
        ({"label_smoothing": 1.0}, "label_smoothing must be .* got 1.0"),
        ({"label_smoothing": -0.1}, "label_smoothing must be .* got -0.1"),
    ],
)
def test_impossible_values_are_refused(options, message):
    with pytest.raises(ConfigError, match=message):
        PlannedTraining(**options)


def test_the_optimizers_constants_are_the_papers():
    settings = PlannedTraining()
    assert (settings.adam_beta1, settings.adam_beta2) == (0.9, 0.98)
    assert settings.adam_epsilon == 1e-9
    assert settings.label_smoothing == 0.1
