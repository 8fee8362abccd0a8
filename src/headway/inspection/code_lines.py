"""Where in the code each step of a layer is computed, found in the functions that run."""

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import headway
from headway.nn import attention as equation_1
from headway.nn.layers import Activation, Layer

_PACKAGE = Path(headway.__file__).parent.parent
_INNER: dict[Activation, str] = {
    "relu": "max(0, x W₁ + b₁)",
    "gelu": "gelu(x W₁ + b₁)",
    "swish": "silu(x W₁ + b₁)",
    "swiglu": "silu(x W₁ + b₁) · (x W₃ + b₃)",
}


class CodeLine(NamedTuple):
    """A step: its equation, and the line that computes it."""

    equation: str
    """Empty where the layer has another function in the place of the standard one."""
    file: str
    """Below the folder in which the package lies."""
    line: int
    code: str


def code_lines(layer: Layer, activation: Activation) -> dict[str, CodeLine]:
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
        "query": line_of(attention.projected, "self.to_query(", "q = x W_Q + b_Q"),
        "key": line_of(attention.projected, "self.to_key(", "k = y W_K + b_K"),
        "value": line_of(attention.projected, "self.to_value(", "v = y W_V + b_V"),
        "scores": line_of(scored, "scores = ", "s_ij = q_i · k_j / √d_k"),
        "visible": line_of(equation_1.masked_softmax, "+ mask.hidden", "s_ij − ∞ where hidden"),
        "weights": line_of(equation_1.softmax, ".softmax(", "a_ij = exp s_ij / Σ_j exp s_ij"),
        "heads": line_of(equation_1.attend_explicitly, "@ value", "z_i = Σ_j a_ij v_j"),
        "output": line_of(attention.forward, "self.to_output(", "o_i = Σ_h z_i W_O + b_O"),
        "residual": line_of(around.forward, added, "r_i = x_i + o_i"),
        "normed": line_of(around.forward, normed, "(r − mean) / √(variance + ε) · γ + β"),
        "inner": line_of(feed_forward.forward, "self.to_inner(", _INNER[activation]),
        "feed_forward": line_of(feed_forward.forward, "self.to_output(", "inner W₂ + b₂"),
    }


def line_of(function: Callable[..., Any], snippet: str, equation: str) -> CodeLine:
    """The line of the function that has the snippet; if none has, where the function begins, and
    no equation, as it computes something else."""
    function = inspect.unwrap(function)
    code, first = inspect.getsourcelines(function)
    file = Path(inspect.getsourcefile(function) or "").relative_to(_PACKAGE).as_posix()
    for i, line in enumerate(code):
        if snippet in line:
            return CodeLine(equation, file, first + i, line.strip())
    return CodeLine("", file, first, code[0].strip())
