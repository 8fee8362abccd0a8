"""Weights from another run: the parent that a new model begins with."""

from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

from headway.errors import RunError
from headway.training.checkpoint import checksum
from headway.training.run_folder import RunFolder


@dataclass(frozen=True)
class Parent:
    """A finished run whose model is whole."""

    folder: RunFolder
    sha256: str
    """Of its `model.safetensors`."""

    @classmethod
    def open(cls, run: Path) -> "Parent":
        """A run to begin with.

        Raises:
            RunError: there is none, it is not finished, or its weights are damaged.
        """
        folder = RunFolder.open(run)
        if not folder.model.exists() or not folder.card.exists():
            raise RunError(
                f"only a finished run can be gone on from; {run} is not. "
                f"Finish it with: headway train --out {run} --resume"
            )
        parent = cls(folder, checksum(folder.model))
        parent.weights()
        return parent

    def weights(self) -> dict[str, Tensor]:
        """Its weights by name, in float32.

        Raises:
            RunError: they cannot be read, are not finite, or are no longer those of `sha256`.
        """
        path = self.folder.model
        try:
            weights = load_file(path)
        except (OSError, SafetensorError) as error:
            raise RunError(f"{_RULE}; {path} cannot be read ({error}). {_REMEDY}") from None
        for name, tensor in weights.items():
            if not torch.isfinite(tensor).all():
                raise RunError(f"{_RULE}; {name} of {path} is not finite. {_REMEDY}")
        if checksum(path) != self.sha256:
            raise RunError(f"{_RULE}; {path} has changed since. Put it back, or start a new run.")
        return weights


_RULE = "a run begins with the whole weights of its parent"
_REMEDY = "Copy the run again, or train it anew."
