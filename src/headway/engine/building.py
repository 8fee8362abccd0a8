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
from contextlib import suppress
from ctypes import POINTER
from pathlib import Path
from typing import Any, NamedTuple

from headway.core.disk import checksum, whole_folder
from headway.core.errors import DataError, HeadwayError
from headway.corpora.cache_place import cache_root, key_of, own_folder
from headway.operations.locks import is_own

SOURCES = Path(__file__).parent
FLAGS = ("-std=gnu11", "-O3", "-fno-math-errno", "-fPIC", "-shared")
THIS_PROCESSOR = ("-march=native", "-mcpu=native")
"""The same to different compilers; the first that is understood is taken."""
LIMIT_S = 300
NAME, SEAL = "engine.so", "engine.so.sha256"


class NoEngineError(HeadwayError):
    """Why there is no compiled engine here."""


_pointer, _int, _float, _double = ctypes.c_void_p, ctypes.c_int64, ctypes.c_float, ctypes.c_double


def _of(kind: Any, names: str) -> list[tuple[str, Any]]:
    """Fields of one type; all structures are those of `model.h`, field by field."""
    return [(name, kind) for name in names.split()]


class Matrix(ctypes.Structure):
    """Packed weights of one product."""

    _fields_ = (*_of(_pointer, "weights bias starts steps"), *_of(_int, "kind inputs outputs"))


class Norm(ctypes.Structure):
    """A LayerNorm."""

    _fields_ = _of(_pointer, "gain shift")


class LayerStruct(ctypes.Structure):
    """One layer of encoder or decoder."""

    _fields_ = (
        *_of(Matrix, "self_projections self_output cross_query cross_memory cross_output"),
        *_of(Matrix, "inner outer"),
        *_of(Norm, "around_self around_cross around_feed_forward"),
    )


class Model(ctypes.Structure):
    """A whole Transformer."""

    _fields_ = (
        *_of(_int, "d_model width heads key value keys values inner activation norm_first"),
        *_of(_int, "encoder_layers decoder_layers alignment_layer n_tokens"),
        *_of(_int, "source_positions target_positions"),
        *_of(_float, "embedding_scale epsilon"),
        *_of(_pointer, "source_embedding target_embedding source_table target_table output_rows"),
        *_of(POINTER(LayerStruct), "encoder decoder"),
        *_of(Norm, "encoder_norm decoder_norm"),
        ("vocabulary", Matrix),
    )


class Job(ctypes.Structure):
    """Sentences, how they are searched for, and where the results go."""

    _fields_ = (
        *_of(_int, "n_sentences n_entries"),
        *_of(_pointer, "turns ids first n_read limits allowed allowed_first beginning forbidden"),
        *_of(_int, "n_beginning n_forbidden begin end beam n_best want_scores"),
        ("length_penalty", _double),
        *_of(_int, "slots encoded_rows longest_source longest_output"),
        *_of(_pointer, "results lengths tokens log_probs looks looked"),
        *_of(_int, "pipe number next done stop leave"),
    )


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
    found = tried()
    if isinstance(found, str):
        raise NoEngineError(found)
    return found


@functools.cache
def tried() -> EngineLibrary | str:
    """The engine, or why there is none: once a process, as a compiler that fails takes its time."""
    try:
        return made()
    except (HeadwayError, OSError) as error:
        return str(error)


def made() -> EngineLibrary:
    """The library of this processor, compiler and sources, from the cache or new."""
    compiler = found_compiler()
    sources = sorted(SOURCES.glob("*.[ch]"))
    description = {
        "sources": {file.name: file.read_text(encoding="utf-8") for file in sources},
        "flags": [*FLAGS, *THIS_PROCESSOR],
        "compiler": [compiler, os.stat(compiler).st_mtime_ns, os.stat(compiler).st_size],
        "processor": [platform.machine(), processor_flags()],
    }
    root = os.environ.get("HEADWAY_ENGINE_CACHE")
    folder = (own_folder(Path(root)) if root else cache_root()) / f"engine-{key_of(description)}"
    with suppress(DataError, OSError):
        if is_own(folder.lstat()) and (folder / SEAL).read_text() == checksum(folder / NAME):
            return loaded(folder / NAME)
    with whole_folder(folder) as part:
        compiled(compiler, part / NAME)
        try:
            loaded(part / NAME)
        except DataError as error:
            raise NoEngineError(f"{compiler} succeeds and writes no library: {error}") from None
        (part / SEAL).write_text(checksum(part / NAME), encoding="ascii")
        part.chmod(0o700)
    return loaded(folder / NAME)


def found_compiler() -> str:
    """The path of $CC, cc, gcc or clang; raises `NoEngineError`."""
    names = filter(None, [os.environ.get("CC", ""), "cc", "gcc", "clang"])
    for path in filter(None, map(shutil.which, names)):
        return path
    raise NoEngineError("there is no C compiler (cc, gcc or clang)")


def compiled(compiler: str, to: Path, *flags: str) -> None:
    """Write the library, for this processor or with other `flags`. Raises `NoEngineError`."""
    said = ""
    for choice in [flags] if flags else [(flag,) for flag in THIS_PROCESSOR]:
        command = [compiler, *FLAGS, *choice, str(SOURCES / "engine.c"), "-o", str(to), "-lm"]
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


def loaded(file: Path) -> EngineLibrary:
    """A library that was compiled before; raises DataError for what is none, or another one."""
    model, job, address = POINTER(Model), POINTER(Job), ctypes.c_void_p
    takes = {
        "workspace": (ctypes.c_int64, [model, job]),
        "prepare": (None, [model, job, address]),
        "feed": (None, [job, ctypes.c_int64]),
        "translate": (ctypes.c_int64, [model, job, address, ctypes.c_int64]),
        "product": (None, [POINTER(Matrix), ctypes.c_int64, *[address] * 4]),
    }
    try:
        library = ctypes.CDLL(str(file))
        for name, (gives, given) in takes.items():
            function = getattr(library, f"headway_{name}")
            function.argtypes, function.restype = given, gives
        n_sizes = len(EngineLibrary._fields) - 1
        sizes = (ctypes.c_int64 * n_sizes).in_dll(library, "headway_sizes")
    except (OSError, AttributeError, ValueError) as error:
        raise DataError(f"{file} is not the engine ({error}). It will be compiled anew.") from error
    return EngineLibrary(library, *sizes)


def processor_flags() -> str:
    """What the processor can do, as the system names it; nothing where it does not."""
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text("utf-8", "replace").splitlines():
            if line.startswith(("flags", "Features")):
                return line
    return ""
