"""Learning by gradient: updates until it is time, then the best weights; and what a person sees of
it while it runs, and how they stop it.

The other way to learn is to count, as n-gram models do: see `headway.runs.task_spec.Learner`.
"""

import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, redirect_stderr
from dataclasses import replace
from functools import partial
from types import FrameType
from typing import Any, TextIO, cast

import torch
from rich.console import Console
from rich.progress import BarColumn, TaskProgressColumn, TextColumn
from rich.progress import Progress as Bar
from torch import nn

from headway.core import train
from headway.core.errors import CONTROLS
from headway.core.optimizer import load_weights
from headway.core.run_folder import RunFolder
from headway.core.tensor_files import load_tensors
from headway.core.train import ValidationLines, clock
from headway.core.trainer import Trainer
from headway.core.training_interfaces import Callback, Progress, Reporter
from headway.operations import frozen
from headway.operations.recovery import bring_up_to_date, put_right
from headway.operations.streams import let_go
from headway.operations.time_budget import TIME_BUDGET, PlannedTraining
from headway.runs import fitting, parent
from headway.runs.settings import Settings
from headway.runs.task_spec import Learned, Learner, Run

ALWAYS = (Callback(load_state_dict=bring_up_to_date), Callback(on_error=put_right))
"""What hangs on every training; each is entered only when something is wrong, or old."""


def fit(run: Run) -> Settings:
    """What was left open, from the data, the budget and the speed of this machine."""
    training = run.settings.training
    if training.freeze or training.init_from:
        parent.refuse_unfitting(drawn(run), training)
    return fitting.fit(run, lambda rehearsed: build_trainer(rehearsed, ValidationLines(run.say)))


def learn(run: Run, resume: bool) -> Learned:
    """Train to the end and choose the weights.

    Raises StoppedError after Ctrl-C, SIGTERM or SIGHUP, with everything saved.
    """
    training = run.settings.training
    reporter = ConsoleReporter(training.max_steps)
    with reporter.bar:
        trainer = run.trainer = build_trainer(run, reporter)
        with stop_on_signal(reporter.say) as stop_asked:
            train.learn(
                trainer, run.say, resume=resume, begin=lambda _: begin(run), stop_asked=stop_asked
            )
    choose = parent.choose if trainer.begun_with else Trainer.choose
    chosen = choose(trainer, run.spec.rank(run))
    run.say(f"the model is {chosen}")
    load_weights(trainer.eval_model, load_tensors(run.folder.model))
    if training.init_from:
        parent.say_what_it_brought(run, chosen)
    with torch.inference_mode():
        # Stored with the mark that the run is finished; killed before, it chooses again, alike.
        now: Any = trainer.settings
        ended = replace(now, within_s=0.0, closing_s=0.0)
        run.settings = replace(run.spec.tune(run), training=ended)
    progress = trainer.progress
    counts = ", ".join(f"{n:,} {name.replace('_', ' ')}" for name, n in progress.counts.items())
    each = f" in {training.accumulate} parts" if training.accumulate > 1 else ""
    return Learned(
        chosen,
        f"{progress.step:,} updates of at most {training.batch_tokens:,} padded tokens{each},\n"
        f"{counts}, {clock(progress.time_s)}, seed {run.settings.runtime.seed},\n"
        f"on {run.runtime.described}.",
    )


GRADIENT = Learner(fit, learn)


def begin(run: Run) -> None:
    """What comes before the first update: frozen parts are told, a parent's weights taken."""
    training, trainer = run.settings.training, run.trainer
    if training.freeze:
        run.say(frozen.in_words(trainer.model, training.freeze))
    if training.init_from and not trainer.progress.validated:
        parent.begin_with(run)


# -- the trainer ------------------------------------------------------------------------------


def build_trainer(run: Run, reporter: Reporter) -> Trainer[Any]:
    """Model, the same in float32, task and optimizer, all from the run's seed."""
    settings, dtype = run.settings.training, run.runtime.dtype
    task = run.spec.task(run.settings, run.data, run.runtime)
    eval_model, model = drawn(run), drawn(run)
    return trainer_of(model, eval_model, task, run.folder, settings, dtype=dtype, reporter=reporter)


def drawn(run: Run) -> nn.Module:
    """The model of a run, with weights drawn from the run's seed."""
    seed, device = run.settings.runtime.seed, run.runtime.device
    return train.drawn(lambda: run.spec.build(run.settings, run.data.vocabulary), seed, device)


def trainer_of(
    model: nn.Module,
    eval_model: nn.Module,
    task: Any,
    folder: RunFolder,
    settings: PlannedTraining,
    *,
    dtype: torch.dtype,
    reporter: Reporter,
) -> Trainer[Any]:
    """The core's, with all that hangs on it: frozen parts, recovery, a time to keep to."""
    if settings.freeze:
        frozen.freeze(model, settings.freeze)
    return train.trainer_of(
        model, eval_model, task, folder, settings,
        dtype=dtype,
        reporter=reporter,
        callbacks=(*ALWAYS, TIME_BUDGET) if settings.within_s or settings.plans else ALWAYS,
    )  # fmt: skip


# -- what a person sees -----------------------------------------------------------------------


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


class Forgiving:
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
    return redirect_stderr(cast("TextIO", Forgiving()))
