"""Parts of a model that training leaves as they are."""

import difflib
import itertools
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from torch import nn

from headway.core.errors import ConfigError

EMBEDDING, ENCODER = "embedding", "encoder"


def freeze(model: nn.Module, parts: Sequence[str]) -> list[str]:
    """Keep these parts as they are: their parameters get no gradient, their statistics stay.

    Returns the names of the parameters. Raises ConfigError for a part that the model has not.
    """
    chosen = names_below(parts, model, option="--freeze")
    for name, parameter in all_parameters(model):
        if name in chosen:
            parameter.requires_grad_(False)
    for module in model.modules():
        own = list(module.parameters(recurse=False))
        if (
            own
            and not any(p.requires_grad for p in own)
            and any(True for _ in module.buffers(recurse=False))
        ):
            module.eval()
    return sorted(chosen)


def token_embeddings(model: nn.Module) -> dict[str, nn.Embedding]:
    """Every look-up of vectors by ids that a model has, under each of its names."""
    modules = model.named_modules(remove_duplicate=False)
    return {name: one for name, one in modules if isinstance(one, nn.Embedding)}


def in_words(model: nn.Module, parts: Sequence[str]) -> str:
    """How many parameters stay, and which parts change: one matrix may serve several, which is
    said of those that stay as well."""
    users: dict[nn.Parameter, list[str]] = {}
    for name, parameter in all_parameters(model):
        users.setdefault(parameter, []).append(name.partition(".")[0])
    stay, change, shared = 0, Counter[str](), list[str]()
    for parameter, tops in users.items():
        if parameter.requires_grad:
            change[" = ".join(dict.fromkeys(tops))] += parameter.numel()
        else:
            stay += parameter.numel()
            shared += [" = ".join(names)] if len(names := dict.fromkeys(tops)) > 1 else []
    told = ", ".join(f"{name} {n:,}" for name, n in change.items())
    one = "".join(f"; one matrix: {names}" for names in shared)
    if ENCODER in ",".join(parts).split(","):
        learns = (
            f"{name}." for name, parameter in all_parameters(model) if parameter.requires_grad
        )
        places = tuple(f"{place}." for place in trunk_of(model).values())
        read = dict.fromkeys(name.partition(".")[0] for name in learns if name.startswith(places))
        one += f"; not {', '.join(read)}: name them as well" if read else ""
    return f"{stay:,} parameters stay as they are ({', '.join(parts)}{one}); these change: {told}"


def all_parameters(model: nn.Module) -> Iterable[tuple[str, nn.Parameter]]:
    """Every parameter under each of its names: a shared one has several."""
    return model.named_parameters(remove_duplicate=False)


def prefixes(name: str) -> list[str]:
    """Of `a.b.c`: `a`, `a.b`, `a.b.c`."""
    steps = name.split(".")
    return [".".join(steps[: n + 1]) for n in range(len(steps))]


def trunk_of(model: Any) -> Mapping[str, str]:
    """Where the parts of a model's trunk are, by the names that all trunks share; empty for a model
    that does not say."""
    found: Mapping[str, str] = getattr(model, "trunk", {})
    return found


def sizes_of_parts(model: nn.Module) -> dict[str, int]:
    """The names that `places_of` knows, from the top two floors of a model and its stacks of layers
    (`encoder.0-3`), with how many parameters each has."""
    counts = Counter[str]()
    for name, parameter in all_parameters(model):
        top, *below = prefixes(name)
        counts[top] += parameter.numel()
        layer = re.match(r"(.+?)(?:\.layers)?\.(\d+)\.", name)
        if layer:
            counts[f"{layer[1]}.{layer[2]}"] += parameter.numel()
        elif len(below) > 1:
            counts[below[0]] += parameter.numel()
    found: dict[str, int] = {}
    for name, n in counts.items():
        stack, _, number = name.rpartition(".")
        if not number.isdecimal():
            found[name] = n
        elif f"{stack}.{int(number) + 1}" not in counts:
            found[f"{stack}.0-{number}" if int(number) else name] = sum(
                counts[f"{stack}.{one}"] for one in range(int(number) + 1)
            )
    return found


def names_below(parts: Sequence[str], model: nn.Module, *, option: str) -> set[str]:
    """The parameters whose names are a part, or begin with it and a dot: see `places_of`."""
    places = tuple(f"{place}." for place in places_of(parts, model, option=option))
    return {name for name, _ in all_parameters(model) if f"{name}.".startswith(places)}


def places_of(parts: Sequence[str], model: nn.Module, *, option: str = "--reinit") -> list[str]:
    """Where some parts of a model are: how the names of their parameters begin.

    `encoder.0-3` and `encoder.5` are layers of a stack, also where it is called `encoder.layers`;
    of a model that has no part `encoder` it is the trunk. `embedding` stands for all of its token
    embeddings where no part is called so. Several may stand in one text, parted by commas. Raises
    ConfigError for a part that no name begins with.
    """
    known = [name for name, _ in all_parameters(model)]
    there = {prefix for name in known for prefix in prefixes(name)}
    found: list[str] = []
    for part in (one.strip() for several in parts for one in several.split(",")):
        if part in there:
            found.append(part)
        elif part == EMBEDDING and (embeddings := token_embeddings(model)):
            found += embeddings
        elif part == ENCODER and trunk_of(model):
            found += [place for place in trunk_of(model).values() if place in there]
        elif layers := layers_of(part, model, there, option):
            found += layers
        else:
            raise unknown_part(part, there, option)
    return found


def layers_of(part: str, model: nn.Module, there: Collection[str], option: str) -> list[str]:
    """The layers that `encoder.5` or `encoder.0-3` names; none if it is not written so.

    Raises ConfigError where the stack has not so many.
    """
    written = re.fullmatch(r"(.+?)\.(\d+)(?:-(\d+))?", part, re.ASCII)
    if written is None:
        return []
    name, first, last = written[1], int(written[2]), int(written[3] or written[2])
    stacks = [name, f"{name}.layers", *([trunk_of(model).get("layers", "")] * (name == ENCODER))]
    stack = next((one for one in stacks if f"{one}.0" in there), "")
    if not stack:
        return []
    n = next(n for n in itertools.count() if f"{stack}.{n}" not in there)
    if not first <= last < n:
        raise ConfigError(
            f"{option} names layers that are there; {name} has layers 0 to {n - 1}, got {part!r}. "
            f"Try {name}.0-{n - 1}."
        )
    return [f"{stack}.{number}" for number in range(first, last + 1)]


def unknown_part(part: str, there: Collection[str], option: str) -> ConfigError:
    """For what names no part of a model."""
    close = difflib.get_close_matches(part, sorted(there), n=1)
    tops = ", ".join(sorted(name for name in there if "." not in name))
    remedy = f"Did you mean {close[0]!r}?" if close else f"It has {tops}."
    return ConfigError(f"{option} names a part of the model; got {part!r}. {remedy}")
