"""The scripts in examples/ run, and need nothing of headway but the core."""

import ast
import runpy
import sys
from pathlib import Path

import pytest
from everyday_run import write_corpus

ROOT = Path(__file__).parent.parent
SCRIPT = ROOT / "examples" / "from_two_files.py"


def test_two_text_files_become_a_translator_with_the_bricks_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    files = map(str, write_corpus(tmp_path))
    monkeypatch.setattr(sys, "argv", [str(SCRIPT), *files, "8"])
    runpy.run_path(str(SCRIPT), run_name="__main__")
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("read 300 pairs")
    assert lines[-1].startswith("BLEU ")
    assert len(lines) == 2 + 2 * 5


def test_it_is_short_and_imports_the_core_only() -> None:
    assert len(SCRIPT.read_text(encoding="utf-8").splitlines()) <= 80
    nodes = ast.walk(ast.parse(SCRIPT.read_text(encoding="utf-8")))
    modules = [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
    ours = [module for module in modules if module.startswith("headway")]
    assert ours
    assert all(module.startswith("headway.core.") for module in ours)
