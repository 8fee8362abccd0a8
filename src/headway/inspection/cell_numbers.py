"""Every number behind one weight, exact: the model's own float32 tensors, as many as there is room
for, with the line of code that computes each step."""

import inspect
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

import headway
from headway.core import attention as equation_1
from headway.core.attention import MultiHeadAttention
from headway.core.layers import Layer, Stack
from headway.inspection.html_page import missing, packed
from headway.inspection.passage_analysis import PassageAnalysis

_ATTENTION = ("query", "key", "value", "scores", "weights", "heads", "output")
_FEED_FORWARD = ("inner", "output")
_AROUND = ("residual", "normed")


class SublayerCell(NamedTuple):
    """An attention or a feed-forward, and its place among the others."""

    name: str
    """Such as `decoder.1.cross`; its tensors' names begin with it."""
    goes_in: str
    """The name of the tensor that goes in, before a norm that comes first."""
    layer: Layer

    @property
    def kind(self) -> str:
        """`self`, `cross` or `feed_forward`."""
        return self.name.rpartition(".")[2]

    @property
    def attention(self) -> MultiHeadAttention | None:
        """None for a feed-forward."""
        return {"self": self.layer.self_attention, "cross": self.layer.cross_attention}.get(
            self.kind
        )

    def tensors(self, trace: Mapping[str, np.ndarray]) -> list[str]:
        """Names of what is shown of it."""
        own = _FEED_FORWARD if self.attention is None else (*_ATTENTION, "visible")
        names = [self.goes_in, *(f"{self.name}.{one}" for one in (*own, *_AROUND))]
        names += ["encoder.output"] if self.kind == "cross" else []
        return [name for name in names if name in trace]


def cells(analysis: PassageAnalysis) -> dict[str, Any]:
    """The tensors of those sub-layers that fit into the `PassageAnalysis.room`.

    The cross-attention of the last decoder layer comes first; then what else it takes to follow a
    token through that layer and through the first of the encoder; then the rest. What each head
    adds to the output (`parts`) comes behind all others.
    """
    found = sublayers(analysis)
    if not found:
        return missing(
            "Single numbers are shown of models that are stacks of attention layers.",
            "只有由注意力层堆叠而成的模型才逐个显示数字。",
        )
    order = in_order(found)
    trace, left = analysis.trace, float("inf") if analysis.room is None else analysis.room
    kept: dict[str, np.ndarray] = {}
    there: list[dict[str, str]] = []
    left_out: list[str] = []
    for one in order:
        fresh = {name: trace[name] for name in one.tensors(trace) if name not in kept}
        needed = sum(_bytes(array) for array in fresh.values())
        if needed > left:
            left_out.append(one.name)
            continue
        left -= needed
        kept |= fresh
        there.append({"at": one.name, "kind": one.kind, "goes_in": one.goes_in})
    attentions = {one.name: one.attention for one in order if one.attention is not None}
    for entry in there:
        attention, name = attentions.get(entry["at"]), f"{entry['at']}.parts"
        if attention is None:
            continue
        parts = parts_of(attention, trace[f"{entry['at']}.heads"])
        if parts.nbytes <= left:
            left -= parts.nbytes
            kept[name] = parts
    return {
        "sublayers": there,
        "left_out": left_out,
        "room": analysis.room,
        "norm_first": order[0].layer.around_self_attention.norm_first,
        "tensors": {
            name: packed(array, "u8" if array.dtype == bool else "f32")
            for name, array in kept.items()
        },
        "steps": {name: line._asdict() for name, line in code_lines(order[0].layer).items()},
    }


def sublayers(analysis: PassageAnalysis) -> list[SublayerCell]:
    """All of the model's, in the order in which a text meets them."""
    return [one for stack in ("encoder", "decoder") for one in _of_stack(analysis, stack)]


def in_order(found: list[SublayerCell]) -> list[SublayerCell]:
    """Those first that the page shows first."""
    last = found[-1].name.rpartition(".")[0]
    first = found[0].name.rpartition(".")[0]

    def place(one: SublayerCell) -> tuple[bool, bool, bool]:
        layer = one.name.rpartition(".")[0]
        return layer != last, layer != first, one.kind != "cross"

    return sorted(found, key=place)


@torch.inference_mode()
def parts_of(
    attention: MultiHeadAttention, heads: Float[np.ndarray, "heads rows d_v"]
) -> Float[np.ndarray, "heads rows d_model"]:
    """What each head adds to the output: its own result times its own rows of W_O.

    The parts of all heads and the bias of W_O are the output.
    """
    weight: Tensor = attention.to_output.weight.float().cpu()
    by_head = weight.unflatten(1, (attention.heads, -1)).permute(1, 2, 0)  # [heads, d_v, d_model]
    return (torch.from_numpy(heads) @ by_head).numpy()


def _of_stack(analysis: PassageAnalysis, stack: str) -> Iterator[SublayerCell]:
    model = analysis.inspected.model
    layers: Stack = getattr(model, stack if analysis.passage.source else "stack", Stack())
    goes_in = f"{stack}.input"
    if goes_in not in analysis.trace:
        return
    for number, layer in enumerate(layers):
        for kind in ("self", "cross", "feed_forward"):
            name = f"{stack}.{number}.{kind}"
            if f"{name}.output" not in analysis.trace:
                continue
            yield SublayerCell(name, goes_in, layer)
            comes_out = "residual" if layer.around_self_attention.norm_first else "normed"
            goes_in = f"{name}.{comes_out}"


def _bytes(array: np.ndarray) -> int:
    return array.size * (1 if array.dtype == bool else 4)


_PACKAGE = Path(headway.__file__).parent.parent


class CodeLine(NamedTuple):
    """The line that computes a step."""

    file: str
    """Below the folder in which the package lies."""
    line: int
    code: str


def code_lines(layer: Layer) -> dict[str, CodeLine]:
    """The steps of a layer by the names of their tensors, as the layer's own classes run them."""
    attention, around = type(layer.self_attention), type(layer.around_self_attention)
    feed_forward = type(layer.feed_forward)
    standard = "attention_weights(" in inspect.getsource(inspect.unwrap(attention.weights))
    scored = equation_1.attention_weights if standard else attention.weights
    added, normed = (
        ("return x + ", "sublayer(self.norm(x))")
        if layer.around_self_attention.norm_first
        else ("self.norm(x + ", "self.norm(x + ")
    )
    return {
        "query": line_of(MultiHeadAttention.projected, "self.to_query("),
        "key": line_of(MultiHeadAttention.projected, "self.to_key("),
        "value": line_of(MultiHeadAttention.projected, "self.to_value("),
        "scores": line_of(scored, "scores = "),
        "visible": line_of(equation_1.masked_softmax, "+ mask.hidden"),
        "weights": line_of(equation_1.softmax, ".softmax("),
        "heads": line_of(equation_1.attend_explicitly, "@ value"),
        "output": line_of(attention.forward, "self.to_output("),
        "residual": line_of(around.forward, added),
        "normed": line_of(around.forward, normed),
        "inner": line_of(feed_forward.forward, "self.to_inner("),
        "feed_forward": line_of(feed_forward.forward, "self.to_output("),
    }


def line_of(function: Callable[..., Any], snippet: str) -> CodeLine:
    """The line of the function that has the snippet; if none has, where the function begins."""
    function = inspect.unwrap(function)
    code, first = inspect.getsourcelines(function)
    file = Path(inspect.getsourcefile(function) or "").relative_to(_PACKAGE).as_posix()
    for i, line in enumerate(code):
        if snippet in line:
            return CodeLine(file, first + i, line.strip())
    return CodeLine(file, first, code[0].strip())
