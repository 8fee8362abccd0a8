"""Several runs of one task, compared: everything that `headway compare` says, ready for JSON."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from headway.core.errors import ConfigError
from headway.core.runtime import cpu_name
from headway.metrics.corpus_scores import with_interval
from headway.operations.shipped import open_folder
from headway.runs.settings import task_of
from headway.runs.task_spec import Say
from headway.study.compared_runs import (
    ComparisonRequest,
    Entrant,
    Rows,
    RunResults,
    Work,
    model_size,
    trained_with,
    training_record,
)
from headway.study.measuring import latency, timed
from headway.study.rankings import chosen, ranked, unlike
from headway.tasks import brought, verbs

LEAST_COMMON, ENOUGH_COMMON = 0.5, 200
"""Runs whose validation sentences differ are compared on those that all have, if these are at least
this share of the fewest that one has, or so many."""


def compared(
    runs: Sequence[Path],
    files: Mapping[str, Sequence[Path]],
    say: Say,
    tag: str | None = None,
    *,
    texts: int = 10,
) -> dict[str, Any]:
    """Open the runs, have all of them do the same work, and say what came of it.

    `files` are test files by the name of their flag; none for what the runs were validated on.
    `tag` stands before each text, as in translating, for the runs that read tags; `texts` of them
    are shown side by side.

    Raises:
        ConfigError: fewer than two runs, one twice, runs of several tasks, files of another task;
            a tag that none reads; fewer texts than none.
        DataError: what is measured on cannot be read.
        RunError: a folder is no run, or has no model.
    """
    if texts < 0:
        raise ConfigError(f"--texts must not be negative; got {texts}. 0 shows none.")
    task = one_task(runs)
    short = {run.resolve().name: run for run in runs}
    names = short if len(short) == len(runs) else {str(run): run for run in runs}
    found: dict[str, Any] = {
        "task": task,
        "test": {},
        "runs": [
            {"name": name, "run": str(run), **training_record(run)} for name, run in names.items()
        ],
        "rankings": [],
        "side_by_side": [],
        "notes": [],
    }
    for run in found["runs"]:
        if not run["finished"]:
            found["notes"].append(f"{run['name']} is not finished: its training may go on.")
    trainings = {
        run["name"]: {"the machine": run["machine"], "the number of threads": str(run["threads"])}
        for run in found["runs"]
    }
    found["notes"] += [f"training times do not compare, as {why}" for why in unlike(trainings)]
    if "compare" not in verbs(task):
        found["notes"].append(
            f"runs of the task {task} are compared by what their trainings logged alone."
        )
        return found
    open_entrant = brought(task, "compare", runs[0])
    entrants = {
        name: open_entrant(ComparisonRequest(run, files, say, tag)) for name, run in names.items()
    }
    if tag and not any(entrant.tag for entrant in entrants.values()):
        raise ConfigError(f"none of these runs reads tags; got --tag {tag}. Leave it out.")
    given = [file for some in files.values() for file in some]
    found["notes"] += [told for run in runs for told in trained_with(run, given)]
    measure(found, entrants, say, texts)
    return found


def one_task(runs: Sequence[Path]) -> str:
    """The task of all runs.

    Raises:
        ConfigError: fewer than two runs, one twice, or several tasks.
        RunError: a folder is no run.
    """
    if len(runs) < 2:
        raise ConfigError(
            f"two runs or more are compared; got {len(runs)}. Try: headway compare RUN RUN"
        )
    for i, run in enumerate(runs):
        if run.resolve() in [other.resolve() for other in runs[:i]]:
            raise ConfigError(f"each run is compared once; got {run} twice. Name it once.")
    tasks = {run: task_of(open_folder(run).settings()) for run in runs}
    if len(set(tasks.values())) > 1:
        told = ", ".join(f"{run} is of the task {task}" for run, task in tasks.items())
        raise ConfigError(
            f"runs of one task are compared; {told}. They answer different questions: compare "
            "each with its like."
        )
    return next(iter(tasks.values()))


def measure(found: dict[str, Any], entrants: Mapping[str, Entrant], say: Say, texts: int) -> None:
    """Have each do its work, and add what came of it, with so many texts, to `found`."""
    rows_of, told = common_rows(entrants)
    found["test"] = told
    found["notes"] += told.pop("notes")
    ways = {name: one.ways(rows_of[name]) for name, one in entrants.items()}
    found["notes"] += [f"each run works as its own settings say: {why}" for why in unlike(ways)]
    said = (note for name, one in entrants.items() for note in one.notes(rows_of[name]))
    found["notes"] += dict.fromkeys(said)
    examined: dict[str, RunResults] = {}
    for run in found["runs"]:
        name, entrant = run["name"], entrants[run["name"]]
        run.update(model_size(entrant.model))
        if rows_of[name]:
            say(f"{name}: {len(rows_of[name]):,} {entrant.rows_are}")
            examined[name], figures = worked(entrant, rows_of[name])
            run.update(figures)
    found["machine"] = {"name": cpu_name(), "threads": torch.get_num_threads()}
    if len(examined) < len(entrants):
        lacking = ", ".join(name for name in entrants if name not in examined)
        found["notes"].append(f"no ranking: {lacking} was validated on nothing. Give a test text.")
        return
    found["rankings"] = rankings(examined)
    if told["same"]:
        rows = next(iter(rows_of.values()))
        found["side_by_side"] = side_by_side(entrants, rows, examined, texts)


def common_rows(entrants: Mapping[str, Entrant]) -> tuple[dict[str, Rows], dict[str, Any]]:
    """What each is measured on, and how that is told.

    The same where all have the same; else what all have, if that is enough; else each its own.
    """
    first = next(iter(entrants.values()))
    own = {name: entrant.rows for name, entrant in entrants.items()}
    told: dict[str, Any] = {"of": first.rows_are, "row": first.row, "same": True, "notes": []}
    if all(rows == first.rows for rows in own.values()):
        return own, told | {"examples": len(first.rows)}
    fewest = min(map(len, own.values()))
    sets = [set(rows) for rows in own.values()]
    common = [row for row in dict.fromkeys(first.rows) if all(row in rows for rows in sets)]
    alone = all(entrant.stand_alone for entrant in entrants.values())
    counts = ", ".join(f"{name} {len(rows):,}" for name, rows in own.items())
    if alone and len(common) >= max(1, min(LEAST_COMMON * fewest, ENOUGH_COMMON)):
        told["notes"].append(
            f"the {first.rows_are} differ ({counts}): measured on the {len(common):,} of all."
        )
        return dict.fromkeys(own, common), told | {"examples": len(common)}
    told["notes"].append(
        f"the {first.rows_are} differ ({counts}{f', {len(common):,} of all' if alone else ''}): "
        "each is measured on its own. Give test files for a ranking."
    )
    return own, told | {"same": False, "examples": None}


def worked(entrant: Entrant, rows: Rows) -> tuple[RunResults, dict[str, Any]]:
    """What a run made of its examples: its figures, and how long it took."""
    work: Work = entrant.begin(rows)
    device = next(iter(entrant.model.state_dict().values())).device
    worded = [i for i in range(len(rows)) if rows[i][0].strip()]
    alone = latency(work.one, worded or [0], device)
    whole = timed(work.all, device)
    examined = work.examined(whole.result)
    figures: dict[str, Any] = {}
    for figure in examined.figures:
        known = np.isfinite(figure.statistics.counts).all()  # what is infinite has no interval
        score = with_interval(figure.statistics, n_bootstrap=1000 if known else 0)
        figures[figure.name] = {
            "value": finite(score.score),
            "low": finite(score.low),
            "high": finite(score.high),
            "decimals": figure.decimals,
            "signature": score.signature,
            "holds_for": dict(figure.holds_for),
        }
    return examined, {
        "figures": figures,
        "others": {name: finite(value) for name, value in examined.others.items()},
        "latency_s": alone,
        "examples_per_s": len(rows) / whole.seconds,
        "peak_bytes": whole.peak_bytes,
    }


def finite(value: float) -> float | None:
    """Ready for JSON, which has no other numbers."""
    return value if math.isfinite(value) else None


def rankings(examined: Mapping[str, RunResults]) -> list[dict[str, Any]]:
    """By each figure that all have."""
    of_each = [{f.name: f for f in one.figures} for one in examined.values()]
    found = []
    for by in of_each[0]:
        if all(by in figures for figures in of_each):
            figures = dict(zip(examined, (figures[by] for figures in of_each), strict=True))
            ranking = ranked(figures)
            places = [
                {key: finite(value) if isinstance(value, float) else value
                 for key, value in place._asdict().items()}
                for place in ranking.places
            ]  # fmt: skip
            found.append(ranking._asdict() | {"places": places})
    return found


def side_by_side(
    entrants: Mapping[str, Entrant], rows: Rows, examined: Mapping[str, RunResults], most: int
) -> list[dict[str, Any]]:
    """At most so many examples, and what each run makes of them."""
    shown = next(iter(entrants.values())).shown
    worded = [i for i in range(len(rows)) if rows[i][0].strip()]
    found = []
    for place in chosen(len(worded), most):
        i = worded[place]
        given, wanted = shown(rows[i])
        outputs = [{"run": name, "text": one.output(i)} for name, one in examined.items()]
        found.append({"given": given, "wanted": wanted, "outputs": outputs})
    return found
