"""The parameters of a model as one flat vector, and the Adam that updates it (section 5.3)."""

from collections.abc import Callable, Mapping

import torch
from torch import Tensor, nn

from headway.core.embedding import FLOAT32_ONLY
from headway.core.errors import RunError


class FlatAdam:
    """Adam (section 5.3) on a model whose parameters, and gradients, are views of long vectors.

    One update and one clipping then act on everything at once. Where the model computes in
    bfloat16, float32 masters take the updates, because a small update added to a bfloat16 weight is
    lost in rounding; the model holds their rounded copy. Gradients are zeroed after each update,
    never set to None.

    Parameters that need no gradient stay as they are, outside of the vector.
    """

    def __init__(
        self, model: nn.Module, dtype: torch.dtype, *, betas: tuple[float, float], epsilon: float
    ) -> None:
        exact = exact_parameters(model, dtype)
        parameters = dict(model.named_parameters())
        self.frozen = {name: p for name, p in parameters.items() if not p.requires_grad}
        self.frozen_masters = {name: p.detach().float() for name, p in self.frozen.items()}
        for parameter in self.frozen.values():
            if parameter not in exact:
                parameter.data = parameter.detach().to(dtype)
        dense = [item for item in parameters.items() if item[0] not in self.frozen]
        self.buffers = persistent_buffers(model)
        dense.sort(key=lambda item: item[1] in exact)  # what is rounded comes first
        self.shapes = {name: parameter.shape for name, parameter in dense}
        self.n_rounded = sum(p.numel() for _, p in dense if p not in exact)
        device = next(iter(parameters.values())).device
        pieces = [parameter.detach().float().flatten() for _, parameter in dense]
        self.masters = torch.cat(pieces) if pieces else torch.zeros(0, device=device)
        self.gradient = torch.zeros_like(self.masters)
        self.rounded = self.masters[: self.n_rounded].to(dtype)
        self.rounded_gradient = torch.zeros_like(self.rounded)
        self.betas, self.epsilon = betas, epsilon
        self.steps = torch.zeros((), device=device)
        self.moments = {name: torch.zeros_like(self.masters) for name in ("exp_avg", "exp_avg_sq")}
        end = 0
        for _, parameter in dense:
            here = slice(end, end := end + parameter.numel())
            exactly = end > self.n_rounded
            values = self.masters if exactly else self.rounded
            gradients = self.gradient if exactly else self.rounded_gradient
            parameter.data = values[here].view(parameter.shape)
            parameter.grad = gradients[here].view(parameter.shape)

    def step(self, learning_rate: float, clip_norm: float) -> Tensor:
        """Update the weights from the gradients, zero those, and return their norm before clipping.

        `clip_norm` 0 leaves the gradients as they are.
        """
        self.collect()
        norm = torch.linalg.vector_norm(self.gradient)
        if clip_norm:
            shorter = (clip_norm / (norm + 1e-6)).clamp(max=1.0)
            self.gradient.mul_(shorter)
        self.steps.add_(1)
        torch._fused_adam_(  # what torch.optim.Adam calls, which loads torch's compiler
            [self.masters], [self.gradient],
            [self.moments["exp_avg"]], [self.moments["exp_avg_sq"]], [], [self.steps],
            lr=learning_rate, beta1=self.betas[0], beta2=self.betas[1], eps=self.epsilon,
            weight_decay=0.0, amsgrad=False, maximize=False,
        )  # fmt: skip
        self.rounded.copy_(self.masters[: self.n_rounded])
        self.clear()
        return norm

    def collect(self) -> None:
        """Add the gradients so far up in float32: sums of many parts are too fine for bfloat16."""
        self.gradient[: self.n_rounded].add_(self.rounded_gradient)
        self.rounded_gradient.zero_()

    def clear(self) -> None:
        """Forget the gradients."""
        self.gradient.zero_()
        self.rounded_gradient.zero_()

    def finite(self) -> bool:
        """Whether the weights, and Adam's moments, are finite: an infinite one holds its weight."""
        all_ = [self.masters, *self.moments.values(), *self.frozen_masters.values()]
        return all(bool(x.sum().isfinite() or x.isfinite().all()) for x in all_)  # a sum is quick

    def by_name(self, flat: Tensor) -> dict[str, Tensor]:
        """A flat vector cut into tensors with the parameters' names and shapes (views)."""
        pieces = flat.split([shape.numel() for shape in self.shapes.values()])
        cut = zip(self.shapes.items(), pieces, strict=True)
        return {name: piece.view(shape) for (name, shape), piece in cut}

    def weights(self) -> dict[str, Tensor]:
        """All that makes the model what it is, by name: float32 weights and buffers (views)."""
        return self.by_name(self.masters) | self.frozen_masters | self.buffers

    def state_dict(self) -> dict[str, Tensor]:
        """Adam's two moments by name, and its step count: with the weights, all there is."""
        state = {"step": self.steps.reshape(1)}
        for moment, flat in self.moments.items():
            state |= {f"{moment}.{name}": tensor for name, tensor in self.by_name(flat).items()}
        return state

    def load_state_dict(self, weights: Mapping[str, Tensor], state: Mapping[str, Tensor]) -> None:
        """Go on from saved weights and moments; raises RunError when they are another model's."""
        self.take(weights)
        copy_weights(state, self.state_dict())

    def take(self, weights: Mapping[str, Tensor]) -> None:
        """Begin with these weights; raises RunError when they are another model's."""
        copy_weights(weights, self.weights())
        self.round()

    def round(self) -> None:
        """Have the model compute with what the masters are now."""
        self.rounded.copy_(self.masters[: self.n_rounded])
        for name, parameter in self.frozen.items():
            parameter.data.copy_(self.frozen_masters[name])


def exact_parameters(model: nn.Module, dtype: torch.dtype) -> set[nn.Parameter]:
    """Those that stay float32 where the model computes in `dtype`."""
    every = dtype == torch.float32
    return parameters_of(model, lambda module: every or isinstance(module, FLOAT32_ONLY))


def parameters_of(model: nn.Module, chosen: Callable[[nn.Module], bool]) -> set[nn.Parameter]:
    """The parameters that belong to the chosen modules themselves."""
    return {p for m in model.modules() if chosen(m) for p in m.parameters(recurse=False)}


def persistent_buffers(model: nn.Module) -> dict[str, Tensor]:
    """What a model keeps beside its parameters and must save: BatchNorm's statistics."""
    saved = model.state_dict().keys()
    return {name: buffer for name, buffer in model.named_buffers() if name in saved}


def copy_weights(saved: Mapping[str, Tensor], into: Mapping[str, Tensor]) -> None:
    """Fill tensors by name; raises RunError when the saved ones are another model's."""
    for name, tensor in into.items():
        if name not in saved or saved[name].shape != tensor.shape:
            found = tuple(saved[name].shape) if name in saved else "nothing"
            raise RunError(
                f"Saved weights must fit the model; {name} should be {tuple(tensor.shape)}, "
                f"found {found}. Use the settings that the weights were trained with."
            )
        tensor.detach().copy_(saved[name])


def saved_tensors(model: nn.Module) -> dict[str, Tensor]:
    """What is saved of a model: parameters, tied ones once, and persistent buffers."""
    return {**dict(model.named_parameters()), **persistent_buffers(model)}


def load_weights(model: nn.Module, saved: Mapping[str, Tensor]) -> None:
    """Give a model saved weights and buffers; tied parameters are named once."""
    copy_weights(saved, saved_tensors(model))
