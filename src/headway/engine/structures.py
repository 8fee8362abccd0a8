"""The structures of `model.h`, field by field, and arrays that processors like."""

import ctypes
from itertools import repeat
from typing import Any

import numpy as np

LINE = 64
"""Bytes of a line of the cache, and of the widest vector."""

_pointer, _int, _float, _double = ctypes.c_void_p, ctypes.c_int64, ctypes.c_float, ctypes.c_double

Floats = np.ndarray[Any, np.dtype[np.float32]]


class Matrix(ctypes.Structure):
    """Packed weights of one product."""

    _fields_ = (
        *zip(("weights", "bias", "starts", "steps"), repeat(_pointer)),
        *zip(("kind", "inputs", "outputs"), repeat(_int)),
    )


class Norm(ctypes.Structure):
    """A LayerNorm."""

    _fields_ = (("gain", _pointer), ("shift", _pointer))


class LayerStruct(ctypes.Structure):
    """One layer of encoder or decoder."""

    _fields_ = (
        *zip(("self_projections", "self_output"), repeat(Matrix)),
        *zip(("cross_query", "cross_memory", "cross_output"), repeat(Matrix)),
        *zip(("inner", "outer"), repeat(Matrix)),
        *zip(("around_self", "around_cross", "around_feed_forward"), repeat(Norm)),
    )


class Model(ctypes.Structure):
    """A whole Transformer."""

    _fields_ = (
        *zip(("d_model", "width", "heads", "key", "value", "keys", "values"), repeat(_int)),
        *zip(("inner", "activation", "norm_first"), repeat(_int)),
        *zip(("encoder_layers", "decoder_layers", "alignment_layer", "n_tokens"), repeat(_int)),
        *zip(("source_positions", "target_positions"), repeat(_int)),
        *zip(("embedding_scale", "epsilon"), repeat(_float)),
        *zip(("source_embedding", "target_embedding"), repeat(_pointer)),
        *zip(("source_table", "target_table", "output_rows"), repeat(_pointer)),
        *zip(("encoder", "decoder"), repeat(ctypes.POINTER(LayerStruct))),
        *zip(("encoder_norm", "decoder_norm"), repeat(Norm)),
        ("vocabulary", Matrix),
    )


class Job(ctypes.Structure):
    """Sentences, how they are searched for, and where the results go."""

    _fields_ = (
        ("n_sentences", _int),
        *zip(("ids", "first", "limits"), repeat(_pointer)),
        *zip(("allowed", "allowed_first"), repeat(_pointer)),
        *zip(("beginning", "forbidden"), repeat(_pointer)),
        *zip(("n_beginning", "n_forbidden", "begin", "end", "beam", "n_best"), repeat(_int)),
        ("want_scores", _int),
        ("length_penalty", _double),
        *zip(("slots", "encoded_rows", "longest_source", "longest_output"), repeat(_int)),
        *zip(("results", "lengths", "tokens", "log_probs"), repeat(_pointer)),
        *zip(("looks", "looked"), repeat(_pointer)),
        *zip(("next", "done", "stop"), repeat(_int)),
    )


def aligned(n_bytes: int) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """So many bytes, from a line of the cache on; nothing is written into them."""
    room = np.empty(n_bytes + LINE, dtype=np.uint8)
    first = -room.ctypes.data % LINE
    return room[first : first + n_bytes]


def placed(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """A copy from a line of the cache on."""
    found = aligned(array.nbytes).view(array.dtype).reshape(array.shape)
    found[...] = array
    return found


def zeros(*shape: int) -> Floats:
    """An aligned array of zeros."""
    return placed(np.zeros(shape, dtype=np.float32))
