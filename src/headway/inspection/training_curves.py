"""Trainings seen: what each run logged, thinned so that a page can draw it, and no spike lost."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from headway.core.errors import ConfigError, RunError, command
from headway.core.settings import task_of
from headway.exchange.curves import Point, counts, curves, planned, scores, thinned
from headway.inspection import document
from headway.inspection.inspected_model import open_inspected
from headway.inspection.packing import missing, packed
from headway.operations.shipped import open_folder
from headway.tasks import model_type_of, verbs
from headway.version import __version__

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
    name, task, type_ = (found["runs"][0][key] for key in ("name", "task", "type"))
    if "inspect" in verbs(task) and open_folder(runs[0]).model.exists():
        run = document.run(open_inspected(runs[0]))
    else:
        run = {"name": name, "task": task, "type": type_, "version": __version__}
    return {"run": run, "sentences": [], "training": found}


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
        "clipped": settings.get("clip_norm", 0.0),
        "scores": scores(log),
        "curves": {one: _packed(points) for one, points in drawn.items()},
    }
    return found if drawn else found | _nothing(finished=found["finished"])


def _packed(points: Sequence[Point]) -> dict[str, Any]:
    return packed(np.array(thinned(points, MOST_POINTS), dtype=np.float32))


def _nothing(*, finished: bool) -> dict[str, Any]:
    """Why a run has no curves."""
    if finished:
        return missing(
            "No log of a training lies in it: it was made by counting or from another program's "
            "file, or was shared without its log.",
            "其中没有训练记录：它由计数得来、从其他程序的文件导入，或分享时未带记录。",
        )
    return missing("It has logged nothing yet.", "它还没有任何记录。")
