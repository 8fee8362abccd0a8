"""Learning by gradient: how long, from data, budget and speed; then updates, and the best weights.

What the user left open is filled in and said with its reason; nothing that was set is changed. The
other way to learn is to count, as n-gram models do: see `headway.runs.kind.Learner`.
"""

import math
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import nn

from headway import runtime as machine
from headway.errors import ConfigError
from headway.runs import parent
from headway.runs.kind import Kind, Learned, Learner, Opening, Run, Sizes
from headway.runs.settings import Settings, paper_peak
from headway.training.console import ConsoleReporter, StoppedError, clock, stop_on_signal
from headway.training.loop import Reporter, Trainer
from headway.training.run_folder import RunFolder
from headway.training.settings import TrainingSettings, seconds

SEEN = 40_000_000
"""Units to train on when there is no budget: about 90 times through 30,000 captions."""
TUNING_SEEN = 5_000_000
"""The same for a model that begins with another run's weights."""


TIMED_UPDATES = 24
"""Updates that the speed of a run is measured on, after three to warm up."""


def drawn(settings: Settings, kind: Kind, vocabulary: Any) -> nn.Module:
    """The model of a run, with weights drawn from the run's seed."""
    torch.manual_seed(settings.runtime.seed)
    return kind.build(settings, vocabulary)


def build_trainer(run: Run, reporter: Reporter) -> Trainer[Any]:
    """Model, float32 twin, task and optimizer, all from the run's seed."""
    settings, kind, device = run.settings, run.kind, run.runtime.device
    task = kind.task(settings, run.data, run.runtime)
    twin = drawn(settings, kind, run.data.vocabulary).to(device)
    model = drawn(settings, kind, run.data.vocabulary).to(device)
    return Trainer(
        model,
        twin,
        task,
        run.folder,
        settings.training,
        dtype=run.runtime.dtype,
        reporter=reporter,
    )


# -- what was left open -----------------------------------------------------------------------


def fit(settings: Settings, opening: Opening) -> Settings:
    """Batches, rate, number of updates and validations, warm-up and dropout; see `Learner.fit`."""
    training = settings.training
    tuned = bool(training.init_from)
    if not training.batch_tokens:
        training = replace(training, batch_tokens=4096)
    if not training.learning_rate and training.schedule != "paper":
        training = replace(training, learning_rate=1e-3)
    settings = replace(settings, training=training)
    if not (training.max_steps and training.checkpoint_every):
        settings = fit_length(settings, opening)
    training = settings.training
    if not training.warmup_steps:
        training = replace(training, warmup_steps=fit_warmup(training.max_steps, tuned=tuned))
    if training.schedule == "paper":
        training = replace(training, learning_rate=peak_of_equation_3(settings, training, opening))
    settings = replace(settings, training=training)
    if training.freeze or training.reinit:
        parent.refuse_unknown_parts(
            drawn(settings, opening.kind, opening.data.vocabulary), training
        )
    if opening.preset and opening.preset in opening.kind.fits_dropout:
        settings = grown_dropout(settings, opening)
    return settings


def peak_of_equation_3(settings: Settings, training: TrainingSettings, opening: Opening) -> float:
    """The peak that the paper's schedule has; raises ConfigError where it cannot be had."""
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
    return peak


def grown_dropout(settings: Settings, opening: Opening) -> Settings:
    """More dropout the more often the same text will be seen, growing while the rate warms up."""
    training, given = settings.training, opening.given
    seen = training.max_steps * training.accumulate * training.batch_tokens
    passes = seen / opening.kind.sizes(opening.data).per_pass
    dropout, why = fit_dropout(passes)
    if "dropout" not in given.get("model", {}):
        opening.say(f"dropout {dropout}: {why}")
        settings = replace(settings, model=replace(settings.model, dropout=dropout))
    if "dropout_warmup" not in given.get("training", {}):
        training = replace(training, dropout_warmup=training.warmup_steps)
    return replace(settings, training=training)


def fit_length(settings: Settings, opening: Opening) -> Settings:
    """How many updates, and how many between validations; measured where that depends on speed."""
    training, kind, started = settings.training, opening.kind, opening.started
    tuned = bool(training.init_from)
    if training.max_steps and not training.budget:
        every = max(1, training.max_steps // fit_validations(None, 0.0, tuned=tuned))
        return replace(settings, training=replace(training, checkpoint_every=every))
    budget_s = seconds(training.budget)
    measuring = replace(
        training,
        max_steps=training.max_steps or 10**6,
        warmup_steps=10**6,
        learning_rate=training.learning_rate or 1e-3,
    )
    trainer = build_trainer(
        Run(
            kind,
            RunFolder(Path()),
            replace(settings, training=measuring),
            opening.data,
            opening.runtime,
            opening.say,
        ),
        ConsoleReporter(0),
    )
    for _ in range(3):
        trainer.update()
    counted = trainer.progress.sums["units"]
    begun = time.monotonic()
    for _ in range(TIMED_UPDATES):
        trainer.update()
    machine.synchronize(opening.runtime)
    step_s = (time.monotonic() - begun) / TIMED_UPDATES
    units_per_step = (trainer.progress.sums["units"] - counted) / TIMED_UPDATES
    begun = time.monotonic()
    with torch.inference_mode():
        kind.rehearse(trainer.task, trainer.twin)
    validation_s = time.monotonic() - begun
    left_s = None if budget_s is None else budget_s - (time.monotonic() - started)
    if left_s is not None and left_s < 5 * step_s + 4 * validation_s:
        raise ConfigError(
            f"A budget must leave time to learn; after {time.monotonic() - started:.0f} s of "
            f"preparation {max(left_s, 0):.0f} s of {training.budget} are left, and an update "
            f"takes {step_s:.2f} s. Give a longer --budget or a smaller --preset."
        )
    n_validations = fit_validations(left_s, validation_s, tuned=tuned)
    max_steps = training.max_steps
    if not max_steps:
        sizes = kind.sizes(opening.data)
        max_steps, why = fit_steps(
            sizes,
            units_per_step=units_per_step,
            step_s=step_s,
            validation_s=validation_s,
            left_s=left_s,
            n_validations=n_validations,
            closing=kind.closing,
            tuned=tuned,
        )
        unit, epochs = trainer.task.unit, max_steps * units_per_step / sizes.per_pass
        opening.say(
            f"{max_steps:,} updates of {units_per_step:,.0f} {unit} ({epochs:.1f} times "
            f"through the corpus): {why}; at {units_per_step / step_s:,.0f} {unit}/s that "
            f"takes about {(max_steps * step_s + n_validations * validation_s) / 60:.0f} min"
        )
    every = training.checkpoint_every or max(1, max_steps // n_validations)
    return replace(
        settings, training=replace(training, max_steps=max_steps, checkpoint_every=every)
    )


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


# -- learning ---------------------------------------------------------------------------------


def learn(run: Run, resume: bool) -> Learned:
    """Train to the end and choose the weights.

    Raises:
        StoppedError: after Ctrl-C or SIGTERM, with everything saved.
    """
    settings, folder, say = run.settings, run.folder, run.say
    with ConsoleReporter(settings.training.max_steps) as reporter:
        trainer = run.trainer = build_trainer(run, reporter)
        if resume:
            say(
                f"goes on from step {trainer.progress.step:,}"
                if trainer.resume()
                else "no checkpoint yet: starts at step 0"
            )
        if trainer.frozen:
            n_frozen = sum(p.numel() for p in trainer.model.parameters() if not p.requires_grad)
            say(f"{n_frozen:,} parameters stay as they are ({', '.join(settings.training.freeze)})")
        if settings.training.init_from and not trainer.progress.validated:
            parent.begin_with(run)
        with stop_on_signal(reporter.say) as stop_asked:
            progress = trainer.train(stop_asked)
            if not progress.finished:
                raise StoppedError(
                    f"stopped at step {progress.step:,} of {settings.training.max_steps:,}, saved. "
                    f"Go on with: headway train --out {folder.path} --resume"
                )
    chosen = trainer.choose(run.kind.rank(run))
    say(f"the model is {chosen}")
    if settings.training.init_from:
        parent.say_what_it_brought(run)
    with torch.inference_mode():
        trainer.load(folder.model)
        # Stored with the mark that the run is finished; killed before, it chooses again, alike.
        run.settings = run.kind.tune(run)
    return Learned(chosen, card_words(run))


def card_words(run: Run) -> str:
    """What the model card says of the training."""
    progress, training = run.trainer.progress, run.settings.training
    counts = ", ".join(f"{n:,} {name.replace('_', ' ')}" for name, n in progress.counts.items())
    each = f" in {training.accumulate} parts" if training.accumulate > 1 else ""
    return (
        f"{progress.step:,} updates of at most {training.batch_tokens:,} padded tokens{each},\n"
        f"{counts}, {clock(progress.time_s)}, seed {run.settings.runtime.seed},\n"
        f"on {run.runtime.describe()}."
    )


GRADIENT = Learner(fit, learn)
