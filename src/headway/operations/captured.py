"""One update's losses and gradients as two CUDA graphs, replayed: for batches that have one shape.

A small model asks a GPU for a thousand products and sums an update, each of a few microseconds:
the processor, which takes longer to ask than the GPU to answer, is what trains. Recorded once, all
of them are asked for at once (torch.cuda.CUDAGraph).
"""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

WARM_UPS = 3
"""Losses and gradients before the recording: libraries choose their ways, tables grow."""

Work = Callable[[nn.Module, Sequence[Tensor]], Tensor]
"""A model's loss on a batch's tensors, in which no tensor's size depends on numbers in another."""


class Captured:
    """`work`, recorded when it is first called, and replayed for tensors of the same shapes.

    The model's gradients are added up as by `work` itself; they must keep their places in memory,
    as those of `headway.core.optimizer.FlatAdam` do. Other shapes, and models, are not replayed.
    """

    def __init__(self, model: nn.Module, work: Work) -> None:
        self.model, self.work = model, work
        self.shapes: list[torch.Size] = []
        self.given = list[Tensor]()
        self.scale = self.loss = torch.zeros(())
        self.forward, self.backward = torch.cuda.CUDAGraph(), torch.cuda.CUDAGraph()

    def __call__(self, model: nn.Module, tensors: Sequence[Tensor]) -> Tensor:
        """The loss. Its gradient is the last replay's: go back from it before the next is made."""
        shapes = [one.shape for one in tensors]
        if model is not self.model or shapes != (self.shapes or shapes):
            return self.work(model, tensors)
        if not self.shapes:
            self.record(tensors)
            self.shapes = shapes
        for mine, one in zip(self.given, tensors, strict=True):
            mine.copy_(one)
        learning = next(p for p in self.model.parameters() if p.requires_grad)
        return _Replay.apply(self, learning)

    def record(self, tensors: Sequence[Tensor]) -> None:
        """Both graphs; random numbers and gradients are left as they were."""
        self.given = [one.clone() for one in tensors]
        device = self.given[0].device
        random = torch.cuda.get_rng_state(device)
        before = {p: p.grad.clone() for p in self.model.parameters() if p.grad is not None}
        self.scale = torch.ones((), device=device)
        aside = torch.cuda.Stream(device)
        aside.wait_stream(torch.cuda.current_stream(device))
        with torch.cuda.stream(aside):
            for _ in range(WARM_UPS):
                torch.autograd.backward(self.work(self.model, self.given), self.scale)
        torch.cuda.current_stream(device).wait_stream(aside)
        pool = torch.cuda.graph_pool_handle()
        with torch.cuda.graph(self.forward, pool=pool, stream=aside):
            self.loss = self.work(self.model, self.given)
        with torch.cuda.graph(self.backward, pool=pool, stream=aside):
            torch.autograd.backward(self.loss, self.scale)
        self.loss = self.loss.detach()
        for parameter, gradient in before.items():
            assert parameter.grad is not None
            parameter.grad.copy_(gradient)
        torch.cuda.set_rng_state(random, device)


class _Replay(torch.autograd.Function):
    """Makes a replay's loss look like any other; the parameter is why it has a gradient."""

    @staticmethod
    def forward(ctx: Any, captured: Captured, parameter: Tensor) -> Tensor:
        ctx.captured = captured
        captured.forward.replay()
        return captured.loss.clone()

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[None, None]:
        ctx.captured.scale.copy_(gradients[0])
        ctx.captured.backward.replay()
        return None, None
