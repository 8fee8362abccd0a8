from pathlib import Path

import pytest

from headway.core.cleaning import Pair
from headway.core.errors import DataError
from headway.languages.codes import LanguagePair
from headway.localization.formats.units import Unit
from headway.localization.memory import building
from headway.localization.memory import building as memories
from headway.localization.memory.building import cached_memory, cached_memory_of_pairs
from headway.localization.placeholders.segments import Segment


def asked(text: str) -> Unit:
    return Unit(Segment((text,)))


def test_the_index_of_a_large_memory_is_made_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memories, "SMALL_BYTES", 0)
    path = tmp_path / "m.tsv"
    path.write_text("Open\tÖffnen\n", encoding="utf-8")
    said: list[str] = []
    made = cached_memory([path], LanguagePair(), root=tmp_path / "cache", say=said.append)
    with monkeypatch.context() as once:
        once.setattr(building, "memory_of", None)  # from now on it is found
        again = cached_memory([path], LanguagePair(), root=tmp_path / "cache", say=said.append)
    assert again.exact(asked("Open")) == made.exact(asked("Open"))
    (folder,) = (tmp_path / "cache").glob("memory-*")
    array = folder / "words.npy"
    array.write_bytes(array.read_bytes()[:-1] + b"\xff")
    mended = cached_memory([path], LanguagePair(), root=tmp_path / "cache", say=said.append)
    assert mended.near(asked("open"))[0].target == "Öffnen"
    assert "damaged" in said[0]
    path.write_text("Open\tAuf\n", encoding="utf-8")
    changed = cached_memory([path], LanguagePair(), root=tmp_path / "cache").exact(asked("Open"))
    assert changed
    assert changed.target == "Auf"


@pytest.mark.parametrize("left", [None, 0, 100])
def test_a_memory_of_which_a_file_is_gone_or_cut_off_is_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, left: int | None
) -> None:
    monkeypatch.setattr(memories, "SMALL_BYTES", 0)
    path = tmp_path / "m.tsv"
    path.write_text("Open\tÖffnen\n", encoding="utf-8")
    cached_memory([path], LanguagePair(), root=tmp_path / "cache")
    (array,) = (tmp_path / "cache").glob("memory-*/words.npy")
    data = array.read_bytes()
    array.unlink() if left is None else array.write_bytes(data[:left])
    said: list[str] = []
    mended = cached_memory([path], LanguagePair(), root=tmp_path / "cache", say=said.append)
    assert mended.near(asked("open"))[0].target == "Öffnen"
    assert "made anew" in said[0]
    assert array.read_bytes() == data


def test_a_memory_that_other_readers_read_is_read_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memories, "SMALL_BYTES", 0)
    path = tmp_path / "m.tsv"
    path.write_text("Open\tÖffnen\n", encoding="utf-8")
    for n_made in (1, 2):
        monkeypatch.setattr(memories, "READING", n_made)
        cached_memory([path], LanguagePair(), root=tmp_path / "cache")
        assert len([*(tmp_path / "cache").glob("memory-*")]) == n_made


def test_a_small_memory_leaves_nothing_behind(tmp_path: Path, own_cache: Path) -> None:
    path = tmp_path / "m.tsv"
    path.write_text("Open\tÖffnen\n", encoding="utf-8")
    assert len(cached_memory([path], LanguagePair())) == 1
    assert list(own_cache.iterdir()) == []
    with pytest.raises(DataError, match="no such file"):
        cached_memory([tmp_path / "no.tsv"], LanguagePair())


def test_pairs_are_read_once(tmp_path: Path) -> None:
    reads = []

    def pairs() -> list[Pair]:
        reads.append(1)
        return [Pair("Open", "Öffnen", "a.en", 7)]

    for _ in range(2):
        memory = cached_memory_of_pairs(pairs, {"corpus": 1}, root=tmp_path)
        found = memory.exact(asked("Open"))
        assert found
        assert found.place == "a.en:7"
    assert len(reads) == 1
