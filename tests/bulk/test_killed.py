"""The command is killed at will: parent, workers, all; the end is that of one never killed."""

import os
import signal
import sys
import time
from multiprocessing.context import ForkProcess
from pathlib import Path

import pytest
from everyday_run import command
from several_processes import begun

from headway.demo import generate

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
N_LINES = 3000


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("text") / "new.en"
    file.write_text("".join(f"{english}\n" for english, _ in generate(N_LINES, 3)), "utf-8")
    return file


def started(text: Path, out: Path) -> ForkProcess:
    options = ["--shards", "--shard-lines=1200", "--processes=2", "--beam=1", "--precision=fp32"]
    job = ["translate", "demo", str(text), "--out", str(out)]
    return begun([*job, *options], out.with_name("said"))


def children(pid: int) -> list[int]:
    try:
        return [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def killed(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:  # it had ended
        return


def whole(out: Path) -> str:
    return "".join(one.read_text("utf-8") for one in sorted(out.glob("[!.]*")))


def seen(job: ForkProcess) -> list[int]:
    """Its workers, as soon as there are two."""
    assert job.pid
    while len(found := children(job.pid)) < 2:
        assert job.is_alive()
        time.sleep(0.05)
    return found


@pytest.mark.timeout(240)
def test_each_line_is_there_once_and_in_order_after_kills_of_workers_and_of_the_parent(
    text: Path, tmp_path: Path
) -> None:
    unkilled = tmp_path / "unkilled"
    asked = ["--out", str(unkilled), "--beam=1", "--precision=fp32"]
    assert command("translate", "demo", str(text), *asked).status == 0
    job = started(text, tmp_path / "killed")
    try:
        killed(seen(job)[0])
        time.sleep(0.2)
        killed(seen(job)[1])
        workers = seen(job)
        job.kill()
        job.join()
        for _ in range(50):
            if not any(map(alive, workers)):
                break
            time.sleep(0.1)
        assert not any(map(alive, workers))
    finally:
        job.kill()
        job.join()
    job = started(text, tmp_path / "killed")
    try:
        killed(seen(job)[0])
        job.join()
        assert job.exitcode == 0
    finally:
        job.kill()
        job.join()
    assert whole(tmp_path / "killed").count("\n") == N_LINES
    assert whole(tmp_path / "killed") == unkilled.read_text("utf-8")


@pytest.mark.timeout(120)
def test_after_ctrl_c_nothing_is_left_half_written_and_it_is_said_how_to_go_on(
    text: Path, tmp_path: Path
) -> None:
    out, long = tmp_path / "out", tmp_path / "long.txt"
    long.write_text(text.read_text("utf-8") * 100, "utf-8")
    log = tmp_path / "said"
    asked = ["translate", "demo", str(long), "--out", str(out), "--shards", "--processes=2"]
    job = begun(asked, log)
    try:
        assert job.pid
        while not children(job.pid):
            time.sleep(0.1)
        time.sleep(0.3)
        os.kill(job.pid, signal.SIGINT)
        job.join(30)
    finally:
        job.kill()
        job.join()
    assert job.exitcode == 130
    assert "the same command again" in log.read_text(encoding="utf-8")
    assert [one.name for one in out.iterdir()] == [".headway"]
