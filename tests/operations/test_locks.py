"""One process at a time: locks."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from headway.operations import locks, turns
from headway.operations.locks import TakenError, only_writer, only_writer_of_folder
from headway.operations.turns import alone

HOLD = """
import sys
from pathlib import Path
from headway.operations.turns import alone
with alone(Path(sys.argv[1]), print):
    print("held", flush=True)
    input()
"""


def holder(path: Path) -> "subprocess.Popen[str]":
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def test_a_lock_leaves_nothing_and_can_be_taken_again(tmp_path: Path) -> None:
    for _ in range(2):
        with alone(tmp_path / "lock", pytest.fail):
            assert [path.name for path in tmp_path.iterdir()] == ["lock"]
        assert list(tmp_path.iterdir()) == []


def test_the_second_waits_and_says_for_whom(tmp_path: Path) -> None:
    said: list[str] = []
    with holder(tmp_path / "lock") as process:

        def say(message: str) -> None:
            said.append(message)
            process.communicate("\n")  # let it end

        with alone(tmp_path / "lock", say):
            assert process.poll() == 0
    assert len(said) == 1
    assert f"waiting for process {process.pid} on " in said[0]


def test_a_holder_that_is_killed_holds_nothing(tmp_path: Path) -> None:
    with holder(tmp_path / "lock") as process:
        process.kill()
        process.wait()
        assert (tmp_path / "lock").exists()
        with alone(tmp_path / "lock", pytest.fail):
            pass


def test_never_two_at_the_same_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "_ASK_AGAIN_S", 0.001)
    inside = 0
    most = 0

    def work() -> None:
        nonlocal inside, most
        for _ in range(20):
            with alone(tmp_path / "lock", lambda _message: None):
                inside += 1
                most = max(most, inside)
                inside -= 1

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == 1


def test_where_nothing_can_be_locked_nobody_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unknown(_handle: int, _how: int) -> None:
        raise OSError(38, "Function not implemented")

    monkeypatch.setattr(pytest.importorskip("fcntl"), "flock", unknown)
    said: list[str] = []
    with alone(tmp_path / "lock", said.append):
        pass
    assert len(said) == 1
    assert "cannot be locked (Function not implemented)" in said[0]


def test_a_second_writer_is_told_who_writes(tmp_path: Path) -> None:
    process = holder(tmp_path / ".run.lock")
    with (
        pytest.raises(TakenError, match=f"write .*run; process {process.pid} on .* is at it"),
        only_writer(tmp_path / "run", pytest.fail),
    ):
        pass
    process.communicate("\n")


def test_a_folder_that_comes_and_goes_is_locked_by_one_at_a_time(tmp_path: Path) -> None:
    wrong: list[BaseException] = []

    def work() -> None:
        for _ in range(200):
            try:
                with only_writer_of_folder(tmp_path / "run", pytest.fail):
                    assert (tmp_path / "run" / ".lock").exists()
            except TakenError:
                pass
            except BaseException as error:
                wrong.append(error)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert list(tmp_path.iterdir()) == []


def test_a_folder_is_locked_by_a_file_in_it_and_another_thread_of_the_same_process_is_refused(
    tmp_path: Path,
) -> None:
    with only_writer(tmp_path, pytest.fail):
        assert [path.name for path in tmp_path.iterdir()] == [".lock"]
        with pytest.raises(TakenError), only_writer(tmp_path, pytest.fail):
            pass
    assert list(tmp_path.iterdir()) == []


def test_what_a_link_or_a_second_name_leads_to_is_not_written(tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.write_text("of the user", encoding="utf-8")
    (tmp_path / "link").symlink_to(mine)
    (tmp_path / "second").hardlink_to(mine)
    os.mkfifo(tmp_path / "pipe")
    for name in ("link", "second", "pipe"):
        with pytest.raises(OSError, match=name), alone(tmp_path / name, pytest.fail):
            pass
    assert mine.read_text(encoding="utf-8") == "of the user"


def test_a_holder_says_nothing_to_the_terminal(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    path.write_bytes(b"\x1b]0;title\x07process 7\x9b")
    with path.open() as file:
        name = locks._holder(file.fileno())
    assert name.isprintable()
    assert "process 7" in name
