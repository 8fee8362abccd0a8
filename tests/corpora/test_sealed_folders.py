import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headway.core.errors import DataError
from headway.corpora.cache import read_sealed, sealed_folder

CONTENT = {"n_pairs": 3, "name": "ä"}


def make(folder: Path, data: bytes = b"0123456789") -> Path:
    with sealed_folder(folder) as (part, content):
        (part / "data").write_bytes(data)
        content.update(CONTENT)
    return folder


def test_a_whole_folder_gives_back_what_is_known_about_it(tmp_path: Path) -> None:
    folder = make(tmp_path / "deep" / "folder")
    assert read_sealed(folder) == CONTENT
    assert (folder / "data").read_bytes() == b"0123456789"
    assert os.listdir(folder.parent) == ["folder"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, DataError])
def test_nothing_is_left_of_a_folder_that_was_not_finished(
    error: type[BaseException], tmp_path: Path
) -> None:
    def interrupted() -> None:
        with sealed_folder(tmp_path / "folder") as (part, _):
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
    with pytest.raises(ValueError, match="no"), sealed_folder(tmp_path / "folder"):
        raise ValueError("no")
    assert read_sealed(tmp_path / "folder") == CONTENT


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
        read_sealed(folder)


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
        read_sealed(folder)
