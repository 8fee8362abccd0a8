"""Where in the code each step of a layer is computed, found in the functions that run."""

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import headway
from headway.nn import attention as equation_1
from headway.nn.layers import Layer

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
        "query": line_of(attention.projected, "self.to_query("),
        "key": line_of(attention.projected, "self.to_key("),
        "value": line_of(attention.projected, "self.to_value("),
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
