"""headway from Python does what the command does."""

import pytest
from everyday_run import SETTINGS, left_behind, write_pairs

import headway
from headway.api import listed
from headway.core.config import format_toml
from headway.core.errors import ConfigError, RunError
from headway.demo import generate

pytestmark = pytest.mark.usefixtures("torch_settings_restored")


def test_training_from_python_gives_the_same_run_as_the_command(
    everyday_run, everyday_files, tmp_path
):
    said: list[str] = []
    run = headway.train(
        source=everyday_files[0],
        target=[str(everyday_files[1])],
        out=tmp_path / "run",
        settings=SETTINGS,
        say=said.append,
    )
    assert run == tmp_path / "run"
    assert left_behind(run) == left_behind(everyday_run)
    assert any("read 300 pairs" in message for message in said)
    assert headway.Translator.load(run).translate([""]) == [""]
    again = headway.train(out=run, resume=True, say=said.append)
    assert again == run
    assert "nothing to resume" in said[-1]


def test_settings_go_on_top_of_the_file_and_the_file_on_top_of_the_preset(tmp_path):
    files = write_pairs(tmp_path, "train", generate(40, seed=3))
    (tmp_path / "run.toml").write_text(
        format_toml({"model": {"heads": 3, "d_model": 31}}), encoding="utf-8"
    )
    with pytest.raises(ConfigError, match="got 3 heads, and d_model is 31"):
        headway.train(
            source=files[0], target=files[1], out=tmp_path / "run",
            config=tmp_path / "run.toml", preset="tiny",
        )  # fmt: skip
    with pytest.raises(ConfigError, match="got 2 heads, and d_model is 31"):
        headway.train(
            source=files[0], target=files[1], out=tmp_path / "run",
            config=tmp_path / "run.toml", settings={"model": {"heads": 2}},
        )  # fmt: skip
    with pytest.raises(ConfigError, match="got 3 heads, and d_model is 128"):
        headway.train(
            source=files[0], target=files[1], out=tmp_path / "run",
            preset="tiny", settings={"model": {"heads": 3}},
        )  # fmt: skip
    assert not (tmp_path / "run").exists()


def test_a_taken_folder_is_refused(everyday_run, everyday_files):
    with pytest.raises(RunError, match="already holds a run"):
        headway.train(source=everyday_files[0], target=everyday_files[1], out=everyday_run)


def test_one_path_or_several(tmp_path):
    assert listed("a") == ["a"]
    assert listed(tmp_path) == [str(tmp_path)]
    assert listed(["a", tmp_path]) == ["a", str(tmp_path)]
    assert listed(()) == []
