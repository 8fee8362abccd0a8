"""`headway train --processes 2`: a killed process is made good, a mistake is told once."""

import os
import signal
import time
from pathlib import Path

import pytest
from everyday_run import FLAGS, left_behind, write_corpus
from faulty_disk import SOURCE
from several_processes import begun

import headway
from headway.core.errors import UserError

LIMIT_S = 300.0


def pid_of_rank(launcher: int, rank: int) -> int | None:
    """Of a process that the launcher has started."""
    for place in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((place / "stat").read_text().rpartition(")")[2].split()[1])
            if (
                parent == launcher
                and f"\0RANK={rank}\0".encode() in (place / "environ").read_bytes()
            ):
                return int(place.name)
        except OSError:
            continue
    return None


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs Linux's /proc")
def test_killed_and_stopped_and_gone_on_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = write_corpus(tmp_path)
    out = tmp_path / "run"
    asked = ["--source", str(files[0]), "--target", str(files[1]), "--out", str(out)]
    long = [*FLAGS, "--training.max-steps=100000", "--training.checkpoint-every=4"]
    monkeypatch.setenv("HEADWAY_LOST_AFTER", "300")  # on a busy machine
    monkeypatch.setenv("PYTHONPATH", str(SOURCE))
    log = tmp_path / "said"
    process = begun(["train", *asked, *long, "--processes", "2"], log)
    assert process.pid
    until = time.monotonic() + LIMIT_S

    def wait_for(step: int) -> None:
        while not (out / "checkpoints" / f"step-{step}" / "state.json").exists():
            assert process.is_alive(), log.read_text(encoding="utf-8")
            assert time.monotonic() < until
            time.sleep(0.05)

    try:
        wait_for(4)
        rank_1 = pid_of_rank(process.pid, 1)
        assert rank_1
        os.kill(rank_1, signal.SIGKILL)
        while pid_of_rank(process.pid, 1) in (None, rank_1):
            assert time.monotonic() < until
            time.sleep(0.05)
        saved = max(int(one.name[5:]) for one in (out / "checkpoints").glob("step-*"))
        wait_for(saved // 4 * 4 + 4)
        os.kill(process.pid, signal.SIGINT)
        process.join(LIMIT_S)
    finally:
        process.kill()
        process.join()
    said = log.read_text(encoding="utf-8")
    assert process.exitcode == 130, said
    assert "process 1 was killed (SIGKILL); the processes are started again" in said
    assert "goes on from step" in said
    last = said.splitlines()[-1]
    assert last.startswith("headway: error: stopped at step ")
    assert last.endswith(f"saved. Go on with: headway train --out {out} --resume")
    assert "Traceback" not in said
    assert left_behind(out)["weights"]


@pytest.mark.filterwarnings("ignore:.*stderr.log|.*stdout.log")  # torch leaves them open
def test_from_python_a_mistake_is_raised(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    files = write_corpus(tmp_path)
    settings = {"model": {"d_model": 33, "heads": 2}}
    with pytest.raises(UserError, match="heads must divide d_model; got 2 heads") as raised:
        headway.train(
            source=files[0], target=files[1], out=tmp_path / "run", settings=settings, processes=2
        )
    assert raised.value.exit_status == 2
    assert not (tmp_path / "run").exists()
    assert capfd.readouterr().err == ""
