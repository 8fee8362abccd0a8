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

from torch import Tensor

from headway.core.disk import checksum, digest, refuse_large, whole_folder, write_text
from headway.core.errors import OutOfReachError, RunError
from headway.core.out_of_reach import refuse_out_of_reach
from headway.core.tensor_files import load_tensors, opened_tensors, save_tensors, shapes

WEIGHTS, RESUME, STATE = "weights.safetensors", "resume.safetensors", "state.json"


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
        sealed = {**body, "sha256": _checksums(part, body)}
        write_text(part / STATE, json.dumps(sealed, indent=1))


def _checksums(folder: Path, state: Mapping[str, Any]) -> dict[str, str]:
    """Of the two files of tensors, and of what state.json has besides."""
    return {name: checksum(folder / name) for name in (WEIGHTS, RESUME)} | {STATE: digest(state)}


def clear_remains(checkpoints: Path) -> None:
    """Remove what a killed process was writing, or deleting."""
    for remains in (*checkpoints.glob(".*.part"), *checkpoints.glob(".*.trash")):
        shutil.rmtree(remains, ignore_errors=True)


def discard(folder: Path) -> None:
    """Delete a checkpoint; it vanishes from sight in one rename first."""
    trash = folder.with_name(f".{folder.name}.trash")
    shutil.rmtree(trash, ignore_errors=True)
    os.replace(folder, trash)
    shutil.rmtree(trash, ignore_errors=True)


def steps(checkpoints: Path) -> list[int]:
    """Steps that have a folder, in order."""
    names = os.listdir(checkpoints) if checkpoints.is_dir() else []
    found = (re.fullmatch("step-(0|[1-9][0-9]{0,15})", name) for name in names)
    return sorted(int(one[1]) for one in found if one)


def resumable(checkpoints: Path) -> list[int]:
    """Steps that training may go on from, in order."""
    return [s for s in steps(checkpoints) if (folder_of(checkpoints, s) / STATE).exists()]


def keep_only(checkpoints: Path, to_resume: Iterable[int], weights: Iterable[int]) -> None:
    """Free the disk: full checkpoints for `to_resume`, bare weights for `weights`, no others."""
    clear_remains(checkpoints)
    full, bare = set(to_resume), set(weights)
    for step in {*steps(checkpoints)} - full:
        folder = folder_of(checkpoints, step)
        if step in bare:
            (folder / STATE).unlink(missing_ok=True)  # first: from now on nobody resumes here
            (folder / RESUME).unlink(missing_ok=True)
        else:
            discard(folder)


def average(checkpoints: Path, chosen: Iterable[int]) -> dict[str, Tensor]:
    """The mean of several checkpoints' weights (section 6.1), summed in float64, one at a time.

    Of what is no fraction, such as counts, the last. Raises RunError: one is missing or damaged.
    """
    files = [opened_tensors(folder_of(checkpoints, step) / WEIGHTS) for step in chosen]
    names, found = files[-1].keys(), dict[str, Tensor]()
    for name in names:
        found[name] = files[-1].get_tensor(name).clone()
        if found[name].is_floating_point():
            total = found[name].double().zero_()
            for file in files:
                total += file.get_tensor(name)
            found[name].copy_(total.div_(len(files)))
    return found


MALFORMED = (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError)
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
    """Read a checkpoint and check it. Raises OutOfReachError: it may be whole, but cannot be read
    just now. RunError: it is damaged; the message names what."""
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
        if sums != _checksums(folder, state):
            raise RunError(f"{folder} does not match its checksums")
        weights, resume = load_tensors(folder / WEIGHTS), load_tensors(folder / RESUME)
    except (*MALFORMED, OSError, MemoryError) as error:
        refuse_out_of_reach(folder, error)
        raise RunError(f"{folder} cannot be read ({error})") from error
    return Checkpoint(step, weights, resume, state)


def read_newest(checkpoints: Path, say: Callable[[str], None]) -> Checkpoint | None:
    """The newest checkpoint that is whole, if there are any; damaged ones are named through `say`
    and set aside. Raises OutOfReachError: one may be whole, but cannot be read just now. RunError:
    all are damaged. Either way nothing was changed."""
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
            kept = place.with_name(f"damaged-{place.name}")
            shutil.rmtree(kept, ignore_errors=True)  # what was kept of this step before
            place.rename(kept)
            say(f"damaged checkpoint: {why}; kept as {kept.name}, going on from the one before")
        return found
    if damaged:
        raise RunError(
            f"a run goes on from a whole checkpoint; each in {checkpoints} is damaged: "
            f"{'; '.join(map(str, damaged.values()))}. Take one from a copy, or delete "
            f"{checkpoints} to begin at step 0."
        )
    return None
