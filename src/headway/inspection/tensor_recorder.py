"""What is noted while modules run: tensors by name; and the hooks."""

import re
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor, nn

from headway.inspection.patching import patched

Array = np.ndarray[Any, np.dtype[Any]]

_NAMES = (
    (re.compile(r"^stack\b"), "decoder"),
    (re.compile(r"\blayers\."), ""),
    (re.compile(r"^decoder\.first\b"), "decoder.0"),
)
_ABOVE_THE_FIRST = re.compile(r"^decoder\.others\.(\d+)")


def part_name(path: str) -> str:
    """What a module is called in traces, by its path in the model: `encoder.0` is layer 0; the
    layers of a model of text alone are a decoder's."""
    for pattern, name in _NAMES:
        path = pattern.sub(name, path)
    return _ABOVE_THE_FIRST.sub(lambda found: f"decoder.{int(found[1]) + 1}", path)


class Noted:
    """A tensor that came in one piece, or step by step."""

    def __init__(self, axis: int) -> None:
        self.axis, self.pieces = axis, list[Array]()

    def add(self, tensor: Tensor) -> None:
        """A piece of the batch's only row."""
        assert len(tensor) == 1, f"one text at a time is traced; got a batch of {len(tensor)}"
        self.pieces.append(_row(tensor))

    def whole(self) -> Array:
        """All pieces, in their order."""
        return np.concatenate(self.pieces, self.axis)


def _row(tensor: Tensor) -> Array:
    row = tensor[0].detach()
    return (row if row.dtype == torch.bool else row.float()).cpu().numpy()


class TensorRecorder:
    """Tensors of one pass of one text. A context: behind it nothing is watched any more."""

    def __init__(self) -> None:
        self._noted: dict[str, Noted] = {}
        self._open = ExitStack()

    def __enter__(self) -> Self:
        """Nothing is watched yet."""
        return self

    def __exit__(self, *_: object) -> None:
        """All is as it was."""
        self._open.close()

    def __contains__(self, name: str) -> bool:
        """Whether it was noted by now."""
        return name in self._noted

    def watch(self, module: nn.Module, look: Callable[[tuple[Any, ...], Any], None]) -> None:
        """Call `look(what went in, what came out)` whenever the module has run."""
        hook = module.register_forward_hook(lambda _, given, output: look(given, output))
        self._open.callback(hook.remove)

    def watch_before(self, module: nn.Module, look: Callable[..., None]) -> None:
        """Call `look(*what goes in)` whenever the module is about to run."""
        hook = module.register_forward_pre_hook(lambda _, given: look(*given))
        self._open.callback(hook.remove)

    def exchange(self, thing: Any, name: str, value: Any) -> None:
        """Set an attribute for as long as the notes are open."""
        self._open.enter_context(patched(thing, name, value))

    def note(self, name: str, tensor: Tensor, *, axis: int | None = None) -> None:
        """A tensor with its batch axis, of one row, which is taken off.

        With `axis` it is one of several pieces, which are joined along that axis of the rest;
        without, what had the name before is forgotten.
        """
        if axis is None or name not in self._noted:
            self._noted[name] = Noted(axis or 0)
        self._noted[name].add(tensor)

    def turn(self, beginning: str) -> None:
        """What has a name that begins so came in pieces, the last one first."""
        for name, noted in self._noted.items():
            if name.startswith(beginning):
                noted.pieces.reverse()

    def tensors(self) -> dict[str, Array]:
        """All that was noted, in the order in which it was begun."""
        return {name: noted.whole() for name, noted in self._noted.items()}
