"""Learning by gradient: updates until it is time, then the best weights.

The other way to learn is to count, as n-gram models do: see `headway.runs.task_spec.Learner`.
"""

from dataclasses import replace
from typing import Any

import torch
from torch import nn

from headway.core import train
from headway.core.optimizer import (
    ParametersApart,
    exact_parameters,
    load_weights,
    parameters_of,
)
from headway.core.run_folder import RunFolder
from headway.core.settings import Settings
from headway.core.tensor_files import load_tensors
from headway.core.trainer import Trainer
from headway.core.training_interfaces import Callback, Reporter
from headway.operations import frozen
from headway.operations.earlier_checkpoints import bring_up_to_date
from headway.operations.recovery import put_right
from headway.operations.row_adam import RowAdam
from headway.operations.time_budget import TIME_BUDGET, PlannedTraining
from headway.runs import fitting, parent
from headway.runs.console import ConsoleReporter, stop_on_signal
from headway.runs.task_spec import Learned, Learner, Opening, Run

ALWAYS = (Callback(load_state_dict=bring_up_to_date), Callback(on_error=put_right))
"""What hangs on every training; each is entered only when something is wrong, or old."""


def build_trainer(run: Run, reporter: Reporter) -> Trainer[Any]:
    """Model, the same in float32, task and optimizer, all from the run's seed."""
    settings, dtype = run.settings.training, run.runtime.dtype
    task = run.spec.task(run.settings, run.data, run.runtime)
    eval_model, model = drawn(run), drawn(run)
    return trainer_of(model, eval_model, task, run.folder, settings, dtype=dtype, reporter=reporter)


def trainer_of(
    model: nn.Module,
    eval_model: nn.Module,
    task: Any,
    folder: RunFolder,
    settings: PlannedTraining,
    *,
    dtype: torch.dtype,
    reporter: Reporter,
) -> Trainer[Any]:
    """The core's, with all that hangs on it: frozen parts, recovery, a time to keep to."""
    return train.trainer_of(
        model, eval_model, task, folder, settings,
        dtype=dtype,
        reporter=reporter,
        apart=parameters_apart(model, dtype, settings),
        callbacks=(*ALWAYS, TIME_BUDGET) if settings.within_s or settings.plans else ALWAYS,
    )  # fmt: skip


def parameters_apart(
    model: nn.Module, dtype: torch.dtype, settings: PlannedTraining
) -> list[ParametersApart]:
    """What is not Adam's: parts that are frozen, or need no gradient, stay as they are; and of a
    module with `sparse` set, such as `nn.Embedding(.., sparse=True)`, only rows in a batch are
    updated."""
    if settings.freeze:
        frozen.freeze(model, settings.freeze)
    betas, epsilon = (settings.adam_beta1, settings.adam_beta2), settings.adam_epsilon
    parameters = dict(model.named_parameters())
    in_rows = parameters_of(model, lambda module: getattr(module, "sparse", False))
    still = {name: p for name, p in parameters.items() if not p.requires_grad}
    rows = {name: p for name, p in parameters.items() if p.requires_grad and p in in_rows}
    apart: list[ParametersApart] = []
    if rows:
        apart.append(RowAdam(rows, betas, epsilon))
    if still:
        apart.append(frozen.Frozen(still, exact_parameters(model, dtype), dtype))
    return apart


def drawn(run: Run) -> nn.Module:
    """The model of a run, with weights drawn from the run's seed."""
    seed, device = run.settings.runtime.seed, run.runtime.device
    return train.drawn(lambda: run.spec.build(run.settings, run.data.vocabulary), seed, device)


def fit(settings: Settings, opening: Opening) -> Settings:
    """Fill in batches, rate, length, warm-up and dropout where they were left open.

    What depends on the data or on the machine's speed is a matter of `headway.runs.fitting`.
    """
    training = settings.training
    if training.freeze or training.init_from:
        parent.refuse_unfitting(drawn(fitting.rehearsal(settings, opening)), training)
    training = train.usual(training)
    if training.budget or not (training.max_steps and training.checkpoint_every):
        training = fitting.fit_length(replace(settings, training=training), opening, build_trainer)
    if not training.warmup_steps:
        warmup_steps = train.fitted_warmup(training.max_steps, tuned=bool(training.init_from))
        training = replace(training, warmup_steps=warmup_steps)
    elif training.warmup_steps > training.max_steps // 2:
        opening.say(fitting.long_warmup(training))
    settings = replace(settings, training=training)
    if training.schedule == "paper":
        settings = fitting.with_peak_of_equation_3(settings, opening)
    if opening.preset and opening.preset in opening.spec.fits_dropout:
        settings = fitting.grown_dropout(settings, opening)
    return settings


def begin(run: Run) -> None:
    """What comes before the first update: frozen parts are told, a parent's weights taken."""
    training, trainer = run.settings.training, run.trainer
    if training.freeze:
        run.say(frozen.in_words(trainer.model, training.freeze))
    if training.init_from and not trainer.progress.validated:
        parent.begin_with(run)


def learn(run: Run, resume: bool) -> Learned:
    """Train to the end and choose the weights.

    Raises StoppedError after Ctrl-C, SIGTERM or SIGHUP, with everything saved.
    """
    training, folder, say = run.settings.training, run.folder, run.say
    reporter = ConsoleReporter(training.max_steps)
    with reporter.bar:
        trainer = run.trainer = build_trainer(run, reporter)
        with stop_on_signal(reporter.say) as stop_asked:
            train.learn(
                trainer, say, resume=resume, begin=lambda _: begin(run), stop_asked=stop_asked
            )
    choose = parent.choose if trainer.begun_with else Trainer.choose
    chosen = choose(trainer, run.spec.rank(run))
    say(f"the model is {chosen}")
    load_weights(trainer.eval_model, load_tensors(folder.model))
    if training.init_from:
        parent.say_what_it_brought(run, chosen)
    with torch.inference_mode():
        # Stored with the mark that the run is finished; killed before, it chooses again, alike.
        now: Any = trainer.settings
        ended = replace(now, within_s=0.0, closing_s=0.0)
        run.settings = replace(run.spec.tune(run), training=ended)
    progress = trainer.progress
    counts = ", ".join(f"{n:,} {name.replace('_', ' ')}" for name, n in progress.counts.items())
    each = f" in {training.accumulate} parts" if training.accumulate > 1 else ""
    return Learned(
        chosen,
        f"{progress.step:,} updates of at most {training.batch_tokens:,} padded tokens{each},\n"
        f"{counts}, {train.clock(progress.time_s)}, seed {run.settings.runtime.seed},\n"
        f"on {run.runtime.described}.",
    )


GRADIENT = Learner(fit, learn)
