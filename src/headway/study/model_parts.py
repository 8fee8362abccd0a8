"""A model's parts by the names that `--freeze` and `--reinit` take, and what each holds."""

from collections.abc import Iterator
from typing import NamedTuple

from torch import nn


class ModelPart(NamedTuple):
    """A brick, such as the attention of one layer, or a matrix that stands alone."""

    name: str
    parameters: int
    """Numbers that are learned; those that an earlier part has as well are counted there."""
    same_as: str
    """The parameter of an earlier part that this one is, if it is one; else empty."""


def parts_of(model: nn.Module) -> list[ModelPart]:
    """Every part, in the model's order: together they have each parameter once."""
    first_names: dict[nn.Parameter, str] = {}
    parts = []
    for name, parameters in named_parts(model):
        known = [first_names[p] for p in parameters.values() if p in first_names]
        new = {p: own for own, p in parameters.items() if p not in first_names}
        first_names |= new
        parts.append(ModelPart(name, sum(p.numel() for p in new), "" if new else ", ".join(known)))
    return parts


def named_parts(module: nn.Module, name: str = "") -> Iterator[tuple[str, dict[str, nn.Parameter]]]:
    """The parameters of each part by name. A module is a part if nothing below it has modules of
    its own: attention with its projections is one, a layer is not."""
    prefix = f"{name}." if name else ""
    if name and not any(True for child in module.children() for _ in child.children()):
        own = module.named_parameters(prefix=name, remove_duplicate=False)
        if parameters := dict(own):
            yield name, parameters
        return
    for key, child in module._modules.items():
        if child is not None:
            yield from named_parts(child, prefix + key)
    for key, parameter in module.named_parameters(recurse=False, remove_duplicate=False):
        yield prefix + key, {prefix + key: parameter}


def part_of(name: str, parts: list[str]) -> str:
    """The part that a module belongs to; empty for one that holds several."""
    return next((part for part in parts if f"{name}.".startswith(f"{part}.")), "")
