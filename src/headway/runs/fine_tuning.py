"""A training that goes on from a parent's weights: what it begins with, what is measured before the
first update, and which weights are left in the end."""

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from headway.core.errors import ConfigError
from headway.core.optimizer import saved_tensors
from headway.core.run_folder import MODEL
from headway.core.tensor_files import shapes
from headway.core.trainer import Trainer
from headway.core.training_interfaces import Validation
from headway.operations.frozen import names_below
from headway.runs.parent import Parent, ancestors, first_score
from headway.runs.settings import Settings, task_of
from headway.runs.task_spec import Run
from headway.runs.transfer import beginning, top_level_names
from headway.runs.tuned_adam import described_tuning, prepare, stacks_of

NEW_RATE = 10.0
"""Times the usual rate for adapters and for a head on a frozen trunk: on 500 questions of TREC they
came to 44% and 21% of accuracy without it, to 56% and 41% with it (120 updates)."""


def fit(run: Run, model: nn.Module) -> Settings:
    """The run's settings, with a higher rate where nothing of the trunk itself learns.

    Raises what `begin_with` would of this model, and ConfigError for parts that it has not, or
    where nothing is left to be trained, while no run has been written. Of the parent only names and
    shapes are read.
    """
    training = run.settings.training
    names_below(training.reinit, model, option="--reinit")
    names_below(training.freeze, model, option="--freeze")
    fresh = saved_tensors(model)
    prepare(model, training)
    if not any(parameter.requires_grad for parameter in model.parameters()):
        raise ConfigError(
            f"training needs a weight that may change; --freeze {' '.join(training.freeze)} leaves "
            "none. Leave a part out."
        )
    if training.init_from:
        found = shapes(Path(training.init_from) / MODEL)
        weights = {name: torch.empty(size, device="meta") for name, (_, size) in found.items()}
        transferred = run.parent.transferred(weights, model, run)
        drawn = beginning(fresh, transferred, training.reinit, model).drawn
        still = [name for name in drawn if not fresh[name].requires_grad]
        if training.lora_rank and still:
            raise ConfigError(
                "adapters are laid on what a parent has learned; of this model are drawn anew "
                f"{', '.join(still[:4])}. Leave --training.lora-rank out."
            )
    first = top_level_names({key: place for one in stacks_of(model) for key, place in one.items()})
    learns = {name for name in fresh if fresh[name].requires_grad}
    if (
        not training.learning_rate
        or "learning_rate" in run.given.get("training", {})
        or training.unfreeze_at
        or not first
        or any(name.partition(".")[0] in first for name in learns)
    ):
        return run.settings
    run.say(f"what learns is new, so its rate is {NEW_RATE:g} times as high")
    rate, held_back = NEW_RATE * training.learning_rate, NEW_RATE * training.held_back
    return replace(
        run.settings, training=replace(training, learning_rate=rate, held_back=held_back)
    )


def begin(run: Run) -> None:
    """What comes before the first update: frozen parts are told, the weights taken."""
    training, trainer = run.settings.training, run.trainer
    if said := described_tuning(trainer.model, training):
        run.say(said)
    if training.init_from and not trainer.progress.validated:
        begin_with(run)


def begin_with(run: Run) -> None:
    """Take the weights of the run that this one begins with, and say how good they are here."""
    trainer, parent = run.trainer, Parent.of_run(run)
    transferred = parent.transferred(parent.weights(), trainer.model, run)
    # Those of the model that is validated: nothing is laid into them, as the optimizer would.
    fresh, reinit = saved_tensors(trainer.eval_model), run.settings.training.reinit
    found = beginning(fresh, transferred, reinit, trainer.model)
    if found.drawn or found.unused:
        run.say(f"of {parent.folder.path}: {found}")
    warn_of_seen_validation(run, parent)
    run.say(f"peak of the learning rate: {run.settings.training.learning_rate:.2g}")
    before = start_from(trainer, found.weights)
    others = "".join(f", {name} {value:.2f}" for name, value in before.others.items())
    run.say(
        f"before: {before.score_name.upper()} {before.score:.2f} on the validation data{others}"
    )


def warn_of_seen_validation(run: Run, parent: Parent) -> None:
    """Which files the parent, or one that it began with, learned from that a run of their task
    validates on, or holds examples out of; where both hold out the same, it has not learned
    those."""
    now, seed = run.settings.data, run.settings.runtime.seed
    if not hasattr(now, "valid_corpus"):
        return
    files, split = now.valid_corpus or now.corpus, (now.corpus, now.valid_corpus, seed)
    sums = {str(Path(name).absolute()): sum_ for name, sum_ in run.data.checksums.items()}
    for folder, record in ancestors(parent.folder):
        if task_of(folder.settings()) != run.spec.name:
            continue
        before = Settings.of_run(folder, run.spec)
        if split == (before.data.corpus, (), before.runtime.seed):
            continue
        learned = {record["sha256"].get(str(path.absolute())) for path in before.data.corpus}
        if seen := [str(path) for path in files if sums.get(str(path.absolute())) in learned]:
            run.say(
                f"WARNING: {folder.path} has learned from {', '.join(seen)}, and so, maybe, what "
                "this run is validated on: scores are too high. Give a --valid-corpus of its own"
            )


def start_from(trainer: Trainer[Any], weights: Mapping[str, Tensor]) -> Validation:
    """Take these weights for step 0: measured, saved, and kept if training finds none better.

    Raises RunError when they are another model's.
    """
    trainer.clock = time.monotonic()
    trainer.optimizer.take(weights)
    result = trainer.eval_step()
    trainer.count_time()
    trainer.save()
    return result


BEGUN_WITH = "the checkpoint that training began with"


def weight_averages(best: int) -> dict[tuple[int, ...], str]:
    """Averages of the weights that training began with, step 0, and the best ones (Wortsman et al.
    2022): for `headway.core.trainer.Trainer.choose`."""
    return {
        (0,): BEGUN_WITH,
        (0, best): f"halfway from there to step {best}",
        (0, best, best, best): f"three quarters of the way to step {best}",
    }


def choose(trainer: Trainer[Any], measure: Callable[[nn.Module], Validation]) -> str:
    """Leave the best weights in the run, those that training began with among them, and say which
    they are."""
    chosen = trainer.choose(measure, weight_averages)
    why = ", as nothing better was found" if chosen.startswith(BEGUN_WITH) else ""
    return chosen.replace(BEGUN_WITH, BEGUN_WITH + why, 1) if why else chosen


def say_what_it_brought(run: Run, chosen: str) -> None:
    """The score before the first update beside the best one; `chosen` are the weights, in words."""
    best = run.trainer.progress.best_score
    if first := first_score(run.folder):
        name, before = first
        run.say(
            f"in validations on the way, {name.upper()}: {before:.2f} before, {best:.2f} at the "
            "best checkpoint"
        )
    if chosen.startswith(BEGUN_WITH):
        run.say(
            "NOTHING WAS LEARNED: no weights were better on the new data without losing more than "
            "is allowed on the old (--forget-at-most), so those of the parent stay. More new pairs "
            "help, or a longer --budget, another --old-share, another --training.learning-rate."
        )
