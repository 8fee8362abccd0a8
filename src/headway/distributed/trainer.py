"""The training loop of several processes: the same updates as one process makes, shared out.

Every process takes the same batches, in the one order that the seed gives, and learns its share of
the rows of each; gradients, divided by the units of the whole update, are added up. So batches,
their order and, but for dropped numbers, the weights do not depend on how many processes there are.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from headway.core.checkpoint import Checkpoint
from headway.core.errors import HeadwayError
from headway.core.out_of_reach import out_of_memory
from headway.core.trainer import AnyTask, Result, Trainer, split
from headway.core.training_interfaces import (
    ALONE,
    Batch,
    Callback,
    Progress,
    TaskState,
    Validation,
)
from headway.distributed.checkpoints import SETTLED, CheckpointWriter, settled, strays, told_of
from headway.distributed.world import ProcessGroup


class LearnedError(Exception):
    """All is learned: what is left to do is not this process's."""


class DistributedTrainer(Trainer[AnyTask]):
    """A `Trainer` of which every process has one; process 0 alone writes.

    Dropped numbers are drawn from (seed, step, rank), so that nothing of a process but what all
    have in common needs to be in a checkpoint.
    """

    def __init__(self, *args: Any, world: ProcessGroup, seed: int, **named: Any) -> None:
        given = named.get("callbacks", ())
        named["callbacks"] = (SETTLED, Callback(on_validation=agree), *given)
        super().__init__(*args, **named)
        self.world, self.seed = world, seed
        self.stop_agreed = False
        self.writer: CheckpointWriter | None = None  # while it learns, and only in process 0
        self.asked_here: Callable[[], bool] = lambda: False
        if hasattr(self.task, "world"):
            self.task.world = world

    def train(self, stop_asked: Callable[[], bool]) -> Any:
        """See `Trainer`; all stop where one of them is asked to."""
        self.asked_here = stop_asked
        self.share_state()
        if self.world.rank == 0:
            self.writer = CheckpointWriter(self.optimizer)
        try:
            progress = super().train(lambda: self.stop_agreed)
            settled(self)
        except HeadwayError:
            if self.world.rank:  # all have come to the same, and process 0 says it
                raise LearnedError from None
            raise
        self.writer = None
        return progress

    # -- an update ------------------------------------------------------------------------------

    def train_step(self) -> Tensor:
        """What batches draw is the same in all processes."""
        self.draw_from(0)
        return super().train_step()

    def draw_from(self, stream: int) -> None:
        """Have what is drawn in this update depend on seed, step and stream alone."""
        drawn = np.random.SeedSequence([self.seed, self.progress.step, stream])
        torch.manual_seed(int(drawn.generate_state(1, np.uint64)[0]))

    def add_gradients(self, batches: Sequence[Batch]) -> list[Tensor]:
        """The loss of all processes; the gradients of its mean are added up in each.

        Where one has too little memory, all raise MemoryError.
        """
        self.draw_from(self.world.rank + 1)
        self.world.watch.at(f"update {self.progress.step + 1:,}")
        loss, lack = 0.0, None
        try:
            loss = self.add_own_gradients(batches).item()
        except (MemoryError, RuntimeError) as error:
            if not out_of_memory(error):
                raise
            lack = error
        found = [loss, lack is not None, self.asked_here()]
        total, n_lacking, n_asked = self.world.add_up(torch.tensor(found).double()).tolist()
        self.stop_agreed |= bool(n_asked)
        if n_lacking:
            raise lack or MemoryError("another process has too little memory")
        self.optimizer.collect()
        self.world.add_up(self.optimizer.gradient)
        for buffer in self.optimizer.buffers.values():
            if buffer.is_floating_point():  # BatchNorm's: each has seen its own rows
                self.world.add_up(buffer).div_(self.world.size)
        return [torch.tensor(total)]

    def add_own_gradients(self, batches: Sequence[Batch]) -> Tensor:
        """The same of this process's share of the rows."""
        n_units = sum(batch.units for batch in batches)
        shares = (self.task.split_batch(batch, self.world.size) for batch in batches)
        own = [some[self.world.rank] for some in shares if self.world.rank < len(some)]
        loss = torch.zeros((), device=self.device)
        for n, batch in enumerate(split(self.task, own, self.progress.parts)):
            if n:
                self.optimizer.collect()
            part = self.task.loss(self.model, batch)
            (part / n_units).backward()
            loss += part.detach()
        return loss

    # -- what all must agree about --------------------------------------------------------------

    def measured(self, weights: Any, by: Callable[[nn.Module], Result]) -> Result:
        """See `Trainer`: as process 0 has it."""
        self.world.watch.at(f"the validation of step {self.progress.step:,}")
        found = super().measured(weights, by)
        if isinstance(found, Validation):
            found = found._replace(others=dict(found.others))  # a view cannot be pickled
        return self.world.from_first(found)

    def share_state(self) -> None:
        """Be as process 0 is: weights, moments, progress, plans, place in the data."""
        position, optimizer = self.task.state_dict(), self.optimizer
        state: dict[str, Any] = {"progress": asdict(self.progress)}
        for callback in self.callbacks:
            state |= callback.state_dict(self)
        state, countable = self.world.from_first((state, position.countable))
        carried = self.of_first(position.tensors)
        weights, moments = optimizer.weights(), optimizer.state_dict()
        for some in (weights, moments, carried):
            self.world.copied_from_first(list(some.values()))
        if self.world.rank:
            optimizer.load_state_dict(weights, moments)
            for callback in self.callbacks:
                callback.load_state_dict(self, state)
            self.progress = Progress(**state["progress"])
            self.task.load_state_dict(TaskState(countable, carried))
            self.losses.clear()

    def of_first(self, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Tensors of the names and shapes that process 0 has: its own ones, or room for them."""
        named = {name: (tuple(one.shape), one.dtype) for name, one in tensors.items()}
        return {
            name: tensors.get(name, torch.zeros(shape, dtype=kind, device=self.device))
            for name, (shape, kind) in self.world.from_first(named).items()
        }

    def _chosen(self, *how: Any) -> str:
        """See `Trainer`. What comes after is process 0's alone."""
        self.world.wait()  # until the last checkpoint is written
        chosen = super()._chosen(*how)
        self.world.leave()
        self.world.watch.at("scoring the model")
        torch.set_num_threads(torch.get_num_threads() * self.world.local_size)  # the others'
        if hasattr(self.task, "world"):
            self.task.world = ALONE
        if self.world.rank:
            raise LearnedError
        return chosen

    # -- one writer -----------------------------------------------------------------------------

    def put_down(self, write: Callable[[], None], n_bytes: int) -> None:
        """See `Trainer`: process 0 writes; where it waits for room, it alone is asked to stop."""
        if self.world.rank == 0:
            self.world.watch.at(f"writing at step {self.progress.step:,}", long=True)
            agreed, self.stop_asked = self.stop_asked, self.asked_here
            super().put_down(write, n_bytes)
            self.stop_asked = agreed

    def save(self) -> None:
        """See `Trainer`. What is carried from batch to batch is put together: one row here, another
        there."""
        state = self.task.state_dict()
        carried = self.of_first(state.tensors)
        if carried:
            whole = {name: self.world.whole(rows) for name, rows in carried.items()}
            self.task.load_state_dict(TaskState(state.countable, whole))
        if strays_ := strays(self.optimizer.masters, self.world):
            self.reporter.say(told_of(strays_, self.progress.step))
            self.share_state()
        super().save()

    def write(self, saved: Checkpoint) -> None:
        """See `Trainer`: while it learns, from a copy, by a thread."""
        if self.writer:
            self.writer.write(self, saved)
        elif self.world.rank == 0:
            super().write(saved)

    def save_model(self, weights: Mapping[str, Tensor]) -> None:
        """See `Trainer`: while it learns, with the checkpoint of the same weights."""
        if self.writer:
            self.writer.model_due = True
        else:
            super().save_model(weights)

    def tidy(self) -> None:
        """See `Trainer`."""
        if self.world.rank == 0:
            super().tidy()

    def resume(self) -> bool:
        """See `Trainer`: process 0 reads, the others become as it is."""
        settled(self)
        if self.writer:
            self.writer.model_due = False
        found = self.world.from_first(super().resume() if self.world.rank == 0 else False)
        if found:
            self.share_state()
        return found


def agree(trainer: DistributedTrainer[Any]) -> None:
    """After each validation: time is what process 0 says, so that all make the same plans of it."""
    trainer.progress.time_s = trainer.world.from_first(trainer.progress.time_s)
