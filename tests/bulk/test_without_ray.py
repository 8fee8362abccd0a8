"""Where Ray is not installed, the sentence that names the extra."""

import sys

import pytest
from everyday_run import command


def test_the_extra_is_named(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").write_text("A dog runs.\n", "utf-8")
    monkeypatch.setitem(sys.modules, "ray", None)
    job = ["translate", "demo", str(tmp_path / "a"), "--out", str(tmp_path / "out"), "--shards"]
    done = command(*job, "--on=ray")
    assert done.status == 2
    assert 'pip install "headway[ray]"' in done.err
