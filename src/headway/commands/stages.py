"""A progress bar for work in stages, on stderr, for what takes longer than two seconds."""

import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

_PATIENCE_S = 2.0
_LINE_EVERY_S = 30.0


class Stages:
    """Call it with (stage, done, total or None); it shows itself once two seconds have passed.

    Without a terminal it writes a line every half minute instead.
    """

    def __init__(self) -> None:
        self._started = self._last_line = time.monotonic()
        self._bar: Progress | None = None
        self._tasks: dict[str, TaskID] = {}

    def __enter__(self) -> "Stages":
        return self

    def __exit__(self, *_error: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, stage: str, done: int, total: int | None) -> None:
        now = time.monotonic()
        if now - self._started < _PATIENCE_S:
            return
        if not sys.stderr.isatty():
            if now - self._last_line > _LINE_EVERY_S:
                self._last_line = now
                of = "" if total is None else f" of {total:,}"
                print(f"{stage}: {done:,}{of}", file=sys.stderr)
            return
        bar = self._bar = self._bar or _bar()
        if stage not in self._tasks:
            for earlier in self._tasks.values():
                bar.update(earlier, visible=False)
            self._tasks[stage] = bar.add_task(stage, total=total)
        bar.update(self._tasks[stage], completed=done, total=total)


def _bar() -> "Progress":
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=20),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    bar.start()
    return bar
