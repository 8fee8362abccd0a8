"""What a person sees of a training while it runs, and how they stop it."""

import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from headway.core.errors import CONTROLS
from headway.core.training_interfaces import Progress, Validation


def clock(seconds: float) -> str:
    """Seconds as 1:02:03 or 02:03."""
    minutes, rest = divmod(max(round(seconds), 0), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes:02}:{rest:02}"


class LineReporter:
    """Writes lines to stderr; a `headway.core.training_interfaces.Reporter`."""

    def __init__(self) -> None:
        self.first: tuple[int, float] | None = None
        self.last_line = time.monotonic()

    def step(
        self, progress: Progress, *, loss: float, speed: float, unit: str, last_step: int
    ) -> None:
        """A line every half minute."""
        text = self.in_words(progress, loss, f"{speed:,.0f} {unit}/s", last_step)
        if time.monotonic() - self.last_line > 30:
            self.last_line = time.monotonic()
            self.say(text)

    def in_words(self, progress: Progress, loss: float, speed: str, last_step: int) -> str:
        """How far it is, and how long it will take."""
        self.first = self.first or (progress.step, progress.time_s)
        steps, spent = progress.step - self.first[0], progress.time_s - self.first[1]
        text = f"step {progress.step:,} of {last_step:,}  loss {loss:.3f}  {speed}"
        if steps:
            text += f"  {clock(spent / steps * (last_step - progress.step))} left"
        return text

    def validation(self, progress: Progress, result: Validation, *, best: bool) -> None:
        """One line that stays."""
        others = "".join(
            f"  {name.replace('_', ' ')} {value:.2f}" for name, value in result.others.items()
        )
        self.say(
            f"step {progress.step:,}  {clock(progress.time_s)}  validation loss {result.loss:.3f}  "
            f"{result.score_name.upper()} {result.score:.2f}{others}"
            f"{'  best so far' if best else ''}"
        )

    def say(self, message: str) -> None:
        """One line."""
        print(message.translate(CONTROLS), file=sys.stderr, flush=True)


@contextmanager
def stop_on_signal(say: Callable[[str], None]) -> Iterator[Callable[[], bool]]:
    """Inside, a first signal sets a flag that the yielded function reads; a second one kills, but
    for SIGHUP, which a terminal that is closed may send twice. Under nohup it stays ignored."""
    asked = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield asked.is_set  # only the main thread may set handlers
        return

    hangup = getattr(signal, "SIGHUP", None)  # not on Windows

    def handle(number: int, _frame: FrameType | None) -> None:
        if asked.is_set() and number != hangup:
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)
        asked.set()
        say(f"{signal.Signals(number).name}: saving, then stopping (Ctrl-C: stop without saving)")

    signals = [signal.SIGINT, signal.SIGTERM]
    if hangup is not None and signal.getsignal(hangup) == signal.SIG_DFL:
        signals.append(hangup)
    before = {number: signal.signal(number, handle) for number in signals}
    try:
        yield asked.is_set
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
