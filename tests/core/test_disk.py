import errno
import gzip
import os
import pickle
import re
import threading
import time
from pathlib import Path

import pytest

from headway.core import disk
from headway.core.disk import (
    DAY_S,
    DiskError,
    checksum,
    clear_asides,
    digest,
    whole_folder,
    whole_text,
    write_bytes,
    write_text,
    written_aside,
)
from headway.core.errors import DataError


def make(folder: Path) -> None:
    with whole_folder(folder) as part:
        (part / "data").write_bytes(b"0123456789")


def test_a_full_disk_is_an_error_that_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_handle: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(DataError, match=r"disk is full\. Free some space, or choose another place"):
        make(tmp_path / "folder")
    assert os.listdir(tmp_path) == []


def test_a_place_that_cannot_be_written_is_an_error_that_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(DataError, match=r"that fails .*choose another place"):
        make(tmp_path / "file" / "folder")


def test_a_full_disk_of_another_process_is_told_as_one() -> None:
    error = DiskError(Path("a"), OSError(errno.ENOSPC, "No space left on device"))
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.full) == (str(error), True)


def test_a_checksum_is_sha256(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"abc")
    known = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"  # FIPS 180-2, B.1
    assert checksum(tmp_path / "a") == known


def test_the_order_of_keys_does_not_change_a_digest() -> None:
    assert digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1}) != digest({"a": 1, "b": 3})


def test_a_file_is_written_whole(tmp_path: Path) -> None:
    write_bytes(tmp_path / "deep" / "a", b"\x00\xff")
    assert (tmp_path / "deep" / "a").read_bytes() == b"\x00\xff"
    write_text(tmp_path / "deep" / "a", "ä\r\n\n")
    assert (tmp_path / "deep" / "a").read_bytes() == "ä\r\n\n".encode()
    assert os.listdir(tmp_path / "deep") == ["a"]


@pytest.mark.parametrize("name", ["a.de.gz", "a.GZ"])
def test_a_text_with_a_packed_name_is_packed_and_always_the_same(tmp_path: Path, name: str) -> None:
    write_text(tmp_path / name, "ä\r\n\n")
    first = (tmp_path / name).read_bytes()
    assert gzip.decompress(first) == "ä\r\n\n".encode()
    assert first[3:8] == bytes(5)  # neither a name nor a time
    write_text(tmp_path / name, "ä\r\n\n")
    assert (tmp_path / name).read_bytes() == first
    assert os.listdir(tmp_path) == [name]


@pytest.mark.parametrize("before", [None, "old"])
@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_a_file_that_was_not_finished_changes_nothing(
    error: type[BaseException], before: str | None, tmp_path: Path
) -> None:
    if before:
        (tmp_path / "a").write_text(before)

    def interrupted() -> None:
        with whole_text(tmp_path / "a") as file:
            file.write("new")
            raise error

    with pytest.raises(error):
        interrupted()
    assert [path.read_text() for path in tmp_path.iterdir()] == ([before] if before else [])


def test_two_files_appear_together_or_not_at_all(tmp_path: Path) -> None:
    def interrupted() -> None:
        with whole_text(tmp_path / "a") as one, whole_text(tmp_path / "b") as other:
            one.write("1")
            other.write("2")
            raise ValueError("stop")

    with pytest.raises(ValueError, match="stop"):
        interrupted()
    assert os.listdir(tmp_path) == []


def test_a_new_file_has_the_mode_of_any_new_file(tmp_path: Path) -> None:
    (tmp_path / "plain").touch()

    with written_aside(tmp_path / "a") as aside:  # as safetensors does
        aside.unlink()
        os.close(os.open(aside, os.O_CREAT | os.O_WRONLY, 0o600))
    assert (tmp_path / "a").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_a_file_that_is_replaced_keeps_its_mode(tmp_path: Path) -> None:
    (tmp_path / "a").touch(0o640)
    write_text(tmp_path / "a", "new")
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o640


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    (tmp_path / "a").symlink_to(tmp_path / "far" / "b")
    write_text(tmp_path / "a", "new")
    assert (tmp_path / "a").is_symlink()
    assert (tmp_path / "far" / "b").read_text() == "new"


@pytest.mark.skipif(os.name == "nt", reason="has no named pipes in folders")
def test_a_pipe_is_written_to_and_stays_one(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    found: list[str] = []
    reader = threading.Thread(target=lambda: found.append((tmp_path / "pipe").read_text()))
    reader.start()
    write_text(tmp_path / "pipe", "new")
    reader.join()
    assert found == ["new"]
    assert (tmp_path / "pipe").is_fifo()
    assert os.listdir(tmp_path) == ["pipe"]


def test_a_file_is_on_the_disk_before_it_has_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[tuple[str, bool]] = []
    monkeypatch.setattr(
        disk, "sync", lambda path: synced.append((path.name, (tmp_path / "a").exists()))
    )
    write_text(tmp_path / "a", "new")
    aside, folder = synced
    assert re.fullmatch(r"\.a\.[0-9a-f]{8}\.part", aside[0])
    assert (aside[1], folder) == (False, (tmp_path.name, True))


def test_of_two_that_write_a_file_at_once_each_writes_it_whole(tmp_path: Path) -> None:
    with whole_text(tmp_path / "a") as first:
        first.write("first, ")
        with whole_text(tmp_path / "a") as second:
            second.write("second")
        assert (tmp_path / "a").read_text() == "second"
        first.write("whole")
    assert (tmp_path / "a").read_text() == "first, whole"
    assert os.listdir(tmp_path) == ["a"]


def aged(folder: Path, ages: dict[str, float]) -> None:
    for name, days in ages.items():
        (folder / name).touch()
        os.utime(folder / name, (time.time() - days * DAY_S,) * 2)


def test_the_next_writer_of_a_file_removes_what_a_killed_one_left_a_day_ago(tmp_path: Path) -> None:
    aged(tmp_path, {".[a].1.part": 2, ".[a].2.part": 0.1, ".a.1.part": 2})
    write_text(tmp_path / "[a]", "new")
    assert sorted(os.listdir(tmp_path)) == [".[a].2.part", ".a.1.part", "[a]"]


def test_remains_of_killed_processes_are_removed(tmp_path: Path) -> None:
    aged(tmp_path, {".a.1.part": 2, ".b.2.part": 0.1, ".c.3.part": -3, ".a.work": 8, "d.part": 8})
    (tmp_path / "far").mkdir()
    (tmp_path / ".far.part").symlink_to(tmp_path / "far")
    with whole_folder(tmp_path / "folder") as part:  # of the third the clock has gone back since
        (part / "data").touch()
        clear_asides(tmp_path, idle_s=DAY_S)
        assert not (tmp_path / ".a.1.part").exists()
        assert {".b.2.part", ".c.3.part", part.name} <= {*os.listdir(tmp_path)}
    (tmp_path / ".folder.4.part").mkdir()
    clear_asides(tmp_path)
    assert sorted(os.listdir(tmp_path)) == [".a.work", ".far.part", "d.part", "far", "folder"]


def test_all_that_is_in_a_folder_is_on_the_disk_before_it_has_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[str] = []
    monkeypatch.setattr(disk, "sync", lambda path: synced.append(path.name))
    with whole_folder(tmp_path / "folder") as part:
        (part / "deep").mkdir()
        (part / "deep" / "data").touch()
    assert sorted(synced[:-2]) == ["data", "deep"]
    assert synced[-2:] == [part.name, tmp_path.name]


def test_a_folder_that_cannot_take_its_place_leaves_the_one_that_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(tmp_path / "folder")

    def failing(part: Path, _final: Path) -> None:
        raise OSError(errno.EIO, "Input/output error", str(part))

    monkeypatch.setattr(Path, "replace", failing)
    with pytest.raises(DiskError), whole_folder(tmp_path / "folder") as part:
        (part / "data").write_bytes(b"new")
    assert (tmp_path / "folder" / "data").read_bytes() == b"0123456789"
    assert os.listdir(tmp_path) == ["folder"]


def test_a_folder_that_is_not_sealed_is_whole_as_well(tmp_path: Path) -> None:
    for data in (b"old", b"new"):
        with whole_folder(tmp_path / "folder") as part:
            (part / "data").write_bytes(data)
    assert (tmp_path / "folder" / "data").read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["folder"]
    assert os.listdir(tmp_path / "folder") == ["data"]
