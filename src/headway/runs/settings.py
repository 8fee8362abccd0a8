"""All settings of a run of any task: the sections of its config.toml as checked dataclasses."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from headway.core import setting_errors as refused
from headway.core.config import Sections, build, merge
from headway.core.errors import ConfigError
from headway.core.run_folder import TRANSLATION, RunFolder
from headway.core.runtime import RuntimeSettings
from headway.core.schedules import paper_peak
from headway.core.training_settings import TrainingSettings


@runtime_checkable
class TaskSections(Protocol):
    """What settings ask of a task: a `headway.runs.task_spec.TaskSpec`."""

    @property
    def name(self) -> str: ...
    @property
    def sections(self) -> Mapping[str, type]: ...
    @property
    def models(self) -> Mapping[str, tuple[type, Any]]: ...
    @property
    def default_model(self) -> str: ...
    @property
    def presets(self) -> Mapping[str, Sections]: ...


@dataclass(frozen=True)
class RunSection:
    """Section [run]: what kind of run this is."""

    task: str = TRANSLATION
    """What is learned, such as translation, language-model or classification."""
    finished: bool = False
    """Written when training is over and the model is scored."""
    below_use: str = ""
    """Why the model is good for nothing, if so; written with it."""


@dataclass(frozen=True)
class Settings:
    """One dataclass a section; `model` is the config of whichever type was chosen.

    A task that has no text, or nothing to decode, has None there; so has `training` where a run is
    opened to be used.
    """

    task: str
    model_type: str
    model: Any
    data: Any
    training: Any
    """A `TrainingSettings`, or what the task has made of it."""
    runtime: RuntimeSettings
    text: Any = None
    decoding: Any = None

    @classmethod
    def of(
        cls,
        sections: Mapping[str, Mapping[str, Any]],
        spec: TaskSections,
        *,
        training: bool = True,
    ) -> "Settings":
        """Check every section; raises ConfigError for what is unknown or does not fit.

        Without `training`, what is set in it is not looked at.
        """
        given = merge(sections)
        of_text = spec.sections.get("text")
        if given.get("text", {}).get("unit") == "subwords" and not hasattr(of_text, "unit"):
            del given["text"]["unit"]  # a key of earlier versions, which meant nothing
        own = {"training": TrainingSettings, **spec.sections, "runtime": RuntimeSettings}
        known = ["run", "model", *own]
        for section, values in given.items():
            if section not in known and values:
                raise ConfigError(
                    f"the task {spec.name} has no section [{section}]; it has {', '.join(known)}. "
                    f"Leave {next(iter(values))!r} out."
                )
        build(RunSection, given.get("run", {}), section="run")
        if (named := task_of(given)) != spec.name:
            raise ConfigError(f"this is a run of the task {named}, not {spec.name}.")
        model_type = type_of(spec, given)
        given.get("model", {}).pop("type", None)
        if model_type not in spec.models:
            raise refused.unknown_name("[model] type", model_type, spec.models)
        types = {"model": spec.models[model_type][0], **own}
        if not training:
            del types["training"]
        built: dict[str, Any] = {"training": None} | {
            name: build(section, given.get(name, {}), section=name)
            for name, section in types.items()
        }
        return cls(task=spec.name, model_type=model_type, **built)

    @classmethod
    def of_run(cls, folder: RunFolder, spec: TaskSections, *, training: bool = True) -> "Settings":
        """The settings that stand in a run's config.toml; an error names that file."""
        stored = upgraded(folder.settings())
        try:
            return cls.of(stored, spec, training=training)
        except ConfigError as error:
            raise ConfigError(f"in {folder.config}: {error}") from None

    def sections(self) -> Sections:
        """As written to config.toml."""
        sections: Sections = {"run": {"task": self.task}}
        for name in ("text", "data", "model", "training", "decoding", "runtime"):
            values = getattr(self, name)
            if values is not None:
                typed = {"type": self.model_type} if name == "model" else {}
                sections[name] = {**typed, **asdict(values)}
        return sections


def task_of(sections: Mapping[str, Mapping[str, Any]]) -> str:
    """The task that some settings name; translation where they name none."""
    return str(sections.get("run", {}).get("task", TRANSLATION))


def type_of(spec: TaskSections, sections: Mapping[str, Mapping[str, Any]]) -> str:
    """The type of model that some sections name."""
    return str(sections.get("model", {}).get("type", spec.default_model))


def preset(spec: TaskSections, name: str, given: Mapping[str, Mapping[str, Any]]) -> Sections:
    """The sections of a preset.

    Raises ConfigError for an unknown name, or one of another type of model than is given.
    """
    if name not in spec.presets:
        raise refused.unknown_preset(name, spec.presets, spec.name)
    sections = spec.presets[name]
    wanted = str(given.get("model", {}).get("type", type_of(spec, sections)))
    if type_of(spec, sections) != wanted:
        others = ", ".join(presets_of_type(spec, wanted))
        remedy = f"Its own: {others}." if others else "It has none: leave --preset out."
        raise ConfigError(
            f"--preset {name} is for --model.type {type_of(spec, sections)}; got {wanted}. {remedy}"
        )
    return sections


def presets_of_type(spec: TaskSections, model_type: str) -> list[str]:
    """The presets that are made for this type of model."""
    return [n for n, sections in spec.presets.items() if type_of(spec, sections) == model_type]


def absolute_files(section: Any) -> dict[str, Any]:
    """A section ready for JSON, each file by a path that holds from any folder."""

    def stored(value: Any) -> Any:
        if isinstance(value, tuple | list):
            return [stored(one) for one in value]
        return str(value.absolute()) if isinstance(value, Path) else value

    return {name: stored(value) for name, value in asdict(section).items()}


def upgraded(stored: Sections) -> Sections:
    """The settings of a run that an earlier version wrote, as this one writes them."""
    stored = merge(stored)
    training, model = stored.get("training", {}), stored.get("model", {})
    if model.get("attention") != "dot":
        model.pop("input_feeding", None)  # false changed nothing there, and is refused today
    warmup = training.get("warmup_steps")
    if "run" in stored or training.get("schedule") != "paper" or not warmup:
        return stored
    try:
        peak = paper_peak(model.get("d_model", 512), warmup)
    except (TypeError, ArithmeticError):  # what these are is said where they are checked
        return stored
    return merge(stored, {"training": {"learning_rate": peak}})
