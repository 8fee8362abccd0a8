"""What `headway train` can refuse without torch is refused before torch is loaded."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from headway.core.run_folder import RunFolder

SOURCE = Path(__file__).parent.parent.parent / "src"
CODE = "import sys; from headway.cli import main; sys.exit(main() * 10 + ('torch' in sys.modules))"
GOOD = ("--source", "a.en", "--target", "a.zh")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with two files, a file of pairs, a run, and two folders that are none."""
    for name in ("a.en", "a.zh"):
        (tmp_path / name).write_text("one\ntwo\n", encoding="utf-8")
    (tmp_path / "a.tsv").write_text("one\ttwo\n", encoding="utf-8")
    (tmp_path / "empty").mkdir()
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "README.md").write_text("mine", encoding="utf-8")
    (tmp_path / "begun").mkdir()
    files = {"source": ["/nosuch/x.en"], "target": ["/nosuch/x.zh"]}
    lost: dict[str, dict[str, object]] = {"data": {**files}, "model": {"type": "transformer"}}
    RunFolder(tmp_path / "begun").write_settings(lost)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def refused(*arguments: str) -> str:
    """What is said by a process that must not have loaded torch."""
    ran = subprocess.run(
        [sys.executable, "-c", CODE, "train", *arguments],
        env={**os.environ, "PYTHONPATH": str(SOURCE)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ran.returncode == 20, (ran.returncode, ran.stderr)
    assert "runs on" not in ran.stderr
    return ran.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--source", "nosuch.en", "--target", "a.zh"), "no such file: nosuch.en"),
        (("--source", "a.en", "--target", "empty"), "empty is a directory"),
        (("--pairs", "a.tsv", "nosuch.tsv@2:tag=x"), "no such file: nosuch.tsv"),
        (("--data.pairs", "a.tsv,nosuch.tsv@2"), "no such file: nosuch.tsv"),
        ((*GOOD, "--valid-source", "nosuch.en", "--valid-target", "a.zh"), "file: nosuch.en"),
        ((*GOOD, "--valid-pairs", "nosuch.tmx"), "no such file: nosuch.tmx"),
        ((*GOOD, "--init-from", "empty"), "empty holds no config.toml"),
        ((*GOOD, "--config", "nosuch.toml"), "nosuch.toml"),
    ],
)
def test_a_missing_file_is_noticed_before_torch_is_loaded(
    place: Path, arguments: tuple[str, ...], words: str
) -> None:
    assert words in refused(*arguments, "--out", "new")
    assert not (place / "new").exists()


def test_a_place_that_cannot_be_used_is_noticed_before_torch_is_loaded(place: Path) -> None:
    assert "a.en is a file" in refused(*GOOD, "--out", "a.en")
    assert "already holds a run" in refused(*GOOD, "--out", "begun")
    assert "has README.md and no run" in refused(*GOOD, "--out", "theirs")
    assert "no such file: /nosuch/x.en" in refused("--out", "begun", "--resume")
    assert "/proc/new" in refused(*GOOD, "--out", "/proc/new")
    assert [path.name for path in (place / "begun").iterdir()] == ["config.toml"]
