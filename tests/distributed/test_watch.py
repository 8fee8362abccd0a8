"""A process that is lost, hangs or ends is named by the others, and one that works is not."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any, NoReturn

import pytest
from torch.distributed import HashStore

from headway.core.errors import ConfigError, RunError, StoppedError
from headway.core.run_folder import RunFolder
from headway.distributed import meeting, watch
from headway.distributed.watch import DONE, START_AGAIN, Watch

EVERYONE = [{"host": f"node-{name}", "pid": -1, "parent": -1} for name in "abb"]


class Store:
    """A store in memory, for threads in place of processes; it can be made silent, or be lost."""

    def __init__(self, inner: Any = None) -> None:
        self.inner, self.silent, self.lost = inner or HashStore(), False, ""

    def clone(self) -> "Store":
        return self

    def __getattr__(self, name: str) -> Any:
        while self.silent:
            time.sleep(0.01)
        if self.lost:
            raise RuntimeError(self.lost)
        return getattr(self.inner, name)


class Ending(Watch):
    """Keeps what it would end with."""

    ends: tuple[str, int, int] | None = None

    def end(self, words: str, culprit: int = -1, status: int = START_AGAIN) -> NoReturn:
        self.ends = self.ends or (words, culprit, status)
        self.closed.set()
        threading.Event().wait()  # as if this process were gone
        raise AssertionError


@pytest.fixture
def processes(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Store, list[Ending]]]:
    """Three, that look at each other twenty times a second; 0.5 s are long."""
    monkeypatch.setattr(watch, "EVERY_S", 0.05)
    monkeypatch.setattr(watch, "CLOSED_S", 0.3)
    monkeypatch.setattr(watch, "UNNAMED_S", 0.8)
    monkeypatch.setenv("HEADWAY_LOST_AFTER", "0.5")
    monkeypatch.setenv("HEADWAY_HANGS_AFTER", "0.5")
    store = Store()
    for rank in range(3):  # so that nobody waits for the first sign of another
        store.set(f"sign/{rank}", json.dumps({"count": -1}))
    three = [Ending(store, rank, EVERYONE) for rank in range(3)]
    yield store, three
    store.silent = False
    for one in three:
        one.closed.set()


def within(seconds: float, done: Callable[[], object]) -> None:
    """Until it is so; fails where it takes longer."""
    until = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < until
        time.sleep(0.02)


def test_processes_that_are_there_end_nobody(processes: tuple[Store, list[Ending]]) -> None:
    time.sleep(1.2)
    assert [one.ends for one in processes[1]] == [None] * 3


def test_one_whose_count_stands_still_is_named_with_its_machine_and_what_it_did_last(
    processes: tuple[Store, list[Ending]],
) -> None:
    first, second, gone = processes[1]
    gone.at("update 1,234")
    within(5, lambda: first.others[2].sign.doing == "update 1,234")
    gone.closed.set()
    within(10, lambda: first.ends and second.ends)
    for one in (first, second):
        assert one.ends is not None
        words, culprit, status = one.ends
        assert words.startswith("process 2 on node-b has not been heard of for ")
        assert words.endswith("; last, it was at update 1,234")
        assert (culprit, status) == (2, START_AGAIN)


def test_one_that_works_for_long_is_not_lost_and_one_that_all_wait_for_hangs(
    processes: tuple[Store, list[Ending]],
) -> None:
    first, second, slow = processes[1]
    slow.at("writing at step 20", long=True)
    within(5, lambda: first.others[2].sign.long)
    over = threading.Event()

    def wait_for_it(one: Ending) -> None:
        with one.in_collective():
            over.wait(20)

    threads = [threading.Thread(target=wait_for_it, args=(one,)) for one in (first, second)]
    for thread in threads:
        thread.start()
    time.sleep(1.5)
    assert first.ends is None
    slow.at("update 21")
    within(10, lambda: first.ends and second.ends)
    over.set()
    for thread in threads:
        thread.join()
    assert first.ends is not None
    assert first.ends[0].startswith("process 2 on node-b hangs at update 21: ")
    assert slow.ends is None


def test_where_all_wait_the_network_is_named(processes: tuple[Store, list[Ending]]) -> None:
    over = threading.Event()

    def wait_for_it(one: Ending) -> None:
        with one.in_collective():
            over.wait(20)

    threads = [threading.Thread(target=wait_for_it, args=(one,)) for one in processes[1]]
    for thread in threads:
        thread.start()
    within(10, lambda: all(one.ends for one in processes[1]))
    over.set()
    for thread in threads:
        thread.join()
    assert all(one.ends and "see to the network" in one.ends[0] for one in processes[1])


def fail(one: Ending, error: str) -> None:
    """Have a collective fail, in a thread that never comes back from it."""

    def work() -> None:
        with one.in_collective():
            raise RuntimeError(error)

    threading.Thread(target=work, daemon=True).start()


def test_a_failed_collective_is_told_by_who_is_gone_not_in_torchs_words(
    processes: tuple[Store, list[Ending]],
) -> None:
    first, _, gone = processes[1]
    gone.at("the validation of step 40")
    within(5, lambda: first.others[2].sign.doing == "the validation of step 40")
    gone.closed.set()
    first.lost_s = 100.0
    fail(first, "[pair.cc:553] Connection closed by peer [10.0.0.2]:4711")
    within(10, lambda: first.ends)
    assert first.ends is not None
    assert first.ends[0] == "process 2 on node-b is gone; last, it was at the validation of step 40"


def test_a_failed_collective_of_which_all_are_there_says_so(
    processes: tuple[Store, list[Ending]],
) -> None:
    first = processes[1][0]
    fail(first, "Connection reset by peer.\nException raised from readValue")
    within(10, lambda: first.ends)
    assert first.ends is not None
    assert first.ends[0] == (
        "every process is there, but a collective failed (Connection reset by peer)"
    )


def test_too_little_memory_in_a_collective_is_no_matter_of_the_network(
    processes: tuple[Store, list[Ending]],
) -> None:
    with pytest.raises(RuntimeError), processes[1][0].in_collective():
        raise RuntimeError("CUDA out of memory")
    assert not processes[1][0].failure


@pytest.mark.parametrize("how", ["silent", "lost"])
def test_a_store_that_is_out_of_reach_is_named(
    processes: tuple[Store, list[Ending]], monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    monkeypatch.setenv("MASTER_ADDR", "node-a")
    monkeypatch.setenv("MASTER_PORT", "29500")
    store, (_, second, _) = processes
    within(5, lambda: second.n_answers)
    setattr(store, how, True if how == "silent" else "Broken pipe. This may indicate that ..")
    within(10, lambda: second.ends)
    assert second.ends is not None
    words = {"silent": "has not answered for ", "lost": "is gone (Broken pipe); "}[how]
    assert second.ends[0].startswith("the store at node-a:29500, ")
    assert words in second.ends[0]


@pytest.mark.parametrize(
    ("error", "status", "ends"),
    [(RunError("the folder is damaged"), 2, 2), (ValueError("x"), 1, 1),
     (StoppedError("stopped"), DONE, None), (None, DONE, None)],
)  # fmt: skip
def test_an_error_of_one_ends_the_others_with_its_status(
    processes: tuple[Store, list[Ending]],
    error: Exception | None,
    status: int,
    ends: int | None,
    tmp_path: Path,
) -> None:
    first, _, third = processes[1]

    def finish() -> None:
        with third.until_the_end(RunFolder(tmp_path)):
            if error:
                raise error

    if error:
        with pytest.raises(type(error)):
            finish()
    else:
        finish()
    assert third.sign.ended == status
    if ends is None:
        time.sleep(1.2)
        assert first.ends is None
    else:
        within(10, lambda: first.ends)
        assert first.ends is not None
        assert first.ends[1:] == (2, ends)
        assert str(error) in first.ends[0]


def test_seconds_that_are_none_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    for wrong in ("soon", "0", "nan", "-3"):
        monkeypatch.setenv("HEADWAY_LOST_AFTER", wrong)
        with pytest.raises(ConfigError, match="HEADWAY_LOST_AFTER must be a number of seconds"):
            watch.seconds_set("HEADWAY_LOST_AFTER", 30)


# -- how they meet --------------------------------------------------------------------------------


def all_meet(store: Any, size: int) -> list[Any]:
    """What each of so many is given, or the error it meets with."""
    found: list[Any] = [None] * size

    def come(rank: int) -> None:
        try:
            place, everyone = meeting.meet(store, rank, size, timedelta(seconds=8))
            place.set(f"sign/{rank}", "1")
            found[rank] = everyone
        except Exception as error:
            found[rank] = error

    threads = [threading.Thread(target=come, args=(rank,)) for rank in range(size)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def test_all_know_all_and_what_an_earlier_start_left_is_not_taken_for_this_one() -> None:
    store, met = HashStore(), set[str]()
    for size in (3, 2, 3):  # a smaller world, and the same again, in one store
        lists = all_meet(store, size)
        assert all(everyone == lists[0] for everyone in lists)
        nonces = {one["nonce"] for one in lists[0]}
        assert len(nonces) == size
        assert not nonces & met
        met |= nonces


def test_who_does_not_come_is_named() -> None:
    with pytest.raises(meeting.UnmetError, match=r"All 4 processes .*: 1, 2, 3\. See"):
        meeting.meet(HashStore(), 0, 4, timedelta(seconds=0.2))
    with pytest.raises(meeting.UnmetError, match="Process 0 must come"):
        meeting.meet(HashStore(), 1, 4, timedelta(seconds=0.2))


def test_a_rank_that_is_started_twice_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(meeting, "TWICE_S", 0.2)
    store = HashStore()
    everyone = all_meet(store, 2)[0]
    place, over = meeting.PrefixStore(everyone[0]["nonce"], store), threading.Event()

    def live() -> None:
        while not over.wait(0.05):
            place.set("sign/0", str(time.monotonic()))

    thread = threading.Thread(target=live)
    thread.start()
    try:
        with pytest.raises(ConfigError, match="another process 1 is at work"):
            meeting.meet(store, 1, 2, timedelta(seconds=8))
    finally:
        over.set()
        thread.join()


def test_other_versions_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    versions = iter(["1.0", "1.1"])

    class Changing:
        def __format__(self, _: str) -> str:
            return next(versions)

    monkeypatch.setattr(meeting, "__version__", Changing())
    for error in all_meet(HashStore(), 2):
        assert isinstance(error, ConfigError)
        assert "All processes must have the same versions" in str(error)


def test_a_port_of_another_program_and_a_place_that_is_not_told_are_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    taken = pytest.raises(ConfigError, match="another program has that port. Set MASTER_PORT")
    with taken, meeting.store_errors("node-a", 29500):
        raise RuntimeError("The server socket has failed to listen .. port: 29500 EADDRINUSE")
    unmet = pytest.raises(meeting.UnmetError, match="node-a:29500, which is not reached")
    with unmet, meeting.store_errors("node-a", 29500):
        raise RuntimeError("The client socket has timed out")
    monkeypatch.delenv("MASTER_ADDR", raising=False)
    with pytest.raises(ConfigError, match="MASTER_ADDR and MASTER_PORT say where"):
        meeting.joined(0, 2)
