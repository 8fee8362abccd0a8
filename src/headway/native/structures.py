"""The structures of `model.h`, field by field, and arrays that processors like."""

import ctypes
from typing import Any

import numpy as np

LINE = 64
"""Bytes of a line of the cache, and of the widest vector."""

_pointer, _int, _float, _double = ctypes.c_void_p, ctypes.c_int64, ctypes.c_float, ctypes.c_double

Floats = np.ndarray[Any, np.dtype[np.float32]]


class Matrix(ctypes.Structure):
    """Packed weights of one product."""

    _fields_ = (
        *((name, _pointer) for name in ("weights", "bias", "starts", "steps")),
        *((name, _int) for name in ("kind", "inputs", "outputs")),
    )


class Norm(ctypes.Structure):
    """A LayerNorm."""

    _fields_ = (("gain", _pointer), ("shift", _pointer))


class LayerStruct(ctypes.Structure):
    """One layer of encoder or decoder."""

    _fields_ = (
        *((name, Matrix) for name in ("self_projections", "self_output")),
        *((name, Matrix) for name in ("cross_query", "cross_memory", "cross_output")),
        *((name, Matrix) for name in ("inner", "outer")),
        *((name, Norm) for name in ("around_self", "around_cross", "around_feed_forward")),
    )


class Model(ctypes.Structure):
    """A whole Transformer."""

    _fields_ = (
        *((name, _int) for name in ("d_model", "width", "heads", "key", "value", "keys", "values")),
        *((name, _int) for name in ("inner", "activation", "norm_first")),
        *(
            (name, _int)
            for name in ("encoder_layers", "decoder_layers", "alignment_layer", "n_tokens")
        ),
        *((name, _int) for name in ("source_positions", "target_positions")),
        *((name, _float) for name in ("embedding_scale", "epsilon")),
        *((name, _pointer) for name in ("source_embedding", "target_embedding")),
        *((name, _pointer) for name in ("source_table", "target_table", "output_rows")),
        *((name, ctypes.POINTER(LayerStruct)) for name in ("encoder", "decoder")),
        *((name, Norm) for name in ("encoder_norm", "decoder_norm")),
        ("vocabulary", Matrix),
    )


class Job(ctypes.Structure):
    """Sentences, how they are searched for, and where the results go."""

    _fields_ = (
        ("n_sentences", _int),
        *((name, _pointer) for name in ("ids", "first", "limits")),
        *((name, _pointer) for name in ("allowed", "allowed_first")),
        *((name, _pointer) for name in ("beginning", "forbidden")),
        *(
            (name, _int)
            for name in ("n_beginning", "n_forbidden", "begin", "end", "beam", "n_best")
        ),
        ("want_scores", _int),
        ("length_penalty", _double),
        *((name, _int) for name in ("slots", "encoded_rows", "longest_source", "longest_output")),
        *((name, _pointer) for name in ("results", "lengths", "tokens", "log_probs")),
        *((name, _pointer) for name in ("looks", "looked")),
        *((name, _int) for name in ("next", "done", "stop")),
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
