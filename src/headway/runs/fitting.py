"""Lengths that follow the data, the budget and the machine, each with its reason.

Every rule here fills a setting that the user left open; nothing that was set is changed.
"""

import math

from headway.runs.kind import Sizes

SEEN = 40_000_000
"""Units to train on when there is no budget: about 90 times through 30,000 captions."""
TUNING_SEEN = 5_000_000
"""The same for a model that begins with another run's weights."""


def fit_dropout(passes: float) -> tuple[float, str]:
    """More dropout the more often the corpus is seen, and why."""
    if passes < 10:
        return 0.1, "the corpus will be seen less than 10 times"
    if passes < 40:
        return 0.2, "the corpus will be seen 10 times or more"
    return 0.3, "the corpus will be seen 40 times or more"


def fit_steps(
    sizes: Sizes,
    *,
    units_per_step: float,
    step_s: float,
    validation_s: float,
    left_s: float | None,
    n_validations: int,
    closing: int,
    tuned: bool = False,
) -> tuple[int, str]:
    """How many updates: what the time left allows, or a number of passes when there is no budget.

    A tenth of the time at most goes to the validations on the way; `closing` more come at the end.
    `tuned` is for a model that begins with another run's weights.
    """
    if left_s is not None:
        for_updates = left_s - (n_validations + closing) * validation_s
        steps = max(1, math.floor(0.97 * for_updates / step_s))
        return steps, f"{step_s * 1000:.0f} ms an update as measured, {left_s / 60:.0f} min left"
    wanted, least, most = (TUNING_SEEN, 3, 30) if tuned else (SEEN, 10, 100)
    epochs = min(max(wanted / sizes.per_pass, least), most)
    steps = math.ceil(epochs * sizes.per_pass / units_per_step)
    return steps, f"{epochs:.0f} times through the corpus"


def fit_validations(left_s: float | None, validation_s: float, *, tuned: bool = False) -> int:
    """How often to validate: 40 times, less where that would take over a tenth of the budget.

    Half as often for a model that begins with another run's weights.
    """
    most = 20 if tuned else 40
    if left_s is None:
        return most
    return min(most, max(4, math.floor(0.1 * left_s / max(validation_s, 1e-3))))


def fit_warmup(max_steps: int, *, tuned: bool = False) -> int:
    """An eighth of the updates, at most the paper's 4000.

    A twentieth for a model that begins with another run's weights: only the optimizer is new.
    """
    return min(4000, max(1, max_steps // (20 if tuned else 8)))
