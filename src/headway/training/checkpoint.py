"""Checkpoints that survive a kill at any instant: written aside, synced, renamed, checksummed.

`checkpoints/step-N/` holds `weights.safetensors` (float32, by name) and, while training may go on
from it, `resume.safetensors` (optimizer moments, random state) and `state.json` (everything
countable, with the checksums of the two). Nothing is ever pickled.
"""

import json
import os
import re
import shutil
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor

from headway.disk import checksum, digest, refuse_large, sweep, whole_folder, write_text
from headway.errors import RunError
from headway.training.tensor_files import load_tensors, save_tensors, shapes

WEIGHTS, RESUME, STATE = "weights.safetensors", "resume.safetensors", "state.json"

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


def folder_of(checkpoints: Path, step: int) -> Path:
    """Where a step's checkpoint lies."""
    return checkpoints / f"step-{step}"


def write(
    checkpoints: Path,
    step: int,
    weights: Mapping[str, Tensor],
    resume: Mapping[str, Tensor],
    state: Mapping[str, Any],
) -> None:
    """Put down a whole checkpoint; until the last rename there is none of it."""
    clear_remains(checkpoints)
    with whole_folder(folder_of(checkpoints, step)) as part:
        save_tensors(weights, part / WEIGHTS)
        save_tensors(resume, part / RESUME)
        body = {**state, "step": step}
        sums = {name: checksum(part / name) for name in (WEIGHTS, RESUME)} | {STATE: digest(body)}
        write_text(part / STATE, json.dumps({**body, "sha256": sums}, indent=1))


def clear_remains(checkpoints: Path) -> None:
    """Remove what a killed process was writing, or deleting."""
    for remains in (".*.part", ".*.trash"):
        sweep(checkpoints, remains, unused_s=0.0)


def discard(folder: Path) -> None:
    """Delete a checkpoint; it vanishes from sight in one rename first."""
    trash = folder.with_name(f".{folder.name}.trash")
    shutil.rmtree(trash, ignore_errors=True)
    os.replace(folder, trash)
    shutil.rmtree(trash, ignore_errors=True)


def steps(checkpoints: Path) -> list[int]:
    """Steps that have a folder, in order."""
    found = checkpoints.glob("step-*") if checkpoints.is_dir() else ()
    numbers = (path.name.removeprefix("step-") for path in found)
    return sorted(int(number) for number in numbers if re.fullmatch("0|[1-9][0-9]{0,15}", number))


def resumable(checkpoints: Path) -> list[int]:
    """Steps that training may go on from, in order."""
    return [s for s in steps(checkpoints) if (folder_of(checkpoints, s) / STATE).exists()]


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


def keep_only(checkpoints: Path, to_resume: Iterable[int], weights: Iterable[int]) -> None:
    """Free the disk: full checkpoints for `to_resume`, bare weights for `weights`, no others."""
    clear_remains(checkpoints)
    full, bare = set(to_resume), set(weights)
    for step in steps(checkpoints):
        folder = folder_of(checkpoints, step)
        if step in full:
            continue
        if step in bare:
            (folder / STATE).unlink(missing_ok=True)  # first: from now on nobody resumes here
            (folder / RESUME).unlink(missing_ok=True)
        else:
            discard(folder)


def average(checkpoints: Path, chosen: Iterable[int]) -> dict[str, Tensor]:
    """The mean of several checkpoints' weights (section 6.1), summed in float64.

    What is no fraction, such as a count of batches, is the last one's.

    Raises:
        RunError: one of them is missing or damaged.
    """
    total: dict[str, Tensor] = {}
    last: dict[str, Tensor] = {}
    n = 0
    for step in chosen:
        n += 1
        last = load_tensors(folder_of(checkpoints, step) / WEIGHTS)
        for name, tensor in last.items():
            total[name] = total.get(name, torch.zeros((), dtype=torch.float64)) + tensor.double()
    return {
        name: (tensor / n).float() if last[name].is_floating_point() else last[name]
        for name, tensor in total.items()
    }
