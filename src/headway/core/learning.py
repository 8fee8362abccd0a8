"""What every training is made of: a model drawn from a seed, its trainer, and who tells of it.

`core/train.py` and `headway train` are made of these alike.
"""

from collections.abc import Callable, Sequence
from typing import TypeVar

import torch
from torch import nn

from headway.core.errors import StoppedError, command
from headway.core.optimizer import FlatAdam
from headway.core.run_folder import RunFolder
from headway.core.trainer import Trainer
from headway.core.training_interfaces import Callback, Progress, Reporter, Task, Validation
from headway.core.training_settings import TrainingSettings

AnyTask = TypeVar("AnyTask", bound=Task)
Say = Callable[[str], None]


def clock(seconds: float) -> str:
    """Seconds as 1:02:03 or 02:03."""
    minutes, rest = divmod(max(round(seconds), 0), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes:02}:{rest:02}"


class ValidationLines:
    """A line for each validation; a `headway.core.training_interfaces.Reporter`."""

    def __init__(self, say: Say) -> None:
        self.say = say

    def step(
        self, progress: Progress, *, loss: float, speed: float, unit: str, last_step: int
    ) -> None:
        """Nothing is said."""

    def validation(self, progress: Progress, result: Validation, *, best: bool) -> None:
        """Step, time, loss and score."""
        others = "".join(
            f"  {name.replace('_', ' ')} {value:.2f}" for name, value in result.others.items()
        )
        self.say(
            f"step {progress.step:,}  {clock(progress.time_s)}  validation loss {result.loss:.3f}  "
            f"{result.score_name.upper()} {result.score:.2f}{others}"
            f"{'  best so far' if best else ''}"
        )


def drawn(build: Callable[[], nn.Module], seed: int, device: torch.device) -> nn.Module:
    """A model with weights drawn from a seed."""
    torch.manual_seed(seed)
    return build().to(device)


def trainer_of(
    model: nn.Module,
    eval_model: nn.Module,
    task: AnyTask,
    folder: RunFolder,
    settings: TrainingSettings,
    *,
    dtype: torch.dtype,
    reporter: Reporter,
    callbacks: Sequence[Callback] = (),
    of_kind: Callable[..., FlatAdam] = FlatAdam,
    trainer: Callable[..., Trainer[AnyTask]] = Trainer,
) -> Trainer[AnyTask]:
    """Adam for a model, and its trainer; parameters that need no gradient stay as they are."""
    betas, epsilon = (settings.adam_beta1, settings.adam_beta2), settings.adam_epsilon
    optimizer = of_kind(model, dtype, betas=betas, epsilon=epsilon)
    on = {"reporter": reporter, "callbacks": callbacks}
    return trainer(model, eval_model, optimizer, task, folder, settings, **on)


def learn(
    trainer: Trainer[AnyTask],
    say: Say,
    *,
    resume: bool,
    begin: Callable[[Trainer[AnyTask]], object] = lambda trainer: None,
    stop_asked: Callable[[], bool] = lambda: False,
) -> None:
    """Make the updates that are left; `begin` comes before the first.

    Raises StoppedError where `stop_asked` said so, with everything saved.
    """
    if resume and trainer.resume():
        say(f"goes on from step {trainer.progress.step:,}")
    elif resume:
        say("no checkpoint yet: starts at step 0")
    begin(trainer)
    progress = trainer.train(stop_asked)
    if not progress.finished:
        raise StoppedError(
            f"stopped at step {progress.step:,} of {trainer.last_step:,}, saved. "
            f"Go on with: {command('train', '--out', trainer.folder.path, '--resume')}"
        )
