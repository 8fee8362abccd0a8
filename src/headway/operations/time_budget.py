"""A budget that holds: where the pace is another than was planned, the length is planned anew.

The rest of the schedule is stretched or shortened to the new end, from where it is: the rate does
not jump. A training that has a time to keep (`within_s`) is given `TIME_BUDGET` as a callback.
"""

import math
from dataclasses import replace
from typing import Any

from headway.core.trainer import Trainer
from headway.core.training_interfaces import Callback

SMALL = 50
"""A new plan that differs by less than this part of its length is not worth one."""
WAVERING = 20
"""Nor is one that differs by less than this part of what is left: so much paces waver, and what is
lost by one that stays is made up for by a plan nearer to the end."""


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

    The pace is of updates with the validations and checkpoints between them. Where no time is left
    the rate still comes down over a few updates.
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
    new_end = step + max(math.floor(left_s / step_s), min(end - step, math.ceil(end / SMALL)))
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
