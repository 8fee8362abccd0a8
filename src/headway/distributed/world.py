"""The processes of one training, and what passes between them: torch.distributed's collectives."""

import json
import os
import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from itertools import zip_longest
from typing import Any, TypeVar

import torch
import torch.distributed as dist
from torch import Tensor

from headway.core.training_interfaces import World
from headway.distributed.meeting import joined, local_rank
from headway.distributed.watch import Watch, collective

Item = TypeVar("Item")
Result = TypeVar("Result")
Value = TypeVar("Value")

FOR_EVER = timedelta(days=365)
"""Of a collective: `Watch` ends what hangs, and lets wait what waits for room on a disk."""


class ProcessGroup(World):
    """The processes that torchrun has started, joined: gradients by gloo, or NCCL on GPUs.

    Every method is a collective: all processes call it, in the same order. Where one of them is
    gone, `watch` ends this one.
    """

    def __init__(self) -> None:
        self.rank, self.size = (int(os.environ[name]) for name in ("RANK", "WORLD_SIZE"))
        self.store, everyone = joined(self.rank, self.size)
        self.without_gpu = [n for n, process in enumerate(everyone) if not process["has_gpu"]]
        if not self.without_gpu:
            torch.cuda.set_device(local_rank())
        self.watch = Watch(self.store, self.rank, everyone)
        with self.watch.in_collective():
            dist.init_process_group(
                "gloo" if self.without_gpu else "cpu:gloo,cuda:nccl",
                store=dist.PrefixStore("collectives", self.store),
                rank=self.rank,
                world_size=self.size,
                timeout=FOR_EVER,
            )
        self.local_size = int(os.environ.get("LOCAL_WORLD_SIZE", str(self.size)))

    def divided(
        self, work: Callable[[Sequence[Item]], Sequence[Result]], items: Sequence[Item]
    ) -> list[Result]:
        """Every process works on each `size`-th item; all get all results, in the items' order."""
        mine = list(work(items[self.rank :: self.size]))
        shares: list[Any] = [None] * self.size
        with self.watch.in_collective():
            dist.all_gather_object(shares, mine)
        gone = object()
        rows = zip_longest(*shares, fillvalue=gone)
        return [one for row in rows for one in row if one is not gone]

    @collective
    def add_up(self, tensor: Tensor) -> Tensor:
        """The sum over all processes, in place: the same bits in each."""
        dist.all_reduce(tensor)
        return tensor

    @collective
    def from_first(self, value: Value) -> Value:
        """That of process 0."""
        box = [value if self.rank == 0 else None]
        dist.broadcast_object_list(box, src=0)
        return box[0]  # type: ignore[return-value]

    @collective
    def copied_from_first(self, tensors: Sequence[Tensor]) -> None:
        """Fill tensors, of the same shapes everywhere, with those of process 0."""
        for tensor in tensors:
            dist.broadcast(tensor, src=0)

    @collective
    def whole(self, rows: Tensor) -> Tensor:
        """Rows of which each process has brought its own share up to date (`torch.tensor_split`),
        put together: [rows, ..]."""
        shares = [torch.empty_like(share) for share in rows.tensor_split(self.size)]
        for rank, share in enumerate(shares):
            if rank == self.rank:
                share.copy_(rows.tensor_split(self.size)[rank])
            dist.broadcast(share, src=rank)
        return torch.cat(shares)

    @collective
    def wait(self) -> None:
        """Until every process is here."""
        dist.barrier()

    def leave(self) -> None:
        """Nothing is said to the others any more."""
        dist.destroy_process_group()

    # -- no collectives -------------------------------------------------------------------------

    def tell(self, name: str, value: Any) -> None:
        """Leave a word for the others; ready for JSON."""
        self.store.set(name, json.dumps(value))

    def hear(self, name: str) -> Any:
        """What one has told, or will: it may prepare data for days."""
        while not self.store.check([name]):
            time.sleep(0.1)
        return json.loads(self.store.get(name))
