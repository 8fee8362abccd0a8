import os
import pickle
import signal
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest
import shared_work

from headway.data.many_pieces import in_order
from headway.data.workers import WorkerError, shared
from headway.errors import DataError


def test_results_come_in_the_order_of_the_tasks() -> None:
    assert list(shared(shared_work.slow_first, range(8), n_workers=2)) == list(range(8))
    assert list(shared(shared_work.slow_first, [], n_workers=2)) == []


def test_a_little_work_starts_no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("headway.data.many_pieces.PIECES_ALONE", 3)
    assert set(in_order(shared_work.who, range(9), n_workers=1)) == {os.getpid()}
    assert set(in_order(shared_work.who, range(3), n_workers=2)) == {os.getpid()}
    done_by = list(in_order(shared_work.who, range(9), n_workers=2))
    assert set(done_by[:3]) == {os.getpid()}
    assert os.getpid() not in done_by[3:]
    assert 1 <= len(set(done_by[3:])) <= 2


def test_few_tasks_are_taken_before_they_are_needed() -> None:
    taken = []
    tasks = (taken.append(task) or task for task in range(100))  # type: ignore[func-returns-value]
    with closing(shared(shared_work.slow_first, tasks, n_workers=2)) as results:
        for result in results:
            assert len(taken) <= result + 5
            if result == 20:
                break


def test_what_is_printed_does_not_get_among_the_results(capfd: pytest.CaptureFixture[str]) -> None:
    assert list(shared(shared_work.shout, range(3), n_workers=2)) == [0, 1, 2]
    assert capfd.readouterr().out == ""


def test_an_error_in_a_process_is_raised_here() -> None:
    results = shared(shared_work.refuse_five, range(9), n_workers=2)
    assert [next(results) for _ in range(5)] == [0, 1, 2, 3, 4]
    with pytest.raises(DataError, match="no fives; got 5. Try 6."):
        next(results)


def test_a_process_that_is_killed_is_replaced(tmp_path: Path) -> None:
    marks = [tmp_path / str(number) for number in range(3)]
    done_by = list(shared(shared_work.die_once, marks, n_workers=2))
    assert len(done_by) == 3
    assert os.getpid() not in done_by


def test_processes_that_never_live_are_an_error_that_says_what_to_do() -> None:
    with pytest.raises(WorkerError, match=r"3 were ended .*status 7.*--data.workers 1"):
        list(shared(os._exit, [7, 7], n_workers=2))


def alive(process_id: int) -> bool:
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return False
    return "Z" not in Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2].split()[0]


def gone(process_ids: set[int]) -> bool:
    for _ in range(200):
        if not any(map(alive, process_ids)):
            return True
        time.sleep(0.05)
    return False


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks processes up in /proc")
def test_processes_end_with_the_iterator_and_with_their_parent() -> None:
    with closing(shared(shared_work.who, range(99), n_workers=2)) as results:
        children = {next(results) for _ in range(6)}
        assert all(map(alive, children))
    assert gone(children)
    code = (
        "import pickle, sys, shared_work\n"
        "from headway.data.workers import shared\n"
        "results = shared(shared_work.who, range(99), n_workers=2)\n"
        "sys.stdout.buffer.write(pickle.dumps({next(results) for _ in range(6)}))\n"
        "sys.stdout.flush()\n"
        "input()"
    )
    path = os.pathsep.join(sys.path)
    parent = subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": path},
    )
    with parent:
        assert parent.stdout is not None
        orphans = pickle.load(parent.stdout)
        parent.send_signal(signal.SIGKILL)
    assert gone(orphans)
