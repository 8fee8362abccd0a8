"""Trainings seen: what each run logged, thinned so that a page can draw it, and no spike lost."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from headway.errors import ConfigError
from headway.inspection.document import missing
from headway.inspection.packing import packed
from headway.runs.settings import task_of
from headway.training.curves import Point, counts, curves, scores, thinned
from headway.training.run_folder import RunFolder

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


def _run(name: str, run: Path) -> dict[str, Any]:
    """One run. Curves are arrays of points, each with updates, tokens, seconds and the value."""
    folder = RunFolder.open(run)
    sections, log = folder.settings(), folder.read_log()
    drawn = curves(log)
    ends = [points[-1] for points in drawn.values()]
    settings = sections.get("training", {})
    found = {
        "name": name,
        "task": task_of(sections),
        "type": str(sections["model"].get("type", "transformer")),
        "finished": folder.finished,
        "updates": max((end.updates for end in ends), default=0),
        "time_s": max((end.time_s for end in ends), default=0.0),
        "counts": counts(log),
        "planned": settings.get("max_steps", 0),
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
            "It was made in one go, by counting or from another program's file: there is no "
            "training to be seen.",
            "它由计数得来或从其他程序的文件导入，没有可看的训练过程。",
        )
    return missing("It has logged nothing yet.", "它还没有任何记录。")
