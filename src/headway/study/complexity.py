"""Table 1 of Vaswani et al. 2017 in theory and as measured on this machine.

Each layer runs over lengths n at one size d, and over sizes at one length. Time is fitted as
n^a or d^a over the largest sizes, where what is small beside it no longer counts.
"""

import math
import platform
import statistics
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode

from headway.core.runtime import cpu_name
from headway.study.layer_types import LAYER_TYPES, PathLength, middle_layer
from headway.study.measuring import peak_bytes, repeated

FITTED = 3
"""An exponent is fitted over so many of the largest sizes."""
MOST_S = 8.0
"""A layer is measured at no larger size where it takes longer than this."""
FEW = 4
"""Steps of a recurrent layer whose operations are counted."""


class Sweep(NamedTuple):
    """What is measured."""

    lengths: Sequence[int]
    sizes: Sequence[int]
    n: int
    """The length at which sizes are varied."""
    d: int
    """The size at which lengths are varied."""
    reach: PathLength
    layers: Sequence[str]
    backward: bool = False
    device: str = "cpu"

    @property
    def clock(self) -> str:
        """Which time of a `Timing` is fitted and drawn. On a GPU the processor only waits."""
        return "wall_s" if self.device == "cuda" else "cpu_s"

    @property
    def n_runs(self) -> int:
        """Points to be measured, for a progress bar."""
        return len(self.layers) * (len(self.lengths) + len(self.sizes))


Point = dict[str, Any]
"""One layer at one n and d."""


def measured(sweep: Sweep, advance: Callable[[str], None]) -> dict[str, Any]:
    """All of it: what `--json` prints. `advance` hears what is done next."""
    over_n = list(series(sweep, [(n, sweep.d) for n in sweep.lengths], advance))
    over_d = list(series(sweep, [(sweep.n, d) for d in sweep.sizes], advance))
    reached = longest_of_all(over_n)
    return {
        "d": sweep.d,
        "n": sweep.n,
        **sweep.reach._asdict(),
        "backward": sweep.backward,
        "machine": machine(sweep.device),
        "clock": sweep.clock,
        "reached": reached,
        "dilation": sweep.reach.kernel ** middle_layer(reached, sweep.reach),
        "layers": [row(name, sweep, over_n, over_d, reached) for name in sweep.layers],
        "over_n": over_n,
        "over_d": over_d,
    }


def series(
    sweep: Sweep, places: Sequence[tuple[int, int]], advance: Callable[[str], None]
) -> Iterator[Point]:
    """Every layer at some lengths and sizes, until it takes too long."""
    for name in sweep.layers:
        took = 0.0
        for n, d in places:
            advance(f"{LAYER_TYPES[name].title}: n = {n:,}, d = {d:,}")
            if took > MOST_S:
                continue
            point = at(name, n, d, sweep)
            took = point["wall_s"]
            yield point


def longest_of_all(over_n: Sequence[Point]) -> int:
    """The largest length at which every layer was measured."""
    of_layer = {point["layer"]: int(point["n"]) for point in over_n}  # the last of each
    return min(of_layer.values())


def without_tf32() -> None:
    """Have a GPU multiply float32 as float32 in this process: that is what is told of it."""
    torch.set_float32_matmul_precision("highest")
    torch.backends.cudnn.allow_tf32 = False


def at(name: str, n: int, d: int, sweep: Sweep) -> Point:
    """One layer at one place."""
    torch.manual_seed(1)
    layer = LAYER_TYPES[name].build(d, sweep.reach, middle_layer(n, sweep.reach)).to(sweep.device)
    x = torch.randn(1, n, d, device=sweep.device, requires_grad=sweep.backward)
    run = forward_and_backward(layer, x) if sweep.backward else forward(layer, x)
    timing = repeated(run, wait=waiting(sweep.device))
    return {
        "layer": name,
        "n": n,
        "d": d,
        **timing._asdict(),
        "peak_bytes": peak_bytes(run),
        "operations": counted(name, n, d, sweep.reach, backward=sweep.backward),
        "in_theory": LAYER_TYPES[name].operations(n, d, sweep.reach) * (3 if sweep.backward else 1),
    }


def waiting(device: str) -> Callable[[], object]:
    """What waits until a device has done all that it was given."""
    return torch.cuda.synchronize if device == "cuda" else lambda: None


def forward(layer: nn.Module, x: Tensor) -> Callable[[], object]:
    """One pass without gradients."""

    def run() -> None:
        with torch.no_grad():
            layer(x)

    return run


def forward_and_backward(layer: nn.Module, x: Tensor) -> Callable[[], object]:
    """One pass and the gradients of all that went in."""

    def run() -> None:
        torch.autograd.grad(layer(x).sum(), [x, *layer.parameters()])

    return run


def counted(name: str, n: int, d: int, reach: PathLength, *, backward: bool = False) -> int:
    """Operations of a layer by torch's counter, on tensors without memory.

    Of a recurrent layer a few steps are counted: each further one has as many.
    """

    def of(steps: int) -> int:
        with torch.device("meta"), FlopCounterMode(display=False) as counter:
            layer = LAYER_TYPES[name].build(d, reach, middle_layer(n, reach))
            x = torch.empty(1, steps, d, requires_grad=backward)
            found = layer(x)
            if backward:
                found.sum().backward()
        return int(counter.get_total_flops())

    if LAYER_TYPES[name].sequential == "O(n)" and n > 2 * FEW:
        first, both = of(FEW), of(2 * FEW)
        return first + (both - first) * (n - FEW) // FEW
    return of(n)


def seen(points: Sequence[Point], value: str) -> list[Point]:
    """Those without what a clock was too coarse to see: it says 0."""
    return [point for point in points if point[value] > 0]


def exponent(points: Sequence[Point], of: str, value: str) -> float | None:
    """The slope of the logarithms over the largest sizes: a in time = c n^a. None of too few."""
    last = sorted(seen(points, value), key=lambda point: point[of])[-FITTED:]
    if len(last) < 2:
        return None
    x, y = ([math.log(point[key]) for point in last] for key in (of, value))
    return statistics.linear_regression(x, y).slope


def row(
    name: str, sweep: Sweep, over_n: list[Point], over_d: list[Point], reached: int
) -> dict[str, Any]:
    """What table 1 says of a layer, its longest path over `reached` positions; what was found."""
    layer_type = LAYER_TYPES[name]
    fits = {
        f"in_{of}": {
            "theory": getattr(layer_type, f"in_{of}"),
            **{
                called: exponent([p for p in points if p["layer"] == name], of, value)
                for called, value in (("time", sweep.clock), ("operations", "operations"))
            },
        }
        for of, points in (("n", over_n), ("d", over_d))
    }
    told = {key: getattr(layer_type, key) for key in ("title", "cost", "sequential", "path")}
    return {
        "layer": name,
        **told,
        "longest_path": layer_type.longest(reached, sweep.reach),
        **fits,
    }


def machine(device: str) -> str:
    """What it ran on, in words."""
    name = torch.cuda.get_device_name() if device == "cuda" else cpu_name()
    threads = torch.get_num_threads()
    return (
        f"{name}, {threads} thread{'s'[: threads > 1]}, float32, torch {torch.__version__}, "
        f"{platform.system()}"
    )
