"""Which of another run's weights a new model begins with, and under which names.

A class of models says where its trunk is by `trunk`, from the names that all share (`embedding`,
`positions`, `layers`, `norm`) to its own parts; one that writes token by token says by `writer`
where that part is.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from torch import Tensor, nn

from headway.core.errors import RunError
from headway.core.optimizer import persistent_buffers
from headway.operations.frozen import all_parameters, names_below, places_of, prefixes, trunk_of


class Transferred(NamedTuple):
    """Another run's weights under the names of a new model."""

    weights: dict[str, Tensor]
    left: dict[str, Tensor]
    """What the new model has no use for, under the other run's names."""
    origin: Collection[str]
    """All of the other run's names."""


def common_names(model: nn.Module, places: Mapping[str, str]) -> dict[str, str]:
    """The names by which a model saves what lies at some places, by the names that all share."""
    saved = {id(parameter): name for name, parameter in model.named_parameters()}
    every = {name: saved[id(parameter)] for name, parameter in all_parameters(model)}
    every |= {name: name for name in persistent_buffers(model)}
    found = {}
    for common, place in places.items():
        for name, own in every.items():
            if f"{name}.".startswith(f"{place}."):
                found[common + name.removeprefix(place)] = own
    return found


def shared_parts(model: Any, other: Any) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """Where in two models, or classes, are the parts that one can give the other: what writes, or
    where one does not, what reads."""
    writers = getattr(model, "writer", None), getattr(other, "writer", None)
    return writers if all(writers) else (trunk_of(model), trunk_of(other))  # type: ignore[return-value]


def top_level_names(places: Mapping[str, str]) -> set[str]:
    """The first names of some places."""
    return {place.partition(".")[0] for place in places.values()}


def trunk_transferred(
    weights: Mapping[str, Tensor], other: nn.Module, model: nn.Module
) -> Transferred:
    """The trunk of another task's model, under the names of the new one.

    What only two such trunks have, and call alike, comes over as well.
    """
    own, others = shared_parts(model, other)
    names, known = common_names(model, own), common_names(other, others)
    renamed = {known[common]: names[common] for common in known if common in names}
    mine = {name for name, _ in all_parameters(model)} | {*persistent_buffers(model)}
    shared = top_level_names(own) & top_level_names(others)
    for name in weights:
        if name in mine and name.partition(".")[0] in shared and name not in renamed.values():
            renamed.setdefault(name, name)
    found = {renamed[name]: tensor for name, tensor in weights.items() if name in renamed}
    return Transferred(
        found, {name: weights[name] for name in weights.keys() - renamed}, [*weights]
    )


def same_task_transferred(
    weights: Mapping[str, Tensor],
    fresh: Mapping[str, Tensor],
    model: nn.Module,
    *,
    relabelled: bool,
) -> Transferred:
    """A run of the same task: all of its weights, but for what stands on the trunk where that has
    another shape, or is about other labels (`relabelled`)."""
    first = top_level_names(trunk_of(model))
    left = {
        name: tensor
        for name, tensor in weights.items()
        if first and name.partition(".")[0] not in first
        and (relabelled or (name in fresh and fresh[name].shape != tensor.shape))
    }  # fmt: skip
    return Transferred(
        {name: weights[name] for name in weights if name not in left}, left, [*weights]
    )


class InitialWeights(NamedTuple):
    """Weights to begin with, and where they are from: names of parameters."""

    weights: dict[str, Tensor]
    taken: list[str]
    drawn: list[str]
    """Of the new model alone, or to be drawn anew."""
    unused: dict[str, Tensor]
    """Of the parent alone."""
    origin: Collection[str]
    """All of the parent's names."""

    def __str__(self) -> str:
        told = []
        for names, of, all_, what in (
            (self.taken, self.weights, self.weights, "taken"),
            (self.drawn, self.weights, self.weights, "drawn anew"),
            (list(self.unused), self.unused, self.origin, "of the parent not used"),
        ):
            if names:
                parts = whole_parts(names, all_)
                some = ", ".join(parts[:6]) + (", .." if len(parts) > 6 else "")
                n = sum(of[name].numel() for name in names)
                told.append(f"{n:,} {what} ({some})")
        return f"parameters: {'; '.join(told)}"


def whole_parts(names: Sequence[str], all_: Iterable[str]) -> list[str]:
    """The shortest names of parts that hold all of these parameters and no others of them all."""
    chosen, others = {*names}, {*all_} - {*names}
    held = {part for name in others for part in prefixes(name)}
    found = (
        next(part for part in prefixes(name) if part not in held) for name in all_ if name in chosen
    )
    return list(dict.fromkeys(found))


def beginning(
    fresh: Mapping[str, Tensor],
    transferred: Transferred,
    reinit: Sequence[str],
    model: nn.Module,
) -> InitialWeights:
    """The parent's weights where it has them, else those that were drawn for the new model.

    `fresh` are the new model's by name; parts in `reinit` keep them although the parent has some.

    Raises:
        ConfigError: `reinit` names no part of the model.
        RunError: a weight has another shape there, or none is there at all.
    """
    parent, aliases = transferred.weights, dict(all_parameters(model))
    own = {id(parameter): name for name, parameter in model.named_parameters()}
    chosen = names_below(reinit, model, option="--reinit")
    anew = {own[id(aliases[name])] for name in chosen}
    # Statistics of a norm are no parameters.
    below = tuple(f"{place}." for place in places_of(reinit, model))
    kept = [name for name in fresh if name not in anew and not f"{name}.".startswith(below)]
    taken = [name for name in kept if name in parent]
    for name in taken:
        if fresh[name].shape != parent[name].shape:
            raise RunError(
                f"weights of another run must have the shapes of the new model; {name} should be "
                f"{tuple(fresh[name].shape)}, found {tuple(parent[name].shape)}. Give the settings "
                f"of that run, or draw that part anew: --reinit {name}"
            )
    if not taken:
        raise RunError(
            "a run begins with weights that its parent has as well; none of "
            f"{', '.join(list(fresh)[:4])}, .. is there. Name another parent."
        )
    weights = {name: parent[name] if name in taken else fresh[name] for name in fresh}
    drawn = [name for name in fresh if name not in taken]
    unused = {name: tensor for name, tensor in parent.items() if name not in fresh}
    return InitialWeights(weights, taken, drawn, unused | transferred.left, transferred.origin)
