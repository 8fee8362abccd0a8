"""The engine's library and the structures of `model.h`, field by field."""

import ctypes
import functools
from ctypes import POINTER
from pathlib import Path
from typing import Any, NamedTuple

from headway.core.errors import DataError
from headway.engine.compiling import cached_library

_pointer, _int, _float, _double = ctypes.c_void_p, ctypes.c_int64, ctypes.c_float, ctypes.c_double


def all_of(kind: Any, names: str) -> list[tuple[str, Any]]:
    """Fields of one type; all structures are those of `model.h`, field by field."""
    return [(name, kind) for name in names.split()]


class Matrix(ctypes.Structure):
    """Packed weights of one product."""

    _fields_ = (
        *all_of(_pointer, "weights bias totals steps"),
        *all_of(_int, "kind inputs outputs"),
    )


class Norm(ctypes.Structure):
    """A LayerNorm."""

    _fields_ = all_of(_pointer, "gain shift")


class LayerStruct(ctypes.Structure):
    """One layer of encoder or decoder."""

    _fields_ = (
        *all_of(Matrix, "self_projections self_output cross_query cross_memory cross_output"),
        *all_of(Matrix, "inner outer"),
        *all_of(Norm, "around_self around_cross around_feed_forward"),
    )


class Model(ctypes.Structure):
    """A whole Transformer."""

    _fields_ = (
        *all_of(_int, "d_model width heads key value keys values inner activation norm_first"),
        *all_of(_int, "encoder_layers decoder_layers alignment_layer n_tokens"),
        *all_of(_int, "source_positions target_positions"),
        *all_of(_float, "embedding_scale epsilon"),
        *all_of(
            _pointer, "source_embedding target_embedding source_table target_table output_rows next"
        ),
        *all_of(POINTER(LayerStruct), "encoder decoder"),
        *all_of(Norm, "encoder_norm decoder_norm"),
        ("vocabulary", Matrix),
    )


class Job(ctypes.Structure):
    """Sentences, how they are searched for, and where the results go."""

    _fields_ = (
        *all_of(_int, "n_sentences n_entries"),
        *all_of(_pointer, "turns ids first n_read limits allowed allowed_first"),
        *all_of(_pointer, "beginning beginning_first forbidden"),
        *all_of(_int, "n_forbidden begin end beam n_best want_scores"),
        ("length_penalty", _double),
        *all_of(_int, "slots encoded_rows longest_source longest_output"),
        *all_of(_pointer, "results lengths tokens log_probs looks looked"),
        *all_of(_int, "pipe number next done stop leave"),
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
    has_amx: int


@functools.cache
def engine_library() -> EngineLibrary:
    """This processor's; raises `NoEngineError`, which says why not, and `LevelError`."""
    return cached_library("engine", loaded)


def loaded(file: Path) -> EngineLibrary:
    """A library that was compiled before; raises DataError for what is none, or another one."""
    model, job, address = POINTER(Model), POINTER(Job), ctypes.c_void_p
    takes: dict[str, tuple[Any, list[Any]]] = {
        "workspace": (ctypes.c_int64, [model, job]),
        "prepare": (None, [model, job, address]),
        "feed": (None, [job, ctypes.c_int64]),
        "translate": (ctypes.c_int64, [model, job, address, ctypes.c_int64]),
        "product": (None, [POINTER(Matrix), ctypes.c_int64, *[address] * 4]),
        "amx": (ctypes.c_int64, []),
    }
    found = opened_library(file, "headway", takes, len(EngineLibrary._fields) - 2)
    return EngineLibrary._make([*found, found[0].headway_amx()])


def opened_library(
    file: Path, name: str, takes: dict[str, tuple[Any, list[Any]]], n_sizes: int = 0
) -> list[Any]:
    """A library, with what its functions give and take, and the sizes that it was compiled for.

    Raises DataError for what is none, or another one.
    """
    try:
        library = ctypes.CDLL(str(file))
        for part, (gives, given) in takes.items():
            function = getattr(library, f"{name}_{part}")
            function.argtypes, function.restype = given, gives
        sizes: Any = (_int * n_sizes).in_dll(library, f"{name}_sizes") if n_sizes else ()
    except (OSError, AttributeError, ValueError) as error:
        raise DataError(f"{file} is not that library ({error}). It is compiled anew.") from error
    return [library, *sizes]
