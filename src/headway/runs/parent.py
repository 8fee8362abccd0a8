"""The run that a new one begins with: its weights, as a whole or in part."""

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
from headway.core.run_folder import RunFolder
from headway.core.tensor_files import load_finite, shapes
from headway.operations.frozen import trunk_of
from headway.operations.shipped import open_folder
from headway.runs.loading import Undrawn, fitting_vocabulary
from headway.runs.settings import Settings, task_of, upgraded
from headway.runs.task_spec import Run, Say, TaskSpec
from headway.runs.transfer import (
    Transferred,
    same_task_transferred,
    shared_parts,
    trunk_transferred,
)

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

    def transferred(self, weights: Mapping[str, Tensor], model: nn.Module, run: Run) -> Transferred:
        """Its `weights` under the names of a new run's model.

        Raises ConfigError where it is another task's and one of the two has no trunk.
        """
        if self.spec is None or self.spec is run.spec:
            labels = (getattr(of, "labels", None) for of in (self.vocabulary, run.data.vocabulary))
            had, now = labels
            return same_task_transferred(
                weights, saved_tensors(model), model, relabelled=had != now
            )
        outline = self.outline()
        for one, kind in ((outline, self.settings.model_type), (model, run.settings.model_type)):
            if not trunk_of(one):
                raise ConfigError(
                    "a run of another task is begun with by its trunk; a model of the type "
                    f"{kind} has none that others know. Leave --init-from out, or name a run of "
                    f"the task {run.spec.name}."
                )
        return trunk_transferred(weights, outline, model)

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
    places, _ = shared_parts(outline, child)
    n_layers = had.get(f"{places.get('layers', '')}_layers", had.get("layers"))
    every = {} if n_layers is None else dict.fromkeys(
        ("layers", "encoder_layers", "decoder_layers"), n_layers
    )  # fmt: skip
    writes = getattr(outline, "writer", {})
    embedded = {"d_embedding": had["d_model"]} if "d_model" in had else {}
    return {"causal": writes == places, **embedded, **had, **every}


def ancestors(folder: RunFolder) -> Iterator[tuple[RunFolder, dict[str, Any]]]:
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


def first_score(folder: RunFolder) -> tuple[str, float] | None:
    """Name and value of the score before the first update; None if metrics.jsonl lost it."""
    log = folder.read_log()
    of_step_0 = (line for line in log if not line["step"] and "valid_loss" in line)
    *_, (name, value) = next(of_step_0, {"": None}).items()
    return (name, value) if isinstance(value, float) else None


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
