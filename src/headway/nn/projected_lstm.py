"""LSTM whose output is projected: many cells, and few numbers that go from step to step.

Sak et al. 2014. Several readers, each with weights of its own, read side by side, so that a product
of all of them is one batched product. ELMo's two halves are such a pair.
"""

from typing import Any, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor, nn

from headway.nn.recurrent import lstm


class ProjectedMemory(NamedTuple):
    """What a layer remembers."""

    hidden: Float[Tensor, "readers batch d_output"]
    """Its last output."""
    cell: Float[Tensor, "readers batch d_cell"]
    """In float32: what is added to it, step by step, is too fine for bfloat16."""


class ProjectedLstm(nn.Module):
    """One layer of some readers, from left to right: h = W_r (o * tanh c), c and o as in
    `headway.nn.recurrent.lstm`."""

    def __init__(self, d_input: int, d_cell: int, d_output: int, *, n_readers: int = 1) -> None:
        super().__init__()
        self.from_input = nn.Parameter(torch.empty(n_readers, d_input, 4 * d_cell))
        self.from_hidden = nn.Parameter(torch.empty(n_readers, d_output, 4 * d_cell))
        self.bias = nn.Parameter(torch.empty(n_readers, 4 * d_cell))
        self.to_output = nn.Parameter(torch.empty(n_readers, d_cell, d_output))
        for reader in range(n_readers):  # as `RecurrentLayer`: the forget gate is open at first
            for part in self.from_input[reader].chunk(4, dim=1):
                nn.init.xavier_uniform_(part)
            for part in self.from_hidden[reader].chunk(4, dim=1):
                nn.init.orthogonal_(part)
            nn.init.xavier_uniform_(self.to_output[reader])
        nn.init.zeros_(self.bias)
        nn.init.ones_(self.bias.detach().chunk(4, dim=1)[1])

    def blank(self, n_rows: int) -> ProjectedMemory:
        """Before the first step nothing is remembered: zeros."""
        n_readers, d_cell, d_output = self.to_output.shape
        hidden = self.to_output.new_zeros(n_readers, n_rows, d_output)
        cell = self.to_output.new_zeros(n_readers, n_rows, d_cell, dtype=torch.float32)
        return ProjectedMemory(hidden, cell)

    def step(
        self, x: Float[Tensor, "batch d_input"], before: ProjectedMemory, *, reader: int = 0
    ) -> ProjectedMemory:
        """One step of one reader, by the equation; its memory has one reader as well."""
        given = x @ self.from_input[reader] + self.bias[reader]
        back = before.hidden[0] @ self.from_hidden[reader]
        output, cell = lstm(given, back, (before.hidden[0], before.cell[0]))
        hidden = output.to(self.to_output.dtype) @ self.to_output[reader]
        return ProjectedMemory(hidden[None], cell.float()[None])

    def forward(
        self,
        x: Float[Tensor, "readers batch length d_input"],
        before: ProjectedMemory,
        readers: slice = slice(None),
    ) -> tuple[Float[Tensor, "readers batch length d_output"], ProjectedMemory]:
        """All steps of some readers; with the outputs, what is remembered after the last one."""
        bias = self.bias[readers, None]
        given = torch.baddbmm(bias, x.flatten(1, 2), self.from_input[readers])
        outputs, cell = _Steps.apply(
            given.unflatten(1, x.shape[1:3]).permute(2, 0, 1, 3),
            self.from_hidden[readers],
            self.to_output[readers],
            before.hidden,
            before.cell,
        )
        return outputs.permute(1, 2, 0, 3), ProjectedMemory(outputs[-1].detach(), cell)


class _Steps(torch.autograd.Function):
    """Products in the type of the weights, gates and cells in float32.

    What is remembered from before has no gradient (truncated backpropagation). That of a matrix is
    one product over all steps, which is why torch is not left to differentiate the loop.
    """

    @staticmethod
    def forward(
        ctx: Any, given: Tensor, back: Tensor, out: Tensor, hidden: Tensor, cell: Tensor
    ) -> tuple[Tensor, Tensor]:
        """`given` is W x + b of each gate: [length, readers, batch, 4 d_cell], in torch's order."""
        length, n_readers, n_rows, n_gates = given.shape
        gates = given.new_empty(given.shape, dtype=torch.float32)
        cells = given.new_empty(length + 1, n_readers, n_rows, n_gates // 4, dtype=torch.float32)
        shown = given.new_empty(cells[1:].shape)
        outputs = given.new_empty(length + 1, n_readers, n_rows, out.shape[2])
        cells[0], outputs[0] = cell, hidden
        for t in range(length):
            gates[t] = torch.baddbmm(given[t], outputs[t], back)
            take, keep, candidate, show = gates[t].chunk(4, dim=-1)
            for gate in (take, keep, show):
                gate.sigmoid_()
            candidate.tanh_()
            torch.mul(keep, cells[t], out=cells[t + 1]).addcmul_(take, candidate)
            shown[t] = cells[t + 1].tanh().mul_(show)
            torch.bmm(shown[t], out, out=outputs[t + 1])
        ctx.save_for_backward(gates, cells, shown, outputs, back, out)
        last = cells[-1].clone()
        ctx.mark_non_differentiable(last)
        return outputs[1:], last

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        gates, cells, shown, outputs, back, out = ctx.saved_tensors
        of_outputs = torch.empty_like(outputs[1:])
        of_given = torch.empty_like(gates, dtype=outputs.dtype)
        of_cell = torch.zeros_like(cells[0])
        of_hidden = torch.zeros_like(outputs[0])
        for t in reversed(range(len(gates))):
            take, keep, candidate, show = gates[t].chunk(4, dim=-1)
            torch.add(gradients[0][t], of_hidden, out=of_outputs[t])
            of_shown = torch.bmm(of_outputs[t], out.mT).float()
            bent = cells[t + 1].tanh()
            of_show = of_shown * bent
            of_cell += (of_shown * show).mul_(1 - bent * bent)
            parts = of_given[t].chunk(4, dim=-1)
            for part, gate, by in zip(
                (parts[0], parts[1], parts[3]),
                (take, keep, show),
                (of_cell * candidate, of_cell * cells[t], of_show),
                strict=True,
            ):
                part.copy_(torch.ops.aten.sigmoid_backward(by, gate))
            parts[2].copy_(torch.ops.aten.tanh_backward(of_cell * take, candidate))
            of_cell *= keep
            of_hidden = torch.bmm(of_given[t], back.mT)

        def over_steps(left: Tensor, right: Tensor) -> Tensor:
            left, right = (x.transpose(0, 1).flatten(1, 2) for x in (left, right))
            return torch.bmm(left.mT, right)

        of_back = over_steps(outputs[:-1], of_given)
        return of_given, of_back, over_steps(shown, of_outputs), None, None
