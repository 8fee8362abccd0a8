"""The formulas of bricks that many models have: linear maps, norms, and what goes in."""

import re
from typing import Any, NamedTuple

from torch import Tensor, nn

from headway.earlier_translators.variants import BatchNorm
from headway.inspection.tensor_recorder import TensorRecorder


class Mapped(NamedTuple):
    """A formula and what its letters are, as `TensorRecorder.follows` takes them."""

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


def note_entry(notes: TensorRecorder, name: str, x: Tensor) -> None:
    """What goes into the first layer: embeddings, with positions if any are added."""
    e_and_p = embedded(notes, "source" if name.startswith("encoder") else "target")
    notes.note(name, x, e_and_p.text, e_and_p.where)


def embedded(notes: TensorRecorder, side: str) -> Mapped:
    """The tokens of a side as its first layer is given them."""
    if f"{side}.positions" not in notes:
        return Mapped("e", {"e": f"{side}.embedding"})
    return Mapped("e + p", {"e": f"{side}.embedding", "p": f"{side}.positions"})


def used_in(text: str, where: dict[str, Any]) -> dict[str, Any]:
    """The letters that a formula has."""
    letters = set(re.findall(r"[^\W\d]\w*", text.replace("ᵀ", "")))
    return {letter: value for letter, value in where.items() if letter in letters}
