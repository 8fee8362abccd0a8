"""`headway parameters`: how large a model is and what it costs, before anything is trained."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from headway.commands.arguments import Overrides, option_names, parse_overrides, print_json
from headway.core.errors import ConfigError
from headway.core.subwords import SpecialIds

if TYPE_CHECKING:
    from headway.core.config import Sections
    from headway.runs.settings import Settings
    from headway.runs.task_spec import TaskSpec
    from headway.study.operation_counting import Lengths, ModelPart

MOST_FITTED = 32_000
"""The largest vocabulary that `train` fits to a corpus."""
SENTENCE = 32
"""Tokens of a sentence where nothing is said."""
WINDOW = 128
"""Tokens of a stretch of text where nothing is said."""
BATCH_TOKENS = 4_096
"""Tokens of a batch where nothing is said: what `train` takes."""


@dataclass(frozen=True)
class VocabularyOfSize:
    """All that a model asks of a vocabulary: stands for one that is not there yet."""

    size: int
    special: SpecialIds

    def __len__(self) -> int:
        return self.size


class UnbuiltModel(NamedTuple):
    """A model that is described but not built."""

    name: str
    spec: "TaskSpec"
    settings: "Settings"
    vocabulary: Any
    assumed: Sequence[str] = ()
    """What was taken for granted, in words."""


def parameters(
    model: str,
    /,
    *overrides: Overrides,
    task: str | None = None,
    vocabulary: int | None = None,
    batch: int | None = None,
    length: int | None = None,
    json: bool = False,
) -> None:
    """Parameters, operations and memory of a model, part by part, before anything is trained.

    A multiplication and an addition are two operations; only matrix products and convolutions are
    counted. The names of the parts are what --freeze and --reinit take.

    Parameters
    ----------
    model
        A preset, a TOML file of settings, or the folder of a run.
    task
        Whose preset it is, such as language-model; otherwise the first that has one.
    vocabulary
        Tokens in the vocabulary, where there is none yet (32,000 if left out: the most that train
        fits to a text).
    batch
        Pairs, or stretches of text, in a batch; otherwise as many as training.batch_tokens hold.
    length
        Tokens of each, on both sides (32; of a language model training.window, or 128).
    json
        Print one JSON object.
    """
    from headway.operations.frozen import sizes_of_parts
    from headway.study.cost_table import Costs
    from headway.study.operation_counting import count, parts_of
    from headway.tasks import brought, verbs

    for option, value in (("vocabulary", vocabulary), ("batch", batch), ("length", length)):
        if value is not None and value < 1:
            raise ConfigError(f"--{option} is a number of at least 1; got {value}. Leave it out.")
    given = parse_overrides(overrides, options=option_names(parameters))
    found = described(model, task, given, vocabulary)
    spec, settings = found.spec, found.settings
    if "n_grams" in vars(settings.model):
        print_counted(found, json=json)
        return

    def build() -> Any:
        return spec.build(settings, found.vocabulary)

    import torch

    with torch.device("meta"):
        parts, names = parts_of(build()), sizes_of_parts(build())
    if "count" not in verbs(spec.name):
        print_parts(found, parts, names, json=json)
        return
    of_task = brought(spec.name, "count", model)
    costs = Costs(
        found.name,
        f"{settings.model_type} ({spec.name})",
        len(found.vocabulary),
        parts,
        count(build, of_task, lengths(settings, batch, length)),
        of_task.rows,
    )
    if json:
        described_as = {**costs.as_dict(), "names": names, "assumed": found.assumed}
        print_json(described_as)
        return
    print("\n".join([*costs.lines(), "", *names_told(names), *found.assumed]))


def names_told(names: "Mapping[str, int]") -> list[str]:
    """What --freeze and --reinit take."""
    widest = max(map(len, names))
    return [
        "names for --freeze and --reinit",
        *(f"  {name:<{widest}}  {n:>13,}" for name, n in names.items()),
    ]


def lengths(settings: "Settings", batch: int | None, length: int | None) -> "Lengths":
    """Of the batch that is meant, or of one as training has them."""
    from headway.study.operation_counting import Lengths

    window = getattr(settings.training, "window", None)
    each = length or (SENTENCE if window is None else window or WINDOW)
    n_rows = batch or max(1, (settings.training.batch_tokens or BATCH_TOKENS) // each)
    return Lengths(n_rows, each, each)


def described(
    model: str, task: str | None, given: "Sections", vocabulary: int | None
) -> UnbuiltModel:
    """A run, a TOML file or a preset, with what was set on top: as `train` would have it.

    Raises ConfigError where it is none of them, and for what `train` refuses.
    """
    from headway.core.config import merge, read_toml
    from headway.operations.shipped import open_folder, place_of
    from headway.runs.fitting import presets_that_fit
    from headway.runs.settings import Settings, preset, task_of
    from headway.tasks import task_spec

    path = place_of(Path(model))
    if path.is_dir():
        folder = open_folder(path)
        spec = task_spec(task_of(folder.settings()))
        if given or vocabulary:
            raise ConfigError(
                f"a run is as it is; got other settings for {model}. To see what they would "
                f"change, give its {folder.config} instead."
            )
        return UnbuiltModel(
            model, spec, Settings.of_run(folder, spec), spec.vocabulary(folder.path)
        )
    assumed = []
    if path.suffix == ".toml":
        sections = merge(read_toml(path), given, {"run": {"task": task}} if task else {})
        spec = task_spec(task_of(sections))
        below = presets_that_fit(spec, sections)
        if len(below) == 1:
            sections = merge(spec.presets[below[0]], sections)
        elif below:
            assumed.append(
                f"what is left out is the default; train takes it from the preset that suits the "
                f"text ({', '.join(below)})"
            )
    else:
        spec = task_with_preset(model, task)
        sections = merge({"run": {"task": spec.name}}, preset(spec, model, given), given)
    settings = Settings.of(sections, spec)
    size = vocabulary or settings.text.vocabulary_size
    stand_in = VocabularyOfSize(size or MOST_FITTED, SpecialIds())
    if not size:
        assumed.append(f"{MOST_FITTED:,} tokens are assumed; --vocabulary V says how many")
    return UnbuiltModel(model, spec, settings, stand_in, assumed)


def task_with_preset(preset: str, task: str | None) -> "TaskSpec":
    """The task that has a preset of this name.

    Raises ConfigError where there is none.
    """
    from headway.tasks import TASKS, task_spec

    specs = [task_spec(name) for name in ([task] if task else TASKS)]
    for spec in specs:
        if preset in spec.presets:
            return spec
    known = "; ".join(f"{', '.join(one.presets)} ({one.name})" for one in specs if one.presets)
    raise ConfigError(
        f"a model is described by a preset, a TOML file or a run; got {preset!r}, which is none. "
        f"Presets: {known or f'none of the task {task}'}."
    )


def print_parts(
    found: UnbuiltModel, parts: "Sequence[ModelPart]", names: "Mapping[str, int]", *, json: bool
) -> None:
    """The parts of a model whose operations are not counted."""
    n_parameters, kind = sum(part.parameters for part in parts), found.settings.model_type
    if json:
        described_as = {"name": found.name, "type": kind, "vocabulary": len(found.vocabulary)}
        of_parts = [part._asdict() for part in parts]
        whole = {**described_as, "parameters": n_parameters, "parts": of_parts, "names": names}
        print_json({**whole, "assumed": found.assumed})
        return
    print(
        f"{found.name}: {kind} ({found.spec.name}), a vocabulary of {len(found.vocabulary):,}, "
        f"{n_parameters:,} parameters, {4 * n_parameters / 1e6:,.1f} MB in float32"
    )
    for part in parts:
        print(f"{part.name:<40} {part.parameters:>13,}")
    print("\n".join(["", *names_told(names), *found.assumed]))


def print_counted(found: UnbuiltModel, *, json: bool) -> None:
    """A model of n-grams: what it holds, which only the text decides."""
    settings = found.settings.model
    if json:
        print_json({"name": found.name, "n_grams": list(settings.n_grams)})
        return
    print(f"{found.name}: n-grams of up to {settings.order} words, {settings.smoothing}")
    for order, n in enumerate(settings.n_grams, start=1):
        print(f"{order}-grams  {n:,}, each with a probability and a back-off weight")
    if not settings.n_grams:
        print("as many n-grams as the text has: count it, and give the run")
    print("no matrix products: the probability of a word is found by a search in each order")
