"""Products by AMX: compiled everywhere, run by an emulation, taken only where right and quicker."""

import platform
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from random_models import needs_engine

from headway.engine import building, compiling
from headway.engine.levels import machine, possible_levels, processor_features
from headway.engine.packaged import PACKAGE

LEVEL = ["-march=x86-64-v4", "-mavx512vnni"]
HERE = Path(__file__).parent
PLAIN = ("-std=gnu11", "-O0", f"-I{PACKAGE / 'engine'}", str(HERE / "products.c"))
CASES = {
    "right and quicker": ("AMX_TAKES=50", 32),
    "not of the level": ("HEADWAY_ENGINE_LEVEL=x86-64-v4+avx512vnni", 0),
    "of this processor": ("HEADWAY_ENGINE_LEVEL=native", 32),
    "of no level": ("HEADWAY_ENGINE_LEVEL=", 32),
    "as quick": ("AMX_TAKES=100", 0),
    "slower": ("AMX_TAKES=300", 0),
    "wrong": ("AMX_WRONG=1", 0),
    "refused by the system": ("AMX_REFUSED=1", 0),
    "without bytes": ("AMX_BITS=1", 0),
    "without tiles": ("AMX_BITS=2", 0),
    "wrong from then on": ("AMX_WRONG=2", 32 + 64),
}
"""What the emulation is told, and what of the status comes of it: 32 taken, 64 wrong. The last one
shows that what is taken is used."""

pytestmark = pytest.mark.skipif(
    (machine(), platform.system()) != ("x86_64", "Linux"), reason="AMX is asked for on Linux only"
)


def found_compiler() -> list[str]:
    """Of this machine."""
    try:
        return [compiling.found_compiler()]
    except compiling.NoEngineError as error:
        pytest.skip(str(error))


@needs_engine
@pytest.mark.parametrize("zig", [False, True])
def test_it_is_compiled_for_every_processor_with_vnni(tmp_path: Path, zig: bool) -> None:
    if zig and find_spec("ziglang") is None:
        pytest.skip("ziglang is not installed")
    command, level = found_compiler(), LEVEL
    if zig:
        command = [sys.executable, "-m", "ziglang", "cc", "-fno-sanitize=undefined"]
        level = ["-mcpu=x86_64_v4+avx512vnni"]
    file = tmp_path / "products.s"
    subprocess.run([*command, *PLAIN, "-g0", "-S", *level, "-o", str(file)], check=True)
    assembly = file.read_text(encoding="utf-8", errors="replace")
    assert {"ldtilecfg", "tileloadd", "tdpbusd", "tilestored", "tilerelease"} <= {*assembly.split()}


@pytest.fixture(scope="module")
def emulated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Products with the emulation's tiles."""
    if "x86-64-v4+avx512vnni" not in possible_levels():
        pytest.skip("what is beside the tiles needs AVX-512 VNNI")
    file = tmp_path_factory.mktemp("amx") / "products"
    emulation = ["-include", str(HERE / "amx.h"), "-o", str(file)]
    subprocess.run([*found_compiler(), *PLAIN, *LEVEL, *emulation], check=True)
    return file


@needs_engine
@pytest.mark.parametrize("case", CASES)
def test_it_is_taken_where_it_is_right_and_quicker(emulated: Path, case: str) -> None:
    told, status = CASES[case]
    name, _, value = told.partition("=")
    done = subprocess.run([str(emulated)], check=False, env={name: value})
    assert done.returncode == status + 16 + 2


@needs_engine
def test_the_engine_has_it_only_where_the_processor_has(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = building.engine_library()
    assert engine.has_amx <= ("amxint8" in processor_features())
    monkeypatch.setenv("HEADWAY_ENGINE_LEVEL", possible_levels()[-1])
    assert not building.loaded(Path(engine.library._name)).has_amx
