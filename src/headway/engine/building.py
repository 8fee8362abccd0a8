"""The engine's library: compiled where it runs, for the processor that it runs on, at first use.

Not when the package is installed: so no installation can fail for want of a compiler, a folder of
sources (an editable installation) is enough, and what is compiled is what this processor can do.
The library lies in $HEADWAY_ENGINE_CACHE, or else in the cache, sealed, under a key of sources,
compiler, flags and processor.
"""

import ctypes
import functools
import os
import platform
import shutil
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

from headway.core.errors import DataError, HeadwayError
from headway.corpora.cache import (
    cache_root,
    key_of,
    made_once,
    own_folder,
    read_sealed,
    sealed_folder,
    silent,
)
from headway.engine.structures import Job, Matrix, Model

SOURCES = Path(__file__).parent
FLAGS = ("-std=gnu11", "-O3", "-fno-math-errno", "-fPIC", "-shared")
THIS_PROCESSOR = ("-march=native", "-mcpu=native")
"""The same to different compilers; the first that is understood is taken."""
LIMIT_S = 300
NAME = "engine.so"


class NoEngineError(HeadwayError):
    """Why there is no compiled engine here."""


class EngineLibrary(NamedTuple):
    """The library and what it was compiled for."""

    library: ctypes.CDLL
    width: int
    """Floats in a vector."""
    panel: int
    """What sizes are padded to."""
    most_beam: int
    has_bfloat16: int
    """Whether the processor has instructions for products in bfloat16."""
    has_int8: int


def engine_library() -> EngineLibrary:
    """This processor's, compiled if need be; raises `NoEngineError`, which says why not."""
    found, why_not = tried()
    if found is None:
        raise NoEngineError(why_not)
    return found


@functools.cache
def tried() -> tuple[EngineLibrary | None, str]:
    """The engine, or why there is none: once a process, as a compiler that fails takes its time."""
    try:
        return made(), ""
    except (HeadwayError, OSError) as error:
        return None, str(error)


def made() -> EngineLibrary:
    """The library of this processor, compiler and sources, from the cache or new."""
    compiler = found_compiler()
    description = {
        "sources": {file.name: file.read_text(encoding="utf-8") for file in sources()},
        "flags": [*FLAGS, *THIS_PROCESSOR],
        "compiler": [compiler, os.stat(compiler).st_mtime_ns, os.stat(compiler).st_size],
        "processor": [platform.machine(), processor_flags()],
    }
    root = os.environ.get("HEADWAY_ENGINE_CACHE")
    folder = (own_folder(Path(root)) if root else cache_root()) / f"engine-{key_of(description)}"

    def make(_work: Path) -> None:
        with sealed_folder(folder) as (part, _):
            compiled(compiler, part / NAME)
            try:
                loaded(part / NAME)
            except DataError as error:
                raise NoEngineError(f"{compiler} succeeds and writes no library: {error}") from None

    return made_once(folder, lambda: opened(folder), make, silent)


def sources() -> list[Path]:
    """The engine's own."""
    return sorted([*SOURCES.glob("*.c"), *SOURCES.glob("*.h")])


def found_compiler() -> str:
    """The path of $CC, cc, gcc or clang; raises `NoEngineError`."""
    names = [os.environ.get("CC", ""), "cc", "gcc", "clang"]
    for name in filter(None, names):
        if path := shutil.which(name):
            return path
    raise NoEngineError("there is no C compiler (cc, gcc or clang)")


def compiled(compiler: str, to: Path, *flags: str) -> None:
    """Write the library, for this processor or with other `flags`. Raises `NoEngineError`."""
    said = ""
    for choice in [flags] if flags else [(flag,) for flag in THIS_PROCESSOR]:
        command = [compiler, *FLAGS, *choice, str(SOURCES / "engine.c"), "-o", str(to), "-lm"]
        try:
            done = subprocess.run(
                command,
                check=False,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=LIMIT_S,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise NoEngineError(f"{compiler} does not work: {error}") from error
        if done.returncode == 0:
            return
        said = next(iter(done.stderr.strip().splitlines()), f"status {done.returncode}")
    raise NoEngineError(f"{compiler} does not compile it: {said}")


def opened(folder: Path) -> EngineLibrary:
    """The library in a sealed folder; raises DataError if it is damaged."""
    read_sealed(folder)
    return loaded(folder / NAME)


def loaded(file: Path) -> EngineLibrary:
    """A library that was compiled before; raises DataError for what is none, or another one."""
    names = EngineLibrary._fields[1:]
    try:
        library = ctypes.CDLL(str(file))
        for name in (*names, "workspace", "translate", "product"):
            getattr(library, f"headway_{name}").restype = ctypes.c_int64
    except (OSError, AttributeError) as error:
        raise DataError(f"{file} is not the engine ({error}). It will be compiled anew.") from error
    library.headway_workspace.argtypes = [ctypes.POINTER(Model), ctypes.POINTER(Job)]
    library.headway_translate.restype = None
    library.headway_translate.argtypes = [
        ctypes.POINTER(Model),
        ctypes.POINTER(Job),
        ctypes.c_void_p,
    ]
    library.headway_product.restype = None
    library.headway_product.argtypes = [
        ctypes.POINTER(Matrix),
        ctypes.c_int64,
        *[ctypes.c_void_p] * 4,
    ]
    sizes: dict[str, Any] = {name: getattr(library, f"headway_{name}")() for name in names}
    return EngineLibrary(library, **sizes)


def processor_flags() -> str:
    """What the processor can do, as the system names it; nothing where it does not."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    lines = text.splitlines()
    return next((line for line in lines if line.startswith(("flags", "Features"))), "")
