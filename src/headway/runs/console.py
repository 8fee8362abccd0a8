"""What a person sees of a training while it runs, and how they stop it."""

import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, redirect_stderr
from functools import partial
from types import FrameType
from typing import Any, TextIO, cast

from rich.console import Console
from rich.progress import BarColumn, TaskProgressColumn, TextColumn
from rich.progress import Progress as Bar

from headway.core.errors import CONTROLS
from headway.core.learning import ValidationLines, clock
from headway.core.training_interfaces import Progress
from headway.operations.streams import let_go

HANGUP = getattr(signal, "SIGHUP", None)  # not on Windows


class ConsoleReporter(ValidationLines):
    """Writes to stderr, with a bar `with reporter.bar:`."""

    def __init__(self, max_steps: int) -> None:
        self.console = Console(stderr=True, highlight=False, soft_wrap=True)
        self.live = sys.stderr.isatty()
        columns = (BarColumn(bar_width=20), TaskProgressColumn(), TextColumn("{task.description}"))
        self.bar = Bar(*columns, console=self.console, transient=True, disable=not self.live)
        self.task = self.bar.add_task("starting", total=max_steps)
        self.first: tuple[int, float] | None = None
        self.last_line = time.monotonic()
        super().__init__(self.print)

    def print(self, message: str) -> None:
        """One line."""
        self.console.print(message.translate(CONTROLS), markup=False)

    def step(
        self, progress: Progress, *, loss: float, speed: float, unit: str, last_step: int
    ) -> None:
        """Move the bar; without a terminal, a line every half minute."""
        self.first = self.first or (progress.step, progress.time_s)
        steps, spent = progress.step - self.first[0], progress.time_s - self.first[1]
        text = f"step {progress.step:,} of {last_step:,}  loss {loss:.3f}  {speed:,.0f} {unit}/s"
        if steps:
            text += f"  {clock(spent / steps * (last_step - progress.step))} left"
        self.bar.update(self.task, completed=progress.step, total=last_step, description=text)
        if not self.live and time.monotonic() - self.last_line > 30:
            self.last_line = time.monotonic()
            self.say(text)


@contextmanager
def stop_on_signal(say: Callable[[str], None]) -> Iterator[Callable[[], bool]]:
    """Inside, a first signal sets a flag that the yielded function reads; a second one kills, but
    for SIGHUP, which a terminal that is closed may send twice."""
    asked = threading.Event()

    def handle(number: int, _frame: FrameType | None) -> None:
        if asked.is_set() and number != HANGUP:
            Console(stderr=True).show_cursor()  # which a bar hides
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)
        asked.set()
        say(f"{signal.Signals(number).name}: saving, then stopping (Ctrl-C: stop without saving)")

    with handled(handle):
        yield asked.is_set


@contextmanager
def handled(by: Any = signal.default_int_handler) -> Iterator[None]:
    """Inside, Ctrl-C, SIGTERM and a terminal that is closed are handled so, by default as Ctrl-C
    is. Under nohup SIGHUP stays ignored."""
    numbers = [signal.SIGINT, signal.SIGTERM]
    if HANGUP and signal.getsignal(HANGUP) in (signal.SIG_DFL, signal.default_int_handler):
        numbers.append(HANGUP)
    is_main = threading.current_thread() is threading.main_thread()  # only it may set handlers
    before = {number: signal.signal(number, by) for number in numbers if is_main}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class TolerantStderr:
    """Standard error as it is now; what cannot be written there is not said, and ends nothing."""

    def __init__(self) -> None:
        self.stream = sys.stderr

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.stream, name)
        return partial(self._tried, found) if name in ("write", "flush") else found

    def _tried(self, write: Any, *text: str) -> Any:
        try:
            return write(*text)
        except OSError as error:
            let_go(self.stream, error)
            return sum(map(len, text))


def forgiving_stderr() -> AbstractContextManager[TextIO]:
    """Inside, no training is lost for want of somebody who reads what it says."""
    return redirect_stderr(cast("TextIO", TolerantStderr()))
