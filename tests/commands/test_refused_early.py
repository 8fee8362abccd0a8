"""What `headway train` can refuse without torch is refused before torch is loaded."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from headway.core.run_folder import RunFolder

SOURCE = Path(__file__).parent.parent.parent / "src"
CODE = """
import contextlib, io, json, sys
from headway.cli import main

found = []
for arguments in json.loads(sys.argv[1]):
    with contextlib.redirect_stderr(io.StringIO()) as said:
        status = main(["train", *arguments])
    found.append((status, "torch" in sys.modules, said.getvalue()))
print(json.dumps(found))
"""
GOOD = ("--source", "a.en", "--target", "a.zh")


@pytest.fixture
def place(tmp_path: Path) -> Path:
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
    return tmp_path


def check_refused(place: Path, *expected: tuple[str, tuple[str, ...]]) -> None:
    """What is said of each, by a process that must not have loaded torch."""
    ran = subprocess.run(
        [sys.executable, "-c", CODE, json.dumps([arguments for _, arguments in expected])],
        cwd=place, env={**os.environ, "PYTHONPATH": str(SOURCE)}, capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    for (words, arguments), found in zip(expected, json.loads(ran.stdout), strict=True):
        status, with_torch, said = found
        assert (status, with_torch) == (2, False), (arguments, said)
        assert words in said
        assert "runs on" not in said


def test_a_missing_file_is_noticed_before_torch_is_loaded(place: Path) -> None:
    new = ("--out", "new")
    check_refused(
        place,
        ("no such file: nosuch.en", ("--source", "nosuch.en", "--target", "a.zh", *new)),
        ("empty is a directory", ("--source", "a.en", "--target", "empty", *new)),
        ("no such file: nosuch.tsv", ("--pairs", "a.tsv", "nosuch.tsv@2:tag=x", *new)),
        ("no such file: nosuch.tsv", ("--data.pairs", "a.tsv,nosuch.tsv@2", *new)),
        ("file: nosuch.en", (*GOOD, "--valid-source", "nosuch.en", "--valid-target", "a.zh", *new)),
        ("no such file: nosuch.tmx", (*GOOD, "--valid-pairs", "nosuch.tmx", *new)),
        ("empty holds no config.toml", (*GOOD, "--init-from", "empty", *new)),
        ("nosuch.toml", (*GOOD, "--config", "nosuch.toml", *new)),
    )
    assert not (place / "new").exists()


def test_a_place_that_cannot_be_used_is_noticed_before_torch_is_loaded(place: Path) -> None:
    check_refused(
        place,
        ("a.en is a file", (*GOOD, "--out", "a.en")),
        ("already holds a run", (*GOOD, "--out", "begun")),
        ("has README.md and no run", (*GOOD, "--out", "theirs")),
        ("no such file: /nosuch/x.en", ("--out", "begun", "--resume")),
        ("/proc/new", (*GOOD, "--out", "/proc/new")),
    )
    assert [path.name for path in (place / "begun").iterdir()] == ["config.toml"]
