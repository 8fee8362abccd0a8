"""What every layer of a model gives, of rows of ids of any length; models know nothing of it."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Float
from numpy.typing import NDArray
from torch import Tensor, nn

BATCH_TOKENS = 8192
"""Ids that are read at a time; longer rows are read in stretches."""

Row = Sequence[Any]
"""Ids without markers, or words."""
Read = Callable[[list[Row]], Float[Tensor, "layers rows length size"]]
"""Reads some rows together: place i is that of the i-th id."""


def layer_outputs(
    run: Callable[[], object], layers: Sequence[nn.Module], last: nn.Module | None = None
) -> Float[Tensor, "all_layers rows length size"]:
    """What goes into the first of some layers when a model runs, and what each of them gives.

    In the place of what the last one gives is what `last` does, the end of the model: its final
    norm. Narrow layers are filled up with zeros, which changes no cosine.
    """
    found: list[Tensor] = []

    def keep(output: Any) -> None:
        found.append((output[0] if isinstance(output, tuple) else output).float())

    with ExitStack() as hooks:
        hooks.enter_context(layers[0].register_forward_pre_hook(lambda _, given: keep(given)))
        for one in layers if last is None else (*layers, last):
            hooks.enter_context(one.register_forward_hook(lambda *given: keep(given[2])))
        run()
    if last is not None:
        found[-2:] = found[-1:]
    size, length = max(x.shape[-1] for x in found), min(x.shape[1] for x in found)
    return torch.stack([F.pad(x[:, :length], (0, size - x.shape[-1])) for x in found])


class RowStretch(NamedTuple):
    """A part of a row that is read at once, and the part of it whose vectors are kept."""

    begin: int
    end: int
    first: int
    last: int


def stretches(length: int, longest: int | None, *, causal: bool) -> list[RowStretch]:
    """All of a row; or stretches that overlap by half, so that each id is read with half of
    `longest` before it (`causal`), or a quarter on either side, or all that there is."""
    if longest is None or length <= longest:
        return [RowStretch(0, length, 0, length)]
    begins = [*range(0, length - longest, max(1, longest // 2)), length - longest]
    cuts = [
        before + longest if causal else (before + longest + begin) // 2
        for before, begin in pairwise(begins)
    ]
    return [
        RowStretch(begin, begin + longest, first, last)
        for begin, first, last in zip(begins, [0, *cuts], [*cuts, length], strict=True)
    ]


def vectors_of_rows(
    rows: Iterable[Row], read: Read, *, longest: int | None, causal: bool
) -> Iterator[Float[NDArray, "layers length size"]]:
    """The vectors of each row, in order, on the CPU; at most `longest` ids see each other."""
    longest = min(longest or BATCH_TOKENS, BATCH_TOKENS)
    waiting: list[Row] = []
    n_ids = 0
    for row in rows:
        if waiting and n_ids + len(row) > BATCH_TOKENS:
            yield from _together(waiting, read, longest, causal)
            waiting, n_ids = [], 0
        waiting.append(row)
        n_ids += len(row)
    if waiting:
        yield from _together(waiting, read, longest, causal)


def _together(
    rows: Sequence[Row], read: Read, longest: int, causal: bool
) -> Iterator[Float[NDArray, "layers length size"]]:
    parts = [stretches(len(row), longest, causal=causal) for row in rows]
    left = [(n, one) for n, some in enumerate(parts) for one in some]
    left.sort(key=lambda it: it[1].begin - it[1].end)  # the longest first
    kept: dict[tuple[int, RowStretch], NDArray[np.float32]] = {}
    while left:
        widest = left[0][1]
        n_rows = max(1, BATCH_TOKENS // (widest.end - widest.begin + 1))
        some, left = left[:n_rows], left[n_rows:]
        with torch.inference_mode():
            found = read([rows[n][one.begin : one.end] for n, one in some]).cpu().numpy()
        for (n, one), vectors in zip(some, found.swapaxes(0, 1), strict=True):
            kept[n, one] = vectors[:, one.first - one.begin : one.last - one.begin].copy()
    for n, own in enumerate(parts):
        yield np.concatenate([kept.pop((n, one)) for one in own], axis=1)
