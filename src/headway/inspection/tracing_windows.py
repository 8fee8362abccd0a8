"""What is noted of models that see a stretch of the text at once, with the formula of each.

Convolutional ones have `decoder.0.cross` with one head as well, and of each gated convolution what
it lets pass, `[length, d_model]`:

    encoder.0.values, encoder.0.gate, encoder.0.output    values * gate is added to what went in
    decoder.0.values, decoder.0.gate, decoder.0.convolved, and decoder.0.output behind the look

The neural model of n words has `decoder.context`, their vectors side by side, and `decoder.hidden`.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

from torch import Tensor, nn

from headway.earlier_translators.bytenet import Block, ByteNet
from headway.earlier_translators.convolution import HALF, Convolution, GatedBlock
from headway.earlier_translators.convolutional import Convolutional, StepAttention
from headway.inspection.formulas import Mapped, embedded, map_of, note_entry, used_in
from headway.inspection.tensor_recorder import TensorRecorder
from headway.language_models.nnlm import Nnlm


def convolved(
    convolution: Convolution, x: str, weight: Tensor, bias: Tensor, real: Tensor | None
) -> Mapped:
    """A convolution of x, with some rows of its weight; `real` is where x counts."""
    which = "behind" if convolution.causal else "around"
    x = x if real is None or bool(real.all()) else f"{x} ∘ r"
    k = convolution.reach // convolution.dilation + 1
    where = {"W": weight, "b": bias, "k": k, "d": convolution.dilation, "r": "encoder.real"}
    text = f"{which}({x}, k, d) · Wᵀ + b"
    return Mapped(text, used_in(text, where))


def watch_gated(notes: TensorRecorder, name: str, block: GatedBlock) -> None:
    """What passes, how much of it, and what comes out with what went in."""
    end = "convolved" if name.endswith(".block") else "output"
    name = name.removesuffix(".block")
    mix = block.convolution.mix
    halves = [*zip(mix.weight.chunk(2), mix.bias.chunk(2), strict=True)]

    def look(given: tuple[Any, ...], mixed: Tensor) -> None:
        values, gate = mixed.chunk(2, dim=-1)
        x, real = (*given, None)[:2]
        of_values, of_gate = (convolved(block.convolution, "x", *half, real) for half in halves)
        notes.note(f"{name}.values", values, of_values.text, {"x": x, **of_values.where})
        notes.note(f"{name}.gate", gate.sigmoid(), f"σ({of_gate.text})", {"x": x, **of_gate.where})

    def look_behind(given: tuple[Any, ...], output: Tensor) -> None:
        where = {"x": given[0], "v": f"{name}.values", "g": f"{name}.gate"}
        notes.note(f"{name}.{end}", output, "(x + v ∘ g) / √2", where)

    notes.watch(block.convolution, look)
    notes.watch(block, look_behind)


def watch_look(notes: TensorRecorder, name: str, attention: StepAttention) -> None:
    """A look at the source: the scores are not divided by sqrt(d)."""
    name = name.removesuffix(".attention")
    parts = ("query", "key", "value", "scores", "weights", "heads")
    cross = {letter: f"{name}.cross.{part}" for letter, part in zip("QKVSAZ", parts, strict=True)}
    to_query, to_output = map_of(attention.to_query), map_of(attention.to_output, "joined(Z)")

    def look(given: tuple[Any, ...], found: tuple[Tensor, Tensor]) -> None:
        x, fed, memory = given
        query, target = (attention.to_query(x) + fed) * HALF, embedded(notes, "target")
        text = f"heads(({to_query.text} + {target.text}) / √2, 1)"
        notes.note(cross["Q"], query[:, None], text, {"x": x, **to_query.where, **target.where})
        notes.note(cross["K"], memory.keys[:, None], "heads(z, 1)", {"z": "encoder.output"})
        source = embedded(notes, "source")
        text, where = f"(K + heads({source.text}, 1)) / √2", {"K": cross["K"], **source.where}
        notes.note(cross["V"], memory.values[:, None], text, where)
        scores = (query @ memory.keys.transpose(1, 2))[:, None]
        notes.note(cross["S"], scores, "Q · Kᵀ", {one: cross[one] for one in "QK"})
        notes.note(cross["A"], found[1], "softmax(S)", {"S": cross["S"]})
        where = {"n": len(memory.keys[0]), "A": cross["A"], "V": cross["V"]}
        notes.follows(cross["Z"], "A · V ∘ √n", where)
        where = {"x": x, "Z": cross["Z"], **to_output.where}
        notes.note(f"{name}.output", found[0], f"(x + {to_output.text}) / √2", where)

    notes.watch(attention, look)
    notes.watch(attention.to_output, lambda given, _: notes.note(cross["Z"], given[0][:, None]))


def watch_entries(notes: TensorRecorder, _: str, model: Convolutional) -> None:
    """What goes into the first layers."""
    for stack, side in (("encoder", "source"), ("decoder", "target")):
        linear = getattr(model, f"into_{stack}")
        notes.watch(linear, partial(_note_entry_of, notes, f"{stack}.entry", side, linear))


def _note_entry_of(
    notes: TensorRecorder,
    name: str,
    side: str,
    linear: nn.Linear,
    _: tuple[Any, ...],
    output: Tensor,
) -> None:
    given = embedded(notes, side)
    entry = map_of(linear, f"({given.text})")
    notes.note(name, output, entry.text, {**given.where, **entry.where})


def watch_block(notes: TensorRecorder, name: str, block: Block) -> None:
    """What goes into the dilated convolution, what it makes of it, and what comes out of the
    block."""
    norm = map_of(block.norm, "x", "_1")
    before = map_of(block.to_inner, f"max(0, {norm.text})", "_2")
    inner = map_of(block.inner_norm, before.text, "_3")
    output_norm = map_of(block.output_norm, "y", "_1")
    output = map_of(block.to_output, f"max(0, {output_norm.text})", "_2")
    mix = block.convolution.mix

    def look(given: tuple[Any, ...], y: Tensor) -> None:
        notes.note(f"{name}.inner", given[0])
        real = (*given, None)[1]
        made = convolved(block.convolution, "inner", mix.weight, mix.bias, real)
        notes.note(f"{name}.convolved", y, made.text, {"inner": f"{name}.inner", **made.where})

    def look_behind(given: tuple[Any, ...], found: Tensor) -> None:
        x = {"x": given[0]}
        where = {**x, **norm.where, **before.where, **inner.where}
        notes.follows(f"{name}.inner", f"max(0, {inner.text})", where)
        where = {**x, "y": f"{name}.convolved", **output_norm.where, **output.where}
        notes.note(f"{name}.output", found, f"x + {output.text}", where)

    notes.watch(block.convolution, look)
    notes.watch(block, look_behind)


def watch_bytenet(notes: TensorRecorder, _: str, model: ByteNet) -> None:
    """How the decoder's stack stands upon the encoder's, and where its features come from."""

    def enter(x: Tensor, real: Tensor) -> None:
        notes.note("encoder.real", real)
        note_entry(notes, "encoder.entry", x)

    def enter_decoder(x: Tensor) -> None:
        where = {"e": "target.embedding", "z": "encoder.output", "r": "encoder.real"}
        notes.note("decoder.entry", x, "e + fitted(z ∘ r, m)", {**where, "m": x.shape[1]})

    def end(*_: Any) -> None:
        features = map_of(model.to_features, "max(0, x)")
        notes.follows("decoder.output", features.text, {"x": "decoder.normed", **features.where})

    notes.watch_before(model.encoder[0], enter)
    notes.watch_before(model.decoder[0], enter_decoder)
    notes.watch(model, end)


def watch_nnlm(notes: TensorRecorder, _: str, model: Nnlm) -> None:
    """Equation 1 of Bengio et al. 2003."""
    n = model.config.d_hidden
    to_hidden = map_of(model.to_hidden)
    text = "h · Uᵀ"
    where: dict[str, Any] = {"h": "decoder.hidden", "U": model.output_weight[:, :n]}
    if model.config.direct:
        text = f"{text} + x · Wᵀ"
        where |= {"x": "decoder.context", "W": model.output_weight[:, n:]}
    where |= {"b": model.output_bias}

    def look(given: tuple[Any, ...], output: Tensor) -> None:
        context = {"e": "target.embedding", "n": model.config.order - 1}
        notes.note("decoder.context", given[0], "window(e, n)", context)
        hidden = {"x": "decoder.context", **to_hidden.where}
        notes.note("decoder.hidden", output.tanh(), f"tanh({to_hidden.text})", hidden)

    notes.watch(model.to_hidden, look)
    notes.watch(model, lambda _, logits: notes.note("logits", logits, f"{text} + b", where))


WINDOW_BRICKS: dict[type, Callable[[TensorRecorder, str, Any], None]] = {
    GatedBlock: watch_gated,
    StepAttention: watch_look,
    Convolutional: watch_entries,
    Block: watch_block,
    ByteNet: watch_bytenet,
    Nnlm: watch_nnlm,
}
