"""One text under every checkpoint that is kept: how a model came to look as it does, and to write.

The target stays the same under all of them, so that the maps can be laid over each other: it is
what the run's own model writes, or what was given.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from headway.core.checkpoint import WEIGHTS, folder_of, steps
from headway.core.errors import RunError
from headway.core.optimizer import load_weights, saved_tensors
from headway.core.tensor_files import load_tensors
from headway.inspection.attention_maps import (
    fed_pieces,
    in_steps,
    kinds_of,
    source_pieces,
    weights_of,
)
from headway.inspection.head_habits import Weights, habits
from headway.inspection.inspected_model import Subject
from headway.inspection.packing import missing, packed
from headway.inspection.passage_analysis import PassageAnalysis
from headway.operations.shipped import open_folder
from headway.tasks import kind_named

MOST_MOMENTS = 40
MOST_CELLS = 3_000_000
"""Of all maps of a page together; they are deflated."""


class Snapshot(NamedTuple):
    """Weights that the model had, or has."""

    kind: str
    """`drawn`: before the first update; `checkpoint`; `model`: those that the run is used with."""
    updates: int | None
    weights: Mapping[str, Tensor]


def learning(analysis: PassageAnalysis) -> dict[str, Any]:
    """The maps, and the probabilities of the target, under the weights of every moment.

    `probabilities` are of the tokens that are written, the end marker last; `writes` is what the
    model would write by itself, None where it writes nothing of a source; `spread` and `heads` are
    as in `head_habits.HeadStatistics`. Moments are left out where there are too many,
    or a checkpoint is damaged; `left_out` counts them.
    """
    subject, passage = analysis.subject, analysis.passage
    if not steps(_checkpoints(subject)):
        return missing(
            "No checkpoint of this run is kept: there is nothing to be watched. "
            "--training.keep-all keeps those of a new run.",
            "这次训练没有保留检查点，因此没有可看的过程。"
            "再训练时可用 --training.keep-all 全部保留。",
        )
    found: list[dict[str, Any]] = []
    maps: dict[str, list[np.ndarray]] = {}
    chosen = _chosen_steps(analysis)
    with borrowed(subject):
        for moment in moments(subject, chosen):
            load_weights(subject.model, moment.weights)
            now = PassageAnalysis(subject, passage)
            seen = {kind: weights_of(now, kind) for kind in kinds_of(now.trace)}
            for kind, weights in seen.items():
                maps.setdefault(kind, []).append(in_steps(weights.maps))
            found.append(_moment(moment, now, seen))
    return {
        "text": passage.text,
        "target": passage.target,
        "source": source_pieces(analysis),
        "fed": fed_pieces(analysis),
        "written": [*fed_pieces(analysis)[1:], *subject.shown([subject.special.end], {})],
        "moments": found,
        "left_out": len(steps(_checkpoints(subject))) - _n_checkpoints(found),
        "kinds": [
            {"kind": kind, "maps": packed(np.stack(each), "u8", deflate=True)}
            for kind, each in maps.items()
        ],
    }


def moments(subject: Subject, chosen: list[int]) -> Iterator[Snapshot]:
    """As the weights were drawn, at some checkpoints, and as they are used now.

    A run that began with another's weights drew none. A damaged checkpoint is left out, and one
    that training has removed meanwhile.
    """
    used = {name: tensor.clone() for name, tensor in saved_tensors(subject.model).items()}
    if not subject.settings.training.init_from:
        yield Snapshot("drawn", 0, drawn(subject))
    for step in chosen:
        try:
            weights = load_tensors(folder_of(_checkpoints(subject), step) / WEIGHTS)
        except RunError:
            continue
        yield Snapshot("checkpoint", step, weights)
    yield Snapshot("model", None, used)


def drawn(subject: Subject) -> dict[str, Tensor]:
    """The weights that training began with: they follow from the run's seed."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(subject.settings.runtime.seed)
        model = kind_named(subject.task).build(subject.settings, subject.vocabulary)
    return saved_tensors(model)


@contextmanager
def borrowed(subject: Subject) -> Iterator[None]:
    """While it is open the model may be given other weights; behind it, it has its own again.

    The compiled engine holds the run's own weights. It leaves a model alone that has a hook, so
    that meanwhile the model itself writes.
    """
    own = {name: tensor.clone() for name, tensor in saved_tensors(subject.model).items()}
    hook = subject.model.register_forward_hook(lambda *_: None)
    try:
        with torch.no_grad():
            yield
    finally:
        hook.remove()
        load_weights(subject.model, own)


def _moment(
    moment: Snapshot, analysis: PassageAnalysis, seen: Mapping[str, Weights]
) -> dict[str, Any]:
    subject = analysis.subject
    wanted = torch.tensor([*analysis.passage.target_ids, subject.special.end])
    log_probs = analysis.following.gather(1, wanted[:, None])[:, 0]
    measured = {kind: habits([weights]) for kind, weights in seen.items()}
    return {
        "kind": moment.kind,
        "updates": moment.updates,
        "writes": subject.write(analysis.passage.text) if subject.reads_source else None,
        "loss": round(-float(log_probs.mean()), 4),
        "probabilities": [float(f"{p:.4g}") for p in log_probs.exp().tolist()],
        "spread": {kind: one.spread.round(4).tolist() for kind, one in measured.items()},
        "heads": {kind: one.names_of_heads() for kind, one in measured.items()},
    }


def _chosen_steps(analysis: PassageAnalysis) -> list[int]:
    """Those of the kept checkpoints that a page has room for, evenly, the first and the last."""
    kept = steps(_checkpoints(analysis.subject))
    n_cells = sum(weights_of(analysis, kind).maps.size for kind in kinds_of(analysis.trace))
    most = min(MOST_MOMENTS, max(4, MOST_CELLS // max(n_cells, 1))) - 2
    if len(kept) <= most:
        return kept
    return [kept[round(i * (len(kept) - 1) / (most - 1))] for i in range(most)]


def _n_checkpoints(found: list[dict[str, Any]]) -> int:
    return sum(one["kind"] == "checkpoint" for one in found)


def _checkpoints(subject: Subject) -> Path:
    return open_folder(subject.run).checkpoints
