"""A run opened for use: settings, vocabulary and model, on the device that is there."""

from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import nn

from headway import runtime as machine
from headway.errors import RunError
from headway.runs.kind import Kind
from headway.runs.settings import Settings, task_of, upgraded
from headway.runtime import Device
from headway.training.parameters import load_weights, saved_tensors
from headway.training.run_folder import RunFolder
from headway.training.tensor_files import load_tensors, shapes


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
    sections = upgraded(folder.settings())
    if task_of(sections) != kind.name:
        raise RunError(
            f"this needs a run of the task {kind.name}; {run} is one of {task_of(sections)}. "
            f"Train one with: headway train --task {kind.name}"
        )
    settings = Settings.of(sections, kind)
    if not folder.model.exists():
        raise RunError(
            f"{folder.path} has no model yet: training has not reached its first validation. "
            f"Go on with: headway train --out {folder.path} --resume"
        )
    folder.refuse_damaged()
    vocabulary = kind.vocabulary(folder.path)
    with torch.device("meta"):  # which takes no memory, however large config.toml says it is
        refuse_other_shapes(kind.build(settings, vocabulary), folder)
    with torch.random.fork_rng(devices=[]):  # the first weights are overwritten at once
        model = kind.build(settings, vocabulary)
    load_weights(model, load_tensors(folder.model))
    place = machine.chosen_device(replace(settings.runtime, device=device))
    return Opened(settings, vocabulary, model.to(place).eval(), place)


def refuse_other_shapes(model: nn.Module, folder: RunFolder) -> None:
    """Raise RunError where the file of weights has not what the settings and the vocabulary say.

    Only its header is read.
    """
    found = shapes(folder.model)
    wanted = {name: tuple(tensor.shape) for name, tensor in saved_tensors(model).items()}
    for name in [*wanted, *found]:
        kind, shape = found.get(name, ("", None))
        if shape != wanted.get(name) or kind in ("F64", "F16", "BF16"):
            held = f"{kind} {list(shape)}" if shape is not None else "nothing"
            needed = f"{list(wanted[name])} in float32" if name in wanted else "nothing"
            raise RunError(
                f"weights must be those that {folder.config} describes; {folder.model} has "
                f"{held} for {name} where {needed} belongs. Put the two files of one run together."
            )
