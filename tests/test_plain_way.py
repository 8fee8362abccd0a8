"""The way from two text files to a translation stays short enough to be read."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
MOST_FILES, MOST_LINES = 76, 12_450
"""A change that needs more has put a side room on the way, or owes a reason."""
SIDE_ROOMS = (
    "data/doctor", "text/formats", "text/codes", "text/code_projection", "text/mixing",
    "data/coded",
    "tasks/translation/mixture", "tasks/translation/tuning", "inspection/",
    "tasks/translation/coded", "runs/parent", "runs/fitting", "runs/resuming", "training/frozen",
    "training/row_adam", "training/recovery", "training/resume", "decoding/sampling",
    "processes", "native/",
    "commands/filling", "commands/tags", "errors/s", "errors/r", "errors/t",
    "data/many_pieces", "text/word_ids", "runs/checking", "nn/watching",
)  # fmt: skip


@pytest.fixture(scope="module")
def entered() -> dict[str, int]:
    """Each file of which a function runs, with its lines."""
    script = ROOT / "tests" / "support" / "plain_way.py"
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, str(script), "--json"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    lines: dict[str, int] = json.loads(done.stdout.splitlines()[-1])
    return lines


def test_it_does_not_grow(entered: dict[str, int]) -> None:
    assert "runs/train.py" in entered
    assert "core/search.py" in entered
    assert len(entered) <= MOST_FILES
    assert sum(entered.values()) <= MOST_LINES


def test_side_rooms_are_not_entered(entered: dict[str, int]) -> None:
    assert [name for name in entered if name.startswith(SIDE_ROOMS)] == []
