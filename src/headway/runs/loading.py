"""A run opened for use: settings, vocabulary and model, on the device that is there."""

import sys
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import nn
from torch.overrides import TorchFunctionMode

from headway.core.config import build
from headway.core.errors import RunError, command
from headway.core.optimizer import load_weights, saved_tensors
from headway.core.run_folder import RunFolder
from headway.core.runtime import Device, RuntimeSettings, chosen_device
from headway.core.tensor_files import Shapes, load_finite, shape_of, shapes
from headway.operations.option_errors import wrong_task
from headway.operations.shipped import open_folder
from headway.runs.settings import Settings, task_of
from headway.runs.task_spec import TaskSpec

_BYTES_PER_PIECE = 1 << 10
"""Of tokenizer.json, at most: the piece, its id, and what it is merged from."""
_CALLS_PER_TENSOR = 100
"""Of torch's functions, at most, while a model is built: a Transformer takes 9, an LSTM 16."""


class Undrawn(TorchFunctionMode):
    """While it is open, first weights are not drawn: others will be loaded, or none is needed. On
    the meta device torch would load its compiler to draw them, for a second.

    Raises RunError with the message `refusal` once torch was called more than `most` times: layers
    without end.
    """

    def __init__(self, most: int = sys.maxsize, refusal: str = "") -> None:
        super().__init__()
        self.left, self.refusal = most, refusal

    def __torch_function__(self, function: Any, _: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.left -= 1
        if self.left < 0:
            raise RunError(self.refusal)
        if getattr(function, "__module__", "") == "torch.nn.init":
            return kwargs["tensor"]
        return function(*args, **(kwargs or {}))


class LoadedRun(NamedTuple):
    """A trained model and all that is needed to use it."""

    settings: Settings
    vocabulary: Any
    model: nn.Module
    """In float32, on `device`, not in training mode."""
    device: torch.device


def open_run(
    spec: TaskSpec, run: str | Path, *, device: Device = "auto", training: bool = True
) -> LoadedRun:
    """Open a run folder wherever it was trained; nothing of the process is changed.

    `training` says whether the settings of that section are wanted.

    Raises:
        RunError: there is no run, it is another task's, or it has no trained model.
    """
    folder = open_folder(run)
    sections = folder.settings()
    if task_of(sections) != spec.name:
        raise wrong_task(run, task_of(sections), (), [spec.name])
    settings = Settings.of_run(folder, spec, training=training)
    if not folder.model.exists():
        raise RunError(
            f"{folder.path} has no model yet: no validation was reached, or the file is lost. "
            f"Go on with: {command('train', '--out', folder.path, '--resume')}"
        )
    folder.refuse_damaged()
    if not sections.get("run", {"finished": True}).get("finished"):
        from headway.operations.unfinished_runs import warn_unfinished  # a side room

        warn_unfinished(run, sections)
    found = shapes(folder.model)
    vocabulary = fitting_vocabulary(spec, settings, folder, folder.model, found)
    with torch.random.fork_rng(devices=[]), Undrawn():
        model = spec.build(settings, vocabulary)
    (spec.load(settings) if spec.load else copied)(model, folder.model)
    place = chosen_device(build(RuntimeSettings, {"device": device}, section="runtime"))
    return LoadedRun(settings, vocabulary, model.to(place).eval(), place)


def copied(model: nn.Module, weights: Path) -> None:
    """Give a model weights that are finite numbers, in memory of its own."""
    load_weights(model, load_finite(weights))


def fitting_vocabulary(
    spec: TaskSpec, settings: Settings, folder: RunFolder, weights: Path, found: Shapes
) -> Any:
    """The vocabulary of a run whose weights, in a file that has the `found` shapes, go with its
    settings.

    The model is built without memory: however large config.toml says that it is, it cannot be
    larger than a file that is there.

    Raises:
        RunError: the weights are others.
    """
    rows = max((size for _, shape in found.values() for size in shape), default=0)
    limit = (1 << 20) + _BYTES_PER_PIECE * rows
    if folder.tokenizer.exists() and folder.tokenizer.stat().st_size > limit:
        raise RunError(  # before it is read: a large one takes ten times its size in memory
            f"a vocabulary has a row of weights for each piece; {folder.tokenizer} is larger than "
            f"{limit:,} bytes, and {folder.model} has {rows:,} rows at most. Put the two files of "
            "one run together."
        )
    vocabulary = spec.vocabulary(folder.path)
    rule = f"weights must be those that {folder.config} describes; {weights} has "
    remedy = ". Put the two files of one run together."
    endless = Undrawn(_CALLS_PER_TENSOR * (len(found) + 10), f"{rule}far fewer tensors{remedy}")
    with torch.device("meta"), endless:
        model = spec.build(settings, vocabulary)
    wanted = {name: shape_of(tensor) for name, tensor in saved_tensors(model).items()}
    for name in [*wanted, *found]:
        if found.get(name) != wanted.get(name):
            held, needed = (
                f"{kind} {list(shape)}" if shape is not None else "nothing"
                for kind, shape in (of.get(name, ("", None)) for of in (found, wanted))
            )
            raise RunError(f"{rule}{held} for {name} where {needed} belongs{remedy}")
    return vocabulary
