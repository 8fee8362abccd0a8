"""Reading checkpoints back: each is checked, and nothing that may be whole is lost."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from torch import Tensor

from headway.core.checkpoint import RESUME, STATE, WEIGHTS, folder_of, resumable
from headway.core.disk import checksum, digest, refuse_large
from headway.core.errors import OutOfReachError, RunError, refuse_out_of_reach
from headway.core.tensor_files import load_tensors, shapes

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
    """Read a checkpoint and check it.

    Raises:
        OutOfReachError: it may be whole, but cannot be read just now.
        RunError: it is damaged; the message names what.
    """
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
    except (*UNLIKE, OSError, MemoryError) as error:
        refuse_out_of_reach(folder, error)
        raise RunError(f"{folder} cannot be read ({error})") from error
    return Checkpoint(step, weights, resume, state)


def read_newest(checkpoints: Path, say: Callable[[str], None]) -> Checkpoint | None:
    """The newest checkpoint that is whole, if there are any; damaged ones are named through `say`
    and set aside.

    Raises:
        OutOfReachError: one may be whole, but cannot be read just now.
        RunError: all are damaged. Either way nothing was changed.
    """
    damaged: dict[Path, RunError] = {}
    for step in reversed(resumable(checkpoints)):
        folder = folder_of(checkpoints, step)
        try:
            found = read(checkpoints, step)
        except OutOfReachError as error:
            remedy = f"If that does not help, delete {folder} to go on from the one before."
            raise OutOfReachError(f"{error} {remedy}") from error
        except RunError as error:
            damaged[folder] = error
            continue
        for place, why in damaged.items():
            kept = set_aside(place)
            say(f"damaged checkpoint: {why}; kept as {kept.name}, going on from the one before")
        return found
    if damaged:
        raise RunError(
            f"a run goes on from a whole checkpoint; each in {checkpoints} is damaged: "
            f"{'; '.join(map(str, damaged.values()))}. Take one from a copy, or delete "
            f"{checkpoints} to begin at step 0."
        )
    return None


def set_aside(folder: Path) -> Path:
    """Have nobody go on from a checkpoint, but keep it; returns where."""
    kept = folder.with_name(f"damaged-{folder.name}")
    shutil.rmtree(kept, ignore_errors=True)  # what was kept of this step before
    return folder.rename(kept)
