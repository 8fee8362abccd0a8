"""Curves for TensorBoard, in an event file that its own package writes."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from headway.core.disk import written_aside
from headway.core.errors import ConfigError

EVENTS = "events.out.tfevents.headway"
"""TensorBoard reads what has `tfevents` in its name."""


class Scalar(NamedTuple):
    """A value at one moment of a training."""

    step: int
    time_s: float
    """Since 1970."""
    value: float


def write_scalars(folder: Path, curves: Mapping[str, Iterable[Scalar]]) -> int:
    """Write curves by their tags into a folder; returns how many values there are.

    The file is whole at once, and takes the place of an earlier one.

    Raises:
        ConfigError: TensorBoard is not installed.
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
    n_values = 0
    with written_aside(folder / EVENTS) as aside, aside.open("wb") as file:
        writer = RecordWriter(file)
        writer.write(Event(file_version="brain.Event:2").SerializeToString())
        for tag, curve in curves.items():
            for step, time_s, value in curve:
                summary = Summary(value=[Summary.Value(tag=tag, simple_value=value)])
                event = Event(wall_time=time_s, step=step, summary=summary)
                writer.write(event.SerializeToString())
                n_values += 1
    return n_values
