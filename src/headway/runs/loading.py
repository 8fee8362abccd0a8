"""A run opened for use: settings, vocabulary and model, on the device that is there."""

import itertools
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import nn
from torch.nn.modules.module import register_module_parameter_registration_hook

from headway import runtime as machine
from headway.errors import RunError
from headway.runs.kind import Kind
from headway.runs.settings import Settings, task_of
from headway.runtime import Device
from headway.training.parameters import load_weights, saved_tensors
from headway.training.run_folder import RunFolder
from headway.training.tensor_files import Shapes, load_finite, shape_of, shapes

_BYTES_PER_PIECE = 1 << 10
"""Of tokenizer.json, at most: the piece, its id, and what it is merged from."""


class Opened(NamedTuple):
    """A trained model and all that is needed to use it."""

    settings: Settings
    vocabulary: Any
    model: nn.Module
    """In float32, on `device`, not in training mode."""
    device: torch.device


def open_run(kind: Kind, run: str | Path, *, device: Device = "auto") -> Opened:
    """Open a run folder wherever it was trained; nothing of the process is changed.

    Raises:
        RunError: there is no run, it is another task's, or it has no trained model.
    """
    folder = RunFolder.open(Path(run))
    sections = folder.settings()
    if task_of(sections) != kind.name:
        raise RunError(
            f"this needs a run of the task {kind.name}; {run} is one of {task_of(sections)}. "
            f"Train one with: headway train --task {kind.name}"
        )
    settings = Settings.of_run(folder, kind)
    if not folder.model.exists():
        raise RunError(
            f"{folder.path} has no model yet: training has not reached its first validation. "
            f"Go on with: headway train --out {folder.path} --resume"
        )
    folder.refuse_damaged()
    vocabulary = fitting_vocabulary(kind, settings, folder)
    with torch.random.fork_rng(devices=[]):  # the first weights are overwritten at once
        model = kind.build(settings, vocabulary)
    (kind.load(settings) if kind.load else copied)(model, folder.model)
    place = machine.chosen_device(replace(settings.runtime, device=device))
    return Opened(settings, vocabulary, model.to(place).eval(), place)


def copied(model: nn.Module, weights: Path) -> None:
    """Give a model weights that are finite numbers, in memory of its own."""
    load_weights(model, load_finite(weights))


def fitting_vocabulary(
    kind: Kind, settings: Settings, folder: RunFolder, file: Path | None = None
) -> Any:
    """The vocabulary of a run whose weights, those of the model or in `file`, go with its settings.

    Only their header is read, and the model is built without memory: however large config.toml says
    that it is, it cannot be larger than a file that is there.

    Raises:
        RunError: the weights are others.
    """
    weights = file or folder.model
    found = shapes(weights)
    refuse_larger_vocabulary(folder, found)
    vocabulary = kind.vocabulary(folder.path)
    with torch.device("meta"), _no_more_tensors(2 * len(found) + 100, folder, weights):
        model = kind.build(settings, vocabulary)
    wanted = {name: shape_of(tensor) for name, tensor in saved_tensors(model).items()}
    for name in [*wanted, *found]:
        if found.get(name) != wanted.get(name):
            held, needed = (
                f"{kind} {list(shape)}" if shape is not None else "nothing"
                for kind, shape in (of.get(name, ("", None)) for of in (found, wanted))
            )
            raise RunError(
                f"weights must be those that {folder.config} describes; {weights} has "
                f"{held} for {name} where {needed} belongs. Put the two files of one run together."
            )
    return vocabulary


def refuse_larger_vocabulary(folder: RunFolder, found: Shapes) -> None:
    """Raise RunError where a tokenizer has far more in it than weights that have so many rows.

    A large one takes ten times its size in memory, before it can be seen that it does not fit.
    """
    rows = max((size for _, shape in found.values() for size in shape), default=0)
    limit = (1 << 20) + _BYTES_PER_PIECE * rows
    if folder.tokenizer.exists() and folder.tokenizer.stat().st_size > limit:
        raise RunError(
            f"a vocabulary has a row of weights for each piece; {folder.tokenizer} is larger than "
            f"{limit:,} bytes, and {folder.model} has {rows:,} rows at most. Put the two files of "
            "one run together."
        )


@contextmanager
def _no_more_tensors(n: int, folder: RunFolder, weights: Path) -> Iterator[None]:
    """Raise RunError as soon as this thread has made so many parameters: layers without end."""
    thread, made = threading.get_ident(), itertools.count(1)

    def count(_module: nn.Module, name: str, _parameter: object) -> None:
        if threading.get_ident() == thread and next(made) > n:
            raise RunError(
                f"weights must be those that {folder.config} describes; it describes far more than "
                f"{weights} has. Put the two files of one run together."
            )

    handle = register_module_parameter_registration_hook(count)
    try:
        yield
    finally:
        handle.remove()
