"""The same shards on Ray: the same bytes, also where its workers are killed."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from everyday_run import command

from headway.demo import generate

if sys.platform != "linux":
    pytest.skip("it looks for workers in /proc", allow_module_level=True)
pytest.importorskip("ray", reason="the extra `ray` is not installed")


def below(pid: int) -> list[int]:
    try:
        found = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []
    return [one for child in map(int, found) for one in (child, *below(child))]


def translating(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().startswith("ray::on_worker")
    except OSError:
        return False


@pytest.mark.timeout(180)
def test_shards_are_the_same_bytes_where_workers_are_killed(tmp_path: Path) -> None:
    text, here, on_ray = tmp_path / "new.en", tmp_path / "here", tmp_path / "on-ray"
    text.write_text("".join(f"{english}\n" for english, _ in generate(6_000, 4)), "utf-8")
    job = ["translate", "demo", str(text), "--shards", "--shard-lines=2500", "--processes=2"]
    job += ["--beam=1", "--precision=fp32", "--out"]
    environment = {**os.environ, "RAY_USAGE_STATS_ENABLED": "0", "RAY_ADDRESS": "local"}
    process = subprocess.Popen([sys.executable, "-m", "headway", *job, str(on_ray), "--on=ray"],
                               env=environment, start_new_session=True)  # fmt: skip
    n_killed = 0
    try:
        while process.poll() is None:
            time.sleep(0.3)
            workers = list(filter(translating, below(process.pid)))
            if workers and n_killed < 2:
                os.kill(workers[0], signal.SIGKILL)
                n_killed += 1
    finally:
        for pid in (process.pid, *below(process.pid)):
            if process.poll() is None:
                os.kill(pid, signal.SIGKILL)
        process.wait()
    assert process.returncode == 0
    assert n_killed == 2
    assert command(*job, str(here)).status == 0
    assert [(one.name, one.read_bytes()) for one in sorted(on_ray.glob("[!.]*"))] == [
        (one.name, one.read_bytes()) for one in sorted(here.glob("[!.]*"))
    ]
