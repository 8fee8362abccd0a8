"""A training that a command runs: its settings, and a budget that holds.

Where the pace is another than was planned, the length is planned anew. The rest of the schedule is
stretched or shortened to the new end, from where it is: the rate does not jump. A training that has
a time to keep (`within_s`) is given `TIME_BUDGET` as a callback.
"""

import math
import re
from dataclasses import dataclass, replace
from typing import Any

from headway.core.errors import ConfigError, refuse_below, refuse_beyond
from headway.core.schedules import DECAYING
from headway.core.trainer import Trainer
from headway.core.training_interfaces import Callback
from headway.operations.learning_parts import LearningParts, refuse_unsound
from headway.operations.option_errors import two_beginnings

_LONGEST_DAYS = 3_650
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_MOST = {**dict.fromkeys(("within_s", "closing_s"), 1e9), "held_back": 10.0, "lora_rank": 1e6}

SMALL = 200
"""A new plan that differs by less than this part of its length is not worth one."""
WAVERING = 20
"""Nor is one that differs by less than this part of what is left: so much paces waver, and what is
lost by one that stays is made up for by a plan nearer to the end."""
LEAST_LEFT = 50
"""The part of all updates over which the rate comes down where no time is left."""


@dataclass(frozen=True)
class PlannedTraining(LearningParts):
    """Section [training] of a run."""

    budget: str = ""
    """Wall-clock time for all of training ("90s", "30m", "1h30m"); turned into max_steps."""
    within_s: float = 0.0
    """What the budget leaves for updates and validations: the end keeps to it. 0 = to max_steps."""
    closing_s: float = 0.0
    """What it leaves for the end, choosing and measuring, at the pace of the first plan."""
    plans: tuple[tuple[int, int], ...] = ()
    """Where max_steps was planned anew: after which update, and to end at which."""
    held_back: float = 1.0
    """After init_from: the learning rate is multiplied by this where few of the old pairs are seen
    again, and where only what is new learns. Filled in."""

    upload: str = ""
    """Where checkpoints and the model are copied to while it is trained: s3://bucket/runs/one."""

    @property
    def in_parts(self) -> bool:
        """Whether not all weights learn alike."""
        return bool(self.freeze or self.layer_decay < 1 or self.lora_rank)

    def __post_init__(self) -> None:
        super().__post_init__()
        refuse_below(self, {"within_s": 0, "closing_s": 0, "held_back": 0.001, "lora_rank": 0})
        refuse_beyond(self, _MOST)
        parts = self.freeze, self.unfreeze_at, self.reinit, self.layer_decay != 1, self.lora_rank
        if any(parts) or self.weight_decay:
            refuse_unsound(self)
        if self.init_embedding and self.init_from:
            raise two_beginnings()
        if self.budget or self.plans:
            refuse_unsound_plans(self)

    def place(self, step: int) -> int | float:
        """Where in the schedule of `max_steps` an update stands, after the plans that were made."""
        return planned_step(step, self) if self.plans else step

    def end(self) -> int:
        """The last update as planned now."""
        return self.plans[-1][1] if self.plans else self.max_steps


def seconds(budget: str) -> float | None:
    """The length of "90s", "30m", "1h30m" in seconds; None for an empty text."""
    if not budget:
        return None
    text = budget.strip().lower()
    if re.fullmatch(r"((\d+\.?|\d*\.\d+)[smhd])+", text, re.ASCII):
        parts = re.findall(r"(?<![\d.])([\d.]++)([smhd])", text)
        total = sum(float(n) * _UNITS[unit] for n, unit in parts)
        if 0 < total <= _LONGEST_DAYS * _UNITS["d"]:
            return total
        if total:
            raise ConfigError(f"A budget is {_LONGEST_DAYS:,}d at most; got {budget[:100]!r}.")
    raise ConfigError(f"A budget is a time with its unit, like 90s, 30m or 1h30m; got {budget!r}.")


def refuse_unsound_plans(settings: PlannedTraining) -> None:
    """Raise ConfigError for a budget that is no time, and for plans that nobody can have made."""
    seconds(settings.budget)
    last, end = 0, settings.max_steps
    for at, new_end in settings.plans:
        if not last < at < min(end, new_end):
            raise ConfigError(
                "each plan is made before training ends, and after the one before it; got "
                f"[{at}, {new_end}] after [{last}, {end}]. Take them from the run that made them."
            )
        last, end = at, new_end


def planned_step(step: int, settings: PlannedTraining) -> float:
    """Where in a schedule of `max_steps` update `step` stands, after the plans that were made.

    A rate that does not come down to an end has none to be stretched to.
    """
    if settings.schedule not in DECAYING:
        return float(step)
    at, end, place = 0, settings.max_steps, 0.0
    for new_at, new_end in settings.plans:
        if step <= new_at:
            break
        place += (settings.max_steps - place) * (new_at - at) / (end - at)
        at, end = new_at, new_end
    return place + (settings.max_steps - place) * (step - at) / (end - at)


def load_plans(trainer: Trainer[Any], state: dict[str, Any]) -> None:
    """What `plans_of` has put into a state.json."""
    settings: Any = trainer.settings
    kept = state.get("plans", settings.plans)
    trainer.settings = replace(settings, plans=tuple((at, end) for at, end in kept))


def plans_of(trainer: Trainer[Any]) -> dict[str, Any]:
    """The plans, for a checkpoint."""
    settings: Any = trainer.settings
    return {"plans": settings.plans}


def plan_anew(trainer: Trainer[Any]) -> None:
    """Move the end to where the time is up at the pace since the last plan, if that is far off.

    The pace is of updates with the validations and checkpoints between them.
    """
    progress = trainer.progress
    settings: Any = trainer.settings  # a `PlannedTraining`
    if not settings.within_s or progress.finished or progress.decay_start:
        return
    step, end = progress.step, settings.last_step()
    known = [plan for plan in settings.plans if plan[0] < step]
    since = known[-1][0] if known else 0
    step_s = max(progress.time_s - progress.planned_s, 1e-6) / (step - since)
    slower = step_s / (settings.within_s / settings.max_steps)  # so will the end be
    left_s = max(0.0, settings.within_s - progress.time_s - (slower - 1) * settings.closing_s)
    new_end = step + max(math.floor(left_s / step_s), min(end - step, math.ceil(end / LEAST_LEFT)))
    if abs(new_end - end) <= max(end / SMALL, (end - step) / WAVERING):
        return
    trainer.settings = replace(settings, plans=(*known, (step, new_end)))
    progress.planned_s = progress.time_s
    trainer.write_line({"planned": new_end})
    trainer.reporter.say(
        f"plan: {new_end:,} updates instead of {end:,}: they take {step_s * 1000:,.0f} ms each, "
        f"validations included, and {left_s / 60:.1f} min are left for them"
    )


TIME_BUDGET = Callback(on_validation=plan_anew, state_dict=plans_of, load_state_dict=load_plans)
"""What keeps a training to its time, and its plans in its checkpoints."""
