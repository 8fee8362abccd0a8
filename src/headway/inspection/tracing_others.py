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
"""

from collections.abc import Callable
from typing import Any

from torch import Tensor, nn

from headway.inspection.notes import Notes
from headway.models.bytenet import Block
from headway.models.convolutional import StepAttention
from headway.nn.convolution import HALF, GatedBlock
from headway.nn.recurrent import Memory, RecurrentLayer, RecurrentStack, elman, gru, lstm
from headway.nn.recurrent_attention import AdditiveScores, DotScores
from headway.nn.recurrent_decoders import Decoded, RecurrentDecoder
from headway.nn.two_way import BothWays, TwoWayEncoder

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


def watch_recurrent(notes: Notes, name: str, layer: RecurrentLayer) -> None:
    """Its memory and its gates after every step.

    Where steps run one by one they are noted as they run. Where a kernel ran them all, the equation
    is computed once more from what went in.
    """
    equation, remembers = layer.cell.equation, layer.cell.remembers

    def noting(given: Tensor, back: Tensor, before: Memory) -> Memory:
        after = equation(given, back, before)
        found = {**dict(zip(remembers, after, strict=True)), **GATES[equation](given, back)}
        for part, value in found.items():
            notes.note(f"{name}.{part}", value[:, None], axis=0)
        return after

    def steps(given: tuple[Any, ...], _: Any) -> None:
        x, memory = given
        for token in x.unbind(1):
            memory = layer.step(token, memory)

    notes.exchange(layer, "cell", layer.cell._replace(equation=noting))
    notes.watch(layer, steps)


def watch_recurrent_stack(notes: Notes, name: str, stack: RecurrentStack) -> None:
    """What is multiplied by the vocabulary's matrix."""
    notes.watch(stack, lambda _, found: notes.note(f"{name}.output", found[0]))


def watch_two_way(notes: Notes, name: str, encoder: TwoWayEncoder) -> None:
    """What it makes of the text. The right-hand layers read backwards: their steps are turned."""

    def look(_: tuple[Any, ...], found: BothWays) -> None:
        for n in range(len(encoder.layers)):
            notes.turn(f"{name}.{n}.from_right.")
        notes.note(f"{name}.output", found.outputs)
        notes.note(f"{name}.summary", found.summary)

    notes.watch(encoder, look)


def watch_scores(notes: Notes, name: str, scores: nn.Module) -> None:
    """What one head compares, and where it looks."""
    name = name.removesuffix(".scores") + ".cross"

    def look(given: tuple[Any, ...], found: Tensor) -> None:
        query, keys = given
        notes.note(f"{name}.query", query[:, None], axis=1)
        notes.note(f"{name}.key", keys[:, None])
        notes.note(f"{name}.scores", found[:, None], axis=1)

    notes.watch(scores, look)


def watch_decoder(notes: Notes, name: str, decoder: RecurrentDecoder) -> None:
    """What is multiplied by the vocabulary's matrix, and the attention if there is one."""

    def look(given: tuple[Any, ...], found: Decoded) -> None:
        source = given[2]
        if found.weights is not None:
            notes.note(f"{name}.cross.weights", found.weights[:, None])
            notes.note(f"{name}.cross.value", source.values[:, None])
            notes.note(f"{name}.cross.heads", (found.weights @ source.values)[:, None])
        notes.note(f"{name}.output", found.features)

    notes.watch(decoder, look)


# -- convolutional ----------------------------------------------------------------------------


def watch_gated(notes: Notes, name: str, block: GatedBlock) -> None:
    """What passes, how much of it, and what comes out with what went in."""
    end = "convolved" if name.endswith(".block") else "output"
    name = name.removesuffix(".block")

    def look(_: tuple[Any, ...], mixed: Tensor) -> None:
        values, gate = mixed.chunk(2, dim=-1)
        notes.note(f"{name}.values", values)
        notes.note(f"{name}.gate", gate.sigmoid())

    notes.watch(block.convolution, look)
    notes.watch(block, lambda _, output: notes.note(f"{name}.{end}", output))


def watch_look(notes: Notes, name: str, attention: StepAttention) -> None:
    """A look at the source: the scores are not divided by sqrt(d)."""
    name = name.removesuffix(".attention")

    def look(given: tuple[Any, ...], found: tuple[Tensor, Tensor]) -> None:
        x, fed, memory = given
        query = (attention.to_query(x) + fed) * HALF
        notes.note(f"{name}.cross.query", query[:, None])
        notes.note(f"{name}.cross.key", memory.keys[:, None])
        notes.note(f"{name}.cross.value", memory.values[:, None])
        notes.note(f"{name}.cross.scores", (query @ memory.keys.transpose(1, 2))[:, None])
        notes.note(f"{name}.cross.weights", found[1])
        notes.note(f"{name}.output", found[0])

    notes.watch(attention, look)
    notes.watch(
        attention.to_output, lambda given, _: notes.note(f"{name}.cross.heads", given[0][:, None])
    )


def watch_block(notes: Notes, name: str, block: Block) -> None:
    """What goes into the dilated convolution, and what comes out of the block."""
    notes.watch(block.convolution, lambda given, _: notes.note(f"{name}.inner", given[0]))
    notes.watch(block, lambda _, output: notes.note(f"{name}.output", output))


OTHER_BRICKS: dict[type, Callable[[Notes, str, Any], None]] = {
    RecurrentLayer: watch_recurrent,
    RecurrentStack: watch_recurrent_stack,
    TwoWayEncoder: watch_two_way,
    AdditiveScores: watch_scores,
    DotScores: watch_scores,
    RecurrentDecoder: watch_decoder,
    GatedBlock: watch_gated,
    StepAttention: watch_look,
    Block: watch_block,
}
