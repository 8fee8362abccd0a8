"""Learning rates as pure functions of the step, which counts optimizer updates from 1."""

import math
from collections.abc import Callable
from typing import Literal

Schedule = Literal["paper", "inverse-square-root", "linear", "cosine"]


def warmup_rate(step: int, *, d_model: int, warmup_steps: int) -> float:
    """d_model^-0.5 * min(step^-0.5, step * warmup_steps^-1.5) (eq. 3 of the paper)."""
    return d_model**-0.5 * min(step**-0.5, step * warmup_steps**-1.5)


def paper_peak(d_model: int, warmup_steps: int) -> float:
    """The rate at which equation 3 turns, at `warmup_steps`."""
    return float((d_model * warmup_steps) ** -0.5)


def inverse_square_root_rate(
    step: int | float, *, peak: float, warmup_steps: int, max_steps: int = 0
) -> float:
    """Equation 3's shape with a chosen peak, reached at `warmup_steps`; it never ends."""
    return peak * min((warmup_steps / step) ** 0.5, step / warmup_steps)


def cosine_rate(step: int | float, *, peak: float, warmup_steps: int, max_steps: int) -> float:
    """Linear warm-up, then half a cosine down to a hundredth of the peak at `max_steps`."""
    if step <= warmup_steps:
        return peak * step / warmup_steps
    progress = min((step - warmup_steps) / max(max_steps - warmup_steps, 1), 1.0)
    return peak * (0.01 + 0.99 * 0.5 * (1 + math.cos(math.pi * progress)))


def linear_rate(step: int | float, *, peak: float, warmup_steps: int, max_steps: int) -> float:
    """Linear warm-up, then a straight line down to a hundredth of the peak at `max_steps`."""
    if step <= warmup_steps:
        return peak * step / warmup_steps
    progress = min((step - warmup_steps) / max(max_steps - warmup_steps, 1), 1.0)
    return peak * (1 - 0.99 * progress)


SCHEDULES: dict[Schedule, Callable[..., float]] = {
    "paper": inverse_square_root_rate,  # whose peak is `paper_peak`
    "inverse-square-root": inverse_square_root_rate,
    "linear": linear_rate,
    "cosine": cosine_rate,
}
"""Each takes step, peak, warmup_steps and max_steps."""

DECAYING: tuple[Schedule, ...] = ("linear", "cosine")
"""Schedules whose weights are best once the rate has come down."""
