"""Which preset suits a corpus, a budget and a machine."""

from collections.abc import Sequence

from headway.runs.kind import Sizes

SMALL_CORPUS, MIDDLE_CORPUS = 3_000_000, 30_000_000
"""Target tokens up to which `tiny`, and then `small`, is large enough to learn the corpus."""
BY_SIZE = ["tiny", "small", "paper-base"]
CPU_SPEED = {"tiny": 8000, "small": 2500, "paper-base": 1200}
"""Rough target tokens/s of two CPU cores; only the choice of a preset rests on it."""
LEAST_EPOCHS = 5
"""A larger model that sees the corpus less often than this learns less than a smaller one."""
TUNED_RATE = 1 / 3
"""Of the peak that the other run was trained with."""
HELD_BACK = 0.3
"""Of that rate, where nothing of what the other run learned from can be seen again."""
CLOSING = 15
"""Validations' worth of time for choosing weights and length penalty, and for the model card: about
eight searches with a beam of 5, each of which takes nearly two greedy ones."""


def choose_preset(
    sizes: Sizes, budget_s: float | None, on_gpu: bool, allowed: Sequence[str]
) -> tuple[str, str]:
    """The name of one of the `allowed` presets, and why."""
    tokens = sizes.distinct
    largest = 0 if tokens < SMALL_CORPUS else 1 if tokens < MIDDLE_CORPUS else 2
    reason = f"{tokens:,} target tokens"
    if not on_gpu and budget_s is not None:
        least = LEAST_EPOCHS * sizes.per_pass
        while largest and budget_s * CPU_SPEED[BY_SIZE[largest]] < least:
            largest -= 1
            reason = f"in the budget a larger one would see the corpus under {LEAST_EPOCHS} times"
    elif not on_gpu and largest == 2:
        largest, reason = 1, "a CPU without a budget"
    if BY_SIZE[largest] in allowed:
        return BY_SIZE[largest], reason
    nearest = [*reversed(BY_SIZE[:largest]), *BY_SIZE[largest:], *allowed]
    name = next(name for name in nearest if name in allowed)
    return name, f"{BY_SIZE[largest]} does not go with what was set"
