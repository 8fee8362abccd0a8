"""What a training says: lines with a bar below them, where there is a terminal; nothing, and no
end, where standard error is closed."""

import sys
from contextlib import AbstractContextManager, redirect_stderr
from typing import Any, TextIO, cast

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

from headway.core.console import LineReporter
from headway.core.errors import CONTROLS
from headway.core.training_interfaces import Progress as TrainingProgress
from headway.operations.streams import let_go


class ConsoleReporter(LineReporter):
    """Writes to stderr, with a bar `with reporter.bar:`."""

    def __init__(self, max_steps: int) -> None:
        super().__init__()
        self.console = Console(stderr=True, highlight=False, soft_wrap=True)
        self.live = sys.stderr.isatty()
        columns = (BarColumn(bar_width=20), TaskProgressColumn(), TextColumn("{task.description}"))
        self.bar = Progress(*columns, console=self.console, transient=True, disable=not self.live)
        self.task = self.bar.add_task("starting", total=max_steps)

    def step(
        self, progress: TrainingProgress, *, loss: float, speed: float, unit: str, last_step: int
    ) -> None:
        """Move the bar; without a terminal, a line every half minute."""
        text = self.in_words(progress, loss, f"{speed:,.0f} {unit}/s", last_step)
        self.bar.update(self.task, completed=progress.step, total=last_step, description=text)
        if not self.live:
            super().step(progress, loss=loss, speed=speed, unit=unit, last_step=last_step)

    def say(self, message: str) -> None:
        """One line."""
        self.console.print(message.translate(CONTROLS), markup=False)


class Forgiving:
    """Standard error as it is now; what cannot be written there is not said, and ends nothing."""

    def __init__(self) -> None:
        self.stream = sys.stderr

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)

    def write(self, text: str) -> int:
        """Write, if that can be done."""
        try:
            return self.stream.write(text)
        except OSError as error:
            let_go(self.stream, error)
        return len(text)

    def flush(self) -> None:
        """Have it written, if that can be done."""
        try:
            self.stream.flush()
        except OSError as error:
            let_go(self.stream, error)


def forgiving_stderr() -> AbstractContextManager[TextIO]:
    """Inside, no training is lost for want of somebody who reads what it says."""
    return redirect_stderr(cast("TextIO", Forgiving()))
