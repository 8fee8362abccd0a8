"""What is noted of recurrent layers, encoders and decoders.

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

from headway.earlier_translators.recurrent_attention import AdditiveScores, DotScores, Scores
from headway.earlier_translators.recurrent_decoders import DecoderOutput, RecurrentDecoder
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

    notes.exchange(layer, "cell", layer.cell._replace(equation=noting))
    notes.watch(layer, steps)


def watch_recurrent_stack(notes: TensorRecorder, name: str, stack: RecurrentStack) -> None:
    """What is multiplied by the vocabulary's matrix."""
    notes.watch(stack, lambda _, found: notes.note(f"{name}.output", found[0]))


def watch_two_way(notes: TensorRecorder, name: str, encoder: TwoWayEncoder) -> None:
    """What it makes of the text. The right-hand layers read backwards: their steps are turned."""

    def look(_: tuple[Any, ...], found: BothWays) -> None:
        for n in range(len(encoder.layers)):
            notes.turn(f"{name}.{n}.from_right.")
        notes.note(f"{name}.output", found.outputs)
        notes.note(f"{name}.summary", found.summary)

    notes.watch(encoder, look)


def watch_scores(notes: TensorRecorder, name: str, scores: Scores) -> None:
    """What one head compares, and where it looks."""
    name = name.removesuffix(".scores") + ".cross"

    def look(given: tuple[Any, ...], found: Tensor) -> None:
        query, keys = given
        notes.note(f"{name}.query", query[:, None], axis=1)
        notes.note(f"{name}.key", keys[:, None])
        notes.note(f"{name}.scores", found[:, None], axis=1)

    notes.watch(scores, look)


def watch_decoder(notes: TensorRecorder, name: str, decoder: RecurrentDecoder) -> None:
    """What is multiplied by the vocabulary's matrix, and the attention if there is one."""

    def look(given: tuple[Any, ...], found: DecoderOutput) -> None:
        if found.weights is not None:
            cross, weights, values = f"{name}.cross", found.weights[:, None], given[2].values
            notes.note(f"{cross}.weights", weights)
            notes.note(f"{cross}.value", values[:, None])
            notes.note(f"{cross}.heads", weights @ values[:, None])
        notes.note(f"{name}.output", found.features)

    notes.watch(decoder, look)


RECURRENT_BRICKS: dict[type, Callable[[TensorRecorder, str, Any], None]] = {
    RecurrentLayer: watch_recurrent,
    RecurrentStack: watch_recurrent_stack,
    TwoWayEncoder: watch_two_way,
    AdditiveScores: watch_scores,
    DotScores: watch_scores,
    RecurrentDecoder: watch_decoder,
}
