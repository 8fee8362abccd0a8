"""What changes where parts of the model are switched off, or words forced: beside the original; and
what every head and sub-layer is worth to a text: how much less likely it becomes without it."""

from collections.abc import Sequence
from contextlib import ExitStack
from difflib import SequenceMatcher
from typing import Any, NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from headway.core.embedding import project
from headway.inspection.ablation import (
    Sublayer,
    layers_of,
    parts_of,
    passed_by,
    silenced,
    sublayers,
    switched,
)
from headway.inspection.forced_decoding import begun
from headway.inspection.html_page import missing
from headway.inspection.inspected_model import InspectedModel, Passage, finite
from headway.inspection.passage_analysis import PassageAnalysis

ROWS = 16
"""Passes that are computed together."""
MOST_WORK = 1e12
"""Multiplications for one text, of which a machine with two cores does some 5e10 in a second."""
_TOKENS = 512
"""Whose logits are in memory at a time."""


class AblatedSublayer(NamedTuple):
    """A sub-layer, and what becomes of the text without it or its heads."""

    name: str
    """Such as `decoder.1.cross`."""
    fall: float
    """Of the log-probability (nats) of the whole translation, without the sub-layer."""
    heads: list[float]
    """The same without one of its heads; none of a feed-forward."""


def too_expensive(model: nn.Module, source: Sequence[int], fed: Sequence[int]) -> bool:
    """Whether all passes together would keep a reader waiting."""
    n_rows = sum(1 + _n_heads(one) for one in _all(model).values())
    n_parameters = sum(parameter.numel() for parameter in model.parameters())
    return n_rows * (len(source) + len(fed)) * n_parameters > MOST_WORK


@torch.inference_mode()
def ablation_importance(
    model: nn.Module, source: Sequence[int], fed: Sequence[int], wanted: Sequence[int]
) -> list[AblatedSublayer]:
    """Of every sub-layer of a Transformer. `wanted` follows each token that is fed, at last the end
    marker. One pass each, a few together."""
    places = _all(model)
    rows = [(name, head) for name, one in places.items() for head in range(-1, _n_heads(one))]
    log_probs: list[float] = []
    for begin in range(0, len(rows), ROWS):
        some = rows[begin : begin + ROWS]
        with ExitStack() as stack:
            for name, sublayer in places.items():
                _switch(stack, sublayer, [head if name == of else None for of, head in some])
            log_probs += log_probs_of(model, source, fed, wanted, len(some)).tolist()
    [whole] = log_probs_of(model, source, fed, wanted, 1).tolist()
    falls = {row: whole - log_prob for row, log_prob in zip(rows, log_probs, strict=True)}
    return [
        AblatedSublayer(name, falls[name, -1], [falls[name, head] for head in range(_n_heads(one))])
        for name, one in places.items()
    ]


def log_probs_of(
    model: Any, source: Sequence[int], fed: Sequence[int], wanted: Sequence[int], n_rows: int
) -> Float[Tensor, " rows"]:
    """Of the whole target, in so many rows of the same text."""
    device = model.output_weight.device

    def row(ids: Sequence[int]) -> Int[Tensor, "rows length"]:
        return torch.tensor(ids, device=device).expand(n_rows, -1)

    features = model.features(row(source), row(fed)) if source else model.read(row(fed)).features
    truth, found = row(wanted).flatten(), list[Tensor]()
    for some, next_ids in zip(
        features.flatten(0, 1).split(_TOKENS), truth.split(_TOKENS), strict=True
    ):
        logits = project(some, model.output_weight, model.output_bias).float()
        found.append(logits.gather(1, next_ids[:, None]).squeeze(1) - logits.logsumexp(1))
    return torch.cat(found).view(n_rows, -1).sum(1)


def _all(model: nn.Module) -> dict[str, Sublayer]:
    return {
        f"{path}.{one.name}": one
        for path, layer in layers_of(model).items()
        for one in sublayers(layer)
    }


def _n_heads(sublayer: Sublayer) -> int:
    return 0 if sublayer.attention is None else sublayer.attention.heads


def _switch(stack: ExitStack, sublayer: Sublayer, heads: Sequence[int | None]) -> None:
    """For each row of a batch a head that is off, -1 for the whole sub-layer, or None."""
    passed = torch.tensor([head == -1 for head in heads])
    if passed.any():
        stack.enter_context(passed_by(sublayer.around, passed))
    if sublayer.attention is not None:
        number = torch.tensor([-1 if head is None else head for head in heads])
        off = number[:, None] == torch.arange(sublayer.attention.heads)
        if off.any():
            stack.enter_context(silenced(sublayer.attention, off))


def changes(analysis: PassageAnalysis) -> dict[str, Any]:
    """The output as it is, what it becomes without `off` and with `force`, and under the changed
    model the original's own tokens; log-probabilities in nats. A target that was given is followed
    by the changed model too. `same` says which tokens both outputs have, in their order."""
    inspected, passage, change = analysis.inspected, analysis.passage, analysis.change
    off, force = change.off, change.force
    parts = parts_of(inspected.model)
    if not parts and not inspected.reads_source:
        return missing(
            "Parts are switched off in models made of a Transformer's layers; this is another.",
            "只有由 Transformer 层组成的模型才能关掉部件；这个模型不是。",
        )
    original = _output(inspected, passage)
    found: dict[str, Any] = {
        "off": list(off),
        "force": list(force),
        "original": original,
        "changed": None,
        "parts": list(parts),
        "reads_source": inspected.reads_source,
        "worth": None,
    }
    if off or force:
        with switched(inspected.model, off):
            after = passage
            if force:
                after = begun(inspected, passage, analysis.begin)
            elif not change.follows_target:
                after = inspected.passage_of(passage.text)
            changed = _output(inspected, after)
            original["without"] = _output(inspected, passage)["log_probs"]
        changed["with_all"] = _output(inspected, after)["log_probs"]
        original["same"], changed["same"] = common(passage.target_ids, after.target_ids)
        found["changed"] = changed
    if parts and not too_expensive(inspected.model, passage.source, passage.fed):
        places = ablation_importance(
            inspected.model, passage.source, passage.fed, _written(inspected, passage)
        )
        found["worth"] = [
            {
                "part": place.name,
                "fall": finite(place.fall),
                "heads": [finite(fall) for fall in place.heads],
            }
            for place in places
        ]
    return found


def _output(inspected: InspectedModel, passage: Passage) -> dict[str, Any]:
    """A passage as the model is now."""
    log_probs = [seen.log_prob for seen in PassageAnalysis(inspected, passage).course]
    return {
        "translation": passage.target,
        "pieces": inspected.shown(_written(inspected, passage), passage.names),
        "log_probs": [finite(value) for value in log_probs],
        "log_prob": finite(sum(log_probs)),
    }


def _written(inspected: InspectedModel, passage: Passage) -> list[int]:
    return [*passage.target_ids, inspected.special.end]


def common(one: Sequence[int], other: Sequence[int]) -> tuple[list[bool], list[bool]]:
    """Which tokens of each stand in both, in the same order; the end markers always do."""
    same = [False] * len(one), [False] * len(other)
    for block in SequenceMatcher(None, one, other, autojunk=False).get_matching_blocks():
        for i in range(block.size):
            same[0][block.a + i] = same[1][block.b + i] = True
    return [*same[0], True], [*same[1], True]
