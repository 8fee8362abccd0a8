"""What metrics.jsonl tells of a training, as curves over updates, tokens and time; for TensorBoard
in an event file."""

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from headway.core.disk import written_aside
from headway.core.errors import ConfigError, RunError
from headway.operations.shipped import open_folder

Log = Sequence[Mapping[str, Any]]
"""Lines of metrics.jsonl, as `headway.core.run_folder.RunFolder.read_log` gives them."""

NOT_COUNTED = (
    "step", "time_s", "loss", "learning_rate", "gradient_norm", "valid_loss", "planned",
)  # fmt: skip
"""Keys of metrics.jsonl; others are counts (whole numbers) or scores."""

TAGS = {
    "loss": "loss/training", "valid_loss": "loss/validation", "learning_rate": "learning_rate",
    "gradient_norm": "gradient_norm", "tokens_per_s": "tokens_per_s",
}  # fmt: skip
"""What TensorBoard calls them; scores are below `score`."""

EVENTS = "events.out.tfevents.headway"
"""TensorBoard reads what has `tfevents` in its name."""

_MOST = 1 << 53
"""Whole numbers beyond are none that a training counts."""


class Point(NamedTuple):
    """A value at one moment of a training."""

    updates: int
    tokens: int
    """All that were counted until then, of both sides."""
    time_s: float
    value: float


def is_count(name: str, value: object) -> bool:
    """Whether a value of metrics.jsonl is one of those that a task counts."""
    return name not in NOT_COUNTED and isinstance(value, int)


def counts(log: Log) -> dict[str, int]:
    """What was counted until the last line, such as `source_tokens`."""
    last: Mapping[str, Any] = log[-1] if log else {}
    return {name: n for name, n in last.items() if is_count(name, n)}


def planned(log: Log, at_first: int) -> int:
    """How many updates were planned last, of a training that was to make so many `at_first`."""
    found = [line["planned"] for line in log if isinstance(line.get("planned"), int)]
    return (at_first, *found)[-1]


def scores(log: Log) -> list[str]:
    """The names of what was validated besides the loss, such as `bleu`."""
    names = (
        name
        for line in log
        if "valid_loss" in line
        for name, value in line.items()
        if name not in NOT_COUNTED and isinstance(value, float)
    )
    return list(dict.fromkeys(names))


def curve(log: Log, name: str) -> list[Point]:
    """One value as it was logged, where it is a finite number."""
    return [
        _point(line, value)
        for line in filter(_is_sound, log)
        if isinstance(value := line.get(name), float) and math.isfinite(value)
    ]


def speed(log: Log) -> list[Point]:
    """Tokens a second from one line to the next.

    Where a validation lies between two lines its time is in there, and nothing is told of that
    stretch; unless there are no others.
    """
    beginning = {"step": 0, "time_s": 0.0}
    sound = [*filter(_is_sound, log)]
    validated = {line["step"] for line in sound if "valid_loss" in line}
    lines = [beginning, *(line for line in sound if "loss" in line)]
    found = [
        (before["step"] in validated, _point(line, (_tokens(line) - _tokens(before)) / spent))
        for before, line in pairwise(lines)
        if (spent := line["time_s"] - before["time_s"]) > 0
    ]
    return [point for held_up, point in found if not held_up] or [point for _, point in found]


def curves(log: Log) -> dict[str, list[Point]]:
    """Every curve that there is, by the names in metrics.jsonl; `tokens_per_s` is `speed`."""
    names = ("loss", "valid_loss", *scores(log), "learning_rate", "gradient_norm")
    found = {name: curve(log, name) for name in names} | {"tokens_per_s": speed(log)}
    return {name: points for name, points in found.items() if points}


def write_tensorboard(folder: Path, run: Path) -> int:
    """Write every curve of a run into an event file; returns how many values there are.

    metrics.jsonl has seconds since the start; its last line is taken to be as old as the file. The
    event file is whole at once, and takes the place of an earlier one.

    Raises:
        ConfigError: TensorBoard, whose own package writes, is not installed.
        RunError: there is no run, or it has logged nothing, as one that counts.
        DiskError: the folder cannot be written to.
    """
    try:
        from tensorboard.compat.proto.event_pb2 import Event
        from tensorboard.compat.proto.summary_pb2 import Summary
        from tensorboard.summary.writer.record_writer import RecordWriter
    except ImportError:
        raise ConfigError(
            "files for TensorBoard are written by its own package, which is not installed. "
            "Install it with: pip install 'headway[tensorboard]'"
        ) from None
    opened = open_folder(run)
    found = curves(opened.read_log())
    if not found:
        raise RunError(
            f"curves are of what a training logs as it goes; {run} has logged nothing. A model "
            "that counts has none; wait for the first updates of any other."
        )
    start = opened.metrics.stat().st_mtime - max(points[-1].time_s for points in found.values())
    with written_aside(folder / EVENTS) as aside, aside.open("wb") as file:
        writer = RecordWriter(file)
        writer.write(Event(file_version="brain.Event:2").SerializeToString())
        for name, points in found.items():
            tag = TAGS.get(name, f"score/{name}")
            for one in points:
                summary = Summary(value=[Summary.Value(tag=tag, simple_value=one.value)])
                event = Event(wall_time=start + one.time_s, step=one.updates, summary=summary)
                writer.write(event.SerializeToString())
    return sum(map(len, found.values()))


def thinned(points: Sequence[Point], most: int) -> list[Point]:
    """At most so many of the points (4 or more), in their order, no spike lost: the first, the
    last, and of each stretch between them the lowest and the highest."""
    if len(points) <= most:
        return list(points)
    first, *between, last = points
    n_stretches = (most - 2) // 2
    chosen = [first]
    for i in range(n_stretches):
        begin, end = (len(between) * n // n_stretches for n in (i, i + 1))
        stretch = range(begin, end)
        ends = {pick(stretch, key=lambda j: between[j].value) for pick in (min, max)}
        chosen += [between[j] for j in sorted(ends)]
    return [*chosen, last]


def _is_sound(line: Mapping[str, Any]) -> bool:
    """Whether it can be drawn: what lies in a run folder may be anybody's."""
    time_s = line.get("time_s")
    whole = (n for n in line.values() if isinstance(n, int))
    return isinstance(time_s, float) and math.isfinite(time_s) and all(n < _MOST for n in whole)


def _point(line: Mapping[str, Any], value: float) -> Point:
    return Point(line["step"], _tokens(line), line["time_s"], value)


def _tokens(line: Mapping[str, Any]) -> int:
    return sum(n for name, n in line.items() if is_count(name, n))
