"""What was left open is fitted to the data, the budget and the speed as measured, and said.

Entered where no preset is named, or no length. Nothing that was set is changed.
"""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from typing import Any, NamedTuple

import torch

from headway.core.config import Sections, merge
from headway.core.errors import ConfigError
from headway.core.trainer import Trainer
from headway.core.training_settings import fitted_warmup, usual
from headway.operations.option_errors import peak_of_equation_3
from headway.operations.time_budget import PlannedTraining, seconds
from headway.runs.settings import Settings, presets_of_type, type_of
from headway.runs.task_spec import Run, Sizes, TaskSpec

SEEN, TUNING_SEEN = 40_000_000, 5_000_000
"""Units to train on when there is no budget: about 90 times through 30,000 captions. The second is
for a model that begins with another run's weights."""
TIMED_UPDATES, LEAST_TIMED = 24, 4
"""Updates that the speed is measured on, after three to warm up; as few as the second in a
hundredth of the budget: the plan is made anew on the way."""
VALIDATING, CHOOSING = 0.03, 0.05
"""Shares of a budget that validations, and choosing the weights at the end, may take."""
APART = 20
"""Updates between two validations at least; scores of a few updates are chance."""
FEW = 10_000_000  # padded tokens; of fewer more is made: headway.runs.short_budgets
FEW_DISTINCT, OFTEN = 200_000, 100  # units, passes: headway.runs.decayed_adam
SPARE, SPARE_S = 0.03, 20.0
"""Of the time that is left, for what nothing was rehearsed of: a share, so many seconds at most."""
LEAST_VALIDATED = 100
"""Sentences, however short the budget."""
LEAST_PASSES, LEAST_SEEN = 3, 1_000_000
"""A model that has seen the corpus less often, and fewer units, is good for nothing."""

# -- the preset -------------------------------------------------------------------------------


def presets_that_fit(spec: TaskSpec, given: Sections) -> list[str]:
    """The presets below which what was given is allowed.

    Raises ConfigError where it is not allowed under any, nor by itself: found before an hour of
    reading.
    """
    fitting, refused = list[str](), list[ConfigError]()
    for name in ("", *presets_of_type(spec, type_of(spec, given))):
        try:
            Settings.of(merge(spec.presets.get(name, {}), given), spec)
            fitting.append(name)
        except ConfigError as error:
            refused.append(error)
    if not fitting:
        raise refused[min(1, len(refused) - 1)]  # the smallest preset's says what it is made of
    return [name for name in fitting if name]


class PresetLadder(NamedTuple):
    """Presets of one shape, from the smallest to the largest, and when the next one is worth it."""

    names: Sequence[str]
    up_to: Sequence[int]
    """Distinct units up to which each but the last is large enough to learn the corpus."""
    cpu_speed: Mapping[str, int]
    """Rough units/s of two CPU cores; only the choice of a preset rests on it."""
    least_epochs: int
    """A larger model that sees the corpus less often than this learns less than a smaller one."""
    unit: str

    def choose(
        self, sizes: Sizes, budget_s: float | None, on_gpu: bool, allowed: Sequence[str]
    ) -> tuple[str, str]:
        """The name of one of the `allowed` presets, and why: of another type of model than this
        ladder's, the largest."""
        names = self.names
        if not {*allowed} & {*names}:
            return allowed[-1], "made for this type of model"
        best = sum(sizes.distinct >= limit for limit in self.up_to)
        reason = f"{sizes.distinct:,} {self.unit}"
        if not on_gpu and budget_s is not None:
            least = self.least_epochs * sizes.per_pass
            while best and budget_s * self.cpu_speed[names[best]] < least:
                best -= 1
                reason = (
                    "in the budget a larger one would see the corpus under "
                    f"{self.least_epochs} times"
                )
        elif not on_gpu and best == len(names) - 1:
            best, reason = best - 1, "a CPU without a budget"
        if names[best] in allowed:
            return names[best], reason
        nearest = [*reversed(names[:best]), *names[best:], *allowed]
        name = next(name for name in nearest if name in allowed)
        return name, f"{names[best]} does not go with what was set"


# -- everything else --------------------------------------------------------------------------


def fit(run: Run, build_trainer: Callable[[Run], Trainer[Any]]) -> Settings:
    """The run's settings with batches, rate, length, warm-up and dropout where they were left open;
    `build_trainer` gives one to measure the speed with."""
    training = usual(run.settings.training)
    if run.runtime.device.type == "cuda":
        training = import_module("headway.runs.on_gpu").fit_rows(run, training)
    if training.budget or not (training.max_steps and training.checkpoint_every):
        training = fit_length(replace(run, settings=with_training(run, training)), build_trainer)
    if run.preset and training.within_s and padded_tokens(training) < FEW:
        from headway.runs.short_budgets import fit_short  # a side room

        training = fit_short(run, training)
    if not training.warmup_steps:
        part = 4 if run.settings.model_type in run.spec.slow_warmup else 8
        part = 20 if training.init_from else part  # only the optimizer is new
        training = replace(training, warmup_steps=fitted_warmup(training.max_steps, part))
    elif training.warmup_steps > training.max_steps // 2:
        run.say(
            f"WARNING: the rate rises for {training.warmup_steps:,} of {training.max_steps:,} "
            "updates. Lower --training.warmup-steps: an eighth or a quarter is usual."
        )
    if training.schedule == "paper":
        was_set = "learning_rate" in run.given.get("training", {})
        peak = peak_of_equation_3(training, run.settings.model, run.settings.model_type, was_set)
        training = replace(training, learning_rate=peak)
    if run.preset and run.preset in run.spec.fits_dropout:
        return with_dropout(run, training)
    return with_training(run, training)


def padded_tokens(training: PlannedTraining) -> int:
    """At most so many are learned from."""
    return training.max_steps * training.accumulate * training.batch_tokens


def with_training(run: Run, training: PlannedTraining) -> Settings:
    """The run's settings, but for this section."""
    return replace(run.settings, training=training)


def with_dropout(run: Run, training: PlannedTraining) -> Settings:
    """More dropout the more often a text will be seen, growing over an eighth of the updates."""
    sizes = run.spec.sizes(run.data)
    passes = padded_tokens(training) / sizes.per_pass
    dropout, why = fit_dropout(passes)
    if passes >= (10 if sizes.distinct < FEW_DISTINCT else OFTEN):
        from headway.runs.decayed_adam import fit_decay  # a side room

        training = fit_decay(run, training, few=sizes.distinct < FEW_DISTINCT)
    if "dropout_warmup" not in run.given.get("training", {}):
        grows = min(training.warmup_steps, fitted_warmup(training.max_steps, 8))
        training = replace(training, dropout_warmup=grows)
    settings = with_training(run, training)
    if "dropout" in run.given.get("model", {}):
        return settings
    run.say(f"dropout {dropout}: {why}")
    return replace(settings, model=replace(settings.model, dropout=dropout))


def fit_dropout(passes: float) -> tuple[float, str]:
    """More dropout the more often the corpus is seen, and why."""
    if passes < 10:
        return 0.1, "the corpus will be seen less than about 10 times"
    if passes < 40:
        return 0.2, "the corpus will be seen about 10 times or more"
    return 0.3, "the corpus will be seen about 40 times or more"


# -- the length -------------------------------------------------------------------------------


class Rehearsal(NamedTuple):
    """What a rehearsal has measured."""

    units_per_step: float
    step_s: float
    validation_s: float
    closing_s: float
    """Of the end: choosing the weights, and what the model card says."""


def fit_length(run: Run, build_trainer: Callable[[Run], Trainer[Any]]) -> PlannedTraining:
    """How many updates, and how many between validations; measured where that depends on speed."""
    training: PlannedTraining = run.settings.training
    tuned, asked = bool(training.init_from), training.max_steps
    if training.budget and "max_steps" not in run.given.get("training", {}):
        asked = 0  # a preset's gives way to what was asked for
    elif training.budget and asked:
        run.say(
            f"{asked:,} updates were asked for ([training] max_steps): the budget of "
            f"{training.budget} does not shorten them"
        )
    training = replace(training, max_steps=asked)
    if asked and not training.budget:
        n_validations = fit_validations(None, 0.0, tuned=tuned)
    if not asked or (training.budget and not training.checkpoint_every):
        task, pace = rehearsed(run, training, build_trainer)
        training, pace, left_s = time_left(run, training, task, pace)
        n_validations = fit_validations(left_s, pace.validation_s, tuned=tuned)
        if not asked:
            within_s = None if left_s is None else time_to_learn(left_s, pace.closing_s)
            steps, why = fit_steps(run.spec.sizes(run.data), pace, within_s, n_validations, tuned)
            training = replace(
                training, max_steps=steps, within_s=within_s or 0.0, closing_s=pace.closing_s
            )
            say_length(run, steps, why, pace, n_validations, task.unit)
    if training.checkpoint_every:
        return training
    every = spacing(training.max_steps, n_validations, tuned=tuned)
    if not (tuned or "average" in run.given.get("training", {})):
        quarter = max(2, training.max_steps // every // 4)
        training = replace(training, average=min(training.average, quarter))
    return replace(training, checkpoint_every=every)


def rehearsed(
    run: Run, training: PlannedTraining, build_trainer: Callable[[Run], Trainer[Any]]
) -> tuple[Any, Rehearsal]:
    """The task, and what a trainer whose work is not kept takes for its parts."""
    spec, settings = run.spec, run.settings
    measuring = replace(
        training,
        max_steps=training.max_steps or 10**6,
        warmup_steps=10**6,
        learning_rate=training.learning_rate or 1e-3,
    )
    trainer = build_trainer(replace(run, settings=with_training(run, measuring)))
    units_per_step, step_s = timed_updates(trainer, (seconds(training.budget) or math.inf) / 100)
    with torch.inference_mode():
        task, model = trainer.task, trainer.eval_model
        part_s = validation_s = seconds_of(lambda: spec.rehearse(task, model))
        if rehearse_end := spec.rehearse_end:
            part_s = seconds_of(lambda: rehearse_end(settings, task, model))
    return task, Rehearsal(units_per_step, step_s, validation_s, spec.closing * part_s)


def timed_updates(trainer: Trainer[Any], most_s: float) -> tuple[float, float]:
    """Units and seconds of an update, as measured."""
    for _ in range(3):
        trainer.train_step()
    counted, begun, n, spent_s = trainer.progress.sums["units"], time.monotonic(), 0, 0.0
    while n < LEAST_TIMED or (n < TIMED_UPDATES and spent_s < most_s):
        trainer.train_step()
        n, spent_s = n + 1, time.monotonic() - begun
    if trainer.device.type == "cuda":
        torch.cuda.synchronize(trainer.device)  # only then does a clock tell what the work took
    step_s = (time.monotonic() - begun) / n
    return (trainer.progress.sums["units"] - counted) / n, step_s


def seconds_of(work: Callable[[], object]) -> float:
    """How long it takes."""
    begun = time.monotonic()
    work()
    return time.monotonic() - begun


def time_left(
    run: Run, training: PlannedTraining, task: Any, pace: Rehearsal
) -> tuple[PlannedTraining, Rehearsal, float | None]:
    """What is left of a budget, None without one; as much as the least takes that is a model.

    Fewer sentences are validated on where the end would take over `CHOOSING` of it: at least
    `LEAST_VALIDATED`, and as many as were asked for.
    """
    budget_s = seconds(training.budget)
    if budget_s is None:
        return training, pace, None
    left_s = budget_s - (time.monotonic() - run.started)
    if training.max_steps:
        return training, pace, left_s
    asked = "valid_sentences" in run.given.get("training", {})
    most_s = CHOOSING * max(left_s, 0)
    if not asked and hasattr(training, "valid_sentences") and pace.closing_s > most_s:
        n_all, share = len(task.valid_rows), most_s / pace.closing_s
        n = min(n_all, max(LEAST_VALIDATED, math.floor(n_all * share)))
        if n < n_all:
            run.say(
                f"validates on {n:,} of {n_all:,} sentences: choosing the weights by all of them "
                f"would take {pace.closing_s:.0f} s, and {max(left_s, 0):.0f} s are left"
            )
        fewer: Any = {"valid_sentences": n}
        training, share = replace(training, **fewer), n / n_all
        pace = pace._replace(
            validation_s=share * pace.validation_s, closing_s=share * pace.closing_s
        )
    least_s = TIMED_UPDATES * pace.step_s + 4 * pace.validation_s + pace.closing_s
    if left_s < least_s:
        ways = [f"--preset {name}" for name in smaller_presets(run)] or ["--model.d-model 64"]
        run.say(
            f"WARNING: {max(left_s, 0):.0f} s of {training.budget} are left after preparation, "
            f"too little to learn in: this takes {least_s:.0f} s more, for the least that is a "
            "model. Take a longer --budget (what was prepared of a large corpus is kept)"
            + ("" if training.init_from else f", or a smaller model: {ways[0]}")
        )
    return training, pace, max(left_s, least_s)


def time_to_learn(left_s: float, closing_s: float) -> float:
    """What is left for updates and validations, once the end has its time; half at least."""
    return max(left_s - min(SPARE * left_s, SPARE_S) - closing_s, left_s / 2)


def fit_steps(
    sizes: Sizes, pace: Rehearsal, within_s: float | None, n_validations: int, tuned: bool = False
) -> tuple[int, str]:
    """How many updates: what the time allows, or a number of passes when there is no budget.

    `within_s` is for the updates, at least half of it, and the validations between them. `tuned` is
    for a model that begins with another run's weights.
    """
    if within_s is not None:
        for_updates = max(within_s - n_validations * pace.validation_s, within_s / 2)
        steps = max(1, math.floor(for_updates / pace.step_s))
        return steps, (
            f"{pace.step_s * 1000:.0f} ms an update as measured, {within_s / 60:.1f} min for "
            "learning"
        )
    wanted, least, most = (TUNING_SEEN, 3, 30) if tuned else (SEEN, 10, 100)
    fitted = sizes.passes / (2 if tuned else 1)
    epochs = fitted or min(max(wanted / sizes.per_pass, least), most)
    steps = math.ceil(epochs * sizes.per_pass / pace.units_per_step)
    return steps, f"{epochs:.0f} times through the corpus"


def fit_validations(left_s: float | None, validation_s: float, *, tuned: bool = False) -> int:
    """How often to validate: 40 times, less where that would take over `VALIDATING` of the budget.

    Half as often for a model that begins with another run's weights.
    """
    most = 20 if tuned else 40
    if left_s is None:
        return most
    return min(most, max(4, math.floor(VALIDATING * left_s / max(validation_s, 1e-3))))


def spacing(max_steps: int, n_validations: int, *, tuned: bool = False) -> int:
    """Updates from one validation to the next: so many that fewer would teach next to nothing,
    unless that leaves under four validations. Another run's weights are soon spoilt."""
    least = 1 if tuned else min(APART, max_steps // 4)
    return max(1, least, max_steps // n_validations)


def say_length(
    run: Run, steps: int, why: str, pace: Rehearsal, n_validations: int, unit: str
) -> None:
    """How long it will be, and why; with a warning where next to nothing can be learned."""
    sizes, speed = run.spec.sizes(run.data), pace.units_per_step / pace.step_s
    seen, takes_s = steps * pace.units_per_step, steps * pace.step_s
    run.say(
        f"{steps:,} updates of {pace.units_per_step:,.0f} {unit} "
        f"({seen / sizes.per_pass:.1f} times through the corpus): {why}; at {speed:,.0f} {unit}/s "
        f"that takes about {(takes_s + n_validations * pace.validation_s) / 60:.0f} min"
    )
    if teaches_nothing(sizes, seen) and not run.settings.training.init_from:
        from headway.runs.short_budgets import hopeless  # a side room

        for line in hopeless(run, sizes, seen, unit, speed, smaller_presets(run)):
            run.say(line)


def teaches_nothing(sizes: Sizes, seen: float) -> bool:
    """Whether a training in which so many units are seen is not worth it."""
    return seen < min(LEAST_PASSES * sizes.per_pass, LEAST_SEEN)


def smaller_presets(run: Run) -> list[str]:
    """The presets below the one that was chosen, of the same type of model; none if none was."""
    names = presets_of_type(run.spec, run.settings.model_type)
    return names[: names.index(run.preset)] if run.preset in names else []
