"""Libraries in C: compiled where they run, for the processor that they run on, at first use.

Not when the package is installed: so no installation can fail for want of a compiler, a folder of
sources (an editable installation) is enough, and what is compiled is what this processor can do.
A library lies in $HEADWAY_ENGINE_CACHE, or else in the cache, sealed, under a key of sources,
compiler, flags and processor.
"""

import os
import platform
import shutil
import subprocess
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from headway.core.disk import checksum, whole_folder
from headway.core.errors import DataError, HeadwayError
from headway.corpora.cache_place import cache_root, key_of, own_folder
from headway.operations.locks import is_own

FLAGS = ("-std=gnu11", "-O3", "-fno-math-errno", "-fPIC", "-shared")
THIS_PROCESSOR = ("-march=native", "-mcpu=native")
"""The same to different compilers; the first that is understood is taken."""
LIMIT_S = 300
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
    compiler = found_compiler()
    description = {
        "sources": {file.name: file.read_text(encoding="utf-8") for file in sources},
        "flags": [*FLAGS, *THIS_PROCESSOR],
        "compiler": [compiler, os.stat(compiler).st_mtime_ns, os.stat(compiler).st_size],
        "processor": [platform.machine(), processor_flags()],
    }
    root = os.environ.get("HEADWAY_ENGINE_CACHE")
    folder = (own_folder(Path(root)) if root else cache_root()) / f"{name}-{key_of(description)}"
    library, seal = f"{name}.so", f"{name}.so.sha256"
    with suppress(DataError, OSError):
        if is_own(folder.lstat()) and (folder / seal).read_text() == checksum(folder / library):
            return opened(folder / library)
    with whole_folder(folder) as part:
        compiled(compiler, main, part / library)
        try:
            opened(part / library)
        except DataError as error:
            raise NoEngineError(f"{compiler} succeeds and writes no library: {error}") from None
        (part / seal).write_text(checksum(part / library), encoding="ascii")
        part.chmod(0o700)
    return opened(folder / library)


def found_compiler() -> str:
    """The path of $CC, cc, gcc or clang; raises `NoEngineError`."""
    names = filter(None, [os.environ.get("CC", ""), "cc", "gcc", "clang"])
    for path in filter(None, map(shutil.which, names)):
        return path
    raise NoEngineError("there is no C compiler (cc, gcc or clang)")


def compiled(compiler: str, main: Path, to: Path, *flags: str) -> None:
    """Write the library, for this processor or with other `flags`. Raises `NoEngineError`."""
    said = ""
    for choice in [flags] if flags else [(flag,) for flag in THIS_PROCESSOR]:
        command = [compiler, *FLAGS, *choice, str(main), "-o", str(to), "-lm"]
        try:
            done = subprocess.run(
                command, check=False, capture_output=True, text=True, errors="replace",
                timeout=LIMIT_S,
            )  # fmt: skip
        except (OSError, subprocess.TimeoutExpired) as error:
            raise NoEngineError(f"{compiler} does not work: {error}") from error
        if done.returncode == 0:
            return
        said = next(iter(done.stderr.strip().splitlines()), f"status {done.returncode}")
    raise NoEngineError(f"{compiler} does not compile it: {said}")


def processor_flags() -> str:
    """What the processor can do, as the system names it; nothing where it does not."""
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text("utf-8", "replace").splitlines():
            if line.startswith(("flags", "Features")):
                return line
    return ""
