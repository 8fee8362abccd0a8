"""Going on from a checkpoint: what is read back is checked, and nothing that may be whole is lost.

Entered only by a run that was stopped, and by one that goes back (`headway.training.trouble`).
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from torch import Tensor

from headway.disk import checksum, digest, refuse_large
from headway.errors import RunError, UserError
from headway.training.checkpoint import RESUME, STATE, WEIGHTS, discard, folder_of, resumable
from headway.training.tensor_files import load_tensors, shapes

if TYPE_CHECKING:
    from headway.training.loop import Trainer

UNLIKE = (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError)
"""What another content than is expected leads to."""
_MAX_STATE_BYTES = 1 << 23
_MOST_TIMES = 4
"""Adam's moments and what a task carries are at most so many times as large as the weights."""


class Checkpoint(NamedTuple):
    """What was read back."""

    step: int
    weights: dict[str, Tensor]
    resume: dict[str, Tensor]
    state: dict[str, Any]


def read(checkpoints: Path, step: int) -> Checkpoint:
    """Read a checkpoint and check it; raises RunError naming what is damaged."""
    folder = folder_of(checkpoints, step)
    try:
        refuse_large(folder / STATE, _MAX_STATE_BYTES)
        state = json.loads((folder / STATE).read_text(encoding="utf-8"))
        sums = state.pop("sha256")
        shapes(folder / WEIGHTS), shapes(folder / RESUME)  # what no headers describe is not read
        most = _MOST_TIMES * (folder / WEIGHTS).stat().st_size + _MAX_STATE_BYTES
        refuse_large(folder / RESUME, most)
        if state["step"] != step:
            raise RunError(f"{folder / STATE} is of step {state['step']}")
        found = {name: checksum(folder / name) for name in (WEIGHTS, RESUME)}
        for name, sum_ in (found | {STATE: digest(state)}).items():
            if sums[name] != sum_:
                raise RunError(f"{folder / name} does not match its checksum")
        weights, resume = load_tensors(folder / WEIGHTS), load_tensors(folder / RESUME)
    except (*UNLIKE, OSError) as error:
        raise RunError(f"{folder} cannot be read ({error})") from error
    return Checkpoint(step, weights, resume, state)


def read_newest(checkpoints: Path, say: Callable[[str], None]) -> Checkpoint | None:
    """The newest checkpoint that is whole; damaged ones are named through `say` and set aside."""
    for step in reversed(resumable(checkpoints)):
        try:
            return read(checkpoints, step)
        except RunError as error:
            say(f"damaged checkpoint: {error}; going on from the one before")
            discard(folder_of(checkpoints, step))
    return None


def resume(trainer: "Trainer[Any]") -> bool:
    """Have a trainer as it was at the newest whole checkpoint; False when there is none."""
    folder = trainer.folder
    saved = read_newest(folder.checkpoints, trainer.reporter.say)
    folder.cut_log(-1 if saved is None else saved.step)
    if saved is None:
        return False
    try:
        trainer.go_on_from(saved)
    except (*UNLIKE, UserError) as error:
        place = folder_of(folder.checkpoints, saved.step)
        raise RunError(
            f"{place} cannot be gone on from: {error}. Delete it to go on from the one before, "
            "or take the run from a copy."
        ) from error
    trainer.tidy()
    return True
