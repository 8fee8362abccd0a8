"""TensorBoard reads what was logged, value by value."""

import json
import sys
from pathlib import Path

import pytest
from everyday_run import command
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from headway.core.run_folder import RunFolder


def read_back(folder: Path) -> dict[str, list[tuple[float, int, float]]]:
    """Time, step and value by tag, as TensorBoard itself sees them."""
    events = EventAccumulator(str(folder), size_guidance={"scalars": 0}).Reload()
    return {
        tag: [(one.wall_time, one.step, one.value) for one in events.Scalars(tag)]
        for tag in events.Tags()["scalars"]
    }


def test_it_reads_every_value_that_was_logged(everyday_run, tmp_path):
    done = command("export", str(everyday_run), str(tmp_path / "board"), "--to", "tensorboard")
    assert done.status == 0, done.err
    assert f"tensorboard --logdir {tmp_path}/board" in done.err
    text = (everyday_run / "metrics.jsonl").read_text(encoding="utf-8")
    lines = [json.loads(line) for line in text.splitlines()]
    found = read_back(tmp_path / "board")
    tags = {
        "loss/training": "loss", "loss/validation": "valid_loss", "score/bleu": "bleu",
        "learning_rate": "learning_rate", "gradient_norm": "gradient_norm",
    }  # fmt: skip
    assert set(found) == {*tags, "tokens_per_s"}
    for tag, name in tags.items():
        logged = [line for line in lines if name in line]
        assert [step for _, step, _ in found[tag]] == [line["step"] for line in logged]
        values = [value for _, _, value in found[tag]]
        assert values == pytest.approx([line[name] for line in logged], rel=1e-6)  # float32
        times = [time_s - found[tag][0][0] for time_s, _, _ in found[tag]]
        expected = [line["time_s"] - logged[0]["time_s"] for line in logged]
        assert times == pytest.approx(expected, abs=1e-3)
    assert all(value > 0 for _, _, value in found["tokens_per_s"])
    assert f"{sum(map(len, found.values())):,} values written" in done.err


def test_an_earlier_file_is_replaced(everyday_run, tmp_path):
    for _ in range(2):
        assert (
            command("export", str(everyday_run), str(tmp_path), "--to", "tensorboard").status == 0
        )
    assert len([*tmp_path.iterdir()]) == 1
    steps = [step for _, step, _ in read_back(tmp_path)["loss/training"]]
    assert steps == [2, 4, 6, 8, 10, 12]


def test_a_run_that_logged_nothing_is_refused(tmp_path):
    RunFolder(tmp_path).write_settings({"model": {"type": "ngram"}})
    done = command("export", str(tmp_path), str(tmp_path / "board"), "--to", "tensorboard")
    assert done.status == 2
    assert "has logged nothing" in done.err
    assert not (tmp_path / "board").exists()


def test_where_tensorboard_is_not_installed_it_says_how_to_install_it(
    everyday_run, tmp_path, monkeypatch
):
    for name in [name for name in sys.modules if name.split(".")[0] == "tensorboard"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "tensorboard", None)
    done = command("export", str(everyday_run), str(tmp_path / "board"), "--to", "tensorboard")
    assert done.status == 2
    assert "pip install 'headway[tensorboard]'" in done.err
    assert not (tmp_path / "board").exists()


def test_a_place_that_cannot_be_written_to_is_named(everyday_run, tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    done = command("export", str(everyday_run), str(tmp_path / "file"), "--to", "tensorboard")
    assert done.status == 2
    assert str(tmp_path / "file") in done.err
