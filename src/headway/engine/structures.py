"""What the engine reads: the structures of `model.h`, field by field, and matrices as `product.h`
multiplies them, in panels, and rounded to fewer bits if asked for."""

import ctypes
from collections.abc import Callable
from itertools import repeat
from typing import Any, Literal, NamedTuple

import numpy as np

LINE = 64
"""Bytes of a line of the cache, and of the widest vector."""

_pointer, _int, _float, _double = ctypes.c_void_p, ctypes.c_int64, ctypes.c_float, ctypes.c_double

Floats = np.ndarray[Any, np.dtype[np.float32]]
Numbers = np.ndarray[Any, np.dtype[Any]]

Precision = Literal["fp32", "bf16", "int8"]
KINDS: dict[Precision, int] = {"fp32": 0, "bf16": 1, "int8": 2}
"""As in `rounding.h`."""
MOST_STEPS = 127
"""An int8 is a whole number of steps from -127 to 127."""
LONGEST_SUM = 1 << 17
"""So many products of two int8 fit an int32."""


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


# -- matrices --------------------------------------------------------------------------------


class Rounded(NamedTuple):
    """A matrix `[outputs, inputs]` of numbers that have 32, 16 or 8 bits."""

    weights: Numbers
    steps: Floats | None = None
    """Of int8: what a step is worth, for each output."""

    def starts(self, bias: Floats) -> Numbers:
        """What sums begin with: inputs in int8 are stored with 128 more than they are."""
        return bias if self.steps is None else -128 * self.weights.sum(1, dtype=np.int32)


def as_bfloat16(weight: Floats) -> Rounded:
    """Each to the nearest; of two that are as near, to the even one."""
    bits = np.ascontiguousarray(weight).view(np.uint32)
    up = bits + np.uint32(0x7FFF) + (bits >> np.uint32(16) & np.uint32(1))
    return Rounded((up >> np.uint32(16)).astype(np.uint16))


def as_int8(weight: Floats) -> Rounded:
    """Each row to whole steps, its largest weight to 127 of them. A row of zeros has steps of 0,
    one with something that is no finite number has steps that are none either."""
    steps = np.abs(weight).max(1) / np.float32(MOST_STEPS)
    sound = np.isfinite(steps) & (steps > 0)
    whole = np.zeros(weight.shape, dtype=np.int8)
    in_steps = np.rint(weight[sound] / steps[sound, None])
    whole[sound] = np.clip(in_steps, -MOST_STEPS, MOST_STEPS)
    return Rounded(whole, steps)


ROUNDED: dict[Precision, Callable[[Floats], Rounded]] = {
    "fp32": Rounded,
    "bf16": as_bfloat16,
    "int8": as_int8,
}


class PackedMatrix(NamedTuple):
    """What the engine reads, and the arrays that it points into."""

    structure: Matrix
    arrays: list[Numbers]


def packed(weight: Floats, bias: Floats, panel: int, precision: Precision) -> PackedMatrix:
    """Of weights `[outputs, inputs]`, both multiples of `panel`.

    Those of products too long for sums in int32 stay in fp32.
    """
    outputs, inputs = weight.shape
    kind = "fp32" if inputs > LONGEST_SUM else precision
    rounded = ROUNDED[kind](weight)
    per_unit = 4 // rounded.weights.itemsize
    units = rounded.weights.reshape(outputs // panel, panel, inputs // per_unit, per_unit)
    arrays = [placed(units.transpose(0, 2, 1, 3)), placed(bias), placed(rounded.starts(bias))]
    if rounded.steps is not None:
        arrays.append(placed(rounded.steps))
    places = [ctypes.c_void_p(array.ctypes.data) for array in arrays]
    named = dict(zip(("weights", "bias", "starts", "steps"), places, strict=False))
    return PackedMatrix(Matrix(kind=KINDS[kind], inputs=inputs, outputs=outputs, **named), arrays)
