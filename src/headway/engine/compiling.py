"""Libraries in C: compiled where they run, for the processor that they run on, at first use.

Not when the package is installed, which so cannot fail for want of a compiler.
It lies sealed in $HEADWAY_ENGINE_CACHE, else the cache, under sources, compiler and processor.
"""

import os
import platform
import shutil
from collections.abc import Callable
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from subprocess import TimeoutExpired, run
from typing import TypeVar

from headway.core.disk import checksum, whole_folder
from headway.core.errors import DataError, HeadwayError
from headway.core.runtime import processor_line
from headway.corpora.cache_place import cache_root, key_of, own_folder
from headway.engine.levels import level_options, zig_options
from headway.engine.packaged import LIBRARIES, PACKAGE, PACKAGED, packaged_library
from headway.operations.locks import is_own

FLAGS = ("-std=gnu11", "-O3", "-fno-math-errno", "-fPIC", "-shared")
THIS_PROCESSOR = ("-march=native", "-mcpu=native")
"""The same to different compilers; the first that is understood is taken."""
FAILED = dict[str, str]()  # name to reason: tried once a process, as a compiler takes its time
Opened = TypeVar("Opened")


class NoEngineError(HeadwayError):
    """Why there is no compiled library here."""


def sources_of(name: str) -> list[Path]:
    """All files that a library depends on; the first is the one that is compiled."""
    return [file for pattern in LIBRARIES[name].split() for file in PACKAGE.glob(pattern)]


def cached_library(name: str, opened: Callable[[Path], Opened]) -> Opened:
    """What `opened` makes of one of `LIBRARIES`: packaged, or compiled here, from the cache or new.
    `opened` raises DataError for a file that is not this library.

    Raises:
        NoEngineError: there is no compiler, it does not compile this, or there is no place for it.
        LevelError: $HEADWAY_ENGINE_LEVEL names what cannot be.
    """
    level = os.environ.get("HEADWAY_ENGINE_LEVEL")
    flags = level_options(level) if level else ()
    if name in FAILED:
        raise NoEngineError(FAILED[name])
    if PACKAGED.is_dir() and (library := packaged_library(name, sources_of(name), opened)):
        return library
    try:
        return compiled_here(name, flags, opened)
    except (HeadwayError, OSError) as error:
        raise NoEngineError(FAILED.setdefault(name, str(error))) from error


def compiled_here(name: str, flags: tuple[str, ...], opened: Callable[[Path], Opened]) -> Opened:
    """The same, from the cache or new; raises HeadwayError and OSError."""
    compiler, sources = found_compiler(), sources_of(name)
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
        compiled(compiler, sources[0], part / file, *flags)
        try:
            opened(part / file)
        except DataError as error:
            raise NoEngineError(f"{compiler} succeeds and writes no library: {error}") from None
        (part / seal).write_text(checksum(part / file), encoding="ascii")
        part.chmod(0o700)
    return opened(folder / file)


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
