"""Levels of processors: which this one can do, and which may be asked for."""

import platform
import sys

import pytest

from headway.core.errors import ConfigError
from headway.engine import building, compiling, levels

QUICK = tuple("-O0" if flag == "-O3" else flag for flag in compiling.FLAGS)
V3 = {"ssse3", "sse41", "sse42", "popcnt", "avx", "avx2", "bmi", "bmi2", "f16c", "fma"}


@pytest.mark.parametrize(
    ("machine", "features", "possible"),
    [
        ("x86_64", {"sse2"}, ["x86-64"]),
        ("x86_64", V3 - {"fma"}, ["x86-64", "x86-64-v2"]),
        ("x86_64", V3 | {"avxvnni"}, ["x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v3+avxvnni"]),
        ("x86_64", V3 | {"avx512f"}, ["x86-64", "x86-64-v2", "x86-64-v3"]),
        ("aarch64", {"dotprod", "i8mm"}, ["armv8-a", "armv8.2-a+dotprod"]),
        ("riscv64", {"v"}, []),
    ],
)
def test_a_level_is_possible_where_all_that_it_needs_is_there(
    machine: str, features: set[str], possible: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(levels, "machine", lambda: machine)
    monkeypatch.setattr(levels, "processor_features", lambda: frozenset(features))
    assert levels.possible_levels() == possible


def test_of_a_family_without_levels_zig_compiles_what_it_takes_for_the_best(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(levels, "machine", lambda: "riscv64")
    assert levels.zig_options() == ()


@pytest.mark.skipif(sys.platform != "linux", reason="Linux alone has two ways to ask")
def test_other_systems_would_say_the_same_of_this_processor(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    by_linux = levels.possible_levels()
    monkeypatch.setattr(sys, "platform", "darwin")
    assert levels.possible_levels() == by_linux


@pytest.mark.parametrize(
    ("said", "known"), [("AMD64", "x86_64"), ("x86_64", "x86_64"), ("arm64", "aarch64")]
)
def test_a_machine_has_one_name(said: str, known: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: said)
    assert levels.machine() == known


@pytest.mark.parametrize("level", levels.possible_levels())
def test_the_engine_is_of_the_level_that_is_asked_for(
    level: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADWAY_ENGINE_LEVEL", level)
    monkeypatch.setattr(compiling, "FLAGS", QUICK)
    engine = building.engine_library.__wrapped__()
    if isinstance(engine, str):
        pytest.skip(engine)
    assert engine.width == {"v3": 8, "v4": 16}.get(level.split("+")[0].rpartition("-")[2], 4)
    assert engine.has_bfloat16 == level.endswith("bf16")


@pytest.mark.parametrize("level", ["avx2", "x86-64-v9", "armv8-a,"])
def test_what_is_no_level_is_refused(level: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADWAY_ENGINE_LEVEL", level)
    with pytest.raises(ConfigError, match=f"must be one of native, .*; got '{level}'"):
        building.engine_library.__wrapped__()


def test_what_this_processor_cannot_do_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(levels, "machine", lambda: "x86_64")
    monkeypatch.setattr(levels, "processor_features", lambda: frozenset(V3))
    monkeypatch.setenv("HEADWAY_ENGINE_LEVEL", "x86-64-v4")
    with pytest.raises(ConfigError, match=r"x86-64-v3; this processor is below x86-64-v4\."):
        building.engine_library.__wrapped__()
