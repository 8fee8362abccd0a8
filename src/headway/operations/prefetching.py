"""Batches made ahead, in a thread, while a GPU computes: padded, and moved to its memory.

Their order, and what a checkpoint says of where the next one is, are as without.
"""

from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from copy import copy
from typing import Any, NamedTuple

import torch
from torch import Tensor

from headway.core.training_interfaces import Batch

AHEAD = 2
"""Batches that wait."""


class Made(NamedTuple):
    """A batch in the processor's memory."""

    batch: Batch
    shares: list[Batch]
    """Of each process that learns of it; none where its rows are tensors already."""
    tensors: Any
    """Of this process's share."""
    position: dict[str, Any]
    """Of the stream, behind it."""


def prefetch(task: Any) -> None:
    """Have a task make its batches ahead, from now on."""
    ahead = Prefetched(task)
    task.stream, task.next_batch, task.split_batch = ahead, ahead.next_batch, ahead.split_batch
    if ahead.own_tensors:
        task.tensors = ahead.tensors


class Prefetched:
    """What takes the place of a task's stream, and of its methods that make batches of that.

    A copy of the task, which computes on a processor and has the stream, does the work.
    """

    def __init__(self, task: Any) -> None:
        self.task, self.maker = task, copy(task)
        self.own_split = task.split_batch
        self.own_tensors: Any = getattr(task, "tensors", None)
        self.maker.device = torch.device("cpu")
        self.batches, self.position = task.stream.batches, task.stream.state_dict()
        self.worker = ThreadPoolExecutor(1, "batches")
        self.waiting: deque[Future[Made]] = deque()
        # What was given out, by the id of its rows, which are held so that no others have it.
        self.shares: dict[tuple[int, int], tuple[Any, list[Batch]]] = {}
        self.ready: dict[int, tuple[Any, Any]] = {}

    def next_batch(self) -> Batch:
        """See `headway.core.training_interfaces.Task`."""
        while len(self.waiting) <= AHEAD:
            self.waiting.append(self.worker.submit(self.make))
        batch, shares, tensors, self.position = self.waiting.popleft().result()
        if not self.own_tensors:
            return batch._replace(rows=each(batch.rows, self.moved))
        world = self.task.world
        if world.size > 1:
            self.shares[id(batch.rows), world.size] = batch.rows, shares
        if world.rank < len(shares):
            rows = shares[world.rank].rows[1]
            self.ready[id(rows)] = rows, each(tensors, self.moved)
        return batch

    def make(self) -> Made:
        """The next one: in the thread."""
        batch, shares, tensors = self.maker.next_batch(), list[Batch](), None
        if self.own_tensors:
            world = self.task.world
            shares = self.maker.split_batch(batch, world.size) if world.size > 1 else [batch]
            if world.rank < len(shares):
                tensors = self.maker.tensors(*shares[world.rank].rows)
        if self.task.device.type == "cuda":
            batch = batch._replace(rows=each(batch.rows, Tensor.pin_memory))
            tensors = each(tensors, Tensor.pin_memory)
        return Made(batch, shares, tensors, self.maker.stream.state_dict())

    def moved(self, tensor: Tensor) -> Tensor:
        """On the device, as soon as what was asked of that before is done."""
        return tensor.to(self.task.device, non_blocking=True)

    def split_batch(self, batch: Batch, n: int) -> Sequence[Batch]:
        """See `headway.core.training_interfaces.Task`."""
        _, shares = self.shares.pop((id(batch.rows), n), (None, None))
        if not shares and self.own_tensors:  # too large for the memory
            self.ready.pop(id(batch.rows[1]), None)
        return shares or self.own_split(batch, n)

    def tensors(self, store: Any, rows: Any, *how: Any) -> Any:
        """Those of the task, made ahead or now."""
        _, tensors = self.ready.pop(id(rows), (rows, None))
        return tensors or self.own_tensors(store, rows, *how)

    # -- a stream -------------------------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """Behind the last batch that was given out."""
        return self.position

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """See `headway.core.batching.BatchStream`; what was made ahead is made again."""
        wait(self.waiting)
        for held in (self.waiting, self.ready, self.shares):
            held.clear()
        self.maker.stream.load_state_dict(state)
        self.position = self.maker.stream.state_dict()


def each(value: Any, change: Callable[[Tensor], Tensor]) -> Any:
    """Tensors changed, wherever they are in tuples."""
    if isinstance(value, Tensor):
        return change(value)
    if not isinstance(value, tuple):
        return value
    parts = (each(part, change) for part in value)
    return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
