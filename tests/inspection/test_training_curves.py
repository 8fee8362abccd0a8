"""A page's curves are what was logged, also while it is being logged."""

import json

import numpy as np
import pytest

from headway.core.errors import ConfigError
from headway.core.run_folder import RunFolder
from headway.inspection.document import MOST_POINTS, training
from headway.inspection.html_page import unpacked


def run_in(path, log, **training_settings):
    path.mkdir(parents=True)
    folder = RunFolder(path)
    folder.write_settings({"model": {"type": "transformer"}, "training": training_settings})
    for line in log:
        folder.log(line)
    return path


def lines(n, every=20):
    return [
        {"step": every * i, "time_s": 0.5 * i, "source_tokens": 30 * i, "target_tokens": 20 * i,
         "loss": 5.0 / i, "learning_rate": 1e-3 / i, "gradient_norm": 0.25 * i}
        for i in range(1, n + 1)
    ]  # fmt: skip


def test_every_curve_of_a_trained_run_has_its_logged_values(everyday_run):
    [run] = training([everyday_run])["runs"]
    text = (everyday_run / "metrics.jsonl").read_text(encoding="utf-8")
    logged = [json.loads(line) for line in text.splitlines()]
    assert run["name"] == "everyday"
    assert run["finished"]
    assert (run["updates"], run["planned"], run["scores"]) == (12, 12, ["bleu"])
    names = ("loss", "valid_loss", "bleu", "learning_rate", "gradient_norm")
    assert set(run["curves"]) == {*names, "tokens_per_s"}
    for name in names:
        expected = [
            (one["step"], one["source_tokens"] + one["target_tokens"], one["time_s"], one[name])
            for one in logged
            if name in one
        ]
        np.testing.assert_allclose(unpacked(run["curves"][name]), expected, rtol=1e-6)


def test_a_training_is_seen_as_it_goes_on_and_never_by_half_a_line(tmp_path):
    run = run_in(tmp_path / "run", lines(3), max_steps=1000, budget="30m")
    found = training([run])["runs"][0]
    assert not found["finished"]
    assert (found["updates"], found["planned"], found["budget"]) == (60, 1000, "30m")
    whole = json.dumps(lines(4)[-1]) + "\n"
    with (run / "metrics.jsonl").open("a") as file:
        file.write(whole[:-30])
        file.flush()
        assert training([run])["runs"][0]["updates"] == 60
        file.write(whole[-30:])
    assert training([run])["runs"][0]["updates"] == 80


def test_what_was_made_again_after_a_stop_is_drawn_once(tmp_path):
    run = run_in(tmp_path / "run", lines(7))
    RunFolder(run).cut_log(80)  # the last checkpoint
    for line in lines(7)[4:]:
        RunFolder(run).log(line)
    never_stopped = run_in(tmp_path / "other" / "run", lines(7))
    resumed, other = (training([one])["runs"][0]["curves"] for one in (run, never_stopped))
    assert resumed == other


def test_a_spike_among_thousands_of_lines_is_drawn(tmp_path):
    log = lines(6000)
    log[4321]["gradient_norm"] = 1e6
    run = run_in(tmp_path / "run", log)
    curves = training([run])["runs"][0]["curves"]
    assert all(curve["shape"][0] <= MOST_POINTS for curve in curves.values())
    assert unpacked(curves["gradient_norm"])[:, 3].max() == 1e6
    assert unpacked(curves["loss"])[[0, -1], 0].tolist() == [20.0, 120_000.0]


@pytest.mark.parametrize(("finished", "word"), [(True, "counting"), (False, "nothing yet")])
def test_a_run_without_curves_says_why_in_both_languages(tmp_path, finished, word):
    run = run_in(tmp_path / "run", [])
    (run / "model.safetensors").touch()
    sections = {"model": {"type": "ngram"}, "run": {"finished": finished}}
    RunFolder(run).write_settings(sections)
    [found] = training([run])["runs"]
    assert found["curves"] == {}
    assert word in found["missing"]["en"]
    assert not found["missing"]["zh"].isascii()


def test_runs_of_one_name_are_called_by_their_paths_and_none_is_drawn_twice(tmp_path):
    runs = [run_in(tmp_path / name / "run", lines(2)) for name in ("a", "b")]
    other = run_in(tmp_path / "other", lines(2))
    assert [run["name"] for run in training([runs[0], other])["runs"]] == ["run", "other"]
    assert [run["name"] for run in training(runs)["runs"]] == [str(run) for run in runs]
    with pytest.raises(ConfigError, match="got .* twice"):
        training([runs[0], other, tmp_path / "b" / ".." / "a" / "run"])
