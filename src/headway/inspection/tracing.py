"""Every tensor of one pass of a model, by name; the models themselves know nothing of it.

Modules are watched while they run. Names are those of a Transformer, as far as a model has the
same things; layers and heads are counted from 0, and there is no batch axis:

    source.ids, source.embedding, source.positions, encoder.input, encoder.output, logits
    encoder.0.self.query, .key, .value        [heads, length, d]
    encoder.0.self.scores, .visible, .weights [heads, query, key], visible [query, key]
    encoder.0.self.heads                      [heads, length, d_v]
    encoder.0.self.output, .residual, .normed [length, d_model]
    encoder.0.feed_forward.inner, .output, .residual, .normed
    encoder.0.output

and so for target and decoder, whose layers have `cross` as well. Queries and keys are as they are
compared: turned, where positions are rotary. `scores` are those before the mask; `residual` is what
went in + output; `normed` is a LayerNorm's output: in post-norm of the residual, in pre-norm of
what goes in. What a model has not got has no name. Of models of another make there are embeddings,
last vectors, logits, and the attention that they give: `decoder.0.cross.weights`.
"""

from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from functools import partial
from typing import Any, NamedTuple, Self, cast

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from headway.core.attention import MultiHeadAttention, ReadyMask
from headway.core.errors import ConfigError
from headway.core.interfaces import Seq2Seq
from headway.core.layers import Layer, Residual, Stack
from headway.nn.attention_weights import AttentionModel
from headway.nn.positions import PositionedAttention
from headway.nn.windowed import WindowedAttention, band

Array = np.ndarray[Any, np.dtype[Any]]


class TensorRecorder:
    """Tensors of one pass of one text. A context: behind it nothing is watched any more."""

    def __init__(self) -> None:
        self.tensors: dict[str, Array] = {}
        self._open = ExitStack()

    def __enter__(self) -> Self:
        """Nothing is watched yet."""
        return self

    def __exit__(self, *_: object) -> None:
        """All is as it was."""
        self._open.close()

    def watch(self, module: nn.Module, look: Callable[[tuple[Any, ...], Any], None]) -> None:
        """Call `look(what went in, what came out)` whenever the module has run."""
        hook = module.register_forward_hook(lambda _, given, output: look(given, output))
        self._open.enter_context(hook)

    def watch_output(self, module: nn.Module, name: str) -> None:
        """Note what it gives whenever it has run."""
        self.watch(module, lambda _, output: self.note(name, output))

    def watch_before(self, module: nn.Module, look: Callable[..., None]) -> None:
        """Call `look(*what goes in)` whenever the module is about to run."""
        self._open.enter_context(module.register_forward_pre_hook(lambda _, given: look(*given)))

    def note(self, name: str, tensor: Tensor) -> None:
        """A tensor with its batch axis, of one row, which is taken off; what had the name before is
        forgotten."""
        assert len(tensor) == 1, f"one text at a time is traced; got a batch of {len(tensor)}"
        row = tensor[0].detach()
        exact = row if row.dtype == torch.bool else row.float()
        self.tensors[name] = exact.cpu().numpy().copy()


class Traced(NamedTuple):
    """One pass, looked at."""

    tensors: dict[str, Array]
    """In float32, or of bool; on the CPU."""
    logits: Float[Tensor, "1 target vocabulary"]
    """As the model gave them."""


@torch.inference_mode()
def traced(model: nn.Module, source: Sequence[int], fed: Sequence[int]) -> Traced:
    """Read `source` (the end marker included), then `fed` (the begin marker first), in one pass.

    `source` is empty under a language model. The model is as it was behind it, and its numbers are
    those of any other pass; it should not be in training mode. Raises ConfigError for one that has
    no weights.
    """
    weights = next(model.parameters(), None)
    if weights is None:
        raise ConfigError(
            "tensors are those of a model that has learned weights; this one has none, as it was "
            "counted. Take a run of another type."
        )
    device = weights.device
    notes = TensorRecorder()
    rows = [torch.tensor([ids], device=device) for ids in (source, fed) if len(ids)]
    with notes:
        for path, module in model.named_modules():
            name = path.replace("stack", "decoder", 1) if path.startswith("stack") else path
            if isinstance(module, Stack):
                notes.watch_before(module, partial(note_input, notes, name))
            elif isinstance(module, Layer):
                watch_layer(notes, name, module)
        watch_ends(notes, model, rows)
        logits = _logits(model, rows)
    notes.note("logits", logits)
    if isinstance(model, AttentionModel) and not any(
        name.endswith(".weights") for name in notes.tensors
    ):
        with suppress(ConfigError):  # where its settings leave attention out
            for n, weights in enumerate(model.look(*rows).cross):
                notes.note(f"decoder.{n}.cross.weights", weights)
    return Traced(notes.tensors, logits)


def _logits(model: nn.Module, rows: Sequence[Tensor]) -> Tensor:
    """Those of a model that is called, or that has what training asks for alone."""
    if type(model).forward is not nn.Module.forward:
        found: Tensor = model(*rows)
        return found
    seq2seq = cast(Seq2Seq, model)
    return F.linear(seq2seq.features(*rows), seq2seq.output_weight, seq2seq.output_bias)


# -- bricks of the Transformer ----------------------------------------------------------------


def note_input(notes: TensorRecorder, name: str, x: Tensor, *_: object) -> None:
    """What goes into the first layer of a stack."""
    notes.note(f"{name}.input", x)


def watch_layer(notes: TensorRecorder, name: str, layer: Layer) -> None:
    """Its sub-layers, each with the connection around it, and what it gives."""
    watch_attention(notes, f"{name}.self", layer.self_attention)
    watch_residual(notes, f"{name}.self", layer.around_self_attention)
    if layer.cross_attention is not None and layer.around_cross_attention is not None:
        watch_attention(notes, f"{name}.cross", layer.cross_attention)
        watch_residual(notes, f"{name}.cross", layer.around_cross_attention)
    forward = layer.feed_forward
    if hasattr(forward, "to_output"):  # inside: behind the activation, and the gate if there is one
        inner = f"{name}.feed_forward.inner"
        notes.watch(forward.to_output, lambda given, _: notes.note(inner, given[0]))
        notes.watch_output(forward, f"{name}.feed_forward.output")
    watch_residual(notes, f"{name}.feed_forward", layer.around_feed_forward)
    notes.watch_output(layer, f"{name}.output")


def watch_attention(notes: TensorRecorder, name: str, attention: MultiHeadAttention) -> None:
    """Its numbers are computed once more from what went in; heads and output are what it gave."""

    def look(x: Tensor, memory: Tensor, mask: ReadyMask | None = None) -> None:
        if hasattr(attention, "to_query"):
            query, key, value = attention.projected(x, memory)
            bias = None
            if isinstance(attention, PositionedAttention):
                query, bias = attention.prepared(query, key)
            notes.note(f"{name}.query", query)
            notes.note(f"{name}.key", key)
            if not hasattr(attention, "to_score"):  # then no product of the two is a score
                scores = (query / query.shape[-1] ** 0.5) @ key.transpose(-2, -1)
                notes.note(f"{name}.scores", scores if bias is None else scores + bias.hidden)
        else:
            value = attention.split(attention.to_value(memory))
        notes.note(f"{name}.value", value)
        notes.note(f"{name}.visible", visible_to(attention, x, memory, mask)[:, 0])
        notes.note(f"{name}.weights", attention.weights(x, memory, mask))

    def look_behind(given: tuple[Any, ...], output: Tensor) -> None:
        notes.note(f"{name}.heads", attention.split(given[0]))
        notes.note(f"{name}.output", output)

    notes.watch_before(attention, look)
    notes.watch(attention.to_output, look_behind)


def visible_to(
    attention: MultiHeadAttention,
    x: Float[Tensor, "batch query d_model"],
    memory: Float[Tensor, "batch key d_model"],
    mask: ReadyMask | None,
) -> Bool[Tensor, "batch 1 query key"]:
    """Who may look at whom in a pass: what the mask says, and within the window."""
    shape = (len(x), 1, x.shape[1], memory.shape[1])
    visible = torch.ones(shape, dtype=torch.bool, device=x.device)
    if mask is not None:
        visible = visible & (mask.hidden == 0) & mask.sees_any
    if isinstance(attention, WindowedAttention):
        window, causal = attention.window, attention.causal
        near = band(x.shape[1], window, causal=causal, device=x.device)
        visible = visible & near
    return visible


def watch_residual(notes: TensorRecorder, name: str, around: Residual) -> None:
    """The sum and the norm; of a sub-layer that is not there, nothing.

    Where the connection was taken away the sum is the sub-layer's output alone.
    """
    if not hasattr(around, "norm"):
        return

    def look(given: tuple[Any, ...], output: Tensor) -> None:
        if not around.norm_first:
            notes.note(f"{name}.residual", given[0])
        notes.note(f"{name}.normed", output)

    def look_around(_: tuple[Any, ...], output: Tensor) -> None:
        if around.norm_first:
            notes.note(f"{name}.residual", output)

    notes.watch(around.norm, look)
    notes.watch(around, look_around)


# -- where text comes in and features come out ------------------------------------------------

ENDS = {
    "encoder": ("encoder_norm", "out_of_encoder", "from_source"),
    "decoder": ("decoder_norm", "norm", "to_features"),
}
"""Modules of a model, by their names in it, that give what a side ends with; where there are two of
them, the first gives `normed`."""


def watch_ends(notes: TensorRecorder, model: nn.Module, rows: Sequence[Int[Tensor, "1 _"]]) -> None:
    """Embeddings, positions, and the last vectors of each side; of a model of text alone, the
    text is its target."""
    sides = ("source", "target")[-len(rows) :]

    def look(given: tuple[Any, ...], output: Tensor) -> None:
        # Both sides may have one embedding, and either may come first.
        side = sides[0] if not torch.equal(given[0], rows[-1]) else "target"
        notes.note(f"{side}.ids", given[0])
        notes.note(f"{side}.embedding", output)

    names = ("embedding", *(f"{side}_embedding" for side in sides))
    for embedding in {getattr(model, name) for name in names if hasattr(model, name)}:
        notes.watch(embedding, look)
    for side in sides:
        positions = getattr(model, f"{side}_positions", None) or getattr(model, "positions", None)
        if positions is not None:
            watch_positions(notes, f"{side}.positions", positions)
    for side, names in ENDS.items():
        last = [getattr(model, name) for name in names if hasattr(model, name)]
        for module, end in zip(reversed(last), ("output", "normed"), strict=False):
            notes.watch_output(module, f"{side}.{end}")


def watch_positions(notes: TensorRecorder, name: str, positions: nn.Module) -> None:
    """What is added to the embeddings; nothing of a model that adds nothing."""

    def look(given: tuple[Any, ...], _: Tensor) -> None:
        added = positions.forward(torch.zeros_like(given[0]), *given[1:])
        if added.any():
            notes.note(name, added)

    notes.watch(positions, look)
