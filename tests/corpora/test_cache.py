import errno
import os
import stat
import time
from pathlib import Path

import pytest

from headway.core.disk import DiskError
from headway.core.errors import ConfigError, DataError
from headway.corpora.cache import (
    made_once,
    note_use,
    read_sealed,
    remove_unused,
    reopened,
    sealed_folder,
)
from headway.corpora.cache_place import cache_root, key_of

DAY_S = 24 * 3600


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
        with sealed_folder(self.folder) as (_, content):
            content["pieces"] = sorted(path.name for path in work.iterdir())

    def __call__(self) -> dict[str, object]:
        return made_once(self.folder, lambda: read_sealed(self.folder), self.make, self.said.append)


@pytest.fixture
def making(tmp_path: Path) -> Making:
    return Making(tmp_path / "deep" / "made")


def test_what_is_there_is_not_made_again(making: Making) -> None:
    assert making() == making() == {"pieces": ["a", "b", "c"]}
    assert making.made == ["a", "b", "c"]
    assert making.said == []
    assert [path.name for path in making.folder.parent.iterdir()] == ["made"]


@pytest.mark.parametrize(
    "error",
    [
        KeyboardInterrupt(),
        DiskError(Path("a"), OSError(errno.ENOSPC, "full")),
        OSError(errno.ENOMEM),
    ],
)
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
    with pytest.raises(DiskError, match="choose another place"):
        Making(tmp_path / "file" / "deep" / "made")()


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


def test_a_damaged_folder_is_said_and_not_used(making: Making) -> None:
    making()
    said: list[str] = []
    folder = making.folder
    assert reopened(folder, lambda: read_sealed(folder), said.append) is not None
    assert reopened(folder.with_name("no"), lambda: read_sealed(folder), said.append) is None
    assert said == []
    os.truncate(folder / "meta.json", 9)
    assert reopened(folder, lambda: read_sealed(folder), said.append) is None
    assert len(said) == 1


def entry(root: Path, name: str, days: float, n_bytes: int = 1_000_000) -> Path:
    """A folder that was used so many days ago."""
    folder = root / name
    folder.mkdir()
    (folder / "data").write_bytes(bytes(n_bytes))
    os.utime(folder, (time.time() - days * DAY_S, time.time() - 99 * DAY_S))
    return folder


def names(root: Path) -> set[str]:
    return {path.name.split("-")[0] for path in root.iterdir()}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for kind, days in (("encoded", 90), ("cleaned", 60), ("subwords", 10)):
        entry(tmp_path, f"{kind}-{'a' * 24}", days)
    for other in ("cleaned-mine", ".cleaned-x.work"):
        entry(tmp_path, other, 400)
    return tmp_path


def test_what_nobody_used_for_long_goes_and_recent_things_stay(root: Path) -> None:
    said: list[str] = []
    oldest = root / f"encoded-{'a' * 24}"
    changed = oldest.stat().st_mtime_ns
    note_use(oldest)
    assert oldest.stat().st_mtime_ns == changed
    remove_unused(root, said.append)
    assert oldest.exists()
    entry(root, f"encoded-{'d' * 24}", 90)
    entry(root, f".encoded-{'b' * 24}.work", 90)
    entry(root, f"memory-{'e' * 24}", 90)
    entry(root, f"ctranslate2-{'f' * 24}", 90)
    remove_unused(root, said.append)
    assert not (root / f"encoded-{'d' * 24}").exists()
    assert not (root / f".encoded-{'b' * 24}.work").exists()
    assert not [*root.glob("memory-*"), *root.glob("ctranslate2-*")]
    assert len(said) == 4
    assert (root / "cleaned-mine").exists()
    assert (root / ".cleaned-x.work").exists()


def put(directory: Path) -> None:
    """What `made_once` makes in the next tests."""
    with sealed_folder(directory) as (part, _):
        (part / "file").write_text("ours", encoding="utf-8")


def test_what_is_made_is_closed_to_others(tmp_path: Path) -> None:
    root = tmp_path / "cache"
    before = os.umask(0)
    try:
        made_once(
            root / "a-1", lambda: read_sealed(root / "a-1"), lambda _: put(root / "a-1"), print
        )
    finally:
        os.umask(before)
    assert root.stat().st_mode & 0o777 == 0o700
    assert (root / "a-1").stat().st_mode & 0o777 == 0o700


def test_a_folder_that_umask_002_made_is_taken_from_the_group(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tmp_path.chmod(0o775)
    monkeypatch.setenv("HEADWAY_CACHE", str(tmp_path))
    assert cache_root() == tmp_path
    assert tmp_path.stat().st_mode & 0o777 == 0o755


@pytest.mark.parametrize("mode", [0o777, 0o757])
def test_a_folder_that_others_can_write_to_is_refused_with_the_remedy(
    mode: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tmp_path.chmod(mode)
    monkeypatch.setenv("HEADWAY_CACHE", str(tmp_path))
    with pytest.raises(ConfigError, match=f"chmod go-w {tmp_path}"):
        cache_root()


def test_where_nobody_may_move_anothers_files_a_user_has_a_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tmp_path.chmod(0o1777)
    monkeypatch.setenv("HEADWAY_CACHE", str(tmp_path))
    own = tmp_path / f"headway-{os.geteuid()}"
    assert cache_root() == own
    assert own.stat().st_mode & 0o777 == 0o700
    own.chmod(0o777)
    with pytest.raises(ConfigError, match=str(own)):
        cache_root()
    own.rmdir()
    (tmp_path / "mine").mkdir()
    own.symlink_to(tmp_path / "mine")
    with pytest.raises(ConfigError, match=str(own)):
        cache_root()


@pytest.mark.parametrize("whose", ["folder", "file"])
def test_what_another_user_made_is_said_and_not_used(
    whose: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, said = tmp_path / "a-1", list[str]()
    put(place)
    foreign, real = (place if whose == "folder" else place / "file"), Path.lstat

    def lstat(path: Path) -> os.stat_result:
        status = list(real(path))
        status[stat.ST_UID] += 7 * (path == foreign)
        return os.stat_result(status)

    monkeypatch.setattr(Path, "lstat", lstat)
    assert reopened(place, pytest.fail, said.append) is None
    assert "not this user's alone" in said[0]


def test_a_link_in_the_cache_is_not_followed(tmp_path: Path) -> None:
    put(tmp_path / "theirs")
    (tmp_path / "a-1").symlink_to(tmp_path / "theirs")
    assert reopened(tmp_path / "a-1", pytest.fail) is None
