"""Laws of tasks that forked processes share."""

import os
import signal
import subprocess
import sys
import time
from multiprocessing import active_children

import pytest
import shared_work
import torch

from headway.core.errors import ConfigError, HeadwayError
from headway.corpora.many_pieces import in_order
from headway.operations.processes import WorkerLostError, WorkerPool, shared


def test_tasks_are_shared_and_each_is_done_once():
    found = list(shared(lambda task: (task * task, os.getpid()), range(20), 3))
    assert sorted(number for number, _ in found) == list(range(20))
    assert all(result[0] == number**2 for number, result in found)
    pids = {result[1] for _, result in found}
    assert len(pids) <= 3
    assert os.getpid() not in pids
    assert not active_children()


def test_each_process_computes_with_one_thread():
    assert {n for _, n in shared(lambda _: torch.get_num_threads(), range(4), 2)} == {1}


def test_an_error_in_a_process_is_raised_here_and_the_others_end():
    def work(task):
        if task == 3:
            raise ConfigError("three is one too many")
        return task

    with pytest.raises(ConfigError, match="three is one too many"):
        list(shared(work, range(20), 2))
    assert not active_children()


@pytest.mark.parametrize("fatal", [[3], list(range(20))])
def test_what_a_killed_process_had_to_do_is_done_by_the_others_or_here(fatal):
    here = os.getpid()

    def work(task):
        if task in fatal and os.getpid() != here:
            os.kill(os.getpid(), signal.SIGKILL)
        return task**2

    assert sorted(shared(work, range(20), 2)) == [(task, task**2) for task in range(20)]
    assert not active_children()


def test_a_signal_to_all_of_the_group_ends_no_search():
    """As `timeout`, a batch system and `systemctl stop` send it; the trainer saves, then stops."""
    script = """
import os, signal, time
from headway.operations.processes import WorkerLostError, WorkerPool, shared
signal.signal(signal.SIGTERM, lambda *_: print("asked to stop", flush=True))
def work(task):
    time.sleep(0.3)
    return task
results = shared(work, range(6), 2)
found = [next(results)]
os.killpg(0, signal.SIGTERM)
print(sorted([*found, *results]) == [(n, n) for n in range(6)])
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, start_new_session=True,
        check=False,
    )  # fmt: skip
    assert done.stdout.split("\n") == ["asked to stop", "True", ""], done.stderr


def test_an_error_that_cannot_travel_is_told_in_words():
    def work(task):
        class OwnError(Exception):
            pass

        raise OwnError("of my own")

    with pytest.raises(HeadwayError, match="OwnError: of my own"):
        list(shared(work, range(4), 2))


def test_whoever_stops_listening_leaves_no_process_behind():
    results = shared(lambda task: task, range(20), 2)
    next(results)
    results.close()
    assert not active_children()


SLEEPERS = r"""
import os, signal, time
from headway.operations.processes import WorkerLostError, WorkerPool, shared
signal.signal(signal.SIGINT, signal.default_int_handler)  # a suite in the background ignores it
def work(task):
    os.write(1, b"%d\n" % os.getpid())  # in one piece: others write too
    time.sleep(60)
try:
    list(shared(work, range(4), 2))
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


@pytest.mark.parametrize("killed_by", [signal.SIGINT, signal.SIGKILL])
def test_no_process_outlives_its_parent_for_long(killed_by):
    """After Ctrl-C, and after a kill, none is left, whatever it was at."""
    parent = subprocess.Popen([sys.executable, "-c", SLEEPERS], stdout=subprocess.PIPE, text=True)
    children = [int(parent.stdout.readline()) for _ in range(2)]
    parent.send_signal(killed_by)
    rest = parent.communicate(timeout=30)[0]
    assert ("interrupted" in rest) == (killed_by == signal.SIGINT)
    for _ in range(100):
        if not any(alive(child) for child in children):
            return
        time.sleep(0.1)
    pytest.fail(f"still alive: {children}")


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_results_come_in_the_order_of_the_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("headway.corpora.many_pieces.PIECES_ALONE", 0)
    assert list(in_order(shared_work.slow_first, range(8), n_workers=2)) == list(range(8))
    assert list(in_order(shared_work.slow_first, [], n_workers=2)) == []


def test_a_little_work_starts_no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("headway.corpora.many_pieces.PIECES_ALONE", 3)
    assert set(in_order(shared_work.who, range(9), n_workers=1)) == {os.getpid()}
    assert set(in_order(shared_work.who, range(3), n_workers=2)) == {os.getpid()}
    done_by = list(in_order(shared_work.who, range(9), n_workers=2))
    assert set(done_by[:3]) == {os.getpid()}
    assert os.getpid() not in done_by[3:]
    assert 1 <= len(set(done_by[3:])) <= 2


def test_few_tasks_are_taken_before_they_are_needed() -> None:
    taken = []
    tasks = (taken.append(task) or task for task in range(100))  # type: ignore[func-returns-value]
    for n_done, _ in enumerate(shared(shared_work.slow_first, tasks, 2), 1):
        assert len(taken) <= n_done + 4


def test_what_is_printed_does_not_get_among_the_results() -> None:
    assert sorted(shared(shared_work.shout, range(3), 2)) == [(0, 0), (1, 1), (2, 2)]


def test_large_tasks_and_results_do_not_block_each_other() -> None:
    large = b"x" * (1 << 22)
    found = list(shared(lambda task: task + b"y", [large] * 8, 2))
    assert len(found) == 8
    assert all(result == large + b"y" for _, result in found)


def test_a_pool_replaces_processes_that_end_and_tells_of_their_tasks() -> None:
    def work(task):
        if task == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        if task == "exit":
            os._exit(7)
        if task == "fail":
            raise ConfigError("it fails")
        return task, os.getpid()

    pool = WorkerPool(work, 2)
    try:
        answers = []
        for task in ["a", "kill", "b", "exit", "fail", "c", "d"]:
            if pool.n_busy == pool.n_at_once:
                answers.append(pool.take())
            pool.give(task)
        answers += [pool.take() for _ in range(pool.n_busy)]
    finally:
        pool.close()
    found = {answer.task: answer for answer in answers}
    assert {task: found[task].result[0] for task in "abcd"} == dict(
        zip("abcd", "abcd", strict=True)
    )
    assert "SIGKILL" in str(found["kill"].error)
    assert "status 7" in str(found["exit"].error)
    assert isinstance(found["exit"].error, WorkerLostError)
    assert isinstance(found["fail"].error, ConfigError)
    assert not active_children()


def test_a_process_that_never_ends_is_ended() -> None:
    pool = WorkerPool(lambda task: time.sleep(60 if task else 0), 2, limit_s=0.5)
    try:
        pool.give(1)
        pool.give(0)
        found = [pool.take() for _ in range(2)]
    finally:
        pool.close()
    assert found[0].error is None
    assert "SIGKILL" in str(found[1].error)
