import errno
import os
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headway.data.files import (
    cache_root,
    checksum,
    key_of,
    read_whole_folder,
    reopened,
    whole_folder,
)
from headway.errors import DataError

CONTENT = {"n_pairs": 3, "name": "ä"}


def make(folder: Path, data: bytes = b"0123456789") -> Path:
    with whole_folder(folder) as (part, content):
        (part / "data").write_bytes(data)
        content.update(CONTENT)
    return folder


def test_a_whole_folder_gives_back_what_is_known_about_it(tmp_path: Path) -> None:
    folder = make(tmp_path / "deep" / "folder")
    assert read_whole_folder(folder) == CONTENT
    assert (folder / "data").read_bytes() == b"0123456789"
    assert os.listdir(folder.parent) == ["folder"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, DataError])
def test_nothing_is_left_of_a_folder_that_was_not_finished(
    error: type[BaseException], tmp_path: Path
) -> None:
    def interrupted() -> None:
        with whole_folder(tmp_path / "folder") as (part, _):
            (part / "data").write_bytes(b"0")
            raise error

    with pytest.raises(error):
        interrupted()
    assert os.listdir(tmp_path) == []


def test_a_folder_is_replaced_whole(tmp_path: Path) -> None:
    make(tmp_path / "folder", b"old")
    make(tmp_path / "folder", b"new")
    assert (tmp_path / "folder" / "data").read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["folder"]
    with pytest.raises(ValueError, match="no"), whole_folder(tmp_path / "folder"):
        raise ValueError("no")
    assert read_whole_folder(tmp_path / "folder") == CONTENT


@settings(max_examples=60)
@given(
    file=st.sampled_from(["data", "meta.json"]), place=st.integers(0, 150), bit=st.integers(0, 7)
)
def test_any_changed_bit_is_noticed(
    tmp_path_factory: pytest.TempPathFactory, file: str, place: int, bit: int
) -> None:
    folder = make(tmp_path_factory.getbasetemp() / "flipped")
    data = bytearray((folder / file).read_bytes())
    data[place % len(data)] ^= 1 << bit
    (folder / file).write_bytes(data)
    with pytest.raises(DataError, match=r"damaged|cannot be read|missing"):
        read_whole_folder(folder)


@pytest.mark.parametrize("damage", ["cut", "missing file", "no meta", "missing folder"])
def test_missing_and_cut_files_are_noticed(damage: str, tmp_path: Path) -> None:
    folder = make(tmp_path / "folder")
    if damage == "cut":
        os.truncate(folder / "data", 9)
    elif damage == "missing file":
        (folder / "data").unlink()
    elif damage == "no meta":
        (folder / "meta.json").unlink()
    else:
        folder = tmp_path / "other"
    with pytest.raises(DataError, match="made anew"):
        read_whole_folder(folder)


def test_a_damaged_folder_is_said_and_not_used(tmp_path: Path) -> None:
    said: list[str] = []
    folder = make(tmp_path / "folder")
    assert reopened(folder, lambda: read_whole_folder(folder), said.append) == CONTENT
    assert reopened(tmp_path / "no", lambda: read_whole_folder(folder), said.append) is None
    assert said == []
    os.truncate(folder / "data", 9)
    assert reopened(folder, lambda: read_whole_folder(folder), said.append) is None
    assert len(said) == 1


def test_a_full_disk_is_an_error_that_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_handle: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(DataError, match=r"which is full\. Free some space, or set HEADWAY_CACHE"):
        make(tmp_path / "folder")
    assert os.listdir(tmp_path) == []


def test_a_place_that_cannot_be_written_is_an_error_that_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(DataError, match=r"cannot be written .*HEADWAY_CACHE"):
        make(tmp_path / "file" / "folder")


def test_remains_of_killed_processes_are_swept_after_some_days(tmp_path: Path) -> None:
    for name, days in ((".a.1.part", 2), (".b.2.part", 0.1), (".a.work", 8), (".b.work", 6)):
        (tmp_path / name).mkdir()
        os.utime(tmp_path / name, (time.time() - days * 24 * 3600,) * 2)
    make(tmp_path / "folder")
    assert sorted(os.listdir(tmp_path)) == [".b.2.part", ".b.work", "folder"]


def test_the_cache_is_where_the_user_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADWAY_CACHE", str(tmp_path))
    assert cache_root() == tmp_path
    monkeypatch.delenv("HEADWAY_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "x"))
    assert cache_root() == tmp_path / "x" / "headway"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_root() == tmp_path / ".cache" / "headway"


def test_keys_follow_content_and_not_order() -> None:
    assert key_of({"a": 1, "b": 2}) == key_of({"b": 2, "a": 1}) != key_of({"a": 1, "b": 3})


def test_a_checksum_is_sha256(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"abc")
    known = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"  # FIPS 180-2, B.1
    assert checksum(tmp_path / "a") == known
