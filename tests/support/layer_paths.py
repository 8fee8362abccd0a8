"""How far a signal goes: longest paths and sequential steps, found on the layers themselves.

A layer's dependencies are where its gradient is not zero. Paths are found by brute force over the
graph that they make, so that they owe nothing to the formulas of table 1.
"""

from collections.abc import Callable
from typing import cast

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from headway.study.layer_types import LAYER_TYPES, PathLength, Recurrent


def dependencies(
    layer: Callable[[Tensor], Tensor], n: int, d: int
) -> Bool[Tensor, "outputs inputs"]:
    """Which outputs of a layer change with which inputs."""
    x = torch.randn(1, n, d, requires_grad=True)
    found = layer(x)
    rows = []
    for i in range(n):
        [gradient] = torch.autograd.grad(found[0, i].sum(), x, retain_graph=True)
        rows.append(gradient[0].abs().sum(-1) > 0)
    return torch.stack(rows)


def step_by_step(layer: Recurrent, n: int, d: int) -> Bool[Tensor, "outputs inputs"]:
    """Which steps of a recurrent layer take something straight from which: each position is
    reached from its own input and from the memory of the step before."""
    straight = torch.zeros(n, n, dtype=torch.bool)
    x = torch.randn(1, n, d, requires_grad=True)
    before = layer.before(x)
    for t in range(n):
        kept = tuple(part.detach().requires_grad_() for part in before)
        after = layer.layer.step(x[:, t], kept)
        wanted = [x, *kept]
        whole = torch.cat(after).sum()
        found = torch.autograd.grad(whole, wanted, allow_unused=True)
        straight[t, t] = bool(found[0][0, t].abs().sum() > 0)
        if t:
            straight[t, t - 1] = any(bool(g.abs().sum() > 0) for g in found[1:] if g is not None)
        before = after
    return straight


def longest_path(moves: Callable[[int], Bool[Tensor, "outputs inputs"]]) -> int:
    """Steps until whatever can be reached at all is reached; `moves(s)` is one step, from 0."""
    first = moves(0)
    reached = torch.eye(len(first), dtype=torch.bool)
    steps = still = 0
    while still < 2:  # a step that reaches nothing new may be followed by one that does
        further = (moves(steps + still).float() @ reached.float()) > 0
        if torch.equal(further | reached, reached):
            still += 1
        else:
            steps, still = steps + still + 1, 0
            reached = further | reached
    return steps


def found_path(name: str, n: int, reach: PathLength, d: int = 2) -> int:
    """The longest path between two of n positions, by brute force over the layers' dependencies.

    A kernel of 2 n - 1 sees all of them. A wider one is cut to it, so that no dilated layer reads
    from k^2 positions beyond the text.
    """
    torch.manual_seed(0)
    layer_type = LAYER_TYPES[name]
    reach = reach._replace(kernel=min(reach.kernel, 2 * n - 1))

    def moves(step: int) -> Bool[Tensor, "outputs inputs"]:
        layer = layer_type.build(d, reach, step)
        if layer_type.sequential == "O(n)":
            return step_by_step(cast(Recurrent, layer), n, d)
        return dependencies(layer, n, d)

    return longest_path(moves)


def found_sequential(name: str, n: int, reach: PathLength, d: int = 2) -> int:
    """Operations of one layer that wait for one another: the deepest chain in autograd's graph.

    A recurrent layer runs by its equation, as the kernel would do it.
    """
    layer = LAYER_TYPES[name].build(d, reach, 0)
    x = torch.randn(1, n, d, requires_grad=True)
    if LAYER_TYPES[name].sequential != "O(n)":
        return depth(layer(x))
    recurrent = cast(Recurrent, layer)
    memory = recurrent.before(x)
    for part in x.unbind(1):
        memory = recurrent.layer.step(part, memory)
    return depth(memory[0])


def depth(found: Float[Tensor, "*shape"]) -> int:
    """The longest chain of operations that led to a tensor."""
    depths: dict[object, int] = {None: 0}
    waiting = [found.grad_fn]
    while waiting:
        node = waiting[-1]
        if node in depths:
            waiting.pop()
            continue
        before = [one for one, _ in node.next_functions]  # type: ignore[union-attr]
        unknown = [one for one in before if one not in depths]
        if unknown:
            waiting += unknown
        else:
            depths[node] = 1 + max((depths[one] for one in before), default=0)
    return depths[found.grad_fn]
