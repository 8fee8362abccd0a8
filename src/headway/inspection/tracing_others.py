"""What is noted of models that are no Transformers: what they have, under honest names.

Recurrent layers have `hidden`, `cell` (LSTM) and gates at every step, `[length, d_model]`:

    encoder.0.from_left.hidden, encoder.0.from_right.hidden (in the order of the text)
    decoder.0.hidden, .cell, .input_gate, .forget_gate, .output_gate, .candidate   LSTM
    decoder.0.hidden, .reset_gate, .update_gate, .candidate                        GRU
    encoder.output, encoder.summary     the text, and as one vector
    decoder.cross.query, .key, .scores, .weights, .value, .heads     one head, beside all layers

Convolutional ones have `decoder.0.cross` with one head as well, and of each gated convolution what
it lets pass, `[length, d_model]`:

    encoder.0.values, encoder.0.gate, encoder.0.output    values * gate is added to what went in
    decoder.0.values, decoder.0.gate, decoder.0.convolved, and decoder.0.output behind the look

The neural model of n words has `decoder.context`, their vectors side by side, and `decoder.hidden`.
"""

import re
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from torch import Tensor, nn

from headway.inspection.notes import Notes
from headway.models.bytenet import Block, ByteNet
from headway.models.convolutional import Convolutional, StepAttention
from headway.models.nnlm import Nnlm
from headway.models.recurrent import RecurrentTranslator
from headway.nn.convolution import HALF, Convolution, GatedBlock
from headway.nn.recurrent import Memory, RecurrentLayer, RecurrentStack, elman, gru, lstm
from headway.nn.recurrent_attention import AdditiveScores, DotScores, Scores
from headway.nn.recurrent_decoders import (
    AttendingFirstDecoder,
    AttendingLastDecoder,
    Decoded,
    RecurrentDecoder,
)
from headway.nn.two_way import BothWays, TwoWayEncoder
from headway.nn.variants import BatchNorm


class Mapped(NamedTuple):
    """A formula and what its letters are, as `Notes.follows` takes them."""

    text: str
    where: dict[str, Any]


def map_of(module: nn.Module, x: str = "x", mark: str = "") -> Mapped:
    """What a linear map or a norm makes of x; `mark` stands behind its letters."""
    if isinstance(module, nn.Linear):
        known = {f"{one[0]}{mark}": weight for one, weight in module.named_parameters()}
        known[f"W{mark}"] = known.pop(f"w{mark}")
        return Mapped(f"{x} · W{mark}ᵀ" + (f" + b{mark}" if f"b{mark}" in known else ""), known)
    if isinstance(module, nn.LayerNorm):
        scaled = {f"γ{mark}": module.weight, f"β{mark}": module.bias, f"ε{mark}": module.eps}
        return Mapped(f"LayerNorm({x}, ε{mark}) ∘ γ{mark} + β{mark}", scaled)
    if isinstance(module, BatchNorm):
        found = {"μ": module.running_mean, "v": module.running_variance, "ε": module.epsilon}
        found |= {"γ": module.weight, "β": module.bias}
        return Mapped(f"({x} − μ) / √(v + ε) ∘ γ + β", found)
    return Mapped(x, {})


def note_entry(notes: Notes, name: str, x: Tensor) -> None:
    """What goes into the first layer: embeddings, with positions if any are added."""
    e_and_p = embedded(notes, "source" if name.startswith("encoder") else "target")
    notes.note(name, x, e_and_p.text, e_and_p.where)


def embedded(notes: Notes, side: str) -> Mapped:
    """The tokens of a side as its first layer is given them."""
    if f"{side}.positions" not in notes:
        return Mapped("e", {"e": f"{side}.embedding"})
    return Mapped("e + p", {"e": f"{side}.embedding", "p": f"{side}.positions"})


# -- recurrent --------------------------------------------------------------------------------


def lstm_gates(given: Tensor, back: Tensor) -> dict[str, Tensor]:
    """Of the equation of `headway.nn.recurrent.lstm`."""
    take, keep, candidate, show = (given + back).chunk(4, dim=-1)
    return {
        "input_gate": take.sigmoid(),
        "forget_gate": keep.sigmoid(),
        "output_gate": show.sigmoid(),
        "candidate": candidate.tanh(),
    }


def gru_gates(given: Tensor, back: Tensor) -> dict[str, Tensor]:
    """Of the equation of `headway.nn.recurrent.gru`."""
    reset_given, update_given, candidate_given = given.chunk(3, dim=-1)
    reset_back, update_back, candidate_back = back.chunk(3, dim=-1)
    reset = (reset_given + reset_back).sigmoid()
    return {
        "reset_gate": reset,
        "update_gate": (update_given + update_back).sigmoid(),
        "candidate": (candidate_given + reset * candidate_back).tanh(),
    }


GATES: dict[Any, Callable[[Tensor, Tensor], dict[str, Tensor]]] = {
    elman: lambda given, back: {},
    lstm: lstm_gates,
    gru: gru_gates,
}
"""By the equation of a layer."""


EQUATIONS: dict[int, dict[str, str]] = {
    1: {"hidden": "tanh({0})"},
    4: {
        "input_gate": "σ({0})",
        "forget_gate": "σ({1})",
        "candidate": "tanh({2})",
        "output_gate": "σ({3})",
        "cell": "f ∘ {cell} + i ∘ z",
        "hidden": "o ∘ tanh(k)",
    },
    3: {
        "reset_gate": "σ({0})",
        "update_gate": "σ({1})",
        "candidate": "tanh({2})",
        "hidden": "u ∘ {hidden} + (1 − u) ∘ z",
    },
}
"""What the numbers of an Elman layer, an LSTM and a GRU are, by how many products it has; {0} is
W x + U h of the first of them, {cell} the cell one step before."""
_LETTERS = {
    "input_gate": "i", "forget_gate": "f", "output_gate": "o", "candidate": "z", "cell": "k",
    "reset_gate": "r", "update_gate": "u", "hidden": "h",
}  # fmt: skip


def follow_recurrence(notes: Notes, name: str, layer: RecurrentLayer, x: Mapped) -> None:
    """The layer's equation, number by number; `x` is what it reads."""
    n = layer.cell.n_products
    step = "after" if name.endswith("from_right") else "before"
    maps = (layer.from_input, layer.from_hidden)
    parts = [part for linear in maps for part in (linear.weight.chunk(n), linear.bias.chunk(n))]
    earlier, begun = {}, dict[str, str]()
    for part in layer.cell.remembers:
        letter, first = _LETTERS[part], f"{name}.{part}_at_first"
        earlier[part] = f"{step}({letter}, {letter}_0)" if first in notes else f"{step}({letter})"
        begun |= {f"{letter}_0": first} if first in notes else {}
    back = f"{earlier['hidden']} · Uᵀ + b_U"
    products = [f"{x.text} · Wᵀ + b + {back}"] * n
    if n == 3:  # of a GRU, whose reset gate acts behind the product
        products[2] = f"{x.text} · Wᵀ + b + r ∘ ({back})"
    for part, text in EQUATIONS[n].items():
        found = text.format(*products, **earlier)
        where = {letter: f"{name}.{one}" for one, letter in _LETTERS.items()} | begun | x.where
        if "{" in text and text[text.index("{") + 1].isdigit():
            which = int(text[text.index("{") + 1])
            where |= dict(zip(("W", "b", "U", "b_U"), (part[which] for part in parts), strict=True))
        notes.follows(f"{name}.{part}", found, used_in(found, where))


def used_in(text: str, where: dict[str, Any]) -> dict[str, Any]:
    """The letters that a formula has."""
    letters = set(re.findall(r"[^\W\d]\w*", text.replace("ᵀ", "")))
    return {letter: value for letter, value in where.items() if letter in letters}


def watch_recurrent(notes: Notes, name: str, layer: RecurrentLayer) -> None:
    """Its memory and its gates after every step.

    Where steps run one by one they are noted as they run. Where a kernel ran them all, the equation
    is computed once more from what went in.
    """
    equation, remembers = layer.cell.equation, layer.cell.remembers

    def noting(given: Tensor, back: Tensor, before: Memory) -> Memory:
        after = equation(given, back, before)
        if f"{name}.hidden" not in notes and any(part.any() for part in before):
            for part, value in zip(remembers, before, strict=True):
                notes.note(f"{name}.{part}_at_first", value)
        found = {**dict(zip(remembers, after, strict=True)), **GATES[equation](given, back)}
        for part, value in found.items():
            notes.note(f"{name}.{part}", value[:, None], axis=0)
        return after

    def steps(given: tuple[Any, ...], _: Any) -> None:
        x, memory = given
        for token in x.unbind(1):
            memory = layer.step(token, memory)
        follow_recurrence(notes, name, layer, below(name))

    notes.exchange(layer, "cell", layer.cell._replace(equation=noting))
    notes.watch(layer, steps)


def below(name: str) -> Mapped:
    """What a recurrent layer reads, by its name: the layer below it, or the embeddings."""
    stack, number, *way = name.split(".")
    layer = int(number) - 1
    if layer < 0:
        return Mapped("x", {"x": f"{'source' if stack == 'encoder' else 'target'}.embedding"})
    return both_ways(layer) if way else Mapped("x", {"x": f"{stack}.{layer}.hidden"})


def both_ways(layer: int) -> Mapped:
    """What a layer of an encoder gives that reads from both ends."""
    name = f"encoder.{layer}"
    ends = {"x_l": f"{name}.from_left.hidden", "x_r": f"{name}.from_right.hidden"}
    return Mapped("concat(x_l, x_r)", ends)


def watch_recurrent_stack(notes: Notes, name: str, stack: RecurrentStack) -> None:
    """What is multiplied by the vocabulary's matrix."""
    last = {"x": f"{name}.{len(stack.layers) - 1}.hidden"}
    notes.watch(stack, lambda _, found: notes.note(f"{name}.output", found[0], "x", last))


def watch_two_way(notes: Notes, name: str, encoder: TwoWayEncoder) -> None:
    """What it makes of the text. The right-hand layers read backwards: their steps are turned."""

    def look(_: tuple[Any, ...], found: BothWays) -> None:
        for n in range(len(encoder.layers)):
            notes.turn(f"{name}.{n}.from_right.")
        last = both_ways(len(encoder.layers) - 1)
        notes.note(f"{name}.output", found.outputs, last.text, last.where)
        notes.note(f"{name}.summary", found.summary, "concat(last(x_l), first(x_r))", last.where)

    notes.watch(encoder, look)


def watch_beginning(notes: Notes, _: str, model: RecurrentTranslator) -> None:
    """What the decoder's layers remember before the first step."""
    layers = range(model.config.decoder_layers)
    names = [f"decoder.{n}.{part}_at_first" for part in model.remembers for n in layers]
    linear = model.to_beginning
    for name, weight, bias in zip(
        names, linear.weight.chunk(len(names)), linear.bias.chunk(len(names)), strict=True
    ):
        notes.follows(name, "tanh(s · Wᵀ + b)", {"s": "encoder.summary", "W": weight, "b": bias})


def watch_scores(notes: Notes, name: str, scores: Scores) -> None:
    """What one head compares, and where it looks."""
    name = name.removesuffix(".scores") + ".cross"
    key = map_of(scores.from_value, "e")
    text = "Q · Kᵀ"
    where: dict[str, Any] = {"Q": f"{name}.query", "K": f"{name}.key"}
    if isinstance(scores, AdditiveScores):
        text = "additive(Q · Wᵀ, K, v)"
        where |= {"W": scores.from_query.weight, "v": scores.to_score.weight}

    def look(given: tuple[Any, ...], found: Tensor) -> None:
        query, keys = given
        notes.note(f"{name}.query", query[:, None], axis=1)
        known = {"e": "encoder.output", **key.where}
        notes.note(f"{name}.key", keys[:, None], f"heads({key.text}, 1)", known)
        notes.note(f"{name}.scores", found[:, None], text, where, axis=1)

    notes.watch(scores, look)


def watch_decoder(notes: Notes, name: str, decoder: RecurrentDecoder) -> None:
    """What is multiplied by the vocabulary's matrix, and the attention if there is one."""
    layers = [decoder.first, *decoder.upper()]
    last = f"{name}.{len(layers) - 1}.hidden"
    y, found_there = {"y": "target.embedding"}, {"c": f"{name}.cross.heads"}
    reads, gives = Mapped("concat(y, c)", {"c": "encoder.summary"}), "concat(h, c, y)"
    query = "h"
    if isinstance(decoder, AttendingFirstDecoder):
        reads, gives = Mapped("concat(y, joined(c))", found_there), "concat(h, joined(c), y)"
        query = "before(h, h_0)"
    elif isinstance(decoder, AttendingLastDecoder):
        fed = Mapped("concat(y, before(a))", {"a": f"{name}.output"})
        reads = fed if decoder.feeding else Mapped("y", {})
        gives = "concat(h, joined(c))"
    output = map_of(decoder.to_output, gives)

    def look(given: tuple[Any, ...], found: Decoded) -> None:
        source = given[2]
        if found.weights is not None:
            cross, weights = f"{name}.cross", found.weights[:, None]
            asked = {"h": last, "h_0": f"{last}_at_first", "e": "encoder.output"}
            asked |= {"S": f"{cross}.scores", "A": f"{cross}.weights", "V": f"{cross}.value"}
            for part, value, text in (
                ("weights", weights, "softmax(S)"),
                ("value", source.values[:, None], "heads(e, 1)"),
                ("heads", weights @ source.values[:, None], "A · V"),
            ):
                notes.note(f"{cross}.{part}", value, text, used_in(text, asked))
            notes.follows(f"{cross}.query", f"heads({query}, 1)", used_in(query, asked))
        for n, layer in enumerate(layers):
            x = below(f"{name}.{n}") if n else Mapped(reads.text, {**y, **reads.where})
            follow_recurrence(notes, f"{name}.{n}", layer, x)
        context = found_there if found.weights is not None else reads.where
        where = used_in(output.text, {"h": last, **y, **context, **output.where})
        notes.note(f"{name}.output", found.features, f"tanh({output.text})", where)

    notes.watch(decoder, look)


# -- convolutional ----------------------------------------------------------------------------


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


def watch_gated(notes: Notes, name: str, block: GatedBlock) -> None:
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


def watch_look(notes: Notes, name: str, attention: StepAttention) -> None:
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


def watch_entries(notes: Notes, _: str, model: Convolutional) -> None:
    """What goes into the first layers."""
    for stack, side in (("encoder", "source"), ("decoder", "target")):
        linear = getattr(model, f"into_{stack}")
        notes.watch(linear, partial(_note_entry_of, notes, f"{stack}.entry", side, linear))


def _note_entry_of(
    notes: Notes, name: str, side: str, linear: nn.Linear, _: tuple[Any, ...], output: Tensor
) -> None:
    given = embedded(notes, side)
    entry = map_of(linear, f"({given.text})")
    notes.note(name, output, entry.text, {**given.where, **entry.where})


def watch_block(notes: Notes, name: str, block: Block) -> None:
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


def watch_bytenet(notes: Notes, _: str, model: ByteNet) -> None:
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


# -- the last n words -------------------------------------------------------------------------


def watch_nnlm(notes: Notes, _: str, model: Nnlm) -> None:
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


OTHER_BRICKS: dict[type, Callable[[Notes, str, Any], None]] = {
    RecurrentLayer: watch_recurrent,
    RecurrentStack: watch_recurrent_stack,
    TwoWayEncoder: watch_two_way,
    RecurrentTranslator: watch_beginning,
    AdditiveScores: watch_scores,
    DotScores: watch_scores,
    RecurrentDecoder: watch_decoder,
    GatedBlock: watch_gated,
    StepAttention: watch_look,
    Convolutional: watch_entries,
    Block: watch_block,
    ByteNet: watch_bytenet,
    Nnlm: watch_nnlm,
}
