"""What every run folder tells, whatever its task: size, time, what was seen, how it went."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from torch import Tensor, nn

from headway.efficiency.parts import parts_of
from headway.efficiency.table import of_words
from headway.errors import RunError
from headway.training.parameters import saved_tensors
from headway.training.run_folder import RunFolder

POINTS = 300
"""A curve has no more points."""
COUNTED_BESIDE = ("step", "time_s", "loss", "learning_rate", "gradient_norm", "valid_loss")
"""Keys of metrics.jsonl; others are counts (whole numbers) or scores."""


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
    folder = RunFolder.open(run)
    sections, log = folder.settings(), folder.read_log()
    last: Mapping[str, Any] = log[-1] if log else {}
    counts = {name: n for name, n in last.items() if is_count(name, n)}
    return {
        "finished": folder.finished,
        "model": str(sections["model"].get("type", "transformer")),
        "updates": last.get("step"),
        "time_s": last.get("time_s"),
        "counts": counts,
        "machine": machine(folder),
        "threads": sections.get("runtime", {}).get("threads"),
        "curves": {
            "training loss": curve(log, "loss"),
            "validation loss": curve(log, "valid_loss"),
            **{name: curve(log, name) for name in scores(log)},
        },
    }


def is_count(name: str, value: object) -> bool:
    """Whether a value of metrics.jsonl is one of those that a task counts."""
    return name not in COUNTED_BESIDE and isinstance(value, int)


def scores(log: Sequence[Mapping[str, Any]]) -> list[str]:
    """The names of what was validated besides the loss, such as `bleu`."""
    names = (
        name
        for line in log
        if "valid_loss" in line
        for name, value in line.items()
        if name not in COUNTED_BESIDE and isinstance(value, float)
    )
    return list(dict.fromkeys(names))


def curve(log: Sequence[Mapping[str, Any]], name: str) -> list[dict[str, float]]:
    """One value over updates, tokens (all that were counted) and seconds."""
    lines = [line for line in log if isinstance(line.get(name), float)]
    step = -(-len(lines) // POINTS) or 1
    chosen = lines[::step] + (lines[-1:] if (len(lines) - 1) % step else [])
    return [
        {
            "updates": line["step"],
            "tokens": sum(n for key, n in line.items() if is_count(key, n)),
            "time_s": line["time_s"],
            "value": line[name],
        }
        for line in chosen
    ]


def machine(folder: RunFolder) -> str:
    """What it was trained on, as far as the run tells."""
    try:
        found = folder.record().get("machine", {})
    except RunError:
        return "not known"
    gpu = found.get("gpu", "none")
    return str(found.get("cpu", "not known") if gpu == "none" else gpu)
