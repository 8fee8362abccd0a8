"""What every run folder tells, whatever its task: size, time, what was seen, how it went."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from torch import Tensor, nn

from headway.core.errors import RunError
from headway.core.optimizer import saved_tensors
from headway.core.run_folder import RunFolder
from headway.exchange import curves
from headway.exchange.curves import Log, thinned
from headway.operations.shipped import open_folder
from headway.study.cost_table import of_words
from headway.study.model_parts import parts_of
from headway.tasks import model_type_of

POINTS = 300
"""A curve has no more points."""


def size(model: nn.Module) -> dict[str, int]:
    """Numbers that are learned, and without those that grow with the vocabulary.

    Tied matrices count once. A model without gradients has learned what is saved of it; of others
    that holds running statistics as well. `bytes` is what all of it takes in memory.
    """
    saved = saved_tensors(model).values()
    numbers: list[Tensor] = [*model.parameters()]
    numbers = numbers or [tensor for tensor in saved if tensor.is_floating_point()]
    learned = sum(tensor.numel() for tensor in numbers)
    of_tokens = sum(part.parameters for part in parts_of(model) if of_words(part.name))
    return {
        "parameters": learned,
        "parameters_without_embeddings": learned - of_tokens,
        "bytes": sum(tensor.nbytes for tensor in saved),
    }


def training(run: Path) -> dict[str, Any]:
    """How long it was trained, on what machine, how much it saw, and its curves."""
    folder = open_folder(run)
    sections, log = folder.settings(), folder.read_log()
    last: Mapping[str, Any] = log[-1] if log else {}
    return {
        "finished": folder.finished,
        "model": model_type_of(sections),
        "updates": last.get("step"),
        "time_s": last.get("time_s"),
        "counts": curves.counts(log),
        "machine": machine(folder),
        "threads": sections.get("runtime", {}).get("threads"),
        "curves": {
            "training loss": curve(log, "loss"),
            "validation loss": curve(log, "valid_loss"),
            **{name: curve(log, name) for name in curves.scores(log)},
        },
    }


def curve(log: Log, name: str) -> list[dict[str, int | float]]:
    """One value over updates, tokens (all that were counted) and seconds."""
    return [point._asdict() for point in thinned(curves.curve(log, name), POINTS)]


def machine(folder: RunFolder) -> str:
    """What it was trained on, as far as the run tells."""
    try:
        found = folder.record().get("machine", {})
    except RunError:
        return "not known"
    gpu = found.get("gpu", "none")
    return str(found.get("cpu", "not known") if gpu == "none" else gpu)
