"""Wheels bring the libraries for every processor: this machine's is used without a compiler; those
for other systems are what they should be."""

import importlib.util
import json
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from headway.engine.levels import machine, possible_levels
from headway.engine.packaged import LIBRARIES

ROOT = Path(__file__).parent.parent.parent
C_OF_LINUX = {"libc.so.6", "libm.so.6", "libpthread.so.0"}
OF_SYSTEM = {
    "manylinux_2_17_x86_64": ("ELF", "X86_64", C_OF_LINUX),
    "manylinux_2_17_aarch64": ("ELF", "AARCH64", C_OF_LINUX),
    "macosx_11_0_arm64": ("MACHO", "ARM64", {"/usr/lib/libSystem.B.dylib"}),
    "win_amd64": ("PE", "AMD64", set[str]()),
    "win_arm64": ("PE", "ARM64", set[str]()),
}
"""Format, machine, and what may be needed; of Windows also the parts of its own C library, whose
files Python shares: not those of an older one (msvcrt.dll)."""
OF_LINKERS = {"_CRT_INIT", "__mingw_module_is_dll", "atexit", "__dso_handle", "_mh_dylib_header"}
CALLED = {
    "engine": "sizes workspace prepare feed translate product amx",
    "training": "training_sizes training_pack training_room training_learn training_sum",
    "nearest": "candidates",
    "word2vec": "word2vec noise",
}
"""What Python calls, without `headway_`."""
USED = """
import json
from headway import Translator
from headway.cli import main
from headway.engine.building import engine_library
from headway.engine.packaged import origin
from headway.engine.learner import training_library
from headway.vectors.nearest import search_library
from headway.word2vec.kernel import kernel_library

engine, training = engine_library().library, training_library().library
found = [origin(one) for one in (engine, training, search_library(), kernel_library())]
texts = ["A cat sleeps.", "The dog that runs is black."]
written = [Translator.load("demo", engine=how).translate(texts) for how in ("native", "torch")]
print(json.dumps([found, written]), flush=True)
assert not main(["--version", "--verbose"])
assert not main(["translate", "demo", "--runtime.engine=native"])
"""


@pytest.fixture(scope="module")
def wheels() -> ModuleType:
    """The script, with a compiler that takes less time."""
    pytest.importorskip("ziglang")
    spec = importlib.util.spec_from_file_location("wheels", ROOT / "deploy" / "wheels.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    # Where nothing is optimized zig puts checks in, which need more than C's libraries.
    quick = tuple("-O0" if flag == "-O3" else flag for flag in module.FLAGS)
    checks = ("-fno-sanitize=undefined", "-fno-stack-protector")
    module.FLAGS = (*quick, *checks)  # type: ignore[attr-defined]
    return module


@pytest.mark.skipif(sys.platform != "linux", reason="the wheel is made for Linux")
def test_a_wheel_in_a_clean_environment_needs_no_compiler(
    wheels: ModuleType, tmp_path: Path
) -> None:
    best = possible_levels()[-1]
    wheel = wheels.make_wheel(f"manylinux_2_17_{machine()}", tmp_path, [best])
    venv.create(tmp_path / "environment", with_pip=False)
    python = tmp_path / "environment" / "bin" / "python"
    install = [
        sys.executable,
        "-m",
        "pip",
        "--python",
        python,
        "install",
        "--quiet",
        "--no-compile",
    ]
    subprocess.run([*install, "--no-deps", "--no-index", wheel], check=True)
    (site,) = (tmp_path / "environment" / "lib").glob("python3.*/site-packages")
    (site / "others.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
    clean = {"PATH": str(tmp_path), "HOME": str(tmp_path), "HEADWAY_CACHE": str(tmp_path / "cache")}

    said = subprocess.run(
        [python, "-c", USED], env=clean, cwd=tmp_path, input="A cat sleeps.\n", check=True,
        capture_output=True, text=True,
    ).stdout.splitlines()  # fmt: skip
    found, (native, by_torch) = json.loads(said[0])
    assert found == [f"packaged, for {best}"] * len(LIBRARIES)
    assert native == by_torch
    assert any(f"engine: native (packaged, for {best}, " in line for line in said[1:-1])
    assert said[-1] == native[0]


@pytest.mark.parametrize("tag", OF_SYSTEM)
def test_libraries_are_of_their_system_and_need_nothing_but_its_c(
    tag: str, wheels: ModuleType, tmp_path: Path
) -> None:
    lief: Any = pytest.importorskip("lief")
    kind, processor, may_need = OF_SYSTEM[tag]
    system = wheels.SYSTEMS[tag]
    for name, called in CALLED.items():
        file = wheels.compile_library(name, system, wheels.levels_of(system)[-1], tmp_path)
        library = lief.parse(str(file))
        field = {"ELF": "machine_type", "MACHO": "cpu_type", "PE": "machine"}[kind]
        there = getattr(library.header, field)
        assert (library.format.name, there.name) == (kind, processor)
        needs = {getattr(one, "name", one) for one in library.libraries} - {"@rpath/headway.dylib"}
        assert {one for one in needs if not one.startswith("api-ms-win-crt-")} <= may_need
        exported = library.get_export().entries if kind == "PE" else library.exported_symbols
        names = {one.name.removeprefix("_" if kind == "MACHO" else "") for one in exported}
        assert names - OF_LINKERS == {f"headway_{one}" for one in called.split()}
        assert [one.name for one in tmp_path.iterdir() if name in one.name] == [file.name]


def test_every_library_is_called_and_packaged() -> None:
    assert set(CALLED) == set(LIBRARIES)


def test_a_system_that_there_is_none_for_is_refused(wheels: ModuleType) -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "deploy" / "wheels.py", "amiga"], capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert "amiga is none of manylinux_2_17_x86_64, " in done.stderr
