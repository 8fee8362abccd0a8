"""The way from two text files to a translation stays short enough to be read."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from random_models import needs_engine

ROOT = Path(__file__).parent.parent
MOST_FILES, MOST_LINES = 85, 13_600
"""With default flags, nothing in the cache, and the C of the compiled search. A change that needs
more has put a side room on the way, or owes a reason. Three files and 650 lines of Python hand a
batch to the compiled training step, which makes two to three times as many updates in a budget as
torch; without them everything is there, by torch."""
SIDE_ROOMS = (
    "demo/", "doctor/", "earlier_translators/", "exchange/", "filling/", "inspection/", "study/",
    "language_models/", "decoding/", "localization/memory/", "localization/terms/",
    "localization/formats/p", "localization/formats/x", "localization/placeholders/codes",
    "localization/placeholders/names", "localization/placeholders/p", "localization/places",
    "corpora/cache.py", "corpora/cleaned", "corpora/coded", "corpora/many_pieces",
    "corpora/mixing", "corpora/pieces", "corpora/shifts", "corpora/store", "corpora/weighted",
    "tokenizers/fair_sample",
    "translation/coded", "translation/mixture", "translation/portions", "translation/prefixes",
    "translation/terms", "translation/tuning", "runs/checking", "runs/fine_tuning", "runs/parent",
    "runs/resuming", "runs/transfer",
    "runs/quality_gate", "operations/frozen", "operations/processes", "operations/recovery",
    "core/beam", "core/dataset", "core/kv_cache", "core/search", "core/setting_errors",
    "core/train.py", "tokenizers/word", "commands/translate_documents",
)  # fmt: skip

pytestmark = needs_engine


@pytest.fixture(scope="module")
def entered(module_without_a_gpu: None) -> dict[str, int]:
    """Each file of which a function runs, with its lines."""
    script = ROOT / "tests" / "support" / "plain_way.py"
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, str(script), "--json"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    lines: dict[str, int] = json.loads(done.stdout.splitlines()[-1])
    return lines


def test_it_does_not_grow(entered: dict[str, int]) -> None:
    assert "runs/train.py" in entered
    assert "core/trainer.py" in entered
    assert "engine/engine.c" in entered
    assert len(entered) <= MOST_FILES
    assert sum(entered.values()) <= MOST_LINES


def test_side_rooms_are_not_entered(entered: dict[str, int]) -> None:
    assert [name for name in entered if name.startswith(SIDE_ROOMS)] == []
