"""A training's lines with a bar below them, where there is a terminal."""

import sys

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

from headway.core.console import LineReporter
from headway.core.errors import CONTROLS
from headway.core.training_interfaces import Progress as TrainingProgress


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
