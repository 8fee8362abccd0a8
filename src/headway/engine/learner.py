"""A Transformer's parameters as the training step in C reads them, and their gradients' places."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from headway.core.attention import MultiHeadAttention
from headway.core.embedding import SinusoidalPositions, sinusoids
from headway.core.layers import Layer
from headway.core.runtime import ProductPrecision
from headway.engine.building import Matrix
from headway.engine.packing import (
    ACTIVATIONS,
    KINDS,
    Numbers,
    Padding,
    aligned,
    placed,
    up_to,
    zeros,
)
from headway.engine.training_library import (
    Blocks,
    LearnedInput,
    LearnedLayer,
    LearnedNorm,
    LearnedParameter,
    LearnedWeight,
    Learner,
    TrainingLibrary,
)

if TYPE_CHECKING:
    from headway.core.transformer import Transformer

ONE = Padding(1)
"""The rows of a vector."""
FEW_POSITIONS = 512


class LearnedModel:
    """Structures that point into a model's parameters, and the arrays that are packed from them.

    All numbers that are learned, with zeros up to whole panels, make one long vector: a thread's
    gradients are as long.
    """

    def __init__(
        self, model: "Transformer", library: TrainingLibrary, precision: ProductPrecision
    ) -> None:
        self.model, self.library, self.kind = model, library, KINDS[precision]
        self.arrays: list[Numbers] = []
        self.sinusoids = torch.empty(0)
        self.n_numbers = self.most_inputs = 0
        self.tensors: list[Tensor] = []
        self.parameters: list[LearnedParameter] = []
        self.places: dict[int, int] = {}
        config, panel, heads = model.config, library.panel, model.config.heads
        key, value = (up_to(n, library.width) for n in (config.key_size, config.value_size))
        self.keys = Padding(up_to(heads * key, panel), heads, key)
        self.values = Padding(up_to(heads * value, panel), heads, value)
        self.width = Padding(up_to(config.d_model, panel))
        self.inner = Padding(up_to(config.d_ff, panel))
        ones = zeros(self.width.total)
        ones[: config.d_model] = 1
        vocabulary = self._vocabulary(model.output_weight, model.output_bias)
        encoder, decoder = (
            list(map(self._layer, model.encoder)),
            list(map(self._layer, model.decoder)),
        )
        self.encoder = (LearnedLayer * len(encoder))(*encoder)
        self.decoder = (LearnedLayer * len(decoder))(*decoder)
        self.structure = Learner(
            d_model=config.d_model, width=self.width.total, heads=heads, key=key, value=value,
            keys=self.keys.total, values=self.values.total, inner=self.inner.total,
            activation=ACTIVATIONS[config.activation], norm_first=config.norm == "pre",
            encoder_layers=len(encoder), decoder_layers=len(decoder), kind=self.kind,
            n_tokens=len(model.output_weight), padding=model.padding,
            embedding_scale=model.target_embedding.scale, epsilon=config.layer_norm_epsilon,
            ones=self._kept(ones), encoder=self.encoder, decoder=self.decoder,
            encoder_norm=self._norm(model.encoder_norm),
            decoder_norm=self._norm(model.decoder_norm),
            source=self._input(model.source_embedding, model.source_positions),
            target=self._input(model.target_embedding, model.target_positions),
            vocabulary=vocabulary,
        )  # fmt: skip
        self.array = (LearnedParameter * len(self.parameters))(*self.parameters)
        self.structure.parameters = self.array
        self.structure.n_parameters, self.structure.n_numbers = len(self.array), self.n_numbers

    def refresh(self, longest: int) -> None:
        """Look up where the parameters are now; positions are needed up to `longest`."""
        for entry, tensor in zip(self.array, self.tensors, strict=True):
            entry.values = tensor.data_ptr()
        model = self.model
        for side, embedding, positions in (
            (self.structure.source, model.source_embedding, model.source_positions),
            (self.structure.target, model.target_embedding, model.target_positions),
        ):
            side.embedding, side.table = (
                embedding.weight.data_ptr(),
                self._table(positions, longest),
            )

    def point_at_gradients(self) -> None:
        """Where they are now; parameters without get zeros."""
        for entry, tensor in zip(self.array, self.tensors, strict=True):
            if tensor.grad is None:
                tensor.grad = tensor.new_zeros(tensor.shape)
            entry.gradient = tensor.grad.data_ptr()

    def _table(self, positions: nn.Module, longest: int) -> int | None:
        if type(positions) is not SinusoidalPositions:
            table: Tensor | None = getattr(positions, "table", None)
            return None if table is None else table.data_ptr()
        if len(self.sinusoids) < longest:
            n = max(FEW_POSITIONS, 2 * longest)
            self.sinusoids = sinusoids(n, self.model.config.d_model).contiguous()
        return self.sinusoids.data_ptr()

    def _kept(self, array: Numbers) -> int:
        self.arrays.append(placed(array))
        return int(self.arrays[-1].ctypes.data)

    def _take(self, n: int) -> int:
        """A place for n numbers more."""
        self.n_numbers += n
        return self.n_numbers - n

    def _parameter(
        self, tensor: Tensor, rows: Padding, columns: Padding, at: int, **more: Any
    ) -> None:
        n_rows = len(tensor) if tensor.dim() > 1 else 1
        n_columns = tensor.shape[-1]
        self.places[id(tensor)] = at
        self.tensors.append(tensor)
        self.parameters.append(
            LearnedParameter(
                rows=blocks(rows, n_rows), columns=blocks(columns, n_columns), at=at,
                stride=columns.total, **{"scale": 1.0, **more},
            )
        )  # fmt: skip

    def _vector(self, parts: Sequence[tuple[Tensor, Padding, float]]) -> tuple[int, int]:
        """Vectors one behind another: where their padded copy is, and their place."""
        total = sum(padding.total for _, padding, _ in parts)
        copy, at, done = self._kept(zeros(total)), self._take(total), 0
        for tensor, padding, scale in parts:
            where = {"padded": copy + 4 * done, "scale": scale}
            self._parameter(tensor, ONE, padding, at + done, **where)
            done += padding.total
        return copy, at

    def _norm(self, norm: nn.Module) -> LearnedNorm:
        """Of an identity, at the end of a post-norm stack, nothing."""
        found = [self._vector([(one, self.width, 1.0)]) for one in norm.parameters()]
        if not found:
            return LearnedNorm()
        (gain, gain_at), (shift, shift_at) = found
        return LearnedNorm(gain=gain, shift=shift, gain_at=gain_at, shift_at=shift_at)

    def _weight(
        self,
        parts: Sequence[tuple[Tensor, Padding, float]],
        inputs: Padding,
        bias: tuple[int, int],
        chunk: int = 0,
    ) -> LearnedWeight:
        """Matrices one below another, `[outputs, inputs]`; `bias` is what `_vector` gave."""
        outputs = sum(padding.total for _, padding, _ in parts)
        at, done, first = self._take(outputs * inputs.total), 0, len(self.parameters)
        for tensor, padding, scale in parts:
            self._parameter(tensor, padding, inputs, at + done * inputs.total, scale=scale)
            done += padding.total
        n_bytes = outputs * inputs.total * (4 >> self.kind)
        forward, backward = aligned(n_bytes), aligned(n_bytes)
        self.arrays += [forward, backward]
        self.most_inputs = max(self.most_inputs, inputs.total)
        no_bias = self._kept(zeros(inputs.total))
        chunk = min(chunk or outputs, outputs)
        return LearnedWeight(
            first=first, n=len(parts), at=at, bias=bias[1], chunk=chunk,
            forward=Matrix(weights=forward.ctypes.data, bias=bias[0], starts=bias[0],
                           kind=self.kind, inputs=inputs.total, outputs=outputs),
            backward=Matrix(weights=backward.ctypes.data, bias=no_bias, starts=no_bias,
                            kind=self.kind, inputs=chunk, outputs=inputs.total),
        )  # fmt: skip

    def _linear(
        self, inputs: Padding, outputs: Padding, *linears: nn.Linear | None
    ) -> LearnedWeight:
        some = [one for one in linears if one]
        bias = self._vector([(one.bias, outputs, 1.0) for one in some])
        return self._weight([(one.weight, outputs, 1.0) for one in some], inputs, bias)

    def _heads(self, attention: MultiHeadAttention, *names: str) -> LearnedWeight:
        """Projections of d_model to all heads; a query's are divided by sqrt(d_k)."""
        linears = []
        for name in names:
            linear = getattr(attention, name)
            scale = (linear.out_features // attention.heads) ** -0.5 if name == "to_query" else 1.0
            linears.append((linear, self.values if name == "to_value" else self.keys, scale))
        bias = self._vector([(linear.bias, *rest) for linear, *rest in linears])
        weights = [(linear.weight, *rest) for linear, *rest in linears]
        return self._weight(weights, self.width, bias)

    def _layer(self, layer: Layer) -> LearnedLayer:
        own, forward, width = layer.self_attention, layer.feed_forward, self.width
        found = LearnedLayer(
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

    def _vocabulary(self, weight: Tensor, bias: Tensor | None) -> LearnedWeight:
        outputs = Padding(up_to(len(weight), self.library.panel))
        added = (self._kept(zeros(outputs.total)), -1)
        if bias is not None:
            added = self._vector([(bias, outputs, 1.0)])
        return self._weight([(weight, outputs, 1.0)], self.width, added, self.library.columns)

    def _input(self, embedding: nn.Embedding, positions: nn.Module) -> LearnedInput:
        table = getattr(positions, "table", None)
        table_at = self._rows(table) if isinstance(table, nn.Parameter) else -1
        return LearnedInput(embedding_at=self._rows(embedding.weight), table_at=table_at)

    def _rows(self, table: Tensor) -> int:
        """The place of vectors of d_model; what has one is not given another."""
        if id(table) not in self.places:
            n_rows, at = Padding(len(table)), self._take(len(table) * self.width.total)
            self._parameter(table, n_rows, self.width, at)
        return self.places[id(table)]


def blocks(padding: Padding, size: int) -> Blocks:
    """As the C code counts them: `size` numbers in all."""
    n = padding.n_blocks
    return Blocks(n, size // n, padding.block or padding.total)
