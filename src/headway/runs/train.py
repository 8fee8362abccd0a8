"""One training from files to a finished run folder: read, fit, learn, choose, write the card."""

import time
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import headway
from headway import runtime as machine
from headway.config import Sections, merge
from headway.errors import ConfigError, DataError
from headway.runs import card
from headway.runs.kind import Kind, Opening, Run, Say
from headway.runs.parent import Parent
from headway.runs.settings import Settings, preset, presets_that_fit, upgraded
from headway.training.run_folder import RunFolder
from headway.training.settings import seconds

if TYPE_CHECKING:
    from torch import nn


@dataclass(frozen=True)
class Request:
    """What the user asked for, before anything was looked at."""

    sections: Sections
    """The TOML file and the flags, merged."""
    out: Path
    preset: str | None = None
    resume: bool = False


def train(kind: Kind, request: Request, say: Say) -> RunFolder:
    """Train, or go on training, and leave a finished run folder.

    Raises UserError for what the user can put right, StoppedError after Ctrl-C or SIGTERM.
    """
    request = replace(request, sections=found_from_anywhere(request.sections))
    with RunFolder.alone(request.out, say) as folder:
        if request.resume and folder.config.exists():
            return resume(kind, request, say)
        folder.refuse_taken()
        return begin(kind, request, folder, say)


def begin(kind: Kind, request: Request, folder: RunFolder, say: Say) -> RunFolder:
    """Read, fit, put down what the run is, and learn."""
    started = time.monotonic()
    given, parent = request.sections, parent_of(request)
    if parent:
        given = kind.inherit(parent, given)
    elif request.preset:
        given = merge(preset(kind, request.preset, given), given)
    allowed = presets_that_fit(kind, given)  # wrong settings are found before an hour of reading
    sizes = {"model": kind.presets[allowed[0]].get("model", {})} if allowed else {}
    early = Settings.of(merge(sizes, given), kind)  # its [model] is not final
    runtime = machine.start(early.runtime)
    say(f"runs on {runtime.describe()}")
    if parent:
        say(f"begins with {parent.folder.path}: its weights, sub-words and shape")
        say(f"peak of the learning rate: {early.training.learning_rate:.2g}")
    data = kind.read(early, kind.vocabulary(parent.folder.path) if parent else None, say)
    chosen = ""
    if not (parent or request.preset) and allowed:
        budget_s, on_gpu = seconds(early.training.budget), runtime.device.type == "cuda"
        chosen, why = kind.choose_preset(kind.sizes(data), budget_s, on_gpu, allowed)
        say(f"preset {chosen}: {why}")
        given = merge(kind.presets[chosen], given)
    found = kind.complete(given, Settings.of(given, kind), data)
    threads: Sections = {"runtime": {"threads": runtime.threads}}
    settings = Settings.of(merge(given, found, threads), kind)
    opening = Opening(kind, data, runtime, request.sections, chosen, started, say)
    settings = kind.learner(settings).fit(settings, opening)
    data.save_vocabulary(folder)
    write_record(folder, data, parent)
    folder.write_settings(settings.sections())
    return finish(Run(kind, folder, settings, data, runtime, say), again=False)


def resume(kind: Kind, request: Request, say: Say) -> RunFolder:
    """Go on with the run in the folder as if it had never stopped."""
    folder = RunFolder(request.out)
    folder.refuse_damaged()
    stored = upgraded(folder.settings())
    refuse_changes(kind, request, stored)
    settings = Settings.of(stored, kind)
    if folder.finished:
        say(f"{request.out} is finished; nothing to resume.")
        return folder
    data = kind.read(settings, kind.vocabulary(folder.path), say)
    refuse_changed_data(folder, data, say)
    runtime = machine.start(settings.runtime)
    return finish(Run(kind, folder, settings, data, runtime, say), again=True)


def finish(run: Run, *, again: bool) -> RunFolder:
    """Learn to the end, score the model and write the model card."""
    n_parameters = counted(run.kind.build(run.settings, run.data.vocabulary))
    run.say(
        f"{run.settings.model_type} of {n_parameters:,} parameters, "
        f"seed {run.settings.runtime.seed}"
    )
    learned = run.kind.learner(run.settings).learn(run, again)
    card.write_card(run, learned, n_parameters)
    run.folder.finish(run.settings.sections())
    return run.folder


def counted(model: "nn.Module") -> int:
    """Its parameters; a shared one counts once."""
    return sum(parameter.numel() for parameter in model.parameters())


def found_from_anywhere(given: Sections) -> Sections:
    """The same settings, with the run to begin with named so that any folder will do."""
    parent = given.get("training", {}).get("init_from")
    if not parent:
        return given
    return merge(given, {"training": {"init_from": str(Path(parent).absolute())}})


def parent_of(request: Request) -> Parent | None:
    """The run to begin with, if there is to be one.

    Raises:
        ConfigError: a preset is named as well.
        RunError: it is none, not finished, or damaged.
    """
    run = request.sections.get("training", {}).get("init_from")
    if not run:
        return None
    if request.preset:
        raise ConfigError(
            f"a run that begins with another's weights has its sizes as well; got --preset "
            f"{request.preset} and --init-from {run}. Leave one of them out."
        )
    return Parent.open(Path(run))


def write_record(folder: RunFolder, data: Any, parent: Parent | None) -> None:
    """data.json: what was read, with checksums, and by which versions."""
    record = {
        "sha256": {str(Path(name).absolute()): sum_ for name, sum_ in data.checksums.items()},
        **data.record(),
        "parent": parent and {"run": str(parent.folder.path), "sha256": parent.sha256},
        "versions": {
            "headway": headway.__version__,
            **{name: version(name) for name in ("torch", "tokenizers", "sacrebleu", "numpy")},
        },
        "machine": machine.machine(),
    }
    folder.write_data(record)


def refuse_changed_data(folder: RunFolder, data: Any, say: Say) -> None:
    """Raise DataError when a file is no longer what the run began with.

    Where data.json is gone it is written anew, of what was read now.
    """
    if not folder.data.exists():
        write_record(folder, data, None)
        say(f"{folder.data} is gone: whether the files are still the same cannot be checked")
    record = folder.record()["sha256"]
    for name, found in data.checksums.items():
        if record.get(str(Path(name).absolute()), found) != found:
            raise DataError(
                f"A run goes on with the files that it began with; {name} has changed since. "
                "Put it back, or start a new run."
            )


def refuse_changes(kind: Kind, request: Request, stored: Sections) -> None:
    """Raise ConfigError when a resumed run is given other settings than it has.

    Files are compared by their checksums, later.
    """
    given = request.sections
    kind.refuse_changed_use(given.get("data", {}), stored.get("data", {}))
    base = preset(kind, request.preset, given) if request.preset else {}
    before = Settings.of(stored, kind).sections()
    now = Settings.of(merge(stored, base, given), kind).sections()
    for section, values in now.items():
        for key, value in values.items():
            had = before[section][key]
            if section != "data" and value != had:
                raise ConfigError(
                    f"A resumed run keeps its settings; [{section}] {key} is {had!r}, "
                    f"got {value!r}. Leave it out, or start a new run."
                )
