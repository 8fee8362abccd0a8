"""`headway.inspect` from Python: one text in one run, with every tensor of the pass by name."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Float

from headway.core.runtime import Device
from headway.inspection.ablation import switched
from headway.inspection.inspected_model import InspectedModel, Passage, open_inspected
from headway.inspection.tracing import Array, traced
from headway.operations.argument_types import string, strings


@dataclass(frozen=True)
class Inspected:
    """One text on its way through one model, in a single pass over all that was written."""

    text: str
    translation: str
    """The model's own, or the one that was given; of a model of text alone, the text."""
    source_tokens: list[str]
    """What the encoder reads, the end marker included; none of a model of text alone."""
    target_tokens: list[str]
    """What the decoder is fed: the begin marker, then the translation."""
    log_probs: Float[np.ndarray, " target"]
    """In nats, of what is written after each of these: the next one, at last the end marker."""
    tensors: dict[str, Array]
    """By the names of `headway.inspection.tracing`."""


def inspect(
    run: str | Path,
    text: str,
    target: str | None = None,
    *,
    off: str | Sequence[str] = (),
    tag: str | None = None,
    device: Device = "auto",
) -> Inspected:
    """Look at one text in a run: `headway.inspect("runs/x", "A dog runs.").tensors`.

    `target` is followed as if the model had written it; without it, it writes its own. `off` are
    parts that the model is without while it writes, such as "encoder.2.head.3" (see
    `headway.inspection.ablation`). Raises ConfigError for what cannot be looked at so.
    """
    text = string(text, "text")
    target = None if target is None else string(target, "target")
    off = [off] if isinstance(off, str) else strings(off, "off")
    inspected = open_inspected(run, device=device, tag=tag)
    with switched(inspected.model, off):
        return inspect_passage(inspected, inspected.passage_of(text, target))


@torch.inference_mode()
def inspect_passage(inspected: InspectedModel, passage: Passage) -> Inspected:
    """A passage in a model, as that is now."""
    tensors, logits = traced(inspected.model, passage.source, passage.fed)
    wanted = [*passage.target_ids, inspected.special.end]
    log_probs: Any = logits[0].float().log_softmax(-1)[range(len(wanted)), wanted]
    return Inspected(
        passage.text,
        passage.target,
        inspected.shown(passage.source, passage.names),
        inspected.shown(passage.fed, passage.names),
        log_probs.cpu().numpy(),
        tensors,
    )
