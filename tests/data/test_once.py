import errno
from pathlib import Path

import pytest

from headway.data.files import CacheError, read_whole_folder, whole_folder
from headway.data.once import made_once
from headway.errors import DataError


class Making:
    """Makes a folder of three pieces, and counts what it made; it may be stopped on the way."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.made: list[str] = []
        self.said: list[str] = []
        self.stop_with: BaseException | None = None

    def make(self, work: Path) -> None:
        for name in "abc":
            if not (work / name).exists():
                (work / name).write_text(name)
                self.made.append(name)
            if name == "b" and self.stop_with:
                raise self.stop_with
        with whole_folder(self.folder) as (_, content):
            content["pieces"] = sorted(path.name for path in work.iterdir())

    def __call__(self) -> dict[str, object]:
        return made_once(
            self.folder, lambda: read_whole_folder(self.folder), self.make, self.said.append
        )


@pytest.fixture
def making(tmp_path: Path) -> Making:
    return Making(tmp_path / "deep" / "made")


def test_what_is_there_is_not_made_again(making: Making) -> None:
    assert making() == making() == {"pieces": ["a", "b", "c"]}
    assert making.made == ["a", "b", "c"]
    assert making.said == []
    assert [path.name for path in making.folder.parent.iterdir()] == ["made"]


@pytest.mark.parametrize("error", [KeyboardInterrupt(), CacheError("full"), OSError(errno.ENOMEM)])
def test_pieces_outlive_what_is_no_fault_of_the_text(error: BaseException, making: Making) -> None:
    making.stop_with = error
    with pytest.raises(type(error)):
        making()
    making.stop_with = None
    assert making() == {"pieces": ["a", "b", "c"]}
    assert making.made == ["a", "b", "c"]
    assert "going on with what an ended process left" in making.said[0]
    assert [path.name for path in making.folder.parent.iterdir()] == ["made"]


def test_nothing_is_left_of_text_that_cannot_be_used(making: Making) -> None:
    making.stop_with = DataError("line 7 is not UTF-8")
    with pytest.raises(DataError, match="line 7"):
        making()
    assert list(making.folder.parent.iterdir()) == []


def test_a_damaged_folder_is_made_again(making: Making) -> None:
    making()
    (making.folder / "meta.json").write_text("{}")
    assert making() == {"pieces": ["a", "b", "c"]}
    assert "must be made anew" in making.said[0]


def test_a_place_that_cannot_be_written_is_an_error_that_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(CacheError, match="HEADWAY_CACHE"):
        Making(tmp_path / "file" / "deep" / "made")()
