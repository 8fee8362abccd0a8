"""Settings of a run: presets that go with what was set, the paper's schedule, earlier versions."""

import pytest

from headway.core.errors import ConfigError
from headway.core.schedules import inverse_square_root_rate, paper_peak
from headway.models import PRESETS
from headway.runs.fitting import presets_that_fit
from headway.runs.settings import Settings, preset, presets_of_type, task_of, upgraded
from headway.translation.spec import SPEC


def test_a_size_that_goes_with_any_preset_is_allowed():
    """d_model 100 is no multiple of the paper's 8 heads, but of the 4 of `tiny` and `small`."""
    assert presets_that_fit(SPEC, {"model": {"d_model": 100}}) == ["tiny", "small"]
    assert presets_that_fit(SPEC, {}) == presets_of_type(SPEC, "transformer") == list(PRESETS)[:4]
    with pytest.raises(ConfigError, match="d_model is 101"):
        presets_that_fit(SPEC, {"model": {"d_model": 101}})


def test_a_preset_of_another_type_of_model_is_never_laid_below_it(monkeypatch):
    monkeypatch.setitem(SPEC.models, "other", SPEC.models["transformer"])
    given = {"model": {"type": "other"}}
    assert presets_that_fit(SPEC, given) == []
    with pytest.raises(
        ConfigError, match="tiny is for --model.type transformer; got other. It has"
    ):
        preset(SPEC, "tiny", given)


def test_the_papers_peak_is_where_equation_3_turns():
    peak = paper_peak(512, 4000)
    rates = [inverse_square_root_rate(n, peak=peak, warmup_steps=4000) for n in (3999, 4000, 4001)]
    assert paper_peak(512, 4000) == pytest.approx(max(rates), rel=1e-12)
    assert max(rates) == rates[1]


def test_an_earlier_run_of_the_papers_schedule_gets_the_rate_that_it_had():
    old = {
        "model": {"d_model": 64},
        "training": {"schedule": "paper", "warmup_steps": 100, "learning_rate": 0.004},
    }
    assert upgraded(old)["training"]["learning_rate"] == paper_peak(64, 100)
    assert upgraded({**old, "run": {}})["training"]["learning_rate"] == 0.004
    assert upgraded({"training": {"schedule": "linear", "learning_rate": 0.004}}) == {
        "training": {"schedule": "linear", "learning_rate": 0.004}
    }


def test_a_run_that_does_not_say_its_task_is_a_translation():
    assert task_of({}) == task_of({"run": {}}) == "translation"
    assert task_of({"run": {"task": "letters"}}) == "letters"
    with pytest.raises(ConfigError, match="a run of the task letters, not translation"):
        Settings.of({"run": {"task": "letters"}}, SPEC)
