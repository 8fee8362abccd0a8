"""Sizes and lengths that follow the corpus, the budget and the machine, each with its reason.

Every rule here fills a setting that the user left open; nothing that was set is changed.
"""

import math
from dataclasses import dataclass

SMALL_CORPUS, MIDDLE_CORPUS = 3_000_000, 30_000_000
"""Target tokens up to which `tiny`, and then `small`, is large enough to learn the corpus."""
CPU_SPEED = {"tiny": 8000, "small": 2500, "paper-base": 1200}
"""Rough target tokens/s of two CPU cores; only the choice of a preset rests on it."""
LEAST_EPOCHS = 5
"""A larger model that sees the corpus less often than this learns less than a smaller one."""
AT_THE_END = 15
"""Validations' worth of time for choosing weights and length penalty, and for the model card: about
eight searches with a beam of 5, each of which takes nearly two greedy ones."""
SEEN_TOKENS = 40_000_000
"""Target tokens to train on when there is no budget: about 90 times through 30,000 captions."""
TUNING_TOKENS = 5_000_000
"""The same for a model that begins with another run's weights."""
TUNED_RATE = 1 / 3
"""Of the peak that the other run was trained with."""


@dataclass(frozen=True)
class Corpus:
    """What the rules look at."""

    distinct_tokens: int
    """Of the target sides, end markers included, each pair once."""
    target_tokens: int
    """The same of one pass, each pair as often as it weighs."""


def fit_preset(corpus: Corpus, *, budget_s: float | None, on_gpu: bool) -> tuple[str, str]:
    """A preset's name and why."""
    tokens = corpus.distinct_tokens
    names = ["tiny", "small", "paper-base"]
    largest = 0 if tokens < SMALL_CORPUS else 1 if tokens < MIDDLE_CORPUS else 2
    reason = f"{tokens:,} target tokens"
    if not on_gpu and budget_s is not None:
        while (
            largest and budget_s * CPU_SPEED[names[largest]] < LEAST_EPOCHS * corpus.target_tokens
        ):
            largest -= 1
            reason = f"in the budget a larger one would see the corpus under {LEAST_EPOCHS} times"
    elif not on_gpu and largest == 2:
        largest, reason = 1, "a CPU without a budget"
    return names[largest], reason


def fit_dropout(passes: float) -> tuple[float, str]:
    """More dropout the more often the corpus is seen, and why."""
    if passes < 10:
        return 0.1, "the corpus will be seen less than 10 times"
    if passes < 40:
        return 0.2, "the corpus will be seen 10 times or more"
    return 0.3, "the corpus will be seen 40 times or more"


def fit_steps(
    corpus: Corpus,
    *,
    tokens_per_step: float,
    step_s: float,
    validation_s: float,
    left_s: float | None,
    n_validations: int,
    tuned: bool = False,
) -> tuple[int, str]:
    """How many updates: what the time left allows, or a number of passes when there is no budget.

    A tenth of the time at most goes to the validations on the way. `tuned` is for a model that
    begins with another run's weights.
    """
    if left_s is not None:
        for_updates = left_s - (n_validations + AT_THE_END) * validation_s
        steps = max(1, math.floor(0.97 * for_updates / step_s))
        return steps, f"{step_s * 1000:.0f} ms an update as measured, {left_s / 60:.0f} min left"
    wanted, least, most = (TUNING_TOKENS, 3, 30) if tuned else (SEEN_TOKENS, 10, 100)
    epochs = min(max(wanted / corpus.target_tokens, least), most)
    steps = math.ceil(epochs * corpus.target_tokens / tokens_per_step)
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
