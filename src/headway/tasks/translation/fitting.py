"""Which preset suits a corpus, a budget and a machine."""

from collections.abc import Sequence

from headway.runs.fitting import Ladder
from headway.runs.kind import Sizes

LADDER = Ladder(
    names=("tiny", "small", "paper-base"),
    up_to=(3_000_000, 30_000_000),
    cpu_speed={"tiny": 8000, "small": 2500, "paper-base": 1200},
    least_epochs=5,
    unit="target tokens",
)


def choose_preset(
    sizes: Sizes, budget_s: float | None, on_gpu: bool, allowed: Sequence[str]
) -> tuple[str, str]:
    """The name of one of the `allowed` presets, and why."""
    if not set(allowed) & set(LADDER.names):
        return allowed[0], "made for this type of model"
    return LADDER.choose(sizes, budget_s, on_gpu, allowed)


TUNED_RATE = 1 / 3
"""Of the peak that the other run was trained with."""
HELD_BACK = 0.3
"""Of that rate, where nothing of what the other run learned from can be seen again."""
CLOSING = 15
"""Validations' worth of time for choosing weights and length penalty, and for the model card: about
eight searches with a beam of 5, each of which takes nearly two greedy ones."""
