"""A run opened for use: settings, vocabulary and model, on the device that is there."""

from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import torch
from safetensors.torch import load_file
from torch import nn

from headway import runtime as machine
from headway.errors import RunError
from headway.runs.kind import Kind
from headway.runs.settings import Settings, task_of, upgraded
from headway.runtime import Device
from headway.training.parameters import load_weights
from headway.training.run_folder import RunFolder


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
    vocabulary = kind.vocabulary(folder.path)
    with torch.random.fork_rng(devices=[]):  # the first weights are overwritten at once
        model = kind.build(settings, vocabulary)
    load_weights(model, load_file(folder.model))
    place = machine.chosen_device(replace(settings.runtime, device=device))
    return Opened(settings, vocabulary, model.to(place).eval(), place)
