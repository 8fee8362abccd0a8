"""What may be set in the section `[training]`, whatever is trained."""

import re
from dataclasses import dataclass

from headway.errors import ConfigError, refuse_beyond
from headway.errors import settings as refused
from headway.schedules import SCHEDULES, Schedule

MOST_LINES = 5000
"""In metrics.jsonl, beside those at validations."""
_MOST = {
    **dict.fromkeys(("max_steps", "warmup_steps", "dropout_warmup", "checkpoint_every"), 10**9),
    **dict.fromkeys(("log_every", "patience"), 10**9),
    "batch_tokens": 1 << 24,
    "accumulate": 1 << 16,
    "average": 1_000,
    "learning_rate": 1e3,
    "clip_norm": 1e9,
    "adam_epsilon": 1.0,
}


@dataclass(frozen=True)
class TrainingSettings:
    """How a model is trained. A zero means: fitted to the corpus and the budget, and said aloud."""

    budget: str = ""
    """Wall-clock time for all of training ("90s", "30m", "1h30m"); turned into max_steps once."""
    init_from: str = ""
    """A finished run, whose weights this one begins with."""
    freeze: tuple[str, ...] = ()
    """Parts whose weights stay as they are, by how their names begin: `encoder`, `encoder.0`."""
    reinit: tuple[str, ...] = ()
    """Parts that are drawn anew although `init_from` has them."""
    max_steps: int = 0
    """Optimizer updates."""
    batch_tokens: int = 0
    """Padded tokens of the longest side in one batch."""
    accumulate: int = 1
    """Batches whose gradients make one update: that of one batch of all their rows."""
    schedule: Schedule = "linear"
    """`paper` is equation 3, whose peak follows from d_model and warmup_steps."""
    learning_rate: float = 0.0
    """The peak; the schedule `paper` sets it."""
    warmup_steps: int = 0
    dropout_warmup: int = 0
    """Updates over which dropout grows from nothing to its full strength; 0 = there from the start,
    as in the paper."""
    label_smoothing: float = 0.1
    adam_beta1: float = 0.9
    adam_beta2: float = 0.98
    adam_epsilon: float = 1e-9
    clip_norm: float = 1.0
    """Gradients longer than this are shortened to it; 0 = never, as in the paper."""
    checkpoint_every: int = 0
    """Updates between validations, each with a checkpoint."""
    average: int = 10
    """How many checkpoints, up to the best, are averaged at the end (section 6.1: 5 or 20)."""
    keep_all: bool = False
    """Keep the weights of every checkpoint, not only of those that may be averaged."""
    patience: int = 15
    """Validations without a better score before training ends early; 0 = never. A decaying rate
    first comes down to its end, over a tenth of `max_steps`."""
    log_every: int = 20
    """Updates between lines in metrics.jsonl; more where there would be over 5,000 lines."""

    def __post_init__(self) -> None:
        least = dict.fromkeys(("average", "log_every", "accumulate"), 1)
        steps = ("max_steps", "warmup_steps", "dropout_warmup", "checkpoint_every")
        for name in (*steps, "batch_tokens", "patience", "learning_rate", "clip_norm", *least):
            if getattr(self, name) < least.get(name, 0):
                raise refused.too_small(name, getattr(self, name), least=least.get(name, 0))
        refuse_beyond(self, _MOST)
        for name in ("adam_beta1", "adam_beta2", "label_smoothing"):
            if not 0 <= getattr(self, name) < 1:
                raise refused.unlike_the_paper(name, getattr(self, name))
        if self.adam_epsilon <= 0:
            raise refused.unlike_the_paper("adam_epsilon", self.adam_epsilon)
        if self.reinit and not self.init_from:
            raise refused.nothing_to_draw_anew()
        seconds(self.budget)

    def rate(self, step: int, landing: int = 0) -> float:
        """The learning rate of update `step` (from 1) under the chosen schedule.

        After `landing` (a step; 0 = none) it falls in a line to a hundredth at `last_step`.
        """
        if landing and step > landing:
            done = (step - landing) / (self.last_step(landing) - landing)
            return self.rate(landing) * (1 - 0.99 * done)
        shape = {"warmup_steps": self.warmup_steps, "max_steps": self.max_steps}
        return SCHEDULES[self.schedule](step, peak=self.learning_rate, **shape)

    def last_step(self, landing: int = 0) -> int:
        """The last update: `max_steps`, or a tenth of it after `landing`, where there is one."""
        end = landing + max(1, self.max_steps // 10) if landing else self.max_steps
        return min(end, self.max_steps)

    @property
    def log_interval(self) -> int:
        """Updates between lines in metrics.jsonl, so that no training fills the disk with them."""
        return max(self.log_every, self.max_steps // MOST_LINES)

    def dropout_share(self, step: int) -> float:
        """How much of the dropout the update after `step` others is made with."""
        return min(1.0, step / self.dropout_warmup) if self.dropout_warmup else 1.0


_LONGEST_DAYS = 3_650
UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def seconds(budget: str) -> float | None:
    """The length of "90s", "30m", "1h30m" in seconds; None for an empty text."""
    if not budget:
        return None
    text = budget.strip().lower()
    if re.fullmatch(r"((\d+\.?|\d*\.\d+)[smhd])+", text, re.ASCII):
        total = sum(float(n) * UNITS[unit] for n, unit in re.findall(r"([\d.]+)([smhd])", text))
        if 0 < total <= _LONGEST_DAYS * UNITS["d"]:
            return total
        if total:
            raise ConfigError(f"A budget is {_LONGEST_DAYS:,}d at most; got {budget[:100]!r}.")
    raise ConfigError(f"A budget is a time with its unit, like 90s, 30m or 1h30m; got {budget!r}.")
