"""Wheels with the libraries in C, compiled for many processors and systems by one machine.

    pip install ziglang setuptools
    python deploy/wheels.py                                       # all systems, into dist/
    python deploy/wheels.py win_amd64 macosx_11_0_arm64 --to DIR  # some

A wheel holds each library for every level of its processor family (`engine/levels.py`) with its
checksum and that of its sources; headway takes the best one that the machine can do. They are for
the systems that PyTorch has wheels for: none for musl, none for Macs with Intel's processors.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "src"))

from headway.core.disk import checksum  # noqa: E402
from headway.engine.compiling import FLAGS, sources_of  # noqa: E402
from headway.engine.levels import LEVELS, compiler_options, zig_options  # noqa: E402
from headway.engine.packaged import CONTENTS, LIBRARIES, sources_digest  # noqa: E402

WHOLE = ("src", "pyproject.toml", "README.md", "LICENSE")
"""What a wheel is made of."""


class System(NamedTuple):
    """Where a wheel runs."""

    target: str
    """As zig names it."""
    machine: str
    suffix: str
    linked: tuple[str, ...] = ("-lm",)


WINDOWS_C = (
    *("-nostdlib", "-Wl,--no-entry"),
    *(f"-lapi-ms-win-crt-{part}-l1-1-0" for part in ("math", "runtime", "stdio")),
    "-lcompiler_rt",
)
"""Nothing has to be done where the libraries are loaded, so they go without MinGW's own C library,
of which zig would compile hundreds of files for each level; memset, expf and the like are zig's."""


SYSTEMS = {
    "manylinux_2_17_x86_64": System("x86_64-linux-gnu.2.17", "x86_64", "so"),
    "manylinux_2_17_aarch64": System("aarch64-linux-gnu.2.17", "aarch64", "so"),
    "macosx_11_0_arm64": System(
        "aarch64-macos.11.0", "aarch64", "dylib", ("-Wl,-install_name,@rpath/headway.dylib", "-lm")
    ),
    "win_amd64": System("x86_64-windows-gnu", "x86_64", "dll", WINDOWS_C),
    "win_arm64": System("aarch64-windows-gnu", "aarch64", "dll", WINDOWS_C),
}
"""By the tag of the wheel."""


def levels_of(system: System) -> list[str]:
    """What is compiled for it: no x86-64 without SSE 4.2, which nobody has had for 15 years."""
    return [level for level in LEVELS[system.machine] if level != "x86-64"]


def compile_library(name: str, system: System, level: str, folder: Path) -> Path:
    """Compile one into a folder; the file. Raises CalledProcessError."""
    file = folder / f"{name}-{level}.{system.suffix}"
    compiler = [sys.executable, "-m", "ziglang", "cc", "-target", system.target]
    processor = zig_options(compiler_options(level))
    main = str(sources_of(name)[0])
    with tempfile.TemporaryDirectory() as beside:  # what Windows' linker adds stays there
        part, made = Path(beside, f"{name}.o"), Path(beside, file.name)
        subprocess.run([*compiler, *FLAGS, *processor, "-c", main, "-o", part], check=True)
        linked = [*FLAGS, "-s", part, "-o", made, *system.linked]
        subprocess.run([*compiler, *linked], check=True)
        shutil.copy(made, file)
    return file


def compile_all(system: System, levels: Sequence[str], folder: Path) -> None:
    """Compile every library for all levels, with the list that they are looked up in."""
    folder.mkdir()
    jobs = [(name, level) for name in LIBRARIES for level in levels]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        files = list(pool.map(lambda job: compile_library(job[0], system, job[1], folder), jobs))
    contents: dict[str, dict[str, object]] = {}
    for name in LIBRARIES:
        made = {
            level: [file.name, checksum(file)]
            for (of, level), file in zip(jobs, files, strict=True)
            if of == name
        }
        contents[name] = {"sources": sources_digest(sources_of(name)), "files": made}
    (folder / CONTENTS).write_text(json.dumps(contents, indent=1) + "\n", encoding="utf-8")


def make_wheel(tag: str, to: Path, levels: Sequence[str] = ()) -> Path:
    """The wheel of a system; of all levels unless some are named. Raises CalledProcessError."""
    system = SYSTEMS[tag]
    with tempfile.TemporaryDirectory() as name:
        copy = Path(name, "headway")
        copy.mkdir()
        for part in WHOLE:
            ignore = shutil.ignore_patterns("__pycache__", "*.egg-info", "libraries")
            if (ROOT / part).is_dir():
                shutil.copytree(ROOT / part, copy / part, ignore=ignore)
            else:
                shutil.copy(ROOT / part, copy)
        libraries = copy / "src" / "headway" / "engine" / "libraries"
        compile_all(system, levels or levels_of(system), libraries)
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "wheel", "--quiet"]
        options = ["--no-deps", "--no-build-isolation", f"-C--build-option=--plat-name={tag}"]
        subprocess.run([*pip, *options, "-w", str(Path(name, "made")), str(copy)], check=True)
        (wheel,) = Path(name, "made").glob("*.whl")
        to.mkdir(parents=True, exist_ok=True)
        return Path(shutil.move(wheel, to / wheel.name))


def main() -> None:
    """Make the wheels that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("systems", nargs="*", help=f"of {', '.join(SYSTEMS)}; all without any")
    parser.add_argument("--to", type=Path, default=ROOT / "dist", help="the folder; default: dist/")
    given = parser.parse_args()
    if unknown := {*given.systems} - {*SYSTEMS}:
        parser.error(f"{', '.join(sorted(unknown))} is none of {', '.join(SYSTEMS)}")
    for tag in given.systems or SYSTEMS:
        print(make_wheel(tag, given.to), flush=True)


if __name__ == "__main__":
    main()
