"""Parts of a model that training leaves as they are."""

import difflib
from collections import Counter
from collections.abc import Iterable, Sequence

from torch import nn

from headway.core.errors import ConfigError

EMBEDDING = "embedding"


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
    return f"{stay:,} parameters stay as they are ({', '.join(parts)}{one}); these change: {told}"


def all_parameters(model: nn.Module) -> Iterable[tuple[str, nn.Parameter]]:
    """Every parameter under each of its names: a shared one has several."""
    return model.named_parameters(remove_duplicate=False)


def names_below(parts: Sequence[str], model: nn.Module, *, option: str) -> set[str]:
    """The parameters whose names are a part, or begin with it and a dot: `encoder`, `encoder.0`.

    `embedding` stands for all of a model's token embeddings where no part is called so. Raises
    ConfigError for a part that no name begins with.
    """
    known = [name for name, _ in all_parameters(model)]
    embeddings = token_embeddings(model)
    if EMBEDDING in parts and EMBEDDING not in embeddings:
        parts = [*(part for part in parts if part != EMBEDDING), *embeddings] or parts
    chosen: set[str] = set()
    for part in parts:
        below = {name for name in known if f"{name}.".startswith(f"{part}.")}
        if not below:
            prefixes = {
                ".".join(name.split(".")[:n])
                for name in known
                for n in range(1, name.count(".") + 2)
            }
            close = difflib.get_close_matches(part, sorted(prefixes), n=1)
            tops = ", ".join(sorted({name.split(".")[0] for name in known}))
            remedy = f"Did you mean {close[0]!r}?" if close else f"It has {tops}."
            raise ConfigError(f"{option} names a part of the model; got {part!r}. {remedy}")
        chosen |= below
    return chosen
