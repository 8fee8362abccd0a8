"""Checkpoints written while training goes on, from a copy; before, replicas are compared."""

from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from copy import deepcopy
from typing import Any, NamedTuple

import torch
from torch import Tensor

from headway.core.checkpoint import Checkpoint
from headway.core.disk import DiskError
from headway.core.optimizer import FlatAdam
from headway.core.trainer import Trainer
from headway.core.training_interfaces import Callback
from headway.distributed.world import ProcessGroup


class UnderWay(NamedTuple):
    """A checkpoint that is being written."""

    trainer: Trainer[Any]
    """As it was then."""
    write: Callable[[], None]
    written: Future[None]


class CheckpointWriter:
    """A thread that writes what a training saves, the files that the core would write, while the
    training makes the next updates.

    What is written is a copy of everything, complete before the next update: as much memory again
    as weights and moments take (12 bytes a weight). There is one, so that a save waits for the one
    before. What the disk refuses is written again by the training itself (`settle`), which may
    then wait for room as ever.
    """

    def __init__(self, optimizer: FlatAdam) -> None:
        self.thread = ThreadPoolExecutor(1, "checkpoints")
        self.model_due = False  # whether these weights are to be the run's model, too
        self.under_way: UnderWay | None = None
        # By the thread: the first use of memory takes longer than all that is done with it later.
        moments = {f"adam.{name}": moment for name, moment in optimizer.state_dict().items()}
        both = optimizer.weights(), moments
        self.memory = self.thread.submit(lambda: [*map(room_for, both)])

    def write(self, trainer: Any, saved: Checkpoint) -> None:
        """Copy a checkpoint, and have it written."""
        self.settle(trainer)
        weights, resume = map(filled, self.memory.result(), (saved.weights, saved.resume))
        kept = Checkpoint(saved.step, weights, resume, deepcopy(saved.state))
        frozen: Trainer[Any] = object.__new__(Trainer)  # the core's, which knows no other process
        vars(frozen).update(vars(trainer), progress=deepcopy(trainer.progress), callbacks=())
        model_due, self.model_due = self.model_due, False

        def write() -> None:
            if model_due:
                Trainer.save_model(frozen, kept.weights)
            Trainer.write(frozen, kept)

        self.under_way = UnderWay(frozen, write, self.thread.submit(write))

    def settle(self, trainer: Any) -> None:
        """Return when what was to be written is. Raises what writing it raised."""
        under_way, self.under_way = self.under_way, None
        if under_way is None:
            return
        frozen, write, written = under_way
        trainer.world.watch.at(f"writing step {frozen.progress.step:,}", long=True)
        try:
            written.result()
        except DiskError:
            frozen.callbacks, frozen.clock = trainer.callbacks, 0.0
            frozen.stop_asked = trainer.asked_here
            write()
            trainer.clock += frozen.clock  # that of a pause is no time of the training


def room_for(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Memory for a copy of each, on the CPU; from a GPU, such as is copied to at full speed."""
    return {
        name: torch.empty(t.shape, dtype=t.dtype, pin_memory=t.is_cuda).zero_()
        for name, t in tensors.items()
    }


def filled(room: dict[str, Tensor], tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The copies, made; where there is no room yet, as of parts that learn from now on, it is."""
    new = {n: t for n, t in tensors.items() if n not in room or room[n].shape != t.shape}
    room.update(room_for(new))
    return {name: room[name].copy_(tensor) for name, tensor in tensors.items()}


def settled(trainer: Any, error: Exception | None = None) -> bool:
    """Have what is being written be whole. Puts nothing right by itself."""
    if trainer.writer:
        trainer.writer.settle(trainer)
    return False


SETTLED = Callback(on_error=settled)
"""The first that hears of an error: nothing is put right while a checkpoint is being written."""


# -- replicas ---------------------------------------------------------------------------------


def strays(weights: Tensor, world: ProcessGroup) -> list[int]:
    """The processes whose weights are not, to the bit, those of process 0."""
    even = weights.detach()[: weights.numel() // 2 * 2]
    own = int(even.view(torch.int64).sum())  # one bit elsewhere is another sum
    differs = torch.zeros(world.size, dtype=torch.int64)
    differs[world.rank] = own != world.from_first(own)
    return world.add_up(differs).nonzero().flatten().tolist()


def told_of(ranks: list[int], step: int) -> str:
    """What is said of them."""
    return (
        f"step {step:,}: the weights of process {', '.join(map(str, ranks))} were no longer those "
        "of process 0, which it goes on with now. Another kind of processor does that, or memory "
        "that forgets"
    )
