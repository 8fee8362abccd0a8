"""Which of the libraries that a wheel brings is taken: the best that is whole, of these sources."""

import ctypes
import json
from pathlib import Path

import pytest

from headway.core.disk import checksum
from headway.core.errors import DataError
from headway.engine import packaged
from headway.engine.packaged import origin, packaged_library, sources_digest

LEVELS = ("x86-64-v2", "x86-64-v3", "x86-64-v4")


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """What all of them were compiled from."""
    file = tmp_path / "some.c"
    file.write_text("int some(void) { return 1; }\n", encoding="utf-8")
    return file


@pytest.fixture(autouse=True)
def folder(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Libraries of three levels, on a processor that can do two of them."""
    folder = tmp_path / "libraries"
    folder.mkdir()
    files = {}
    for level in LEVELS:
        (folder / f"some-{level}.so").write_text(level, encoding="utf-8")
        files[level] = [f"some-{level}.so", checksum(folder / f"some-{level}.so")]
    contents = {"some": {"sources": sources_digest([source]), "files": files}}
    (folder / packaged.CONTENTS).write_text(json.dumps(contents), encoding="utf-8")
    monkeypatch.setattr(packaged, "PACKAGED", folder)
    monkeypatch.setattr(packaged, "possible_levels", lambda: ["x86-64", *LEVELS[:2]])
    monkeypatch.delenv("HEADWAY_ENGINE_LEVEL", raising=False)
    return folder


def taken(source: Path) -> str | None:
    """Which one it is."""
    return packaged_library("some", [source], lambda file: file.read_text(encoding="utf-8"))


def test_the_best_for_this_processor_is_taken(source: Path) -> None:
    assert taken(source) == "x86-64-v3"


@pytest.mark.parametrize(
    ("level", "file"), [("x86-64-v2", "x86-64-v2"), ("x86-64", None), ("native", None)]
)
def test_a_level_that_is_named_is_that_one_or_none(
    level: str, file: str | None, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADWAY_ENGINE_LEVEL", level)
    assert taken(source) == file


@pytest.mark.parametrize("harm", ["changed", "missing"])
def test_what_is_not_whole_is_passed_over(harm: str, source: Path, folder: Path) -> None:
    best = folder / "some-x86-64-v3.so"
    best.unlink() if harm == "missing" else best.write_text("x86-64-v3!", encoding="utf-8")
    assert taken(source) == "x86-64-v2"


def test_what_this_system_cannot_load_is_passed_over(source: Path) -> None:
    def opened(file: Path) -> str:
        if "v3" in file.name:
            raise DataError("its C library is older")
        return file.name

    assert packaged_library("some", [source], opened) == "some-x86-64-v2.so"


def test_none_is_taken_of_other_sources(source: Path) -> None:
    source.write_text("int some(void) { return 2; }\n", encoding="utf-8")
    assert taken(source) is None


@pytest.mark.parametrize("text", ["", "[]", '{"some": 1}', '{"some": {"files": {}}}', "\0"])
def test_a_list_that_is_none_is_as_no_libraries(text: str, source: Path, folder: Path) -> None:
    (folder / packaged.CONTENTS).write_text(text, encoding="utf-8")
    assert taken(source) is None


def test_where_a_library_came_from_is_said(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library = ctypes.CDLL(None)
    library._name = str(folder / "some-x86-64-v3.so")
    assert origin(library) == "packaged, for x86-64-v3"
    library._name = str(folder.parent / "cache" / "some-gcc.so")
    for level in ("native", ""):
        monkeypatch.setenv("HEADWAY_ENGINE_LEVEL", level)
        assert origin(library) == "compiled here by gcc for this processor"
    monkeypatch.setenv("HEADWAY_ENGINE_LEVEL", "x86-64-v2")
    assert origin(library) == "compiled here by gcc for x86-64-v2"
