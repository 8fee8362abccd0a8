"""Learning by gradient: updates until it is time, then the best weights.

The other way to learn is to count, as n-gram models do: see `headway.runs.task_spec.Learner`.
"""

from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import Any

import torch
from torch import nn

from headway.core import train
from headway.core.learning import ValidationLines, clock
from headway.core.optimizer import load_weights
from headway.core.run_folder import RunFolder
from headway.core.tensor_files import load_tensors
from headway.core.trainer import Trainer
from headway.core.training_interfaces import Callback, Reporter
from headway.operations.recovery import bring_up_to_date, put_right
from headway.operations.time_budget import TIME_BUDGET, PlannedTraining
from headway.runs import fine_tuning, fitting, initial_embedding, short_budgets
from headway.runs.console import ConsoleReporter, stop_on_signal
from headway.runs.decayed_adam import other_optimizer
from headway.runs.settings import Settings
from headway.runs.task_spec import Learned, Learner, Run
from headway.runs.tuned_adam import twin

ALWAYS = (Callback(load_state_dict=bring_up_to_date), Callback(on_error=put_right))
"""What hangs on every training; each is entered only when something is wrong, or old."""


def fit(run: Run) -> Settings:
    """What was left open, from the data, the budget and the speed of this machine."""
    training = run.settings.training
    if training.init_embedding:
        beginning(training).fit(run)
    if training.in_parts or training.init_from:
        run.settings = fine_tuning.fit(run, drawn(run))
    if run.settings.runtime.engine == "native":  # refused, if so, before anything is written
        build_trainer(run, ValidationLines(run.say))
    return fitting.fit(run, lambda rehearsed: build_trainer(rehearsed, ValidationLines(run.say)))


def learn(run: Run, resume: bool) -> Learned:
    """Train to the end and choose the weights.

    Raises StoppedError after Ctrl-C, SIGTERM or SIGHUP, with everything saved.
    """
    training = run.settings.training
    reporter = ConsoleReporter(training.max_steps)
    with reporter.bar:
        trainer = run.trainer = build_trainer(run, reporter)
        if computed_by := getattr(trainer.task, "computed_by", ""):
            run.say(f"learns by {computed_by}")
        with stop_on_signal(reporter.say) as stop_asked:
            train.learn(
                trainer, run.say, resume=resume, begin=lambda _: begin(run), stop_asked=stop_asked
            )
    if training.closing_s > 10:  # seconds without a word
        run.say(f"chooses the weights, and measures them: about {clock(training.closing_s)}")
    choose = partial(fine_tuning.choose, trainer) if trainer.initial_steps else trainer.choose
    chosen = choose(run.spec.rank(run))
    run.say(f"the model is {chosen}")
    load_weights(trainer.eval_model, load_tensors(run.folder.model))
    if training.init_from:
        fine_tuning.say_what_it_brought(run, chosen)
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
        f"{counts}, {clock(progress.time_s)}, seed {run.settings.runtime.seed},\n"
        f"on {run.runtime.described}{computed_by and f', by {computed_by}'}.",
    )


GRADIENT = Learner(fit, learn)


def begin(run: Run) -> None:
    """What comes before the first update: frozen parts are told, a parent's weights taken."""
    training = run.settings.training
    if training.in_parts or training.init_from:
        fine_tuning.begin(run)
    if training.init_embedding and not run.trainer.progress.step:
        beginning(training).begin_with(run)


def beginning(training: PlannedTraining) -> Any:
    """Who knows what embeddings begin with: the training pairs, or a file."""
    return short_budgets if training.init_embedding == short_budgets.PAIRS else initial_embedding


# -- the trainer ------------------------------------------------------------------------------


def build_trainer(run: Run, reporter: Reporter) -> Trainer[Any]:
    """Model, the same in float32, task and optimizer, all from the run's seed."""
    settings, dtype = run.settings.training, run.runtime.dtype
    assert run.spec.task, "what learns by gradient has one"
    task = run.spec.task(run.settings, run.data, run.runtime)
    model = drawn(run)
    eval_model = twin(model) if settings.in_parts else drawn(run)
    if settings.compile or run.runtime.device.type == "cuda":
        import_module("headway.runs.on_gpu").speed_up(run, model, task)
    if run.settings.runtime.engine != "torch":
        from headway.runs.native_training import learn_natively  # with all that compiles

        dtype = learn_natively(run, model, task)
    how: dict[str, Any] = {"dtype": dtype, "reporter": reporter}
    if run.request and run.request.trainer:
        how["trainer"] = run.request.trainer
    return trainer_of(model, eval_model, task, run.folder, settings, **how)


def drawn(run: Run) -> nn.Module:
    """The model of a run, with weights drawn from the run's seed."""
    seed, device = run.settings.runtime.seed, run.runtime.device
    return train.drawn(lambda: run.spec.build(run.settings, run.data.vocabulary), seed, device)


def trainer_of(
    model: nn.Module,
    eval_model: nn.Module,
    task: Any,
    folder: RunFolder,
    settings: PlannedTraining,
    **how: Any,
) -> Trainer[Any]:
    """The core's, with all that hangs on it: frozen parts, recovery, a time to keep to."""
    callbacks = (*ALWAYS, TIME_BUDGET) if settings.within_s or settings.plans else ALWAYS
    how["callbacks"] = callbacks
    if settings.in_parts or settings.weight_decay:
        how |= other_optimizer(eval_model, settings, callbacks)
    return train.trainer_of(model, eval_model, task, folder, settings, **how)
