"""What is noted of models that see a stretch of the text at once.

Convolutional ones have `decoder.0.cross` with one head as well, and of each gated convolution what
it lets pass, `[length, d_model]`:

    encoder.0.values, encoder.0.gate, encoder.0.output    values * gate is added to what went in
    decoder.0.values, decoder.0.gate, decoder.0.convolved, and decoder.0.output behind the look

The neural model of n words has `decoder.context`, their vectors side by side, and `decoder.hidden`.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

from torch import Tensor

from headway.earlier_translators.bytenet import Block, ByteNet
from headway.earlier_translators.convolution import HALF, GatedBlock
from headway.earlier_translators.convolutional import Convolutional, StepAttention
from headway.inspection.tensor_recorder import TensorRecorder
from headway.language_models.nnlm import Nnlm


def watch_gated(notes: TensorRecorder, name: str, block: GatedBlock) -> None:
    """What passes, how much of it, and what comes out with what went in."""
    end = "convolved" if name.endswith(".block") else "output"
    name = name.removesuffix(".block")

    def look(_: tuple[Any, ...], mixed: Tensor) -> None:
        values, gate = mixed.chunk(2, dim=-1)
        notes.note(f"{name}.values", values)
        notes.note(f"{name}.gate", gate.sigmoid())

    notes.watch(block.convolution, look)
    notes.watch(block, lambda _, output: notes.note(f"{name}.{end}", output))


def watch_look(notes: TensorRecorder, name: str, attention: StepAttention) -> None:
    """A look at the source: the scores are not divided by sqrt(d)."""
    name = name.removesuffix(".attention")
    cross = f"{name}.cross"

    def look(given: tuple[Any, ...], found: tuple[Tensor, Tensor]) -> None:
        x, fed, memory = given
        query = (attention.to_query(x) + fed) * HALF
        notes.note(f"{cross}.query", query[:, None])
        notes.note(f"{cross}.key", memory.keys[:, None])
        notes.note(f"{cross}.value", memory.values[:, None])
        notes.note(f"{cross}.scores", (query @ memory.keys.transpose(1, 2))[:, None])
        notes.note(f"{cross}.weights", found[1])
        notes.note(f"{name}.output", found[0])

    notes.watch(attention, look)
    notes.watch(
        attention.to_output, lambda given, _: notes.note(f"{cross}.heads", given[0][:, None])
    )


def watch_entries(notes: TensorRecorder, _: str, model: Convolutional) -> None:
    """What goes into the first layers."""
    for stack in ("encoder", "decoder"):
        note = partial(_note_output, notes, f"{stack}.entry")
        notes.watch(getattr(model, f"into_{stack}"), note)


def _note_output(notes: TensorRecorder, name: str, _: tuple[Any, ...], output: Tensor) -> None:
    notes.note(name, output)


def watch_block(notes: TensorRecorder, name: str, block: Block) -> None:
    """What goes into the dilated convolution, what it makes of it, and what comes out of the
    block."""

    def look(given: tuple[Any, ...], y: Tensor) -> None:
        notes.note(f"{name}.inner", given[0])
        notes.note(f"{name}.convolved", y)

    notes.watch(block.convolution, look)
    notes.watch(block, partial(_note_output, notes, f"{name}.output"))


def watch_bytenet(notes: TensorRecorder, _: str, model: ByteNet) -> None:
    """How the decoder's stack stands upon the encoder's."""

    def enter(x: Tensor, real: Tensor) -> None:
        notes.note("encoder.real", real)
        notes.note("encoder.entry", x)

    notes.watch_before(model.encoder[0], enter)
    notes.watch_before(model.decoder[0], lambda x: notes.note("decoder.entry", x))


def watch_nnlm(notes: TensorRecorder, _: str, model: Nnlm) -> None:
    """Equation 1 of Bengio et al. 2003."""

    def look(given: tuple[Any, ...], output: Tensor) -> None:
        notes.note("decoder.context", given[0])
        notes.note("decoder.hidden", output.tanh())

    notes.watch(model.to_hidden, look)


WINDOW_BRICKS: dict[type, Callable[[TensorRecorder, str, Any], None]] = {
    GatedBlock: watch_gated,
    StepAttention: watch_look,
    Convolutional: watch_entries,
    Block: watch_block,
    ByteNet: watch_bytenet,
    Nnlm: watch_nnlm,
}
