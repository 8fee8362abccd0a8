"""What a task brings: one value of `TaskSpec`, all that the rest of the package knows of it."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

from headway.core.config import Sections
from headway.core.run_folder import RunFolder
from headway.core.runtime import Runtime
from headway.core.subwords import SpecialIds
from headway.runs.settings import Settings, absolute_files

if TYPE_CHECKING:
    from torch import Tensor, nn

    from headway.core.training_interfaces import Validation

Say = Callable[[str], None]
OpenVectors = Callable[[Path, Say], Any]


class Data(Protocol):
    """What a task has read: examples to learn from and to validate on."""

    @property
    def vocabulary(self) -> Any:
        """What stands behind the numbers that the model sees: sub-words, characters, labels."""
        ...

    @property
    def checksums(self) -> Mapping[str, str]:
        """SHA-256 of each file that was read, by its name."""
        ...

    def record(self) -> dict[str, Any]:
        """What data.json says of what was read, kept and dropped."""
        ...

    def save_vocabulary(self, folder: RunFolder) -> None:
        """Write what `TaskSpec.vocabulary` reads."""
        ...


@dataclass(frozen=True)
class TaskData:
    """Examples as most tasks have them: some to learn from, some to validate on; a `Data`."""

    vocabulary: Any
    train: Sequence[Any]
    valid: Sequence[Any]
    checksums: Mapping[str, str]

    def record(self) -> dict[str, Any]:
        """How many there are of each."""
        return {"train": {"kept": len(self.train)}, "valid": {"kept": len(self.valid)}}

    def save_vocabulary(self, folder: RunFolder) -> None:
        """tokenizer.json."""
        self.vocabulary.save(folder.tokenizer)


@runtime_checkable
class Tokens(Protocol):
    """What a model is built for, of a vocabulary: a whole one, or one that is only described."""

    @property
    def special(self) -> SpecialIds:
        """Which ids are markers."""
        ...

    def __len__(self) -> int:
        """How many there are."""
        ...


class Sizes(NamedTuple):
    """What the rules for lengths and presets look at."""

    distinct: int
    """Units (target tokens, examples, ..) of the training data, each example once."""
    per_pass: int
    """Units of one pass, each example as often as it weighs."""
    passes: float = 0.0
    """Wanted where there is no budget, and half as many of a model that begins with another run's
    weights; 0: by how many units there are."""


class CardWords(NamedTuple):
    """What the model card says that only the task knows."""

    title: str
    """Such as "en -> de"."""
    vocabulary: str
    """Such as "8,000 sub-words"."""
    scores: str
    data: str
    next_commands: Sequence[str]
    below_use: str = ""
    """Why the model is good for nothing, if so."""


class Learned(NamedTuple):
    """What the model card says of how the weights came to be."""

    weights: str
    """Such as "the average of the last 10 checkpoints"."""
    training: str


@dataclass(frozen=True)
class Request:
    """What the user asked for, in a folder that is open to this process alone."""

    sections: Sections
    """The TOML file and the flags, merged."""
    folder: RunFolder
    preset: str | None = None
    resume: bool = False
    open_vectors: OpenVectors | None = None
    """Where the embeddings begin with word vectors: opens a file of them, or a run."""
    spec_of: Callable[[str], "TaskSpec"] | None = None
    """Where weights begin with those of a run of another task: finds that task."""
    trainer: Callable[..., Any] | None = None
    """What makes the updates, where it is not the core's trainer."""


@dataclass
class Run:
    """A training under way."""

    spec: "TaskSpec"
    folder: RunFolder
    settings: Settings
    data: Any
    runtime: Runtime
    say: Say
    given: Sections = field(default_factory=dict)
    """What the user set."""
    preset: str = ""
    """The preset that was chosen for the data; empty where it was named, or where there is none."""
    started: float = field(default_factory=time.monotonic)
    """When the command began: a budget counts from there."""
    request: Request | None = None
    parent: Any = None
    """The `headway.runs.parent.Parent` that it begins with, until it is written down."""
    noted: dict[str, Any] = field(default_factory=dict)
    """What data.json says besides, once the settings are fitted."""
    trainer: Any = None
    """The `Trainer` of a model that learns by gradient, from when it is built."""


class Learner(NamedTuple):
    """How weights come to be: by gradient (`headway.runs.gradient.GRADIENT`), or by counting."""

    fit: Callable[[Run], Settings]
    """The run's settings, with how long and how fast it learns."""
    learn: Callable[[Run, bool], Learned]
    """Leave `model.safetensors` in the run's folder; True: go on where a checkpoint is."""


Load = Callable[["nn.Module", Path], None]
"""Give a model the weights of a file that fits it."""

ChoosePreset = Callable[[Sizes, float | None, bool, Sequence[str]], tuple[str, str]]
"""Of some presets (at least one) the one for data of this size, a budget in seconds or None, and a
GPU or none; and why."""


def largest(
    sizes: Sizes, budget_s: float | None, on_gpu: bool, allowed: Sequence[str]
) -> tuple[str, str]:
    """The last preset: they stand in the order of their size."""
    return allowed[-1], "the largest that goes with what was set"


def validated(task: Any, model: "nn.Module") -> "Validation":
    """One validation."""
    found: Validation = task.validate(model)
    return found


def by_validation(run: Run) -> Callable[["nn.Module"], "Validation"]:
    """Weights ranked by the same validation as the checkpoints."""
    return lambda model: validated(run.trainer.task, model)


def as_it_is(run: Run) -> Settings:
    """The settings that it has."""
    return run.settings


def files_alone(given: Sections, settings: Settings, data: Any) -> Sections:
    """Nothing but where the files are."""
    return {"data": absolute_files(settings.data)}


def saved_vocabulary(run: Path) -> Any:
    """That of a run's tokenizer.json."""
    from headway.tokenizers.words import opened  # a side room

    return opened(run)


def plain_card(run: Run) -> CardWords:
    """The loss on the validation rows, and how many there are of each."""
    task, data = run.trainer.task, run.data
    loss = validated(task, run.trainer.eval_model).loss
    scores = f"{loss:.4f} nats, the mean over {task.unit} of {len(data.valid):,} validation rows"
    run.say(f"validation: {scores}")
    vocabulary, rows = f"{len(data.vocabulary):,} ids", f"{len(data.train):,} rows learned from."
    return CardWords(run.spec.name, vocabulary, scores, rows, [])


def built_from(
    models: Mapping[str, tuple[type, Callable[..., "nn.Module"]]],
) -> Callable[[Settings, Tokens], "nn.Module"]:
    """What builds the model of some settings, by its type; torch draws its weights."""

    def build(settings: Settings, vocabulary: Tokens) -> "nn.Module":
        _, model = models[settings.model_type]
        sizes = {"vocabulary_size": len(vocabulary), "padding": vocabulary.special.padding}
        return model(settings.model, **sizes)

    return build


@dataclass(frozen=True)
class TaskSpec:
    """A task, to everybody else. A new one is a value of this, and a line in `headway.tasks`."""

    name: str
    """What `--task` and config.toml call it."""
    sections: Mapping[str, type]
    """The dataclass of each section that is its own: `data`, `training` (a
    `headway.operations.time_budget.PlannedTraining`, or more), and `text`, `decoding`."""
    models: Mapping[str, tuple[type, Callable[..., "nn.Module"]]]
    """What `--model.type` may be: the dataclass of its section, and its class."""
    default_model: str
    read: Callable[[Settings, Any, Say], Data]
    """Files to examples; the second argument is a vocabulary that must be used, or None."""
    sizes: Callable[[Any], Sizes]
    build: Callable[[Settings, Any], "nn.Module"]
    """The model of a run, given its vocabulary, with weights drawn from torch's generator."""

    # What follows may be left out.
    begun_at_pairs: Callable[[Any, "nn.Module"], Mapping[str, "Tensor"]] | None = None
    """Weights of a model, by name, that the data tell before anything is learned by gradient."""
    row_length: Callable[[Settings, Any], int] | None = None
    """Tokens of a row that holds any example, where several may share one; 0 where they may not."""
    task: Callable[[Settings, Any, Runtime], Any] | None = None
    """What the training loop asks for: a `headway.core.training_interfaces.Task`; none where
    nothing is learned by gradient."""
    complete: Callable[[Sections, Settings, Any], Sections] = files_alone
    """Settings that only the data tell, as they are to be stored: names, sizes, `absolute` [data].
    The first argument is what was set, by the user or a preset."""
    absolute: Callable[[Any], dict[str, Any]] = absolute_files
    """[data] ready for JSON, each file by a path that holds from any folder."""
    vocabulary: Callable[[Path], Any] = saved_vocabulary
    """What `Data.save_vocabulary` wrote into a run's folder."""
    learner: Callable[[Settings], Learner] | None = None
    """None: by gradient."""
    card: Callable[[Run], CardWords] = plain_card
    """Scores the finished model, says the scores, and words them."""
    presets: Mapping[str, Sections] = field(default_factory=dict)
    choose_preset: ChoosePreset = largest
    fits_dropout: Sequence[str] = ()
    """Presets under which, where the data chose them, dropout follows the number of passes."""
    slow_warmup: Sequence[str] = ()
    """Types of model whose rate rises for a quarter of the updates; an eighth is usual."""
    rehearse: Callable[[Any, "nn.Module"], object] = validated
    """About the work of one validation, on weights that have learned nothing yet."""
    rehearse_end: Callable[[Settings, Any, "nn.Module"], object] | None = None
    """About a part of the work after the last update; None: as one validation."""
    closing: int = 4
    """How many times that is done."""
    rank: Callable[[Run], Callable[["nn.Module"], "Validation"]] = by_validation
    """What the final weights are chosen by."""
    tune: Callable[[Run], Settings] = as_it_is
    """What may still be chosen once the weights are (`eval_model` has them): settings of use, such
    as a length penalty."""
    counted: Sequence[str] = ()
    """Types of model that are counted: what is learned cannot go on from them."""
    inherit: Callable[[Any, Sections, Say], Sections] | None = None
    """Settings of a run that begins with one of this task; None: as with one of any other."""
    load: Callable[[Settings], Load] | None = None
    """How a model of such settings gets its weights; else they are finite, and copied."""
