"""Checkpoints that survive a kill at any instant: written aside, synced, renamed, checksummed.

`checkpoints/step-N/` holds `weights.safetensors` (float32, by name) and, while training may go on
from it, `resume.safetensors` (optimizer moments, random state) and `state.json` (everything
countable, with the checksums of the two). Nothing is ever pickled.
"""

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

WEIGHTS, RESUME, STATE = "weights.safetensors", "resume.safetensors", "state.json"


class Checkpoint(NamedTuple):
    """What was read back."""

    step: int
    weights: dict[str, Tensor]
    resume: dict[str, Tensor]
    state: dict[str, Any]


def sync(path: Path) -> None:
    """Ask the system to bring a file, or a folder's list of names, to the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def save_tensors(tensors: Mapping[str, Tensor], path: Path) -> None:
    """Write tensors to a synced safetensors file, replacing what was there in one instant."""
    aside = path.with_name(f".{path.name}.tmp")
    save_file({name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}, aside)
    sync(aside)
    os.replace(aside, path)
    sync(path.parent)


def checksum(path: Path) -> str:
    """SHA-256 of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def digest(state: Mapping[str, Any]) -> str:
    """SHA-256 of what can be counted, as it is before and after a way through JSON."""
    return hashlib.sha256(json.dumps(state, sort_keys=True).encode()).hexdigest()


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
    checkpoints.mkdir(parents=True, exist_ok=True)
    aside = checkpoints / f".step-{step}.tmp"
    shutil.rmtree(aside, ignore_errors=True)
    aside.mkdir()
    save_tensors(weights, aside / WEIGHTS)
    save_tensors(resume, aside / RESUME)
    body = {**state, "step": step}
    sums = {name: checksum(aside / name) for name in (WEIGHTS, RESUME)} | {STATE: digest(body)}
    text = json.dumps({**body, "sha256": sums}, indent=1)
    (aside / STATE).write_text(text, encoding="utf-8")
    sync(aside / STATE)
    sync(aside)
    final = folder_of(checkpoints, step)
    if final.exists():  # the same step again, after a damaged or cut-off try
        discard(final)
    os.replace(aside, final)
    sync(checkpoints)


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
    return sorted(int(number) for number in numbers if number.isdecimal())


def resumable(checkpoints: Path) -> list[int]:
    """Steps that training may go on from, in order."""
    return [s for s in steps(checkpoints) if (folder_of(checkpoints, s) / STATE).exists()]


def read(checkpoints: Path, step: int) -> Checkpoint:
    """Read a checkpoint and check it; raises ValueError naming what is damaged."""
    folder = folder_of(checkpoints, step)
    try:
        state = json.loads((folder / STATE).read_text(encoding="utf-8"))
        sums = state.pop("sha256")
        found = {name: checksum(folder / name) for name in (WEIGHTS, RESUME)}
        for name, sum_ in (found | {STATE: digest(state)}).items():
            if sums[name] != sum_:
                raise ValueError(f"{folder / name} does not match its checksum")
        return Checkpoint(step, load_file(folder / WEIGHTS), load_file(folder / RESUME), state)
    except (OSError, KeyError, json.JSONDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{folder} cannot be read ({error})") from error


def read_newest(checkpoints: Path, say: Callable[[str], None]) -> Checkpoint | None:
    """The newest checkpoint that is whole; damaged ones are named through `say` and set aside."""
    for step in reversed(resumable(checkpoints)):
        try:
            return read(checkpoints, step)
        except ValueError as error:
            say(f"damaged checkpoint: {error}; going on from the one before")
            discard(folder_of(checkpoints, step))
    return None


def keep_only(checkpoints: Path, to_resume: Iterable[int], weights: Iterable[int]) -> None:
    """Free the disk: full checkpoints for `to_resume`, bare weights for `weights`, no others."""
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
    """The mean of several checkpoints' weights (section 6.1), summed in float64."""
    total: dict[str, Tensor] = {}
    n = 0
    for step in chosen:
        n += 1
        for name, tensor in load_file(folder_of(checkpoints, step) / WEIGHTS).items():
            total[name] = total.get(name, torch.zeros((), dtype=torch.float64)) + tensor.double()
    return {name: (tensor / n).float() for name, tensor in total.items()}
