"""What is known of a text in a run as one JSON document, a part for each view of the page; and of
trainings: what each run logged, thinned so that a page can draw it, and no spike lost.

`page/main.js` says how a view gets its part."""

import importlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from headway.core.errors import ConfigError, RunError, command
from headway.exchange.curves import counts, curves, planned, scores, thinned
from headway.inspection.concepts import order_known_by, positions
from headway.inspection.html_page import missing, packed
from headway.inspection.inspected_model import InspectedModel, open_inspected
from headway.inspection.passage_analysis import ROOM, PassageAnalysis
from headway.operations.shipped import open_folder
from headway.runs.settings import task_of
from headway.tasks import model_type_of, verbs
from headway.version import __version__

PARTS = {
    "tokens": "headway.inspection.decoding_parts:tokens",
    "attention": "headway.inspection.attention_maps:attention",
    "cells": "headway.inspection.cell_numbers:cells",
    "steps": "headway.inspection.decoding_parts:steps",
    "beams": "headway.inspection.decoding_parts:beams",
    "lens": "headway.inspection.logit_lens:lens",
    "changes": "headway.inspection.ablation:changes",
    "ideas": "headway.inspection.concepts:ideas",
}
"""Where each part of a sentence's document is made: of a `PassageAnalysis`; it is imported when
it is asked for. What a model has not got is `headway.inspection.html_page.missing(..)`."""


def sentence(
    inspected: InspectedModel,
    text: str,
    target: str | None = None,
    parts: Iterable[str] = tuple(PARTS),
    *,
    off: Sequence[str] = (),
    room: int | None = ROOM,
) -> dict[str, Any]:
    """The document of one text; `target` is followed as if the model had written it. What changes
    without the parts that are `off` (`headway.inspection.ablation`) is the part `changes`; the
    others show the model as it is. `room` is how many bytes of exact numbers it may have, None for
    all.

    Raises ConfigError for a text that cannot be looked at (see `InspectedModel.passage_of`).
    """
    passage = inspected.passage_of(text, target)
    followed = target is not None
    analysis = PassageAnalysis(inspected, passage, off=off, follows_target=followed, room=room)
    found: dict[str, Any] = {
        "text": passage.text,
        "left_out": passage.left_out,
        "translation": passage.target,
        "forced": target is not None,
        "off": list(off),
    }
    for part in parts:
        module, _, maker = PARTS[part].partition(":")
        found[part] = getattr(importlib.import_module(module), maker)(analysis)
    return found


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


MOST_POINTS = 1000
"""Of a curve on a page."""


def training(runs: Sequence[Path]) -> dict[str, Any]:
    """What all runs logged, by name; a training that goes on is as it is at this moment.

    Raises:
        ConfigError: one run is named twice.
        RunError: a folder is no run.
    """
    places = [run.resolve() for run in runs]
    for run, place in zip(runs, places, strict=True):
        if places.count(place) > 1:
            raise ConfigError(f"each run is drawn once; got {run} twice. Name it once.")
    short = [place.name for place in places]
    names = short if len({*short}) == len(short) else [str(run) for run in runs]
    return {"runs": [_run(name, run) for name, run in zip(names, runs, strict=True)]}


def page(runs: Sequence[Path]) -> dict[str, Any]:
    """The document of a page of trainings: the curves of all runs.

    Raises as `training` does, and RunError where there is nothing to draw and nothing is to come.
    """
    found = training(runs)
    if all(run["finished"] and "missing" in run for run in found["runs"]):
        raise RunError(
            f"what is drawn is a training's log; {runs[0]} has none: it was counted, imported, or "
            "shared without it. Name a run that was trained here, such as that of "
            f"{command('demo')}."
        )
    first = {key: found["runs"][0][key] for key in ("name", "task", "type")}
    shown = {**first, "version": __version__}
    if "inspect" in verbs(first["task"]) and open_folder(runs[0]).model.exists():
        shown = run(open_inspected(runs[0]))
    shown["name"] = ", ".join(one["name"] for one in found["runs"])
    return {"run": shown, "sentences": [], "training": found}


def _run(name: str, run: Path) -> dict[str, Any]:
    """One run. Curves are arrays of points, each with updates, tokens, seconds and the value."""
    folder = open_folder(run)
    sections, log = folder.settings(), folder.read_log()
    drawn = curves(log)
    ends = [points[-1] for points in drawn.values()]
    settings = sections.get("training", {})
    found = {
        "name": name,
        "task": task_of(sections),
        "type": model_type_of(sections),
        "finished": folder.finished,
        "updates": max((end.updates for end in ends), default=0),
        "time_s": max((end.time_s for end in ends), default=0.0),
        "counts": counts(log),
        "planned": planned(log, settings.get("max_steps", 0)),
        "budget": settings.get("budget", ""),
        "smoothed": bool(settings.get("label_smoothing")),
        "scores": scores(log),
        "curves": {
            one: packed(np.array(thinned(points, MOST_POINTS), dtype=np.float32))
            for one, points in drawn.items()
        },
    }
    return found if drawn else found | _nothing(finished=found["finished"])


def _nothing(*, finished: bool) -> dict[str, Any]:
    """Why a run has no curves."""
    if finished:
        return missing(
            "No log of a training lies in it: it was made by counting or from another program's "
            "file, or was shared without its log.",
            "其中没有训练记录：它由计数得来、从其他程序的文件导入，或分享时未带记录。",
        )
    return missing("It has logged nothing yet.", "它还没有任何记录。")
