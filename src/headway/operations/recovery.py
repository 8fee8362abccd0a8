"""What a training does by itself when something goes wrong, so that it can be left alone.

Entered only then: a batch does not fit into memory, a loss is not finite, the disk is full, or a
checkpoint that the end needs is damaged. Whatever is done is said.
"""

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import torch

from headway.core import checkpoint
from headway.core.disk import DiskError, disk_errors, free_bytes
from headway.core.errors import HeadwayError, RunError, StoppedError, command
from headway.core.optimizer import saved_tensors
from headway.core.out_of_reach import out_of_memory
from headway.core.tensor_files import load_tensors
from headway.core.trainer import NotFiniteError, Trainer, split

LOOK_AGAIN_S = 5.0
"""Between two looks at a full disk."""
PATIENCE_S = 300.0
"""How long a disk may refuse what it says it has room for."""
_ASK_S = 0.2


def put_right(trainer: Trainer[Any], error: Exception) -> bool:
    """Recover, if that can be done: `headway.core.training_interfaces.Callback.on_error`."""
    if isinstance(error, NotFiniteError):
        return go_back(trainer, error)
    if isinstance(error, DiskError):
        return wait_for_room(trainer, error)
    if isinstance(error, RunError):
        return leave_out_damaged(trainer)
    return out_of_memory(error) and halve(trainer, error)


# -- out of memory ----------------------------------------------------------------------------


def halve(trainer: Trainer[Any], error: Exception) -> bool:
    """Have the update made in smaller parts, as if it had not been begun.

    Raises HeadwayError where there are no smaller ones.
    """
    progress = trainer.progress
    assert trainer.before_update is not None
    before, batches = trainer.before_update
    now, smaller = (split(trainer.task, batches, progress.parts * n) for n in (1, 2))
    if len(now) == len(smaller):
        why = " ".join(str(error).split()) or type(error).__name__
        raise HeadwayError(
            "An update must fit into memory row by row; it does not after step "
            f"{progress.step} ({why}). Take a smaller model or leave out the longest rows; the "
            "last checkpoint is whole."
        )
    progress.parts *= 2
    trainer.optimizer.clear()
    trainer.return_to(before)
    trainer.reporter.say(
        f"out of memory after step {progress.step:,}: from now on a batch is learned in "
        f"{progress.parts} parts whose gradients are added up, which is the same update"
    )
    return True


# -- numbers that are not finite --------------------------------------------------------------


def go_back(trainer: Trainer[Any], error: NotFiniteError) -> bool:
    """Once: to the last checkpoint, or to the beginning, with half the rate from there on."""
    failed, folder = trainer.progress, trainer.folder.checkpoints
    if failed.rate_share < 1:
        return False
    saved = checkpoint.resumable(folder)
    due = [step for step in saved if step in failed.validated]
    later = [step for step in saved if step > max(due, default=-1)]

    def discard_later() -> None:
        for step in later:
            checkpoint.discard(checkpoint.folder_of(folder, step))

    if due or not failed.validated:  # those of stops in between would not be there without a stop
        trainer.put_down(discard_later, 0)
    if not trainer.resume():
        if failed.validated:  # the float32 model has no longer the weights that were drawn
            return False
        begin_again(trainer)
    trainer.progress.rate_share = 0.5
    trainer.progress.time_s = failed.time_s
    trainer.reporter.say(
        f"{str(error).partition('. ')[0]}. This once, training goes back to step "
        f"{trainer.progress.step:,}, with half the learning rate from there on"
    )
    trainer.save()
    return True


def begin_again(trainer: Trainer[Any]) -> None:
    """Go to step 0, with the weights as they were drawn: `eval_model` was given no others yet."""
    moments = {name: torch.zeros_like(t) for name, t in trainer.optimizer.state_dict().items()}
    trainer.optimizer.load_state_dict(saved_tensors(trainer.eval_model), moments)
    trainer.progress = type(trainer.progress)(counts=dict.fromkeys(trainer.task.counted, 0))
    trainer.losses.clear()
    trainer.return_to(trainer.initial_state)


# -- a full disk ------------------------------------------------------------------------------


@dataclass
class Refusal:
    """What the disk refused to write, at which step, and since when although it has room."""

    step: int
    since: float
    told: bool = False


_REFUSED: WeakKeyDictionary[Trainer[Any], Refusal] = WeakKeyDictionary()
"""What trainings have last waited for."""


def wait_for_room(trainer: Trainer[Any], error: DiskError) -> bool:
    """Pause until the disk has room, and have it written again: at once, where there seems to be.

    False where the disk cannot be written to, or has refused for `PATIENCE_S` although it has room,
    as where there is a quota. Raises StoppedError if training was asked to stop meanwhile.
    """
    begun, n_bytes, place = time.monotonic(), trainer.n_bytes_due, trainer.folder.path
    step, known = trainer.progress.step, _REFUSED.get(trainer)
    first = known is None or known.step != step
    if known is None or first:
        known = _REFUSED[trainer] = Refusal(step, begun)
    if not error.full or begun - known.since > PATIENCE_S:
        return False
    clear_leftovers(trainer)
    if (free := free_bytes(place)) < n_bytes or not first:
        if not known.told:
            trainer.reporter.say(
                f"the disk is full: {size(n_bytes)} are needed in {place}, {size(free)} are free. "
                f"Training pauses at step {step:,} until there is room; Ctrl-C ends it, "
                f"{last_saved(trainer)}"
            )
        known.told = True
        rest(trainer)
        while free_bytes(place) < n_bytes:
            rest(trainer)
            known.since = time.monotonic()
    trainer.clock += time.monotonic() - begun
    return True


def clear_leftovers(trainer: Trainer[Any]) -> None:
    """Remove what a failed write has left: parts of a checkpoint, half a line of metrics.jsonl."""
    checkpoint.clear_remains(trainer.folder.checkpoints)
    metrics = trainer.folder.metrics
    if metrics.exists():
        with disk_errors(metrics):
            *whole, cut = metrics.read_bytes().splitlines(keepends=True) or [b""]
            if not cut.endswith(b"\n"):
                os.truncate(metrics, sum(map(len, whole)))


def rest(trainer: Trainer[Any]) -> None:
    """Let some time pass, unless training is asked to stop."""
    until = time.monotonic() + LOOK_AGAIN_S
    while True:
        if trainer.stop_asked():
            raise StoppedError(
                f"stopped at step {trainer.progress.step:,} while the disk is full; "
                f"{last_saved(trainer)}. Free some space, then: "
                f"{command('train', '--out', trainer.folder.path, '--resume')}"
            )
        if time.monotonic() >= until:
            return
        time.sleep(_ASK_S)


def last_saved(trainer: Trainer[Any]) -> str:
    """What can be gone on from, in words."""
    saved = checkpoint.resumable(trainer.folder.checkpoints)
    return f"the last checkpoint is step {saved[-1]:,}" if saved else "nothing is saved yet"


def size(n_bytes: int | float) -> str:
    """In words: 12.5 MB, 3.4 GB."""
    return f"{n_bytes / 1e9:,.1f} GB" if n_bytes >= 1e9 else f"{n_bytes / 1e6:.1f} MB"


# -- damaged checkpoints ----------------------------------------------------------------------


def leave_out_damaged(trainer: Trainer[Any]) -> bool:
    """Have the weights chosen without the checkpoints that cannot be read. False if none is
    damaged, or all are."""
    progress, folder = trainer.progress, trainer.folder.checkpoints
    window = progress.validated[-trainer.settings.average :]
    whole, damaged = list[int](), list[int]()
    for step in sorted({*trainer.averaged(), *window, *trainer.initial_steps}):
        try:
            load_tensors(checkpoint.folder_of(folder, step) / checkpoint.WEIGHTS)
            whole.append(step)
        except RunError:
            damaged.append(step)
            trainer.reporter.say(f"the weights of step {step:,} are damaged: chosen without them")
    if not damaged or not whole:
        return False
    progress.validated = whole  # others' weights were not kept
    if progress.best_step in damaged:
        progress.best_step = whole[-1]
        last = checkpoint.folder_of(folder, whole[-1]) / checkpoint.WEIGHTS
        trainer.save_model(load_tensors(last))
    return True


# -- what earlier versions wrote of a training ------------------------------------------------


def upgraded(progress: Mapping[str, Any]) -> dict[str, Any]:
    """The progress in a state.json; the first version counted two kinds of token by fixed names."""
    known = dict(progress)
    known.setdefault("best_rank", known.get("best_score", float("-inf")))
    if "landing" in known:
        known["decay_start"] = known.pop("landing")
    if "counts" not in known:
        known["counts"] = {name: known.pop(name) for name in ("source_tokens", "target_tokens")}
        loss, units, time_s = (known["sums"][name] for name in ("loss", "tokens", "time_s"))
        known["sums"] = {"loss": loss, "units": units, "time_s": time_s}
    return known


def bring_up_to_date(_trainer: Any, state: dict[str, Any]) -> None:
    """`headway.core.training_interfaces.Callback.load_state_dict`."""
    state["progress"] = upgraded(state["progress"])
