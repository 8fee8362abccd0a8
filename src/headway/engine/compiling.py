"""Libraries in C: compiled where they run, for the processor that they run on, at first use.

Not when the package is installed: so no installation can fail for want of a compiler, a folder of
sources (an editable installation) is enough, and what is compiled is what this processor can do.
It lies sealed in $HEADWAY_ENGINE_CACHE, else the cache, under sources, compiler and processor.
"""

import os
import platform
import shutil
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from subprocess import TimeoutExpired, run
from typing import TypeVar

from headway.core.disk import checksum, whole_folder
from headway.core.errors import DataError, HeadwayError
from headway.core.runtime import processor_line
from headway.corpora.cache_place import cache_root, key_of, own_folder
from headway.engine.levels import LevelError, level_options, zig_options
from headway.engine.packaged import PACKAGED, packaged_library
from headway.operations.locks import is_own

FLAGS = ("-std=gnu11", "-O3", "-fno-math-errno", "-fPIC", "-shared")
THIS_PROCESSOR = ("-march=native", "-mcpu=native")
"""The same to different compilers; the first that is understood is taken."""
Opened = TypeVar("Opened")


class NoEngineError(HeadwayError):
    """Why there is no compiled library here."""


def cached_library(
    name: str, sources: Sequence[Path], main: Path, opened: Callable[[Path], Opened]
) -> Opened:
    """What `opened` makes of the library of this processor and compiler, from the cache or new.

    `sources` are all files that it depends on, `main` is the one that is given to the compiler.
    `opened` raises DataError for a file that is not this library.

    Raises:
        NoEngineError: there is no compiler, or it does not compile this.
    """
    level = os.environ.get("HEADWAY_ENGINE_LEVEL")
    flags = level_options(level) if level else ()
    if PACKAGED.is_dir() and (library := packaged_library(name, sources, opened)):
        return library
    compiler = found_compiler()
    description = {
        "sources": {file.name: file.read_text(encoding="utf-8") for file in sources},
        "flags": [*FLAGS, *(flags or THIS_PROCESSOR)],
        "compiler": [compiler, os.stat(compiler).st_mtime_ns, os.stat(compiler).st_size],
        "processor": [platform.machine(), processor_line("flags", "Features")],
    }
    root = os.environ.get("HEADWAY_ENGINE_CACHE")
    folder = (own_folder(Path(root)) if root else cache_root()) / f"{name}-{key_of(description)}"
    file = f"{name}-{Path(compiler).stem}.so"
    seal = f"{file}.sha256"
    with suppress(DataError, OSError):
        if is_own(folder.lstat()) and (folder / seal).read_text() == checksum(folder / file):
            return opened(folder / file)
    with whole_folder(folder) as part:
        compiled(compiler, main, part / file, *flags)
        try:
            opened(part / file)
        except DataError as error:
            raise NoEngineError(f"{compiler} succeeds and writes no library: {error}") from None
        (part / seal).write_text(checksum(part / file), encoding="ascii")
        part.chmod(0o700)
    return opened(folder / file)


def library_or_reason(
    name: str, sources: Sequence[Path], main: Path, opened: Callable[[Path], Opened]
) -> Opened | str:
    """What `cached_library` gives, or why there is none; raises LevelError."""
    try:
        return cached_library(name, sources, main, opened)
    except LevelError:
        raise
    except (HeadwayError, OSError) as error:
        return str(error)


def found_compiler() -> str:
    """The path of $CC, cc, gcc, clang or the package ziglang's; raises `NoEngineError`."""
    names = [os.environ.get("CC") or "cc", "cc", "gcc", "clang"]
    if zig := find_spec("ziglang"):
        names.append(str(Path(zig.origin or "").with_name("zig")))
    for path in filter(None, map(shutil.which, names)):
        return path
    raise NoEngineError("no C compiler (cc, gcc, clang); pip install 'headway[zig]' brings one")


def compiled(compiler: str, main: Path, to: Path, *flags: str) -> None:
    """Write the library, for this processor or with other `flags`. Raises `NoEngineError`."""
    said, command = "", [compiler]
    if Path(compiler).stem == "zig":
        command, flags = [compiler, "cc"], zig_options(flags)
    for choice in [flags] if flags else [(flag,) for flag in THIS_PROCESSOR]:
        whole = [*command, *FLAGS, *choice, str(main), "-o", str(to), "-lm"]
        try:
            done = run(whole, check=False, capture_output=True, errors="replace", timeout=300)
        except (OSError, TimeoutExpired) as error:
            raise NoEngineError(f"{compiler} does not work: {error}") from error
        if done.returncode == 0:
            return
        said = next(iter(done.stderr.strip().splitlines()), f"status {done.returncode}")
    raise NoEngineError(f"{compiler} does not compile it: {said}")
