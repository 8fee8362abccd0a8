"""What is known of a text in a run, as one JSON document: a part for each view of the page.

`page/main.js` says how a view gets its part.
"""

import importlib
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from headway.inspection.concepts import order_known_by, positions
from headway.inspection.forced_decoding import beginning, refuse_beside_force
from headway.inspection.inspected_model import InspectedModel
from headway.inspection.passage_analysis import ROOM, Intervention, PassageAnalysis
from headway.version import __version__

PARTS = {
    "tokens": "headway.inspection.tokens:tokens",
    "attention": "headway.inspection.attention_maps:attention",
    "cells": "headway.inspection.cell_numbers:cells",
    "steps": "headway.inspection.decoding_steps:steps",
    "beams": "headway.inspection.beams:beams",
    "layers": "headway.inspection.layers:layers",
    "changes": "headway.inspection.changes:changes",
    "ideas": "headway.inspection.concepts:ideas",
}
"""Where each part of a sentence's document is made: of a `PassageAnalysis`; it is imported when
it is asked for. What a model has not got is `headway.inspection.packing.missing(..)`."""


def sentence(
    inspected: InspectedModel,
    text: str,
    target: str | None = None,
    parts: Iterable[str] = tuple(PARTS),
    *,
    begin: Sequence[int] = (),
    off: Sequence[str] = (),
    force: Sequence[str] = (),
    room: int | None = ROOM,
) -> dict[str, Any]:
    """The document of one text; `target` is followed as if the model had written it; `begin` are
    ids that an output is made to begin with, beside those that are written freely. What changes
    without the parts that are `off` (`headway.inspection.ablation`) and with the words of `force`
    (`forced_decoding.py`) is the part `changes`; the others show the model as it is. `room`
    is how many bytes of exact numbers it may have, None for all.

    Raises ConfigError for a text that cannot be looked at (see `InspectedModel.passage_of`),
    and where words are forced into a target or behind a beginning that is given.
    """
    if force:
        refuse_beside_force(target, begin)
    passage = inspected.passage_of(text, target)
    if force:
        begin = beginning(inspected, passage, force)
    analysis = PassageAnalysis(
        inspected, passage, begin, Intervention(off, force, target is not None), room
    )
    found: dict[str, Any] = {
        "text": passage.text,
        "left_out": passage.left_out,
        "translation": passage.target,
        "forced": target is not None,
        "off": list(off),
        "force": list(force),
    }
    return found | {part: _maker(PARTS[part])(analysis) for part in parts}


def run(inspected: InspectedModel) -> dict[str, Any]:
    """What is known of the run itself."""
    settings = inspected.settings
    config = settings.sections()["model"]
    return {
        "name": inspected.name,
        "task": inspected.task,
        "type": settings.model_type,
        "model": {name: value for name, value in config.items() if name != "type"},
        "n_parameters": sum(parameter.numel() for parameter in inspected.model.parameters()),
        "vocabulary": len(inspected.vocabulary),
        "positions": positions(inspected.model, settings.model),
        "order_known_by": order_known_by(inspected.model, settings.model),
        "languages": [
            getattr(settings.data, f"{side}_language", None) for side in ("source", "target")
        ],
        "version": __version__,
    }


def _maker(place: str) -> Callable[[PassageAnalysis], Any]:
    module, _, name = place.partition(":")
    maker: Callable[[PassageAnalysis], Any] = getattr(importlib.import_module(module), name)
    return maker
