"""A Transformer's weights in the order in which the engine reads them."""

import math
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor, nn

from headway.core.attention import MultiHeadAttention
from headway.core.embedding import SinusoidalPositions, sinusoids
from headway.core.layers import Layer as TorchLayer
from headway.core.layers import alignment_layer
from headway.engine.building import EngineLibrary
from headway.engine.structures import (
    Floats,
    LayerStruct,
    Matrix,
    Model,
    Norm,
    Numbers,
    Precision,
    packed,
    zeros,
)

if TYPE_CHECKING:
    from headway.core.transformer import Transformer

ACTIVATIONS = {"relu": 0, "gelu": 1, "swiglu": 2, "swish": 3}
MOST_POSITIONS = 4096
"""Of the sinusoids' table, which has no end of its own."""


def up_to(size: int, multiple: int) -> int:
    """`size` rounded up to a multiple."""
    return -(-size // multiple) * multiple


class Packed:
    """A model as the engine reads it: structures that point into arrays, and the arrays."""

    def __init__(
        self, model: "Transformer", engine: EngineLibrary, precision: Precision = "fp32"
    ) -> None:
        """Copies of the weights as they are now, those of products in `precision`."""
        self.engine, self.precision = engine, precision
        self.arrays: list[Numbers] = []
        config, panel, width = model.config, engine.panel, engine.width
        self.key, self.value = up_to(config.key_size, width), up_to(config.value_size, width)
        self.heads = config.heads
        self.keys = up_to(self.heads * self.key, panel)
        self.values = up_to(self.heads * self.value, panel)
        self.width, self.inner = up_to(config.d_model, panel), up_to(config.d_ff, panel)
        source, source_rows = self._table(model.source_positions)
        target, target_rows = self._table(model.target_positions)
        self.longest = min(source_rows or 1 << 40, target_rows or 1 << 40)
        n_tokens = len(model.output_weight)
        embedded = self._rows(model.target_embedding.weight)
        tied = model.source_embedding is model.target_embedding
        self.encoder = (LayerStruct * len(model.encoder))(*map(self._layer, model.encoder))
        self.decoder = (LayerStruct * len(model.decoder))(*map(self._layer, model.decoder))
        self.structure = Model(
            d_model=config.d_model,
            width=self.width,
            heads=self.heads,
            key=self.key,
            value=self.value,
            keys=self.keys,
            values=self.values,
            inner=self.inner,
            activation=ACTIVATIONS[config.activation],
            norm_first=config.norm == "pre",
            encoder_layers=len(model.encoder),
            decoder_layers=len(model.decoder),
            alignment_layer=alignment_layer(len(model.decoder)),
            n_tokens=n_tokens,
            source_positions=source_rows,
            target_positions=target_rows,
            embedding_scale=model.target_embedding.scale,
            epsilon=config.layer_norm_epsilon,
            source_embedding=embedded if tied else self._rows(model.source_embedding.weight),
            target_embedding=embedded,
            source_table=source,
            target_table=target,
            output_rows=self._output_rows(model, embedded),
            encoder=self.encoder,
            decoder=self.decoder,
            encoder_norm=self._norm(model.encoder_norm),
            decoder_norm=self._norm(model.decoder_norm),
            vocabulary=self._vocabulary(model.output_weight, model.output_bias),
        )
        self.n_tokens = n_tokens

    @cached_property
    def n_bytes(self) -> int:
        """Of all arrays."""
        return sum(array.nbytes for array in self.arrays)

    def _kept(self, array: Numbers) -> int:
        self.arrays.append(array)
        return int(array.ctypes.data)

    def _rows(self, weight: Tensor) -> int:
        rows = zeros(len(weight), self.width)
        rows[:, : weight.shape[1]] = numbers(weight)
        return self._kept(rows)

    def _output_rows(self, model: "Transformer", embedded: int) -> int:
        """Those of the embedding, where it is the output's matrix too."""
        if model.output_weight is model.target_embedding.weight:
            return embedded
        return self._rows(model.output_weight)

    def _table(self, positions: nn.Module) -> tuple[int | None, int]:
        """Where a table of positions is and how long; none for none."""
        table: Tensor | None = getattr(positions, "table", None)
        if table is None:
            return None, 0
        if type(positions) is SinusoidalPositions:
            table = sinusoids(MOST_POSITIONS, table.shape[1])
        return self._rows(table), len(table)

    def _norm(self, norm: nn.Module) -> Norm:
        """Of an identity, at the end of a post-norm stack, nothing."""
        if not hasattr(norm, "weight"):
            return Norm()
        both = zeros(2, self.width)
        for row, parameter in zip(both, norm.parameters(), strict=True):
            row[: len(parameter)] = numbers(parameter)
        first = self._kept(both)
        return Norm(gain=first, shift=first + both[0].nbytes)

    def _matrix(self, weight: Floats, bias: Floats) -> Matrix:
        """Padded weights `[outputs, inputs]` in panels of outputs."""
        structure, arrays = packed(weight, bias, self.engine.panel, self.precision)
        self.arrays += arrays
        return structure

    def _from_heads(self, attention: MultiHeadAttention, names: Sequence[str]) -> Matrix:
        """Projections of d_model to all heads, side by side, each head padded."""
        weights, biases = [], []
        for name in names:
            linear = getattr(attention, name)
            size, padded = (
                (self.value, self.values) if name == "to_value" else (self.key, self.keys)
            )
            true = linear.out_features // self.heads
            scale = true**-0.5 if name == "to_query" else 1.0
            weight, bias = zeros(padded, self.width), zeros(padded)
            heads = weight[: self.heads * size].reshape(self.heads, size, self.width)
            heads[:, :true, : linear.in_features] = scale * numbers(linear.weight).reshape(
                self.heads, true, -1
            )
            bias[: self.heads * size].reshape(self.heads, size)[:, :true] = scale * numbers(
                linear.bias
            ).reshape(self.heads, true)
            weights.append(weight)
            biases.append(bias)
        joined = zeros(sum(map(len, biases)))
        joined[:] = np.concatenate(biases)
        return self._matrix(np.concatenate(weights), joined)

    def _to_output(self, linear: nn.Linear) -> Matrix:
        """All heads, each padded, back to d_model."""
        weight, bias = zeros(self.width, self.values), zeros(self.width)
        true = linear.in_features // self.heads
        heads = weight[:, : self.heads * self.value].reshape(self.width, self.heads, self.value)
        heads[: linear.out_features, :, :true] = numbers(linear.weight).reshape(
            -1, self.heads, true
        )
        weight[:, : self.heads * self.value] = heads.reshape(self.width, -1)
        bias[: linear.out_features] = numbers(linear.bias)
        return self._matrix(weight, bias)

    def _linear(self, parts: Sequence[nn.Linear], inputs: int, outputs: int) -> Matrix:
        """Products of one input side by side, each padded to `outputs`."""
        weight, bias = zeros(len(parts) * outputs, inputs), zeros(len(parts) * outputs)
        for n, part in enumerate(parts):
            rows = slice(n * outputs, n * outputs + part.out_features)
            weight[rows, : part.in_features] = numbers(part.weight)
            bias[rows] = numbers(part.bias)
        return self._matrix(weight, bias)

    def _layer(self, layer: TorchLayer) -> LayerStruct:
        own, forward = layer.self_attention, layer.feed_forward
        gated = [] if forward.to_gate is None else [forward.to_gate]
        found = LayerStruct(
            self_projections=self._from_heads(own, ("to_query", "to_key", "to_value")),
            self_output=self._to_output(own.to_output),
            inner=self._linear([forward.to_inner, *gated], self.width, self.inner),
            outer=self._linear([forward.to_output], self.inner, self.width),
            around_self=self._norm(layer.around_self_attention.norm),
            around_feed_forward=self._norm(layer.around_feed_forward.norm),
        )
        across, around = layer.cross_attention, layer.around_cross_attention
        if across is not None and around is not None:
            found.cross_query = self._from_heads(across, ("to_query",))
            found.cross_memory = self._from_heads(across, ("to_key", "to_value"))
            found.cross_output = self._to_output(across.to_output)
            found.around_cross = self._norm(around.norm)
        return found

    def _vocabulary(self, weight: Tensor, bias: Tensor | None) -> Matrix:
        """What pads it can never be chosen, and adds nothing to a sum of exponentials."""
        n_tokens, d_model = weight.shape
        outputs = up_to(n_tokens, self.engine.panel)
        padded, biases = zeros(outputs, self.width), zeros(outputs)
        padded[:n_tokens, :d_model] = numbers(weight)
        biases[n_tokens:] = -math.inf
        if bias is not None:
            biases[:n_tokens] = numbers(bias)
        return self._matrix(padded, biases)


def numbers(tensor: Tensor) -> np.ndarray[Any, np.dtype[np.float32]]:
    """A parameter's values."""
    found: np.ndarray[Any, np.dtype[np.float32]] = tensor.detach().to(torch.float32).numpy()
    return found
