import os
import time
from pathlib import Path

import pytest

from headway.data.cache_limit import make_room, note_use
from headway.errors import ConfigError

DAY_S = 24 * 3600


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


@pytest.mark.parametrize(
    ("limit_gb", "left"),
    [
        ("0.004", {"encoded", "cleaned", "subwords"}),
        ("0.002", {"cleaned", "subwords"}),
        ("0.0001", {"subwords"}),
        ("0", {"encoded", "cleaned", "subwords"}),
        ("", {"encoded", "cleaned", "subwords"}),
    ],
)
def test_what_was_unused_longest_makes_room_and_recent_things_stay(
    limit_gb: str, left: set[str], root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADWAY_CACHE_LIMIT", limit_gb)
    said: list[str] = []
    make_room(root, said.append)
    entries = {path.name[: -len("-" + "a" * 24)] for path in root.glob("*-" + "a" * 24)}
    assert entries == left
    assert len(said) == 3 - len(left)
    assert (root / "cleaned-mine").exists()
    assert (root / ".cleaned-x.work").exists()


def test_what_an_ended_process_left_goes_too_when_nobody_went_on_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADWAY_CACHE_LIMIT", "0.0001")
    left = entry(tmp_path, f".encoded-{'b' * 24}.work", 90, n_bytes=10)
    (left / "encoded-000000000000").mkdir()
    (left / "encoded-000000000000" / "ids").write_bytes(bytes(1_000_000))
    os.utime(left, (time.time() - 90 * DAY_S, time.time() - 90 * DAY_S))
    at_work = entry(tmp_path, f".cleaned-{'c' * 24}.work", 1)
    make_room(tmp_path, lambda line: None)
    assert not left.exists()
    assert at_work.exists()


def test_use_counts_and_is_no_change(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADWAY_CACHE_LIMIT", "0.0001")
    oldest = root / f"encoded-{'a' * 24}"
    changed = oldest.stat().st_mtime_ns
    note_use(oldest)
    assert oldest.stat().st_mtime_ns == changed
    make_room(root, lambda _message: None)
    assert oldest.exists()


def test_a_limit_that_is_no_number_is_refused(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADWAY_CACHE_LIMIT", "20GB")
    with pytest.raises(ConfigError, match=r"number of GB.*'20GB'.*Try 20"):
        make_room(root, lambda _message: None)
