"""The scripts in examples/ run, and need nothing of headway but the core."""

import ast
import os
import subprocess
import sys
from pathlib import Path

from everyday_run import write_corpus

ROOT = Path(__file__).parent.parent
SCRIPT = ROOT / "examples" / "from_two_files.py"


def test_two_text_files_become_a_translator_with_the_bricks_alone(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "OMP_NUM_THREADS": "1"}
    files = map(str, write_corpus(tmp_path))
    command = [sys.executable, str(SCRIPT), *files, "20"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    first, *_, last = done.stdout.splitlines()
    assert first.startswith("read 300 pairs")
    assert last.startswith("BLEU ")
    assert len(done.stdout.splitlines()) == 2 + 2 * 5


def test_it_is_short_and_imports_the_core_only() -> None:
    assert len(SCRIPT.read_text(encoding="utf-8").splitlines()) <= 80
    nodes = ast.walk(ast.parse(SCRIPT.read_text(encoding="utf-8")))
    modules = [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
    ours = [module for module in modules if module.startswith("headway")]
    assert ours
    assert all(module.startswith("headway.core.") for module in ours)
