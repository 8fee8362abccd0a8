"""The engine's library is made once; a machine without a compiler says so."""

from pathlib import Path
from typing import Any

import pytest

from headway.engine import building, compiling, learner
from headway.engine.compiling import NoEngineError
from headway.engine.levels import possible_levels
from headway.engine.packaged import LIBRARIES, origin

pytestmark = pytest.mark.usefixtures("no_engine_yet")
OPENED = {building: "engine_library", learner: "training_library"}


@pytest.fixture
def no_engine_yet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a new process that has a new cache."""
    monkeypatch.setenv("HEADWAY_ENGINE_CACHE", str(tmp_path / "engines"))
    monkeypatch.setattr(compiling, "FAILED", {})
    for module, opened in OPENED.items():
        monkeypatch.setattr(module, opened, getattr(module, opened).__wrapped__)
    quick = ["-O0" if flag == "-O3" else flag for flag in compiling.FLAGS]
    monkeypatch.setattr(compiling, "FLAGS", tuple(quick))


def compiler_or_skip() -> str:
    try:
        return compiling.found_compiler()
    except NoEngineError as error:
        pytest.skip(str(error))


def test_it_is_compiled_once_and_anew_where_it_is_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiler_or_skip()
    made = []
    compiled = compiling.compiled
    monkeypatch.setattr(
        compiling, "compiled", lambda *given: (made.append(given[2]), compiled(*given))
    )
    assert building.engine_library().panel % building.engine_library().width == 0
    assert len(made) == 1
    (folder,) = (tmp_path / "engines").glob("engine-*")
    (library,) = folder.glob("engine-*.so")
    whole = library.read_bytes()
    library.unlink()  # this process still runs on it
    library.write_bytes(whole[:-1] + b"x")
    building.engine_library()
    assert len(made) == 2


def test_a_compiler_that_fails_is_named_with_its_first_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / "broken-cc"
    broken.write_text("#!/bin/sh\necho 'no such header' >&2\nexit 1\n", encoding="utf-8")
    broken.chmod(0o755)
    monkeypatch.setenv("CC", str(broken))
    with pytest.raises(NoEngineError, match="broken-cc does not compile it: no such header"):
        building.engine_library()


@pytest.mark.parametrize("module", [building, learner])
def test_a_compiler_that_fails_is_run_once_a_process_whatever_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: Any
) -> None:
    """Bytes that are no text among it."""
    broken, runs = tmp_path / "broken-cc", tmp_path / "runs"
    lines = ["#!/bin/sh", f"echo run >> {runs}", "printf 'no such \\377 header' >&2", "exit 1"]
    broken.write_text("\n".join(lines), encoding="utf-8")
    broken.chmod(0o755)
    monkeypatch.setenv("CC", str(broken))
    for _ in range(3):
        with pytest.raises(NoEngineError, match="does not compile it: no such . header"):
            getattr(module, OPENED[module])()
    assert len(runs.read_text(encoding="utf-8").splitlines()) == len(compiling.THIS_PROCESSOR)


@pytest.mark.parametrize("written", ["no library", "another library", "nothing"])
def test_what_a_compiler_writes_is_loaded_before_it_is_taken_for_good(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: str
) -> None:
    real = compiler_or_skip()
    (tmp_path / "other.c").write_text("int other(void) { return 1; }\n", encoding="utf-8")
    to = "for last; do case $before in -o) to=$last;; esac; before=$last; done; "
    lines = {
        "no library": f"{to} echo garbage > $to",
        "another library": f"{to} {real} -shared -fPIC {tmp_path}/other.c -o $to",
        "nothing": "exit 0",
    }
    liar = tmp_path / "liar"
    liar.write_text(f"#!/bin/sh\n{lines[written]}\n", encoding="utf-8")
    liar.chmod(0o755)
    with monkeypatch.context() as patch:
        patch.setenv("CC", str(liar))
        with pytest.raises(NoEngineError, match="liar succeeds and writes no library"):
            building.engine_library()
    assert list((tmp_path / "engines").glob("engine-*")) == []


def test_one_that_was_taken_for_good_and_is_none_is_compiled_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiler_or_skip()
    with monkeypatch.context() as patch:  # as earlier versions left it
        patch.setattr(building, "loaded", lambda file: None)
        patch.setattr(compiling, "compiled", lambda _cc, _main, to: to.write_bytes(b"garbage"))
        building.engine_library()
    assert building.engine_library().width > 0


def no_compiler(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """None in the places where the system looks."""
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.delenv("CC", raising=False)


def test_ziglang_stands_in_for_a_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ziglang")
    no_compiler(tmp_path, monkeypatch)
    quick = ["-O1" if flag == "-O0" else flag for flag in compiling.FLAGS]
    monkeypatch.setattr(compiling, "FLAGS", quick)  # without, zig builds what looks for faults
    engine = building.engine_library()
    assert origin(engine.library) == "compiled here by zig for this processor"
    best = possible_levels()[-1]
    assert engine.width == {"v3": 8, "v4": 16}.get(best.split("+")[0].rpartition("-")[2], 4)


def test_a_machine_without_a_compiler_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    no_compiler(tmp_path, monkeypatch)
    monkeypatch.setattr(compiling, "find_spec", lambda _: None)
    with pytest.raises(NoEngineError, match=r"pip install 'headway\[zig\]' brings one"):
        building.engine_library()


@pytest.mark.parametrize("library", LIBRARIES)
def test_without_a_cache_that_can_be_written_there_is_no_library(
    library: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiler_or_skip()
    (tmp_path / "file").write_text("", encoding="utf-8")
    monkeypatch.setenv("HEADWAY_ENGINE_CACHE", str(tmp_path / "file" / "below"))
    with pytest.raises(NoEngineError, match="is to be written, but that fails"):
        compiling.cached_library(library, Path)
