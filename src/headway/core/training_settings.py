"""What may be set in the section `[training]`, whatever is trained."""

from dataclasses import dataclass, replace
from typing import Any

from headway.core.errors import ConfigError, refuse_below, refuse_beyond
from headway.core.schedules import SCHEDULES, Schedule

MOST_LINES = 5000
"""In metrics.jsonl, beside those at validations."""
_STEPS = ("max_steps", "warmup_steps", "dropout_warmup", "checkpoint_every", "patience")
_MOST = {
    **dict.fromkeys((*_STEPS, "log_every"), 10**9),
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

    max_steps: int = 0
    """Optimizer updates; 0: fitted."""
    batch_tokens: int = 0
    """Tokens of a batch, padding included, on its longer side; 0: fitted."""
    accumulate: int = 1
    """Batches whose gradients make one update: that of one batch of all their rows."""
    schedule: Schedule = "linear"
    """`paper` is equation 3, whose peak follows from d_model and warmup_steps; the others rise to
    learning_rate and fall."""
    learning_rate: float = 0.0
    """The peak; 0: fitted. The schedule `paper` sets it."""
    warmup_steps: int = 0
    """Updates over which the learning rate rises to its peak (section 5.3); 0: fitted."""
    dropout_warmup: int = 0
    """Updates over which dropout grows from nothing to its full strength; 0 = there from the start,
    as in the paper."""
    label_smoothing: float = 0.1
    """Share of the probability that is spread over all tokens (section 5.4: 0.1)."""
    adam_beta1: float = 0.9
    """Adam's decay of the mean of gradients (section 5.3: 0.9)."""
    adam_beta2: float = 0.98
    """Adam's decay of the mean of their squares (section 5.3: 0.98)."""
    adam_epsilon: float = 1e-9
    """Added to Adam's divisor (section 5.3: 1e-9)."""
    clip_norm: float = 1.0
    """Gradients longer than this are shortened to it; 0 = never, as in the paper."""
    checkpoint_every: int = 0
    """Updates between validations, each with a checkpoint; 0: fitted."""
    average: int = 10
    """How many checkpoints, up to the best, are averaged at the end (section 6.1: 5 or 20)."""
    keep_all: bool = False
    """Keep the weights of every checkpoint, not only of those that may be averaged."""
    patience: int = 15
    """Validations without a better score before training ends early; 0 = never. A decaying rate
    first comes down to its end, over a tenth of the updates."""
    log_every: int = 20
    """Updates between lines in metrics.jsonl; more where there would be over 5,000 lines."""

    def __post_init__(self) -> None:
        least_0 = (*_STEPS, "batch_tokens", "learning_rate", "clip_norm")
        refuse_below(self, dict.fromkeys(least_0, 0))
        refuse_below(self, dict.fromkeys(("average", "log_every", "accumulate"), 1))
        refuse_beyond(self, _MOST)
        papers = {"adam_beta1": "0.9 and 0.98", "adam_beta2": "0.9 and 0.98"}
        for name, uses in (papers | {"label_smoothing": "0.1", "adam_epsilon": "1e-9"}).items():
            value = getattr(self, name)
            rule = "above 0" if name == "adam_epsilon" else "at least 0 and below 1"
            if not (value > 0 if name == "adam_epsilon" else 0 <= value < 1):
                raise ConfigError(f"{name} must be {rule}; got {value}. The paper uses {uses}.")

    def rate(self, step: int, decay_start: int = 0) -> float:
        """The learning rate of update `step` (from 1) under the chosen schedule.

        After `decay_start` (a step; 0 = none) it falls in a line to a hundredth at `last_step`.
        """
        if decay_start and step > decay_start:
            done = (step - decay_start) / (self.last_step(decay_start) - decay_start)
            return self.rate(decay_start) * (1 - 0.99 * done)
        shape = {"warmup_steps": self.warmup_steps, "max_steps": self.max_steps}
        return SCHEDULES[self.schedule](self.place(step), peak=self.learning_rate, **shape)

    def last_step(self, decay_start: int = 0) -> int:
        """The last update, or a tenth of all after `decay_start`, if that is set."""
        end = self.end()
        return min(decay_start + max(1, end // 10), end) if decay_start else end

    def place(self, step: int) -> int | float:
        """Where in the schedule an update stands."""
        return step

    def end(self) -> int:
        """The last update, unless patience runs out."""
        return self.max_steps

    @property
    def log_interval(self) -> int:
        """Updates between lines in metrics.jsonl, so that no training fills the disk with them."""
        return max(self.log_every, -(-self.max_steps // MOST_LINES))

    def dropout_share(self, step: int) -> float:
        """How much of the dropout the update after `step` others is made with."""
        return min(1.0, step / self.dropout_warmup) if self.dropout_warmup else 1.0


def usual(training: TrainingSettings) -> Any:
    """Batches of 4,096 tokens and a peak rate of 0.001, where these were left open."""
    rate = 0.0 if training.schedule == "paper" else 1e-3
    rate, size = training.learning_rate or rate, training.batch_tokens or 4096
    return replace(training, learning_rate=rate, batch_tokens=size)


def fitted_warmup(max_steps: int, part: int = 4) -> int:
    """One in `part` of the updates, at most the paper's 4000."""
    return min(4000, max(1, max_steps // part))
