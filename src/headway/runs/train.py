"""One training from files to a finished run folder: read, fit, learn, choose, write the card."""

import os
import platform
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch

from headway.core.config import merge
from headway.core.errors import StoppedError, command
from headway.core.optimizer import saved_tensors
from headway.core.run_folder import RunFolder
from headway.core.runtime import available_cores, cpu_name, start
from headway.operations.option_errors import no_embedding
from headway.operations.time_budget import seconds
from headway.runs.console import forgiving_stderr, handled
from headway.runs.fitting import presets_that_fit
from headway.runs.gradient import GRADIENT
from headway.runs.loading import Undrawn
from headway.runs.parent import Parent, inherited, origin
from headway.runs.resuming import stopped_run
from headway.runs.settings import Settings, preset
from headway.runs.task_spec import Learned, Learner, Request, Run, Say, TaskSpec
from headway.version import __version__


def train(spec: TaskSpec, request: Request, say: Say) -> RunFolder:
    """Train, or go on training, and leave a finished run folder.

    Raises UserError for what the user can put right, StoppedError after Ctrl-C, SIGTERM or SIGHUP.
    """
    with forgiving_stderr():
        if request.resume and request.folder.config.exists():
            run = stopped_run(spec, request, say)
            return finish(run, again=True) if run else request.folder
        if request.resume:
            say(f"there is no run in {request.folder.path} to go on with: one begins")
        request.folder.refuse_taken()
        return finish(begun_run(spec, request, say), again=False)


def begun_run(spec: TaskSpec, request: Request, say: Say) -> Run:
    """Read the data, settle every setting, and put down in the folder what the run is."""
    started = time.monotonic()
    given, parent, allowed = request.sections, None, list[str]()
    if init_from := given.get("training", {}).get("init_from"):
        parent = Parent.open(Path(init_from), spec, request.preset, request.spec_of)
        given = inherited(spec, parent, given, say)
    elif request.preset:
        given = merge(preset(spec, request.preset, given), given)
    else:
        allowed = presets_that_fit(spec, given)  # to choose from once the data are known
    sizes = {"model": spec.presets[allowed[0]].get("model", {})} if allowed else {}
    early = Settings.of(merge(sizes, given), spec)  # wrong ones are found before an hour of reading
    runtime = start(early.runtime)
    say(f"runs on {runtime.described}")
    if parent:
        say(f"begins with {parent.folder.path}: its weights, sub-words and shape")
    data, chosen = spec.read(early, parent.vocabulary_for(spec) if parent else None, say), ""
    if allowed:
        budget_s, on_gpu = seconds(early.training.budget), runtime.device.type == "cuda"
        chosen, why = spec.choose_preset(spec.sizes(data), budget_s, on_gpu, allowed)
        say(f"preset {chosen}: {why}")
        given = merge(spec.presets[chosen], given)
    asked = Settings.of(given, spec)
    found = merge(spec.complete(given, asked, data), {"runtime": {"threads": runtime.threads}})
    settings = Settings.of(merge(given, found), spec)
    run = Run(spec, request.folder, settings, data, runtime, say, request.sections, chosen, started)
    run.request, run.parent = request, parent
    run.settings = learner(spec, settings).fit(run)
    if getattr(settings.training, "init_embedding", "") and not run.noted:
        raise no_embedding(settings.model_type)
    write_record(run.folder, data, parent, asked_for(spec, request, asked), run.noted)
    data.save_vocabulary(run.folder)
    run.folder.write_settings(run.settings.sections())
    return run


def finish(run: Run, *, again: bool) -> RunFolder:
    """Learn to the end, score the model and write the model card."""
    named = f"{run.settings.model_type} of {n_parameters(run):,} parameters"
    run.say(f"{named}, seed {run.settings.runtime.seed}")
    try:
        with handled():
            learned = learner(run.spec, run.settings).learn(run, again)
            below_use = write_card(run, learned, named)
    except KeyboardInterrupt:  # behind the last update: while weights are chosen, or scored
        on = command("train", "--out", run.folder.path, "--resume")
        raise StoppedError(f"interrupted. Go on with: {on}") from None
    run.folder.finish(run.settings.sections(), below_use)
    return run.folder


def learner(spec: TaskSpec, settings: Settings) -> Learner:
    """How the weights of such a model come to be."""
    return spec.learner(settings) if spec.learner else GRADIENT


def n_parameters(run: Run) -> int:
    """Numbers that are learned: by gradient, or by counting."""
    with torch.device("meta"), Undrawn():  # none of them in memory
        model = run.spec.build(run.settings, run.data.vocabulary)
    saved = saved_tensors(model).values()
    return sum(tensor.numel() for tensor in saved if tensor.is_floating_point())


def asked_for(spec: TaskSpec, request: Request, settings: Settings) -> dict[str, Any]:
    """What the user set, whatever comes of it: the same may be given with --resume."""
    whole = merge(settings.sections(), {"data": spec.absolute(settings.data)})
    sections = {
        name: {key: value for key, value in whole.get(name, {}).items() if key in keys}
        for name, keys in request.sections.items()
    }
    return {"preset": request.preset, "sections": sections}


def write_record(
    folder: RunFolder, data: Any, parent: Parent | None, asked: Any = None, noted: Any = None
) -> None:
    """data.json: what was asked for, read and `noted`, with checksums, and by which versions.

    The first that is written of a run; what a start that was killed has left goes.
    """
    names = ("torch", "tokenizers", "sacrebleu", "numpy")
    record = {
        "sha256": {str(Path(name).absolute()): sum_ for name, sum_ in data.checksums.items()},
        "asked": asked,
        **data.record(),
        **(noted or {}),
        "parent": parent and {"run": str(parent.folder.path), "sha256": parent.sha256},
        "losses_by": "the compiled engine, where it can",  # earlier runs: by torch
        "versions": {"headway": __version__, **{name: version(name) for name in names}},
        "machine": machine(),
    }
    folder.write_data(record)
    for file in {*folder.constant_files()} - {folder.data}:
        file.unlink()


def write_card(run: Run, learned: Learned, named: str) -> str:
    """Score the model, write README.md (what it is, learned from, scores), and say what is next.

    Returns why the model is below use, if it is.
    """
    words = run.spec.card(run)
    sums = "\n".join(f"- `{name}` (sha256 {sum_})" for name, sum_ in run.data.checksums.items())
    about = "\n".join(f"- {key}: {value}" for key, value in machine().items())
    commands = "\n".join(words.next_commands)
    warning = f"\n**Below use**: {words.below_use}.\n" if words.below_use else ""
    began = origin(run.folder) if run.settings.training.init_from else ""
    run.folder.write_card(
        f"""# {words.title}, trained with headway
{warning}
A {named} and {words.vocabulary};
every setting is in `config.toml`. The weights are {learned.weights}.{began}

## Scores

{words.scores}

## Data

{words.data}

{sums}

## Training

{learned.training}

{about}

## Use

```
{commands}
```
"""
    )
    last = ["next:", *(f"  {command}" for command in words.next_commands)]
    if words.below_use:
        last = [
            f"THIS MODEL IS BELOW USE: {words.below_use}.",
            "What helps: more data, cleaner data, a longer --budget, another size or type.",
            'See docs/training.md, "When the score is low".',
        ]
    for line in ("", *last):
        run.say(line)
    return words.below_use


def machine() -> dict[str, str | int]:
    """What a model card says of the machine: names, counts, bytes, versions."""
    try:
        memory_bytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        memory_bytes = 0  # the system does not tell
    return {
        "cpu": cpu_name(),
        "cores": available_cores(),
        "memory_bytes": memory_bytes,
        "gpu": torch.cuda.get_device_name() if torch.cuda.is_available() else "none",
        "system": platform.platform(),
        "python": platform.python_version(),
        "torch": torch.__version__,
    }
