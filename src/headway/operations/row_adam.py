"""Adam on tables of which an update touches few rows, such as the vectors of a million words."""

import torch
from torch import Tensor, nn


class RowAdam:
    """Adam that touches only the rows that have a gradient, moments included."""

    def __init__(
        self, parameters: dict[str, nn.Parameter], betas: tuple[float, float], epsilon: float
    ) -> None:
        self.parameters = parameters
        self.adam = torch.optim.SparseAdam(list(parameters.values()), betas=betas, eps=epsilon)
        self.steps = torch.zeros(len(parameters), dtype=torch.int64)
        for parameter in parameters.values():
            self.adam.state[parameter] = {
                "step": 0,
                "exp_avg": torch.zeros_like(parameter),
                "exp_avg_sq": torch.zeros_like(parameter),
            }

    def weights(self) -> dict[str, Tensor]:
        """By name (views)."""
        return {name: parameter.detach() for name, parameter in self.parameters.items()}

    def norm(self) -> Tensor:
        """Of all gradients together; a row that came twice is summed first."""
        for parameter in self.parameters.values():
            if parameter.grad is not None:
                parameter.grad = parameter.grad.coalesce()
        touched = [p.grad.values() for p in self.parameters.values() if p.grad is not None]
        if not touched:
            return torch.zeros(())
        return torch.linalg.vector_norm(torch.cat([values.flatten() for values in touched]))

    def scale(self, factor: Tensor) -> None:
        """Multiply all gradients."""
        for parameter in self.parameters.values():
            if parameter.grad is not None:
                parameter.grad.mul_(factor)

    def step(self, learning_rate: float) -> None:
        """Update the rows that have a gradient."""
        for parameter, n_before in zip(self.parameters.values(), self.steps, strict=True):
            self.adam.state[parameter]["step"] = int(n_before)
        self.adam.param_groups[0]["lr"] = learning_rate
        self.adam.step()
        for number, parameter in enumerate(self.parameters.values()):
            self.steps[number] = self.adam.state[parameter]["step"]

    def clear(self) -> None:
        """Forget the gradients."""
        for parameter in self.parameters.values():
            parameter.grad = None

    def state(self) -> dict[str, Tensor]:
        """How many updates each table has had, and its moments by name (views)."""
        state = {"steps_of_rows": self.steps}
        for name, parameter in self.parameters.items():
            for moment in ("exp_avg", "exp_avg_sq"):
                state[f"{moment}.{name}"] = self.adam.state[parameter][moment]
        return state

    def round(self) -> None:
        """Nothing: the model computes with the weights themselves."""
