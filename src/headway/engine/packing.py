"""A Transformer's weights in the order in which the engine reads them: matrices in panels, as
`product.h` multiplies them, rounded to fewer bits if asked for."""

import ctypes
import math
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from headway.core.attention import MultiHeadAttention
from headway.core.embedding import SinusoidalPositions, sinusoids
from headway.core.layers import Layer, alignment_layer
from headway.core.runtime import ProductPrecision
from headway.engine.building import EngineLibrary, LayerStruct, Matrix, Model, Norm
from headway.engine.rounding import Floats, Numbers, as_bfloat16, as_int8

if TYPE_CHECKING:
    from headway.core.transformer import Transformer

KINDS: dict[ProductPrecision, int] = {"fp32": 0, "bf16": 1, "int8": 2}
"""As in `vectors.h`."""
ACTIVATIONS = {"relu": 0, "gelu": 1, "swiglu": 2, "swish": 3, "gelu_tanh": 4}
MOST_POSITIONS = 4096
"""Of the sinusoids' table, which has no end of its own."""
MOST_TOKENS = 1 << 20
"""Of a text, where positions do not end: so no size in the engine is beyond its integers."""
LONGEST_SUM = 1 << 17
"""So many products of two int8 fit an int32."""
PAGE = 1024
"""Floats of a page."""
LINE = 64
"""Bytes of a line of the cache, and of the widest vector."""


def aligned(n_bytes: int) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """So many bytes, from a line of the cache on; nothing is written into them."""
    room = np.empty(n_bytes + LINE, dtype=np.uint8)
    first = -room.ctypes.data % LINE
    return room[first : first + n_bytes]


def placed(array: Numbers) -> Numbers:
    """A copy from a line of the cache on."""
    found = aligned(array.nbytes).view(array.dtype).reshape(array.shape)
    found[...] = array
    return found


def zeros(*shape: int) -> Floats:
    """An aligned array of zeros."""
    return placed(np.zeros(shape, dtype=np.float32))


class PackedMatrix(NamedTuple):
    """What the engine reads, and the arrays that it points into."""

    structure: Matrix
    arrays: list[Numbers]


def packed(weight: Floats, bias: Floats, panel: int, precision: ProductPrecision) -> PackedMatrix:
    """Of weights `[outputs, inputs]`, both multiples of `panel`.

    Those of products too long for sums in int32 stay in fp32.
    """
    outputs, inputs = weight.shape
    kind = "fp32" if inputs > LONGEST_SUM else precision
    weights, of_int8 = weight, list[Numbers]()
    if kind == "bf16":
        weights = as_bfloat16(weight)
    elif kind == "int8":
        weights, steps = as_int8(weight)
        of_int8 = [weights.sum(1, dtype=np.int32), steps]
    per_unit = 4 // weights.itemsize
    units = weights.reshape(outputs // panel, panel, inputs // per_unit, per_unit)
    arrays = [placed(one) for one in (units.transpose(0, 2, 1, 3), bias, *of_int8)]
    places = [ctypes.c_void_p(array.ctypes.data) for array in arrays]
    named = dict(zip(("weights", "bias", "totals", "steps"), places, strict=False))
    return PackedMatrix(Matrix(kind=KINDS[kind], inputs=inputs, outputs=outputs, **named), arrays)


class Padding(NamedTuple):
    """Numbers side by side, with zeros behind each block of them, and behind all."""

    total: int
    """Numbers with all zeros."""
    n_blocks: int = 1
    block: int = 0
    """Numbers of a block with its zeros; none where there is only one."""

    def padded(self, array: Floats) -> Floats:
        """An array along its first axis."""
        found = np.zeros((self.total, *array.shape[1:]), dtype=np.float32)
        n, rest = self.n_blocks, array.shape[1:]
        blocks = found[: n * (self.block or self.total)].reshape(n, -1, *rest)
        parts = array.reshape(n, -1, *rest)
        blocks[:, : parts.shape[1]] = parts
        return found


class PaddedPart(NamedTuple):
    """Weights and bias of a product; the padding of its outputs; by what both are multiplied."""

    weight: Tensor
    bias: Tensor
    outputs: Padding
    scale: float = 1.0


class PaddedTransformer:
    """How a Transformer's sizes are padded, and which of its weights are multiplied as one."""

    layer_structure: ClassVar[type[Any]]
    """In C."""

    def __init__(self, model: "Transformer", panel: int, vector: int) -> None:
        """`panel` columns are multiplied at a time, by vectors of `vector` numbers."""
        config, heads = model.config, model.config.heads
        key, value = (up_to(n, vector) for n in (config.key_size, config.value_size))
        self.keys = Padding(row_of(heads * key, panel), heads, key)
        self.values = Padding(row_of(heads * value, panel), heads, value)
        self.width = Padding(row_of(config.d_model, panel))
        self.inner = Padding(row_of(config.d_ff, panel))
        self.sizes: dict[str, Any] = {
            "d_model": config.d_model, "width": self.width.total, "heads": heads, "key": key,
            "value": value, "keys": self.keys.total, "values": self.values.total,
            "inner": self.inner.total, "activation": ACTIVATIONS[config.activation],
            "norm_first": config.norm == "pre", "encoder_layers": len(model.encoder),
            "decoder_layers": len(model.decoder), "n_tokens": len(model.output_weight),
            "embedding_scale": model.target_embedding.scale, "epsilon": config.layer_norm_epsilon,
        }  # fmt: skip

    def _layers(self, layers: Iterable[Layer]) -> Any:
        """All of a stack, one behind another."""
        found = list(map(self._layer, layers))
        return (self.layer_structure * len(found))(*found)

    def _layer(self, layer: Layer) -> Any:
        own, forward, width = layer.self_attention, layer.feed_forward, self.width
        found = self.layer_structure(
            self_projections=self._heads(own, "to_query", "to_key", "to_value"),
            self_output=self._linear(self.values, width, own.to_output),
            inner=self._linear(width, self.inner, forward.to_inner, forward.to_gate),
            outer=self._linear(self.inner, width, forward.to_output),
            around_self=self._norm(layer.around_self_attention.norm),
            around_feed_forward=self._norm(layer.around_feed_forward.norm),
        )
        across, around = layer.cross_attention, layer.around_cross_attention
        if across is not None and around is not None:
            found.cross_query = self._heads(across, "to_query")
            found.cross_memory = self._heads(across, "to_key", "to_value")
            found.cross_output = self._linear(self.values, width, across.to_output)
            found.around_cross = self._norm(around.norm)
        return found

    def _heads(self, attention: MultiHeadAttention, *names: str) -> Any:
        """Projections of d_model to all heads; a query's are divided by sqrt(d_k)."""
        parts = []
        for name in names:
            linear: nn.Linear = getattr(attention, name)
            scale = (linear.out_features // attention.heads) ** -0.5 if name == "to_query" else 1.0
            padding = self.values if name == "to_value" else self.keys
            parts.append(PaddedPart(linear.weight, linear.bias, padding, scale))
        return self._product(parts, self.width)

    def _linear(self, inputs: Padding, outputs: Padding, *linears: nn.Linear | None) -> Any:
        parts = [PaddedPart(one.weight, one.bias, outputs) for one in linears if one]
        return self._product(parts, inputs)

    @abstractmethod
    def _norm(self, norm: nn.Module) -> Any:
        """Of an identity, at the end of a post-norm stack, nothing."""

    @abstractmethod
    def _product(self, parts: Sequence[PaddedPart], inputs: Padding) -> Any:
        """Of products of one input, side by side."""


class Packed(PaddedTransformer):
    """A model as the engine reads it: structures that point into arrays, and the arrays."""

    layer_structure = LayerStruct

    def __init__(
        self, model: "Transformer", engine: EngineLibrary, precision: ProductPrecision = "fp32"
    ) -> None:
        """Copies of the weights as they are now, those of products in `precision`."""
        super().__init__(model, engine.panel, engine.width)
        self.engine, self.precision = engine, precision
        self.arrays: list[Numbers] = []
        source, source_rows = self._table(model.source_positions)
        target, target_rows = self._table(model.target_positions)
        self.longest = min(source_rows or MOST_TOKENS, target_rows or MOST_TOKENS)
        self.n_tokens = len(model.output_weight)
        shared = model.target_embedding.weight
        embedded = self._rows(shared)

        def rows(weight: Tensor) -> int:
            return embedded if weight is shared else self._rows(weight)

        self.encoder, self.decoder = self._layers(model.encoder), self._layers(model.decoder)
        self.structure = Model(
            alignment_layer=alignment_layer(len(model.decoder)),
            source_positions=source_rows, target_positions=target_rows,
            source_embedding=rows(model.source_embedding.weight), target_embedding=embedded,
            source_table=source, target_table=target, output_rows=rows(model.output_weight),
            encoder=self.encoder, decoder=self.decoder,
            encoder_norm=self._norm(model.encoder_norm),
            decoder_norm=self._norm(model.decoder_norm),
            vocabulary=self._vocabulary(model.output_weight, model.output_bias), **self.sizes,
        )  # fmt: skip

    @cached_property
    def n_bytes(self) -> int:
        """Of all arrays."""
        return sum(array.nbytes for array in self.arrays)

    def _kept(self, array: Numbers) -> int:
        """Where an array is that is kept as long as this."""
        self.arrays.append(placed(array))
        return int(self.arrays[-1].ctypes.data)

    def _rows(self, weight: Tensor) -> int:
        return self._kept(self.width.padded(numbers(weight).T).T)

    def _table(self, positions: nn.Module) -> tuple[int | None, int]:
        """Where a table of positions is and how long; none for none."""
        table: Tensor | None = getattr(positions, "table", None)
        if table is None:
            return None, 0
        if type(positions) is SinusoidalPositions:
            table = sinusoids(MOST_POSITIONS, table.shape[1])
        return self._rows(table), len(table)

    def _norm(self, norm: nn.Module) -> Norm:
        places = [self._kept(self.width.padded(numbers(one))) for one in norm.parameters()]
        return Norm(*places)

    def _product(self, parts: Sequence[PaddedPart], inputs: Padding) -> Matrix:
        weights, biases = [], []
        for weight, bias, outputs, scale in parts:
            weights.append(inputs.padded(outputs.padded(scale * numbers(weight)).T).T)
            biases.append(outputs.padded(scale * numbers(bias)))
        return self._panels(np.concatenate(weights), np.concatenate(biases))

    def _panels(self, weight: Floats, bias: Floats) -> Matrix:
        structure, arrays = packed(weight, bias, self.engine.panel, self.precision)
        self.arrays += arrays
        return structure

    def _vocabulary(self, weight: Tensor, bias: Tensor | None) -> Matrix:
        """What pads it can never be chosen, and adds nothing to a sum of exponentials."""
        outputs = Padding(up_to(self.n_tokens, self.engine.panel))
        biases = np.full(outputs.total, -math.inf, np.float32)
        biases[: self.n_tokens] = 0 if bias is None else numbers(bias)
        return self._panels(self.width.padded(outputs.padded(numbers(weight)).T).T, biases)


def up_to(size: int, multiple: int) -> int:
    """`size` rounded up to a multiple."""
    return -(-size // multiple) * multiple


def row_of(size: int, panel: int) -> int:
    """`size` rounded up to a multiple of `panel`, and a panel more where rows of floats would then
    lie whole pages apart: a cache holds only a few numbers at one place of a page, and a tile of a
    product reads a number of each of its rows."""
    total = up_to(size, panel)
    return total + panel if total % PAGE == 0 else total


def numbers(tensor: Tensor) -> Floats:
    """A parameter's values."""
    found: Floats = tensor.detach().to(torch.float32).numpy()
    return found
