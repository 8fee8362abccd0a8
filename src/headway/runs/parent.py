"""The run that a new one begins with: its weights, as a whole or in part."""

import time
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from headway.core.config import Sections
from headway.core.disk import checksum
from headway.core.errors import ConfigError, RunError, command
from headway.core.optimizer import saved_tensors
from headway.core.run_folder import MODEL, RunFolder
from headway.core.tensor_files import load_finite, shapes
from headway.core.trainer import Trainer
from headway.core.training_interfaces import Validation
from headway.operations.frozen import all_parameters, freeze, names_below
from headway.operations.shipped import open_folder
from headway.operations.time_budget import PlannedTraining
from headway.runs.loading import fitting_vocabulary
from headway.runs.settings import Settings
from headway.runs.task_spec import Run, TaskSpec

FREE_OF_MODEL = frozenset(
    "dropout attention_dropout activation_dropout variational residual_gain".split()
)
"""Of [model]: what trained weights do not depend on."""
TUNED_RATE = 1 / 3
"""Of the peak that the other run was trained with."""


@dataclass(frozen=True)
class Parent:
    """A finished run whose model is whole."""

    folder: RunFolder
    sha256: str
    """Of its `model.safetensors`."""
    vocabulary: Any = None

    @classmethod
    def open(cls, run: Path, spec: TaskSpec | None = None, preset: str | None = None) -> "Parent":
        """A run to begin with; one of a kind is compared with its settings before it is read.

        Raises:
            ConfigError: a preset is named as well, a setting of it is none, or its weights were not
                learned but counted.
            RunError: there is none, it is not finished, or its weights are damaged.
        """
        if preset:
            raise ConfigError(
                "a run that begins with another's weights has its sizes as well; got --preset "
                f"{preset} and --init-from {run}. Leave one of them out."
            )
        folder = open_folder(run)
        folder.refuse_damaged()
        if not folder.model.exists() or not folder.finished:
            raise RunError(
                f"only a finished run can be gone on from; {run} is not. "
                f"Finish it with: {command('train', '--out', folder.path, '--resume')}"
            )
        vocabulary = None
        if spec:
            found = shapes(folder.model)
            settings = Settings.of_run(folder, spec)
            if settings.model_type in spec.counted:
                raise ConfigError(
                    f"a run begins with weights that were learned; those of {run} were counted "
                    f"({settings.model_type}). Leave --init-from out, and name all texts at once."
                )
            vocabulary = fitting_vocabulary(spec, settings, folder, folder.model, found)
        parent = cls(folder, checksum(folder.model), vocabulary)
        parent.weights()
        return parent

    @classmethod
    def of_record(cls, folder: RunFolder) -> "Parent":
        """The run that the one in `folder` began with, as it was then.

        Raises:
            RunError: it is gone.
        """
        stored = folder.record()["parent"]
        return cls(open_folder(stored["run"]), stored["sha256"])

    def weights(self) -> dict[str, Tensor]:
        """Its weights by name, in float32.

        Raises:
            RunError: they cannot be read, are not finite, or are no longer those of `sha256`.
        """
        path = self.folder.model
        weights = load_finite(path)
        if checksum(path) != self.sha256:
            raise RunError(
                f"a run begins with the whole weights of its parent; {path} has changed since. "
                "Put it back, or start a new run."
            )
        return weights


def tuned_rate(before: Settings) -> float:
    """The peak for a run whose parent has these settings: lowered once in a line of parents.

    What was held back from the parent alone (`held_back`) is given to the child.
    """
    factor = 1.0 if before.training.init_from else TUNED_RATE
    return factor * float(before.training.learning_rate) / before.training.held_back


def refuse_other_type(parent: Parent, before: Settings, given: Sections) -> None:
    """Raise ConfigError where another type of model is asked for, whose weights are others."""
    wanted = given.get("model", {}).get("type", before.model_type)
    if wanted != before.model_type:
        raise ConfigError(
            "a run that begins with another's weights is a model of its type; "
            f"{parent.folder.path} is of type {before.model_type}, got {wanted}. Leave "
            "--model.type out, or train without --init-from."
        )


def refuse_contradictions(
    parent: Parent, before: Sections, now: Sections, free: Mapping[str, Container[str]]
) -> None:
    """Raise ConfigError where a section of `free` would be another, but for its keys there."""
    for section, keys in free.items():
        for key, value in now[section].items():
            had = before[section].get(key)
            if value != had and key not in keys:
                raise ConfigError(
                    "a run that begins with another's weights keeps its vocabulary, text settings "
                    f"and shape; [{section}] {key} is {had!r} in {parent.folder.path}, got "
                    f"{value!r}. Leave it out, or train without --init-from."
                )


def refuse_unfitting(model: nn.Module, training: PlannedTraining) -> None:
    """Raise what `begin_with` would of this model, and ConfigError for parts that it has not, or
    where nothing is left to be trained, while no run has been written. Of the parent only names and
    shapes are read."""
    names_below(training.reinit, model, option="--reinit")
    freeze(model, training.freeze)
    if not any(parameter.requires_grad for parameter in model.parameters()):
        raise ConfigError(
            f"training needs a weight that may change; --freeze {' '.join(training.freeze)} leaves "
            "none. Leave a part out."
        )
    if training.init_from:
        found = shapes(Path(training.init_from) / MODEL)
        weights = {name: torch.empty(size, device="meta") for name, (_, size) in found.items()}
        beginning(saved_tensors(model), weights, training.reinit, model)


class InitialWeights(NamedTuple):
    """Weights to begin with, and where they are from: names of parameters."""

    weights: dict[str, Tensor]
    taken: list[str]
    drawn: list[str]
    """Of the new model alone, or to be drawn anew."""
    unused: list[str]
    """Of the parent alone."""

    def __str__(self) -> str:
        words = f"{len(self.taken)} weights taken"
        for names, what in ((self.drawn, "drawn anew"), (self.unused, "of the parent not used")):
            if names:
                some = ", ".join(names[:4]) + (", .." if len(names) > 4 else "")
                words += f"; {len(names)} {what} ({some})"
        return words


def beginning(
    fresh: Mapping[str, Tensor],
    parent: Mapping[str, Tensor],
    reinit: Sequence[str],
    model: nn.Module,
) -> InitialWeights:
    """The parent's weights where it has them, else those that were drawn for the new model.

    `fresh` are the new model's by name; parts in `reinit` keep them although the parent has some.

    Raises:
        ConfigError: `reinit` names no part of the model.
        RunError: a weight has another shape there, or none is there at all.
    """
    aliases = dict(all_parameters(model))
    own = {id(parameter): name for name, parameter in model.named_parameters()}
    chosen = names_below(reinit, model, option="--reinit")
    anew = {own[id(aliases[name])] for name in chosen}
    below = tuple(f"{part}." for part in reinit)  # statistics of a norm are no parameters
    kept = [name for name in fresh if name not in anew and not f"{name}.".startswith(below)]
    taken = [name for name in kept if name in parent]
    for name in taken:
        if fresh[name].shape != parent[name].shape:
            raise RunError(
                f"weights of another run must have the shapes of the new model; {name} should be "
                f"{tuple(fresh[name].shape)}, found {tuple(parent[name].shape)}. Give the settings "
                f"of that run, or draw that part anew: --reinit {name}"
            )
    if not taken:
        raise RunError(
            "a run begins with weights that its parent has as well; none of "
            f"{', '.join(list(fresh)[:4])}, .. is there. Name another parent."
        )
    weights = {name: parent[name] if name in taken else fresh[name] for name in fresh}
    drawn = [name for name in fresh if name not in taken]
    return InitialWeights(weights, taken, drawn, [name for name in parent if name not in fresh])


def begin_with(run: Run) -> None:
    """Take the weights of the run that this one begins with, and say how good they are here."""
    trainer, parent = run.trainer, Parent.of_record(run.folder)
    found = beginning(
        trainer.optimizer.weights(), parent.weights(), run.settings.training.reinit, trainer.model
    )
    if found.drawn or found.unused:
        run.say(f"of {parent.folder.path}: {found}")
    run.say(f"peak of the learning rate: {run.settings.training.learning_rate:.2g}")
    before = start_from(trainer, found.weights)
    others = "".join(f", {name} {value:.2f}" for name, value in before.others.items())
    run.say(
        f"before: {before.score_name.upper()} {before.score:.2f} on the validation data{others}"
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


def first_score(folder: RunFolder) -> tuple[str, float] | None:
    """Name and value of the score before the first update; None if metrics.jsonl lost it."""
    log = folder.read_log()
    of_step_0 = (line for line in log if not line["step"] and "valid_loss" in line)
    *_, (name, value) = next(of_step_0, {"": None}).items()
    return (name, value) if isinstance(value, float) else None


BEGUN_WITH = "the checkpoint that training began with"


def between(best: int) -> dict[tuple[int, ...], str]:
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
    chosen = trainer.choose(measure, between)
    why = ", as nothing better was found" if chosen.startswith(BEGUN_WITH) else ""
    return chosen.replace(BEGUN_WITH, BEGUN_WITH + why, 1) if why else chosen


def say_what_it_brought(run: Run, chosen: str) -> None:
    """The score before the first update beside the best one; `chosen` are the weights, in words."""
    best = run.trainer.progress.best_score
    if first := first_score(run.folder):
        name, before = first
        run.say(
            f"validation {name.upper()}: {before:.2f} before, {best:.2f} at the best checkpoint"
        )
    if chosen.startswith(BEGUN_WITH):
        run.say(
            "NOTHING WAS LEARNED: no weights were better on the new data without losing more than "
            "is allowed on the old (--forget-at-most), so those of the parent stay. More new pairs "
            "help, or a longer --budget, another --old-share, another --training.learning-rate."
        )


def origin(folder: RunFolder) -> str:
    """For the model card: which run the model began with, and how good that was."""
    first = first_score(folder)
    parent = folder.record().get("parent") if folder.data.exists() else None
    if not parent:
        return ""
    scored = (
        f",\nwhose {first[0].upper()} on the validation data was {first[1]:.2f}" if first else ""
    )
    return f"""
It began with the weights of `{parent["run"]}` (sha256 {parent["sha256"]}){scored}."""
