"""Learning rates as functions of the step: equation 3, and three shapes with a free peak."""

import math
from collections.abc import Callable
from typing import Literal

Schedule = Literal["paper", "inverse-square-root", "linear", "cosine"]


def paper_peak(d_model: int, warmup_steps: int) -> float:
    """The rate at which equation 3 turns, at `warmup_steps`."""
    return float((d_model * warmup_steps) ** -0.5)


def inverse_square_root_rate(
    step: int | float, *, peak: float, warmup_steps: int, max_steps: int = 0
) -> float:
    """Up in a line, then down with the root of the step; it never ends.

    With `paper_peak` this is d_model^-0.5 * min(step^-0.5, step * warmup_steps^-1.5), equation 3.
    """
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
"""Learning rates as functions of the step, which counts optimizer updates from 1."""

DECAYING: tuple[Schedule, ...] = ("linear", "cosine")
"""Schedules whose weights are best once the rate has come down."""
