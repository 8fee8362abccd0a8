"""What is read for a run that nobody named: the files that it was made from, byte for byte."""

import shutil
from pathlib import Path

import faults
import pytest
from everyday_run import command

from headway.core.config import format_toml, merge
from headway.core.errors import ConfigError
from headway.core.run_folder import RunFolder
from headway.inspection.inspected_model import open_inspected
from headway.inspection.opened_runs import texts
from headway.runs.resuming import why_not_read

SECRET = "the password is swordfish"


def naming(everyday_run: Path, tmp_path: Path, file: Path) -> RunFolder:
    """A run from elsewhere, sealed again, whose config.toml names a file of this machine."""
    run = RunFolder(Path(shutil.copytree(everyday_run, tmp_path / "run")))
    named = {"source": [str(file)], "target": [str(file)], "valid_source": [], "valid_target": []}
    sums = run.sealed()
    run.write_sealed(format_toml(merge(run.settings(), {"data": named})), sums)
    return run


def test_a_file_that_config_toml_names_is_not_shown(everyday_run, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text(f"{SECRET}\n" * 600, encoding="utf-8")
    run = naming(everyday_run, tmp_path, secret)
    assert "has no checksum of" in why_not_read(run, [secret])
    with pytest.raises(ConfigError, match="or others now"):
        texts(open_inspected(run.path))
    out = tmp_path / "page.html"
    finished = command("inspect", str(run.path), "--out", str(out))
    assert SECRET not in finished.out + finished.err
    assert not out.exists() or SECRET not in out.read_text(encoding="utf-8")


def test_a_run_that_is_gone_on_with_reads_only_what_it_knows(everyday_run, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text(f"{SECRET}\n" * 600, encoding="utf-8")
    run = naming(everyday_run, tmp_path, secret)
    faults.make_stopped(run.path)
    finished = command("train", "--out", str(run.path), "--resume")
    assert finished.status == 2
    assert SECRET not in finished.out + finished.err


def test_own_files_are_read_until_they_change(everyday_run, tmp_path):
    run = RunFolder(everyday_run)
    files = [Path(name) for name in run.record()["sha256"]]
    assert why_not_read(run, files) == ""
    assert "is gone" in why_not_read(run, [tmp_path / "none"])
    assert "has no checksum" in why_not_read(run, [tmp_path])
