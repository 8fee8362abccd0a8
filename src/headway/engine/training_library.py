"""The library of the training step and the structures of `learner.h`, field by field."""

import ctypes
import functools
from ctypes import POINTER
from pathlib import Path
from typing import Any, NamedTuple

from headway.core.errors import DataError
from headway.engine.building import SOURCES, Matrix
from headway.engine.compiling import cached_library

STEP = SOURCES / "training_step" / "step.c"
_pointer, _int, _float = ctypes.c_void_p, ctypes.c_int64, ctypes.c_float


def members(kind: Any, names: str) -> list[tuple[str, Any]]:
    """Fields of one type; all structures are those of `learner.h`, field by field."""
    return [(name, kind) for name in names.split()]


class Blocks(ctypes.Structure):
    """Numbers in blocks, each with zeros behind it."""

    _fields_ = members(_int, "n size padded")


class LearnedParameter(ctypes.Structure):
    """`parameter`: one of the model's, and where it is among all numbers."""

    _fields_ = (
        *members(_pointer, "values gradient padded"),
        *members(Blocks, "rows columns"),
        *members(_int, "at stride"),
        ("scale", _float),
    )


class LearnedWeight(ctypes.Structure):
    """`weight`: of one product."""

    _fields_ = (*members(_int, "first n at bias chunk"), *members(Matrix, "forward backward"))


class LearnedNorm(ctypes.Structure):
    """`learned_norm`: a LayerNorm."""

    _fields_ = (*members(_pointer, "gain shift"), *members(_int, "gain_at shift_at"))


class LearnedLayer(ctypes.Structure):
    """`learned_layer`: one of encoder or decoder."""

    _fields_ = (
        *members(LearnedWeight, "self_projections self_output"),
        *members(LearnedWeight, "cross_query cross_memory cross_output inner outer"),
        *members(LearnedNorm, "around_self around_cross around_feed_forward"),
    )


class LearnedInput(ctypes.Structure):
    """`learned_input`: embeddings and positions of one side."""

    _fields_ = (*members(_pointer, "embedding table"), *members(_int, "embedding_at table_at"))


class Learner(ctypes.Structure):
    """A whole Transformer."""

    _fields_ = (
        *members(_int, "d_model width heads key value keys values inner"),
        *members(_int, "activation norm_first encoder_layers decoder_layers n_tokens kind"),
        *members(_int, "padding n_numbers n_parameters"),
        *members(_float, "embedding_scale epsilon"),
        *members(POINTER(LearnedParameter), "parameters"),
        *members(_pointer, "ones"),
        *members(POINTER(LearnedLayer), "encoder decoder"),
        *members(LearnedNorm, "encoder_norm decoder_norm"),
        *members(LearnedInput, "source target"),
        ("vocabulary", LearnedWeight),
    )


class Pairs(ctypes.Structure):
    """Sentences to learn from."""

    _fields_ = (
        *members(_pointer, "read fed expected source_first target_first numbers"),
        ("seed", ctypes.c_uint64),
        *members(_float, "dropout attention_dropout activation_dropout smoothing"),
        ("wants_gradients", _int),
    )


class TrainingLibrary(NamedTuple):
    """The library and what it was compiled for."""

    library: ctypes.CDLL
    width: int
    """Floats in a vector."""
    panel: int
    """What sizes are padded to."""
    columns: int
    """Of the vocabulary, in one matrix of its backward."""
    has_bfloat16: int
    """Whether the processor has instructions for products in bfloat16."""


@functools.cache
def training_library() -> TrainingLibrary:
    """This processor's, compiled if need be; raises `NoEngineError`, which says why not."""
    sources = [*SOURCES.rglob("*.h"), STEP]
    return cached_library("training", sources, STEP, opened_training)


def opened_training(file: Path) -> TrainingLibrary:
    """A library that was compiled before; raises DataError for what is none, or another one."""
    learner, pairs = POINTER(Learner), POINTER(Pairs)
    takes = {
        "pack": (None, [learner, _int, _int, _pointer]),
        "room": (_int, [learner, pairs, _int, _int]),
        "learn": (ctypes.c_double, [learner, pairs, _int, _int, _pointer, _pointer]),
        "sum": (None, [learner, _pointer, _int, _float, _int, _int]),
    }
    try:
        library = ctypes.CDLL(str(file))
        for name, (gives, given) in takes.items():
            function = getattr(library, f"headway_training_{name}")
            function.argtypes, function.restype = given, gives
        n_sizes = len(TrainingLibrary._fields) - 1
        sizes = (_int * n_sizes).in_dll(library, "headway_training_sizes")
    except (OSError, AttributeError, ValueError) as error:
        told = f"{file} is no training step ({error}). It will be compiled anew."
        raise DataError(told) from error
    return TrainingLibrary(library, *sizes)
