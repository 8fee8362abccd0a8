"""Weights rounded to fewer bits: bfloat16, and int8 in steps of each row's own."""

from typing import Any

import numpy as np

Floats = np.ndarray[Any, np.dtype[np.float32]]
Numbers = np.ndarray[Any, np.dtype[Any]]

MOST_STEPS = 64
"""A weight in int8 is a whole number of steps from -64 to 64, so that four products with bytes up
to 127 can be added in 16 bits, as processors without VNNI do."""


def as_bfloat16(weight: Floats) -> Numbers:
    """Each to the nearest; of two that are as near, to the even one."""
    bits = np.ascontiguousarray(weight).view(np.uint32)
    up = bits + np.uint32(0x7FFF) + (bits >> np.uint32(16) & np.uint32(1))
    return (up >> np.uint32(16)).astype(np.uint16)


def as_int8(weight: Floats) -> tuple[Numbers, Floats]:
    """Each row `[outputs, inputs]` in whole steps, its largest weight 64 of them; and what a step
    is worth for each output: 0 for a row of zeros, no finite number where one is none."""
    steps = np.abs(weight).max(1) / np.float32(MOST_STEPS)
    sound = np.isfinite(steps) & (steps > 0)
    whole = np.zeros(weight.shape, dtype=np.int8)
    in_steps = np.rint(weight[sound] / steps[sound, None])
    whole[sound] = np.clip(in_steps, -MOST_STEPS, MOST_STEPS)
    return whole, steps
