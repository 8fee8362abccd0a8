"""A run that was opened, written to another folder: what publishing it takes, and no more."""

from pathlib import Path

from torch import nn

from headway.core.disk import write_bytes
from headway.core.errors import RunError
from headway.core.optimizer import saved_tensors
from headway.core.run_folder import CHECKS, CONFIG, CONSTANT
from headway.core.tensor_files import save_tensors
from headway.operations.shipped import only_writer_of_run, open_folder

_COPIED = (*CONSTANT, CHECKS, "precision.json", "README.md", CONFIG)
"""The last is where it is that there is a run."""


def save_copy(run: Path | None, model: nn.Module, out: Path) -> Path:
    """Write a run folder with the files of `run` and the weights that `model` has now.

    Checkpoints, the log of training and lists of likely words stay behind. Returns `out`.

    Raises:
        RunError: `run` is gone, or None; or there is something in `out`.
        DiskError: the disk is full or cannot be written to.
    """
    if run is None:
        raise RunError(
            "a model is saved with the files of the run that it was loaded from; this one was made "
            "in memory. Load a run, and give its model these weights."
        )
    source = open_folder(run)
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise RunError(f"save writes to a folder of its own; {out} is there already. Name another.")
    with only_writer_of_run(out, lambda _: None) as copy:
        save_tensors(saved_tensors(model), copy.model)
        for file in (source.path / name for name in _COPIED):
            if file.is_file():
                write_bytes(out / file.name, file.read_bytes())
    return out
