"""The run that a new one begins with: its weights, as a whole or in part."""

import time
from collections.abc import Callable, Container, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from headway.core.config import Sections, merge
from headway.core.disk import checksum
from headway.core.errors import ConfigError, RunError, command
from headway.core.optimizer import saved_tensors
from headway.core.run_folder import MODEL, RunFolder
from headway.core.tensor_files import load_finite, shapes
from headway.core.trainer import Trainer
from headway.core.training_interfaces import Validation
from headway.operations.frozen import names_below, trunk_of
from headway.operations.shipped import open_folder
from headway.runs.loading import Undrawn, fitting_vocabulary
from headway.runs.settings import Settings, task_of, upgraded
from headway.runs.task_spec import Run, Say, TaskSpec
from headway.runs.transfer import (
    Brought,
    beginning,
    meeting,
    same_task_brought,
    tops,
    trunk_brought,
)
from headway.runs.tuned_adam import prepare, stacks_of, tuned

FREE_OF_MODEL = frozenset(
    "dropout attention_dropout activation_dropout variational residual_gain".split()
)
"""Of [model]: what trained weights do not depend on."""
TUNED_RATE = 1 / 3
"""Of the peak that the other run was trained with."""
NEW_RATE = 10.0
"""Times that for adapters, and for a head on a frozen trunk: on 500 questions of TREC they came to
44% and 21% of accuracy without it, to 56% and 41% with it (120 updates)."""


@dataclass(frozen=True)
class Parent:
    """A finished run whose model is whole."""

    folder: RunFolder
    sha256: str
    """Of its `model.safetensors`."""
    vocabulary: Any = None
    spec: TaskSpec | None = None
    """What its own task brings."""
    settings: Any = None
    """Its `Settings`."""

    @classmethod
    def open(
        cls,
        run: Path,
        spec: TaskSpec | None = None,
        preset: str | None = None,
        spec_of: Callable[[str], TaskSpec] | None = None,
    ) -> "Parent":
        """A run to begin with, compared with its settings before it is read: one of the task
        `spec`, or of any that `spec_of` knows.

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
        vocabulary = settings = None
        if spec and spec_of and (task := task_of(folder.settings())) != spec.name:
            spec = spec_of(task)
        if spec:
            found = shapes(folder.model)
            settings = Settings.of_run(folder, spec)
            if settings.model_type in spec.counted:
                raise ConfigError(
                    f"a run begins with weights that were learned; those of {run} were counted "
                    f"({settings.model_type}). Leave --init-from out, and name all texts at once."
                )
            vocabulary = fitting_vocabulary(spec, settings, folder, folder.model, found)
        parent = cls(folder, checksum(folder.model), vocabulary, spec, settings)
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

    @classmethod
    def of_run(cls, run: Run) -> "Parent":
        """The one that a run began with, as it was then; its vocabulary and settings with it."""
        recorded = cls.of_record(run.folder)
        spec_of = run.request.spec_of if run.request else None
        found = cls.open(recorded.folder.path, run.spec, spec_of=spec_of)
        return replace(found, sha256=recorded.sha256)

    def vocabulary_for(self, spec: TaskSpec) -> Any:
        """What a run of a task is to read with: of one of another task only the tokens."""
        whole = self.vocabulary
        return whole if self.spec is spec else getattr(whole, "tokens", whole)

    def outline(self) -> nn.Module:
        """Its model with names and shapes, and no numbers."""
        assert self.spec, "one that is opened with a task's spec has its own"
        with torch.device("meta"), Undrawn():
            return self.spec.build(self.settings, self.vocabulary)

    def brought(self, weights: Mapping[str, Tensor], model: nn.Module, run: Run) -> Brought:
        """Its `weights` under the names of a new run's model.

        Raises ConfigError where it is another task's and one of the two has no trunk.
        """
        if self.spec is None or self.spec is run.spec:
            labels = (getattr(of, "labels", None) for of in (self.vocabulary, run.data.vocabulary))
            had, now = labels
            return same_task_brought(weights, saved_tensors(model), model, relabelled=had != now)
        outline = self.outline()
        for one, kind in ((outline, self.settings.model_type), (model, run.settings.model_type)):
            if not trunk_of(one):
                raise ConfigError(
                    "a run of another task is begun with by its trunk; a model of the type "
                    f"{kind} has none that others know. Leave --init-from out, or name a run of "
                    f"the task {run.spec.name}."
                )
        return trunk_brought(weights, outline, model)

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


def on_parent(
    parent: Parent, given: Sections, base: Sections, free: Mapping[str, Container[str]]
) -> Sections:
    """What was set, on top of the [model] of a parent of the same task, and of `base`.

    Raises ConfigError for another type of model, and as `refuse_contradictions`.
    """
    assert parent.spec
    refuse_other_type(parent, parent.settings, given)
    shape = upgraded(parent.folder.settings()).get("model", {})
    sections = merge(base, {"model": shape}, given)
    now = Settings.of(sections, parent.spec).sections()
    refuse_contradictions(parent, parent.settings.sections(), now, free)
    return sections


def inherited(spec: TaskSpec, parent: Parent, given: Sections, say: Say) -> Sections:
    """What the user gave, on top of what the parent has: of a run of the same task as that says,
    else the trunk's shape, what a token is, and a third of the rate.

    Raises ConfigError where the two contradict each other, or the task has no such model.
    """
    assert parent.spec
    before, same = parent.settings, parent.spec is spec
    if same and spec.inherit:
        return spec.inherit(parent, given, say)
    if before.model_type not in spec.models:
        raise ConfigError(
            "a run begins with the trunk of a model of its own type; "
            f"{parent.folder.path} is of type {before.model_type}, and the task {spec.name} has "
            f"{', '.join(spec.models)}. Name another run, or take its vectors: --init-embedding."
        )
    of_text, unit = spec.sections.get("text"), getattr(parent.vocabulary_for(spec), "unit", "")
    if unit and of_text and not hasattr(of_text, "unit"):
        raise ConfigError(
            f"the task {spec.name} reads sub-words; {parent.folder.path} reads {unit}. Name a run "
            "of sub-words."
        )
    refuse_other_type(parent, before, given)
    stored, (config, of_type) = before.sections(), spec.models[before.model_type]
    shape = {**stored["model"]} if same else trunk_shape(stored["model"], parent.outline(), of_type)
    base: Sections = {"model": shape, "training": {}, "text": stored.get("text", {})}
    if before.training.learning_rate:
        base["training"]["learning_rate"] = tuned_rate(before)
    if shape.get("positions") == "learned":  # behind their end nothing can be read
        most = getattr(spec.sections.get("data"), "max_length", 0)
        base["data"] = {"max_length": shape["max_length"]} if most > shape["max_length"] else {}
    known = {"model": config, "text": of_text}
    for name, section in known.items():
        keys = {field.name for field in fields(section)} if section else set[str]()
        if base[name].get("embedding_norm") and "embedding_norm" not in keys:
            raise ConfigError(
                "a trunk goes on as it was trained; what goes into the layers of "
                f"{parent.folder.path} is normalized (embedding_norm, as in BERT), and the task "
                f"{spec.name} has no model that does so. Name a run without."
            )
        base[name] = {key: one for key, one in base[name].items() if key in keys}
    base["model"]["type"] = before.model_type
    sections = merge({name: of for name, of in base.items() if of}, given)
    now = Settings.of(sections, spec).sections()
    had = {name: {key: now[name][key] for key in base[name]} for name in ("model", "text")}
    refuse_contradictions(parent, base, had, {"model": FREE_OF_MODEL, "text": {"sample_lines"}})
    return sections


def trunk_shape(had: Mapping[str, Any], outline: nn.Module, of_type: Any) -> dict[str, Any]:
    """Settings [model] of a child of another task whose model is an `of_type`, from those that its
    parent `had`: each of its stacks has as many layers as the one that comes over."""
    child = getattr(of_type, "func", of_type)
    places, _ = meeting(outline, child)
    n_layers = had.get(f"{places.get('layers', '')}_layers", had.get("layers"))
    every = {} if n_layers is None else dict.fromkeys(
        ("layers", "encoder_layers", "decoder_layers"), n_layers
    )  # fmt: skip
    writes = getattr(outline, "writer", {})
    embedded = {"d_embedding": had["d_model"]} if "d_model" in had else {}
    return {"causal": writes == places, **embedded, **had, **every}


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
        brought = run.parent.brought(weights, model, run)
        drawn = beginning(fresh, brought, training.reinit, model).drawn
        still = [name for name in drawn if not fresh[name].requires_grad]
        if training.lora_rank and still:
            raise ConfigError(
                "adapters are laid on what a parent has learned; of this model are drawn anew "
                f"{', '.join(still[:4])}. Leave --training.lora-rank out."
            )
    first = tops({key: place for one in stacks_of(model) for key, place in one.items()})
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
    if said := tuned(trainer.model, training):
        run.say(said)
    if training.init_from and not trainer.progress.validated:
        begin_with(run)


def begin_with(run: Run) -> None:
    """Take the weights of the run that this one begins with, and say how good they are here."""
    trainer, parent = run.trainer, Parent.of_run(run)
    brought = parent.brought(parent.weights(), trainer.model, run)
    # Those of the model that is validated: nothing is laid into them, as the optimizer would.
    fresh, reinit = saved_tensors(trainer.eval_model), run.settings.training.reinit
    found = beginning(fresh, brought, reinit, trainer.model)
    if found.drawn or found.unused:
        run.say(f"of {parent.folder.path}: {found}")
    say_learned(run, parent)
    run.say(f"peak of the learning rate: {run.settings.training.learning_rate:.2g}")
    before = start_from(trainer, found.weights)
    others = "".join(f", {name} {value:.2f}" for name, value in before.others.items())
    run.say(
        f"before: {before.score_name.upper()} {before.score:.2f} on the validation data{others}"
    )


def say_learned(run: Run, parent: Parent) -> None:
    """Which files the parent, or one that it began with, learned from that a run of their task
    validates on, or holds examples out of; where both hold out the same, it has not learned
    those."""
    now, seed = run.settings.data, run.settings.runtime.seed
    if not hasattr(now, "valid_corpus"):
        return
    files, split = now.valid_corpus or now.corpus, (now.corpus, now.valid_corpus, seed)
    sums = {str(Path(name).absolute()): sum_ for name, sum_ in run.data.checksums.items()}
    for folder, record in line_of(parent.folder):
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


def line_of(folder: RunFolder) -> Iterator[tuple[RunFolder, dict[str, Any]]]:
    """A run with its data.json, then the run that it began with, and so on, as far as they are
    still there as they were."""
    seen = set[Path]()
    with suppress(OSError, RunError):
        while folder.path not in seen:
            seen.add(folder.path)
            record = folder.record()
            yield folder, record
            if not (before := record.get("parent")):
                return
            folder = open_folder(before["run"])
            if checksum(folder.model) != before["sha256"]:
                return


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
            f"in validations on the way, {name.upper()}: {before:.2f} before, {best:.2f} at the "
            "best checkpoint"
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
