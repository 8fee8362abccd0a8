"""What is noted of recurrent layers, encoders and decoders, with the formula of each.

Layers have `hidden`, `cell` (LSTM) and gates at every step, `[length, d_model]`:

    encoder.0.from_left.hidden, encoder.0.from_right.hidden (in the order of the text)
    decoder.0.hidden, .cell, .input_gate, .forget_gate, .output_gate, .candidate   LSTM
    decoder.0.hidden, .reset_gate, .update_gate, .candidate                        GRU
    encoder.output, encoder.summary     the text, and as one vector
    decoder.cross.query, .key, .scores, .weights, .value, .heads     one head, beside all layers
"""

from collections.abc import Callable
from typing import Any

from torch import Tensor

from headway.earlier_translators.recurrent import RecurrentTranslator
from headway.earlier_translators.recurrent_attention import AdditiveScores, DotScores, Scores
from headway.earlier_translators.recurrent_decoders import (
    AttendingFirstDecoder,
    AttendingLastDecoder,
    DecoderOutput,
    RecurrentDecoder,
)
from headway.inspection.formulas import Mapped, map_of, used_in
from headway.inspection.tensor_recorder import TensorRecorder
from headway.nn.bidirectional import BothWays, TwoWayEncoder
from headway.nn.recurrent import Memory, RecurrentLayer, RecurrentStack, elman, gru, lstm


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


def follow_recurrence(notes: TensorRecorder, name: str, layer: RecurrentLayer, x: Mapped) -> None:
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


def watch_recurrent(notes: TensorRecorder, name: str, layer: RecurrentLayer) -> None:
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


def watch_recurrent_stack(notes: TensorRecorder, name: str, stack: RecurrentStack) -> None:
    """What is multiplied by the vocabulary's matrix."""
    last = {"x": f"{name}.{len(stack.layers) - 1}.hidden"}
    notes.watch(stack, lambda _, found: notes.note(f"{name}.output", found[0], "x", last))


def watch_two_way(notes: TensorRecorder, name: str, encoder: TwoWayEncoder) -> None:
    """What it makes of the text. The right-hand layers read backwards: their steps are turned."""

    def look(_: tuple[Any, ...], found: BothWays) -> None:
        for n in range(len(encoder.layers)):
            notes.turn(f"{name}.{n}.from_right.")
        last = both_ways(len(encoder.layers) - 1)
        notes.note(f"{name}.output", found.outputs, last.text, last.where)
        notes.note(f"{name}.summary", found.summary, "concat(last(x_l), first(x_r))", last.where)

    notes.watch(encoder, look)


def watch_beginning(notes: TensorRecorder, _: str, model: RecurrentTranslator) -> None:
    """What the decoder's layers remember before the first step."""
    layers = range(model.config.decoder_layers)
    names = [f"decoder.{n}.{part}_at_first" for part in model.remembers for n in layers]
    linear = model.to_beginning
    for name, weight, bias in zip(
        names, linear.weight.chunk(len(names)), linear.bias.chunk(len(names)), strict=True
    ):
        notes.follows(name, "tanh(s · Wᵀ + b)", {"s": "encoder.summary", "W": weight, "b": bias})


def watch_scores(notes: TensorRecorder, name: str, scores: Scores) -> None:
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


def watch_decoder(notes: TensorRecorder, name: str, decoder: RecurrentDecoder) -> None:
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

    def look(given: tuple[Any, ...], found: DecoderOutput) -> None:
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


RECURRENT_BRICKS: dict[type, Callable[[TensorRecorder, str, Any], None]] = {
    RecurrentLayer: watch_recurrent,
    RecurrentStack: watch_recurrent_stack,
    TwoWayEncoder: watch_two_way,
    RecurrentTranslator: watch_beginning,
    AdditiveScores: watch_scores,
    DotScores: watch_scores,
    RecurrentDecoder: watch_decoder,
}
