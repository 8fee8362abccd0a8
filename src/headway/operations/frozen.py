"""Parts of a model that training leaves as they are."""

import difflib
from collections import Counter
from collections.abc import Iterable, Sequence

import torch
from torch import Tensor, nn

from headway.core.errors import ConfigError


def freeze(model: nn.Module, parts: Sequence[str]) -> list[str]:
    """Keep these parts as they are: their parameters get no gradient, their statistics stay.

    Returns the names of the parameters. Raises ConfigError for a part that the model has not.
    """
    chosen = names_below(parts, (name for name, _ in all_parameters(model)), option="--freeze")
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


def in_words(model: nn.Module, parts: Sequence[str]) -> str:
    """How many parameters stay, and which parts change: one matrix may serve several."""
    users: dict[nn.Parameter, list[str]] = {}
    for name, parameter in all_parameters(model):
        users.setdefault(parameter, []).append(name.partition(".")[0])
    stay, change = 0, Counter[str]()
    for parameter, tops in users.items():
        if parameter.requires_grad:
            change[" = ".join(dict.fromkeys(tops))] += parameter.numel()
        else:
            stay += parameter.numel()
    told = ", ".join(f"{name} {n:,}" for name, n in change.items())
    return f"{stay:,} parameters stay as they are ({', '.join(parts)}); these change: {told}"


def all_parameters(model: nn.Module) -> Iterable[tuple[str, nn.Parameter]]:
    """Every parameter under each of its names: a shared one has several."""
    return model.named_parameters(remove_duplicate=False)


def names_below(parts: Sequence[str], names: Iterable[str], *, option: str) -> set[str]:
    """The parameters whose names are a part, or begin with it and a dot: `encoder`, `encoder.0`.

    Raises ConfigError for a part that no name begins with.
    """
    known = list(names)
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


class Frozen:
    """Parameters that need no gradient: float32 masters, and the copy that the model computes with.

    They are one and the same where the model computes in float32. A
    `headway.core.optimizer.ParametersApart`.
    """

    def __init__(
        self, parameters: dict[str, nn.Parameter], exact: set[nn.Parameter], dtype: torch.dtype
    ) -> None:
        """Round all but the `exact` ones to `dtype`."""
        self.parameters = parameters
        self.masters = {name: p.detach().float() for name, p in parameters.items()}
        for name, parameter in parameters.items():
            if parameter not in exact:
                parameter.data = self.masters[name].to(dtype)

    def weights(self) -> dict[str, Tensor]:
        """The masters."""
        return dict(self.masters)

    def state(self) -> dict[str, Tensor]:
        """Nothing else."""
        return {}

    def norm(self) -> Tensor:
        """There are no gradients."""
        return torch.zeros(())

    def scale(self, factor: Tensor) -> None:
        """Nothing."""

    def step(self, learning_rate: float) -> None:
        """Nothing."""

    def clear(self) -> None:
        """Nothing."""

    def round(self) -> None:
        """Have the model compute with what the masters are now."""
        for name, parameter in self.parameters.items():
            parameter.data.copy_(self.masters[name])
