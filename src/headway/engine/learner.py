"""A Transformer's parameters as the training step in C reads them, and their gradients' places: the
structures of `learner.h`, field by field, and the library."""

import ctypes
import functools
from collections.abc import Sequence
from ctypes import POINTER
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor, nn

from headway.core.embedding import SinusoidalPositions, sinusoids
from headway.core.runtime import ProductPrecision
from headway.engine.building import Matrix, all_of, opened_library
from headway.engine.compiling import cached_library
from headway.engine.packing import (
    KINDS,
    Numbers,
    PaddedPart,
    PaddedTransformer,
    Padding,
    aligned,
    placed,
    up_to,
    zeros,
)

if TYPE_CHECKING:
    from headway.core.transformer import Transformer

ONE = Padding(1)  # the rows of a vector
_pointer, _int, _float = ctypes.c_void_p, ctypes.c_int64, ctypes.c_float


class Blocks(ctypes.Structure):
    """Numbers in blocks, each with zeros behind it."""

    _fields_ = all_of(_int, "n size padded")


class LearnedParameter(ctypes.Structure):
    """`parameter`: one of the model's, and where it is among all numbers."""

    _fields_ = (
        *all_of(_pointer, "values gradient padded"),
        *all_of(Blocks, "rows columns"),
        *all_of(_int, "at stride"),
        ("scale", _float),
    )


class LearnedWeight(ctypes.Structure):
    """`weight`: of one product."""

    _fields_ = (*all_of(_int, "first n at bias chunk"), *all_of(Matrix, "forward backward"))


class LearnedNorm(ctypes.Structure):
    """`learned_norm`: a LayerNorm."""

    _fields_ = (*all_of(_pointer, "gain shift"), *all_of(_int, "gain_at shift_at"))


class LearnedLayer(ctypes.Structure):
    """`learned_layer`: one of encoder or decoder."""

    _fields_ = (
        *all_of(LearnedWeight, "self_projections self_output"),
        *all_of(LearnedWeight, "cross_query cross_memory cross_output inner outer"),
        *all_of(LearnedNorm, "around_self around_cross around_feed_forward"),
    )


class LearnedInput(ctypes.Structure):
    """`learned_input`: embeddings and positions of one side."""

    _fields_ = (*all_of(_pointer, "embedding table"), *all_of(_int, "embedding_at table_at"))


class LearnerStruct(ctypes.Structure):
    """A whole Transformer."""

    _fields_ = (
        *all_of(_int, "d_model width heads key value keys values inner"),
        *all_of(_int, "activation norm_first encoder_layers decoder_layers n_tokens kind"),
        *all_of(_int, "padding n_numbers n_parameters"),
        *all_of(_float, "embedding_scale epsilon"),
        *all_of(POINTER(LearnedParameter), "parameters"),
        *all_of(_pointer, "ones"),
        *all_of(POINTER(LearnedLayer), "encoder decoder"),
        *all_of(LearnedNorm, "encoder_norm decoder_norm"),
        *all_of(LearnedInput, "source target"),
        ("vocabulary", LearnedWeight),
    )


class PairsStruct(ctypes.Structure):
    """Sentences to learn from."""

    _fields_ = (
        *all_of(_pointer, "read fed expected source_first target_first numbers"),
        ("seed", ctypes.c_uint64),
        *all_of(_float, "dropout attention_dropout activation_dropout smoothing"),
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
    """This processor's; raises `NoEngineError`, which says why not, and `LevelError`."""
    return cached_library("training", opened_training)


def opened_training(file: Path) -> TrainingLibrary:
    """A library that was compiled before; raises DataError for what is none, or another one."""
    learner, pairs = POINTER(LearnerStruct), POINTER(PairsStruct)
    takes: dict[str, tuple[Any, list[Any]]] = {
        "pack": (None, [learner, _int, _int, _pointer]),
        "room": (_int, [learner, pairs, _int, _int]),
        "learn": (ctypes.c_double, [learner, pairs, _int, _int, _pointer, _pointer]),
        "sum": (None, [learner, _pointer, _int, _float, _int, _int]),
    }
    n_sizes = len(TrainingLibrary._fields) - 1
    return TrainingLibrary(*opened_library(file, "headway_training", takes, n_sizes))


class LearnedModel(PaddedTransformer):
    """Structures that point into a model's parameters, and the arrays that are packed from them.

    What is learned, with zeros up to whole panels, is one long vector; so are gradients.
    """

    layer_structure = LearnedLayer

    def __init__(
        self, model: "Transformer", library: TrainingLibrary, precision: ProductPrecision
    ) -> None:
        super().__init__(model, library.panel, library.width)
        self.model, self.library, self.kind = model, library, KINDS[precision]
        self.arrays: list[Numbers] = []
        self.sinusoids = torch.empty(0)
        self.n_numbers = self.most_inputs = 0
        self.tensors: list[Tensor] = []
        self.parameters: list[LearnedParameter] = []
        self.places: dict[int, int] = {}
        ones = zeros(self.width.total)
        ones[: model.config.d_model] = 1
        vocabulary = self._vocabulary(model.output_weight, model.output_bias)
        self.encoder, self.decoder = self._layers(model.encoder), self._layers(model.decoder)
        self.structure = LearnerStruct(
            kind=self.kind, padding=model.padding, ones=self._kept(ones),
            encoder=self.encoder, decoder=self.decoder,
            encoder_norm=self._norm(model.encoder_norm),
            decoder_norm=self._norm(model.decoder_norm),
            source=self._input(model.source_embedding, model.source_positions),
            target=self._input(model.target_embedding, model.target_positions),
            vocabulary=vocabulary, **self.sizes,
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
            side.embedding = embedding.weight.data_ptr()
            side.table = self._table(positions, longest)

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
            self.sinusoids = sinusoids(2 * longest, self.model.config.d_model).contiguous()
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
        n_rows, n_columns = tensor.view(-1, tensor.shape[-1]).shape
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
            to = copy + done * tensor.itemsize
            self._parameter(tensor, ONE, padding, at + done, padded=to, scale=scale)
            done += padding.total
        return copy, at

    def _norm(self, norm: nn.Module) -> LearnedNorm:
        found = [self._vector([(one, self.width, 1.0)]) for one in norm.parameters()]
        if not found:
            return LearnedNorm()
        (gain, gain_at), (shift, shift_at) = found
        return LearnedNorm(gain=gain, shift=shift, gain_at=gain_at, shift_at=shift_at)

    def _product(self, parts: Sequence[PaddedPart], inputs: Padding) -> LearnedWeight:
        bias = self._vector([(one.bias, one.outputs, one.scale) for one in parts])
        return self._weight([(one.weight, one.outputs, one.scale) for one in parts], inputs, bias)

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
        no_bias, chunk = self._kept(zeros(inputs.total)), min(chunk or outputs, outputs)
        return LearnedWeight(
            first=first, n=len(parts), at=at, bias=bias[1], chunk=chunk,
            forward=Matrix(weights=forward.ctypes.data, bias=bias[0],
                           kind=self.kind, inputs=inputs.total, outputs=outputs),
            backward=Matrix(weights=backward.ctypes.data, bias=no_bias,
                            kind=self.kind, inputs=chunk, outputs=inputs.total),
        )  # fmt: skip

    def _vocabulary(self, weight: Tensor, bias: Tensor | None) -> LearnedWeight:
        outputs = Padding(up_to(len(weight), self.library.panel))
        none = (self._kept(zeros(outputs.total)), -1)
        added = none if bias is None else self._vector([(bias, outputs, 1.0)])
        return self._weight([(weight, outputs, 1.0)], self.width, added, self.library.columns)

    def _input(self, embedding: nn.Embedding, positions: nn.Module) -> LearnedInput:
        table = getattr(positions, "table", None)
        table_at = self._rows(table) if isinstance(table, nn.Parameter) else -1
        return LearnedInput(embedding_at=self._rows(embedding.weight), table_at=table_at)

    def _rows(self, table: Tensor) -> int:
        """The place of vectors of d_model; what has one is not given another."""
        if id(table) not in self.places:
            at = self._take(len(table) * self.width.total)
            self._parameter(table, Padding(len(table)), self.width, at)
        return self.places[id(table)]


def blocks(padding: Padding, size: int) -> Blocks:
    """As the C code counts them: `size` numbers in all."""
    n = padding.n_blocks
    return Blocks(n, size // n, padding.block or padding.total)
