"""What was left open is fitted to the data, the budget and the speed as measured, and said.

Entered where no preset is named, or no length. Nothing that was set is changed.
"""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import torch

from headway.core.config import Sections, merge
from headway.core.errors import ConfigError
from headway.core.run_folder import RunFolder
from headway.core.runtime import Runtime
from headway.core.settings import Settings, presets_of_type, type_of
from headway.core.trainer import Trainer
from headway.core.training_interfaces import Reporter
from headway.core.training_settings import paper_peak
from headway.operations.time_budget import PlannedTraining, seconds
from headway.runs.console import ConsoleReporter
from headway.runs.task_spec import Opening, Run, Say, Sizes, TaskSpec

SEEN = 40_000_000
"""Units to train on when there is no budget: about 90 times through 30,000 captions."""
TUNING_SEEN = 5_000_000
"""The same for a model that begins with another run's weights."""
TIMED_UPDATES = 24
"""Updates that the speed of a run is measured on, after three to warm up."""
APART = 20
"""Updates between two validations at least; scores of a few updates are chance."""
SURE = 0.97
"""Of the time that is left; the rest is for what nothing was rehearsed of."""

LEAST_VALIDATED = 100
"""Sentences, however short the budget."""

LEAST_PASSES, LEAST_SEEN = 3, 1_000_000
"""A model that has seen the corpus less often, and fewer units, is good for nothing."""
GOOD_PASSES, GOOD_SEEN = 10, 10_000_000
"""What is recommended in its stead."""

# -- the preset -------------------------------------------------------------------------------


def presets_that_fit(spec: TaskSpec, given: Sections) -> list[str]:
    """The presets below which what was given is allowed.

    Raises ConfigError where it is not allowed under any, nor by itself: found before an hour of
    reading.
    """
    fitting: list[str] = []
    refused: list[ConfigError] = []
    for name in ("", *presets_of_type(spec, type_of(spec, given))):
        try:
            Settings.of(merge(spec.presets[name] if name else {}, given), spec)
        except ConfigError as error:
            refused.append(error)
        else:
            fitting.append(name)
    if not fitting:
        raise refused[min(1, len(refused) - 1)]  # the smallest preset's says what it is made of
    return [name for name in fitting if name]


def smaller(spec: TaskSpec, settings: Settings) -> str:
    """What to ask for, for a smaller model than this."""
    model, names = settings.sections()["model"], presets_of_type(spec, settings.model_type)
    for name in names[:1]:
        if any(model.get(key) != value for key, value in spec.presets[name]["model"].items()):
            return f"--preset {name}, the smallest"
    return "a smaller model, such as --model.d-model 64"


def choose_preset(
    spec: TaskSpec,
    allowed: Sequence[str],
    settings: Settings,
    data: Any,
    runtime: Runtime,
    say: Say,
) -> str:
    """The `allowed` preset that suits data, budget and machine; said with its reason."""
    budget_s, on_gpu = seconds(settings.training.budget), runtime.device.type == "cuda"
    chosen, why = spec.choose_preset(spec.sizes(data), budget_s, on_gpu, allowed)
    say(f"preset {chosen}: {why}")
    return chosen


class Ladder(NamedTuple):
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
        if not set(allowed) & set(self.names):
            return allowed[-1], "made for this type of model"
        names, units = self.names, sizes.distinct
        largest = sum(units >= limit for limit in self.up_to)
        reason = f"{units:,} {self.unit}"
        if not on_gpu and budget_s is not None:
            least = self.least_epochs * sizes.per_pass
            while largest and budget_s * self.cpu_speed[names[largest]] < least:
                largest -= 1
                reason = (
                    "in the budget a larger one would see the corpus under "
                    f"{self.least_epochs} times"
                )
        elif not on_gpu and largest == len(names) - 1:
            largest, reason = largest - 1, "a CPU without a budget"
        if names[largest] in allowed:
            return names[largest], reason
        nearest = [*reversed(names[:largest]), *names[largest:], *allowed]
        name = next(name for name in nearest if name in allowed)
        return name, f"{names[largest]} does not go with what was set"


# -- the length -------------------------------------------------------------------------------


def fit_length(
    settings: Settings, opening: Opening, build_trainer: Callable[[Run, Reporter], Trainer[Any]]
) -> PlannedTraining:
    """How many updates, and how many between validations; measured where that depends on speed."""
    training: PlannedTraining = settings.training
    spec, started, tuned = opening.spec, opening.started, bool(training.init_from)
    if training.budget and "max_steps" not in opening.given.get("training", {}):
        training = replace(training, max_steps=0)  # a preset's gives way to what was asked for
    elif training.budget and training.max_steps:
        opening.say(
            f"{training.max_steps:,} updates were asked for ([training] max_steps): the budget of "
            f"{training.budget} does not shorten them"
        )
    if training.max_steps and training.checkpoint_every:
        return training
    if training.max_steps and not training.budget:
        n_validations = fit_validations(None, 0.0, tuned=tuned)
        return replace(
            training, checkpoint_every=spacing(training.max_steps, n_validations, tuned=tuned)
        )
    budget_s = seconds(training.budget)
    measuring = replace(
        training,
        max_steps=training.max_steps or 10**6,
        warmup_steps=10**6,
        learning_rate=training.learning_rate or 1e-3,
    )
    unkept = rehearsal(replace(settings, training=measuring), opening)
    trainer = build_trainer(unkept, ConsoleReporter(0))
    units_per_step, step_s = timed_updates(trainer)
    with torch.inference_mode():
        task, model = trainer.task, trainer.eval_model
        part_s = validation_s = seconds_of(lambda: spec.rehearse(task, model))
        if rehearse_end := spec.rehearse_end:
            part_s = seconds_of(lambda: rehearse_end(settings, task, model))
    left_s = None if budget_s is None else budget_s - (time.monotonic() - started)
    closing_s = spec.closing * part_s
    if left_s is not None and not training.max_steps:
        training, fewer = shortened_validation(training, opening, trainer.task, left_s, closing_s)
        validation_s, closing_s = fewer * validation_s, fewer * closing_s
        least_s = TIMED_UPDATES * step_s + 4 * validation_s + closing_s
        if left_s < least_s:
            opening.say(
                f"WARNING: {max(left_s, 0):.0f} s of {training.budget} are left after preparation, "
                f"too little to learn in: this takes {least_s:.0f} s more, for the least that is a "
                "model. Take a longer --budget (what was prepared of a large corpus is kept), or "
                f"{smaller(spec, settings)}"
            )
            left_s = least_s
    n_validations = fit_validations(left_s, validation_s, tuned=tuned)
    within_s = None if left_s is None else time_to_learn(left_s, closing_s)
    max_steps = training.max_steps
    if not max_steps:
        sizes = spec.sizes(opening.data)
        max_steps, why = fit_steps(
            sizes,
            units_per_step=units_per_step,
            step_s=step_s,
            validation_s=validation_s,
            within_s=within_s,
            n_validations=n_validations,
            tuned=tuned,
        )
        training = replace(training, within_s=within_s or 0.0, closing_s=closing_s)
        unit, epochs = trainer.task.unit, max_steps * units_per_step / sizes.per_pass
        opening.say(
            f"{max_steps:,} updates of {units_per_step:,.0f} {unit} ({epochs:.1f} times "
            f"through the corpus): {why}; at {units_per_step / step_s:,.0f} {unit}/s that "
            f"takes about {(max_steps * step_s + n_validations * validation_s) / 60:.0f} min"
        )
        if not tuned:
            seen, speed = max_steps * units_per_step, units_per_step / step_s
            for line in hopeless(sizes, seen, unit, speed, smaller_presets(settings, opening)):
                opening.say(line)
    every = training.checkpoint_every or spacing(max_steps, n_validations, tuned=tuned)
    return replace(training, max_steps=max_steps, checkpoint_every=every)


def rehearsal(settings: Settings, opening: Opening) -> Run:
    """A run with these settings that is not to be kept: it has no folder."""
    spec, folder = opening.spec, RunFolder(Path())
    return Run(spec, folder, settings, opening.data, opening.runtime, opening.say)


def shortened_validation(
    training: PlannedTraining, opening: Opening, task: Any, left_s: float, closing_s: float
) -> tuple[PlannedTraining, float]:
    """Fewer validation sentences where the end would take over a third of what is left, and which
    share of them these are; at least `LEAST_VALIDATED`, and as many as were asked for."""
    asked = "valid_sentences" in opening.given.get("training", {})
    if asked or not hasattr(training, "valid_sentences") or 3 * closing_s <= left_s:
        return training, 1.0
    all_ = len(task.valid_rows)
    n = min(all_, max(LEAST_VALIDATED, math.floor(all_ * max(left_s, 0) / (3 * closing_s))))
    if n < all_:
        opening.say(
            f"validates on {n:,} of {all_:,} sentences: choosing the weights would take "
            f"{closing_s:.0f} s of the {max(left_s, 0):.0f} s that are left"
        )
    fewer: Any = {"valid_sentences": n}
    return replace(training, **fewer), n / all_


def hopeless(
    sizes: Sizes,
    seen: float,
    unit: str,
    speed: float,
    smaller: Sequence[str],
) -> list[str]:
    """What to say of a budget in which next to nothing can be learned; nothing if it is enough.

    That is under `LEAST_PASSES` through the corpus, unless `LEAST_SEEN` units are seen. `speed` is
    in units a second.
    """
    if seen >= min(LEAST_PASSES * sizes.per_pass, LEAST_SEEN):
        return []
    enough = min(GOOD_PASSES * sizes.per_pass, GOOD_SEEN)
    share = seen / GOOD_PASSES / sizes.per_pass
    preset = f"; --preset {smaller[-1]} is faster" if smaller else ""
    return [
        f"WARNING: {seen / sizes.per_pass:.1f} times through the corpus will not make a model of "
        "use. Stop now (Ctrl-C), unless you only want to see it run.",
        f"  enough would be: --budget {in_minutes(enough / speed)} for {enough:,.0f} {unit}{preset}"
        f"; or about {share:.0%} of the corpus in the same time",
    ]


def in_minutes(seconds_: float) -> str:
    """A budget that is at least so long: 40m, 3h."""
    minutes = math.ceil(seconds_ * 1.2 / 60)  # preparation and validation take their share
    return f"{minutes}m" if minutes < 120 else f"{math.ceil(minutes / 60)}h"


def smaller_presets(settings: Settings, opening: Opening) -> list[str]:
    """The presets below the one that was chosen, of the same type of model; all if none was."""
    names = presets_of_type(opening.spec, settings.model_type)
    return names[: names.index(opening.preset)] if opening.preset in names else []


def seconds_of(work: Callable[[], object]) -> float:
    """How long it takes."""
    begun = time.monotonic()
    work()
    return time.monotonic() - begun


def time_to_learn(left_s: float, closing_s: float) -> float:
    """What is left for updates and validations, once the end has its time; half at least."""
    return max(SURE * left_s - closing_s, left_s / 2)


def timed_updates(trainer: Trainer[Any]) -> tuple[float, float]:
    """Units and seconds of an update, as measured."""
    for _ in range(3):
        trainer.train_step()
    counted = trainer.progress.sums["units"]
    begun = time.monotonic()
    for _ in range(TIMED_UPDATES):
        trainer.train_step()
    if trainer.device.type == "cuda":
        torch.cuda.synchronize(trainer.device)  # only then does a clock tell what the work took
    step_s = (time.monotonic() - begun) / TIMED_UPDATES
    return (trainer.progress.sums["units"] - counted) / TIMED_UPDATES, step_s


def fit_steps(
    sizes: Sizes,
    *,
    units_per_step: float,
    step_s: float,
    validation_s: float,
    within_s: float | None,
    n_validations: int,
    tuned: bool = False,
) -> tuple[int, str]:
    """How many updates: what the time allows, or a number of passes when there is no budget.

    `within_s` is for the updates, at least half of it, and the validations between them. `tuned` is
    for a model that begins with another run's weights.
    """
    if within_s is not None:
        for_updates = max(within_s - n_validations * validation_s, within_s / 2)
        steps = max(1, math.floor(for_updates / step_s))
        why = f"{step_s * 1000:.0f} ms an update as measured, {within_s / 60:.1f} min for learning"
        return steps, why
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


def spacing(max_steps: int, n_validations: int, *, tuned: bool = False) -> int:
    """Updates from one validation to the next: so many that fewer would teach next to nothing,
    unless that leaves under four validations. Another run's weights are soon spoilt."""
    least = 1 if tuned else min(APART, max_steps // 4)
    return max(1, least, max_steps // n_validations)


# -- rate and dropout -------------------------------------------------------------------------


def long_warmup(training: PlannedTraining) -> str:
    """What to say of one that takes more than half of the updates."""
    return (
        f"WARNING: the rate rises for {training.warmup_steps:,} of {training.max_steps:,} updates. "
        "Lower --training.warmup-steps: an eighth is usual."
    )


def with_peak_of_equation_3(settings: Settings, opening: Opening) -> Settings:
    """The peak that the paper's schedule has; raises ConfigError where it cannot be had."""
    training = settings.training
    remedy = "Choose --training.schedule inverse-square-root, which is the same with a free peak."
    if not hasattr(settings.model, "d_model"):
        raise ConfigError(
            "the schedule 'paper' scales the rate by d_model, which --model.type "
            f"{settings.model_type} has not. {remedy}"
        )
    peak = paper_peak(settings.model.d_model, training.warmup_steps)
    set_here = training.learning_rate if "learning_rate" in opening.given.get("training", {}) else 0
    if set_here and not math.isclose(set_here, peak, rel_tol=1e-6):
        raise ConfigError(
            "the schedule 'paper' has no free rate: its peak follows from d_model and "
            f"warmup_steps and is {peak:g}; got learning_rate {set_here:g}. {remedy}"
        )
    return replace(settings, training=replace(training, learning_rate=peak))


def grown_dropout(settings: Settings, opening: Opening) -> Settings:
    """More dropout the more often the same text will be seen, growing while the rate warms up."""
    training, given = settings.training, opening.given
    seen = training.max_steps * training.accumulate * training.batch_tokens
    passes = seen / opening.spec.sizes(opening.data).per_pass
    dropout, why = fit_dropout(passes)
    if "dropout" not in given.get("model", {}):
        opening.say(f"dropout {dropout}: {why}")
        settings = replace(settings, model=replace(settings.model, dropout=dropout))
    if "dropout_warmup" not in given.get("training", {}):
        training = replace(training, dropout_warmup=training.warmup_steps)
    return replace(settings, training=training)


def fit_dropout(passes: float) -> tuple[float, str]:
    """More dropout the more often the corpus is seen, and why."""
    if passes < 10:
        return 0.1, "the corpus will be seen less than 10 times"
    if passes < 40:
        return 0.2, "the corpus will be seen 10 times or more"
    return 0.3, "the corpus will be seen 40 times or more"
