"""Which preset suits a corpus, a budget and a machine."""

from headway.runs.fitting import Ladder

LADDER = Ladder(
    names=("tiny", "small", "paper-base"),
    up_to=(3_000_000, 30_000_000),
    cpu_speed={"tiny": 8000, "small": 2500, "paper-base": 1200},
    least_epochs=5,
    unit="target tokens",
)
TUNED_RATE = 1 / 3
"""Of the peak that the other run was trained with."""
HELD_BACK = 0.3
"""Of that rate, where nothing of what the other run learned from can be seen again."""
CLOSING = 15
"""Validations' worth of time for choosing weights and length penalty, and for the model card: about
eight searches with a beam of 5, each of which takes nearly two greedy ones."""
