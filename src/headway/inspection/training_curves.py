"""Trainings seen: what each run logged, thinned so that a page can draw it, and no spike lost."""

import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from headway.core.checkpoint import steps
from headway.core.error_commands import command
from headway.core.errors import ConfigError, RunError
from headway.core.settings import task_of
from headway.exchange.curves import Point, counts, curves, planned, scores, thinned
from headway.inspection import document
from headway.inspection.inspected_model import OPENERS, Subject, open_subject
from headway.inspection.packing import missing, packed
from headway.operations.shipped import open_folder
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


def page(runs: Sequence[Path], text: str | None = None) -> dict[str, Any]:
    """The document of a page of trainings: the curves of all runs, and of the first run one text
    under every checkpoint. Without `text` it is one of the run's own.

    Raises as `training` does, ConfigError for a text that cannot be looked at, and RunError where
    there is nothing to draw and nothing is to come.
    """
    found = training(runs) | {"learning": WatchedText(runs[0], text).learning()}
    if all(
        run["finished"] and "missing" in run
        for run in found["runs"] + [found["learning"] | {"finished": True}]
    ):
        raise RunError(
            f"what is drawn is a training's log and its checkpoints; {runs[0]} has neither: it was "
            "counted, imported, or shared without them. Name a run that was trained here, such as "
            f"that of {command('demo')}."
        )
    name, task, type_ = (found["runs"][0][key] for key in ("name", "task", "type"))
    if task in OPENERS and open_folder(runs[0]).model.exists():
        run = document.run(open_subject(runs[0]))
    else:
        run = {"name": name, "task": task, "type": type_, "version": __version__}
    return {"run": run, "sentences": [], "training": found}


def news(runs: Sequence[Path], text: str | None = None) -> Mapping[str, Callable[[], Any]]:
    """What changes of such a page while a training goes on, by name."""
    watched = WatchedText(runs[0], text)
    return {
        "training": partial(training, runs),
        "moments": watched.moments,
        "learning": watched.learning,
    }


class WatchedText:
    """One text under every checkpoint that a run has by now."""

    def __init__(self, run: Path, text: str | None) -> None:
        """Without `text` it is one of the run's own."""
        self.run, self.text = run, text
        self.alone = threading.Lock()
        self.known: dict[str, Any] = {}

    def moments(self) -> list[str]:
        """What there is to look at: others when there is something new."""
        folder = open_folder(self.run)
        kept = [str(step) for step in steps(folder.checkpoints)]
        return [*kept, str(folder.model.stat().st_mtime_ns)] if folder.model.exists() else []

    def learning(self) -> dict[str, Any]:
        """The part `learning` of a page; looked at anew where there is something new."""
        with self.alone:
            now = self.moments()
            if self.known.get("seen") != now:
                self.known = self._looked() | {"seen": now}
            return self.known

    def _looked(self) -> dict[str, Any]:
        folder = open_folder(self.run)
        if task_of(folder.settings()) in OPENERS and folder.model.exists():
            return _watched(open_subject(self.run), self.text)
        return missing(
            "There is no model yet: training has not reached its first validation.",
            "还没有模型：训练尚未到达第一次验证。",
        )


def _watched(subject: Subject, text: str | None) -> dict[str, Any]:
    from headway.inspection.examples import texts
    from headway.inspection.learning import learning
    from headway.inspection.passage_analysis import PassageAnalysis

    if text is None:
        try:
            text = texts(subject)[0]
        except ConfigError:
            return missing(
                "The texts that the run was made from are gone. Say which one to watch: "
                '--watch "a text of your own"',
                '这次训练所用的文本已不在。请指定要观察的文本：--watch "你的文本"',
            )
    return learning(PassageAnalysis(subject, subject.passage_of(text)))


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
        "type": str(sections["model"].get("type", "transformer")),
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
