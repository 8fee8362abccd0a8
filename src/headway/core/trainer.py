"""The training loop: batches in, weights out. It knows losses and scores, not tasks or texts."""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from typing import Generic, NamedTuple, TypeVar

import torch
from torch import Tensor, nn

from headway.core import checkpoint
from headway.core.checkpoint import MALFORMED, Checkpoint, read_newest
from headway.core.disk import DiskError, refuse_full
from headway.core.dropout import set_dropout
from headway.core.errors import HeadwayError, RunError, UserError
from headway.core.optimizer import FlatAdam, load_weights
from headway.core.out_of_reach import refuse_out_of_reach
from headway.core.run_folder import RunFolder
from headway.core.schedules import DECAYING
from headway.core.tensor_files import save_tensors
from headway.core.training_interfaces import (
    Batch,
    Callback,
    Progress,
    Reporter,
    Task,
    TaskState,
    Validation,
)
from headway.core.training_settings import TrainingSettings

AnyTask = TypeVar("AnyTask", bound=Task)
Result = TypeVar("Result")
Measure = Callable[[nn.Module], Validation]
Others = Callable[[int], Mapping[tuple[int, ...], str]]

BEYOND = 3.4e38  # stands for a norm that float32 cannot hold: JSON has no infinity
MARGIN_BYTES = 1 << 20
"""Free space that must be left beside what is written: small files, a file system's own needs."""


class LoopState(NamedTuple):
    """What an update changes besides the weights that it learns."""

    position: TaskState
    random: dict[str, Tensor]
    buffers: dict[str, Tensor]


class NotFiniteError(HeadwayError):
    """A loss, or a weight after the update, is not a finite number."""

    def __init__(self, step: int, loss: float) -> None:
        found = f"loss must stay finite; it is {loss}"
        if math.isfinite(loss):
            found = "weights must stay finite; they are not"
        super().__init__(
            f"The {found} at step {step}. Lower --training.learning-rate or raise "
            "--training.warmup-steps; the last checkpoint is whole."
        )


def split(task: Task, batches: Sequence[Batch], n_parts: int) -> list[Batch]:
    """Each batch in so many, or in its rows where they are fewer."""
    if n_parts == 1:
        return list(batches)
    return [part for batch in batches for part in task.split_batch(batch, n_parts)]


def rank_of(result: Validation) -> float:
    """What it is chosen by, give or take its noise."""
    return result.score if result.rank is None else result.rank


def n_bytes_of(tensors: Mapping[str, Tensor]) -> int:
    """What they take on the disk."""
    return sum(tensor.nbytes for tensor in tensors.values())


class Trainer(Generic[AnyTask]):
    """Updates a model until its steps are done, its score no longer rises, or it is asked to stop.

    `model` is the `optimizer`'s and changes in place; `eval_model` is the same in float32, which is
    validated and saved: it takes the optimizer's weights. `callbacks` hear what happens, in their
    order: the first that puts an error right is the last that hears of it.
    """

    def __init__(
        self,
        model: nn.Module,
        eval_model: nn.Module,
        optimizer: FlatAdam,
        task: AnyTask,
        folder: RunFolder,
        settings: TrainingSettings,
        *,
        reporter: Reporter,
        callbacks: Sequence[Callback] = (),
    ) -> None:
        self.model, self.eval_model, self.optimizer = model, eval_model.eval(), optimizer
        self.task, self.folder, self.settings = task, folder, settings
        self.reporter, self.callbacks = reporter, callbacks
        self.device = self.optimizer.masters.device
        self.progress = Progress(counts=dict.fromkeys(task.counted, 0))
        self.clock, self.dropout_share = time.monotonic(), -1.0  # the one in effect is not known
        self.losses: list[Tensor] = []  # on the device, since the last line of metrics.jsonl
        self.gradient_norm = torch.zeros(())  # of the last update, before clipping
        self.initial_state = self.moment()
        self.before_update: tuple[LoopState, list[Batch]] | None = None  # while one is under way
        self.n_bytes_due = 0  # of what is being written
        self.stop_asked: Callable[[], bool] = lambda: False

    def train(self, stop_asked: Callable[[], bool]) -> Progress:
        """Run to the end, or until `stop_asked`; either way a checkpoint is on the disk."""
        self.clock, self.stop_asked, stop = time.monotonic(), stop_asked, False
        while not (self.progress.finished or stop):
            stop = self.tried(self.advance, NotFiniteError)
        return self.progress

    def tried(self, work: Callable[[], Result], *errors: type[Exception]) -> Result:
        """What `work` gives. Where it ends in one of these errors and a callback puts that right,
        it is done again."""
        while True:
            try:
                return work()
            except errors as error:
                if not any(callback.on_error(self, error) for callback in self.callbacks):
                    raise

    def advance(self) -> bool:
        """An update and what is due after it; returns whether to stop, which was asked for."""
        self.losses.append(self.train_step())
        self.progress.sums["time_s"] += self.count_time()
        step = self.progress.step
        due = step % self.settings.checkpoint_every == 0 or self.at_the_end
        if due or step % self.settings.log_interval == 0:
            self.log()
        if due:
            self.eval_step()
            self.count_time()
            for callback in self.callbacks:
                callback.on_validation(self)
        stop = self.stop_asked()
        if due or stop:
            self.save()
        return stop

    def train_step(self) -> Tensor:
        """One optimizer update; returns its summed loss, still on the device."""
        progress, settings = self.progress, self.settings
        if (share := settings.dropout_share(progress.step)) != self.dropout_share:
            set_dropout(self.model, share)
            self.dropout_share = share
        batches = [self.task.next_batch() for _ in range(settings.accumulate)]
        self.before_update = self.moment(), batches
        losses = self.tried(lambda: self.add_gradients(batches), MemoryError, RuntimeError)
        self.before_update = None
        for batch in batches:
            progress.sums["units"] += batch.units
            for name, n in batch.counts.items():
                progress.counts[name] += n
        progress.step += 1
        self.gradient_norm = self.optimizer.step(self.learning_rate, settings.clip_norm)
        return torch.stack(losses).sum()

    def add_gradients(self, batches: Sequence[Batch]) -> list[Tensor]:
        """The summed losses of batches; the gradients of their mean are added up in the model."""
        n_units = sum(batch.units for batch in batches)
        losses: list[Tensor] = []
        for batch in split(self.task, batches, self.progress.parts):
            if losses:
                self.optimizer.collect()
            loss = self.task.loss(self.model, batch)
            (loss / n_units).backward()
            losses.append(loss.detach())
        return losses

    @property
    def learning_rate(self) -> float:
        """That of the last update, or of the one that is being made."""
        progress = self.progress
        return self.settings.rate(progress.step, progress.decay_start) * progress.rate_share

    def count_time(self) -> float:
        """Add the seconds since this was last called to the time of the training; they return."""
        now = time.monotonic()
        spent, self.clock = now - self.clock, now
        self.progress.time_s += spent
        return spent

    @property
    def last_step(self) -> int:
        """The last update, as it is planned now."""
        return self.settings.last_step(self.progress.decay_start)

    @property
    def at_the_end(self) -> bool:
        """Whether all updates are made."""
        return self.progress.step >= self.last_step

    # -- what is told -------------------------------------------------------------------------

    def log(self) -> None:
        """One line of metrics.jsonl, over the updates since the last."""
        progress, sums = self.progress, self.finite_sums()
        loss, speed = sums["loss"] / sums["units"], sums["units"] / max(sums["time_s"], 1e-9)
        rate, norm = self.learning_rate, round(min(self.gradient_norm.item(), BEYOND), 5)
        self.write_line({"loss": round(loss, 5), "learning_rate": rate, "gradient_norm": norm})
        unit, last = self.task.unit, self.last_step
        self.reporter.step(progress, loss=loss, speed=speed, unit=unit, last_step=last)
        progress.sums = Progress().sums

    def finite_sums(self) -> dict[str, float]:
        """`Progress.sums`, with the losses that were still on the device.

        Raises NotFiniteError where they, or the weights after them, are not finite.
        """
        sums = self.progress.sums
        sums["loss"] += sum(loss.item() for loss in self.losses)
        self.losses.clear()
        if not (sums["loss"] < float("inf") and self.optimizer.finite()):
            raise NotFiniteError(self.progress.step, sums["loss"])
        return sums

    def write_line(self, found: Mapping[str, int | float]) -> None:
        """Step, time, counts and what was found, in metrics.jsonl."""
        progress = self.progress
        known = {"step": progress.step, "time_s": round(progress.time_s, 3), **progress.counts}
        self.put_down(lambda: self.folder.log({**known, **found}), 1000)

    def put_down(self, write: Callable[[], None], n_bytes: int) -> None:
        """Write to the run folder. Raises DiskError where the disk has no room for it."""
        self.n_bytes_due = n_bytes + MARGIN_BYTES

        def written() -> None:
            refuse_full(self.folder.path, self.n_bytes_due)
            write()

        self.tried(written, DiskError)

    # -- validation ---------------------------------------------------------------------------

    def eval_step(self) -> Validation:
        """Score the float32 weights; the best so far become the run's model at once."""
        progress, patience = self.progress, self.settings.patience
        random_state = torch.get_rng_state()
        result = self.measured(self.optimizer.weights(), self.task.validate)
        torch.set_rng_state(random_state)
        progress.validated.append(progress.step)
        rank, falls = rank_of(result), result.loss < progress.lowest_loss
        level = rank + result.noise >= progress.best_rank
        best = rank > progress.best_rank or (level and falls)
        progress.best_rank = max(progress.best_rank, rank)
        progress.lowest_loss = min(progress.lowest_loss, result.loss)
        progress.since_best = 0 if best else progress.since_best + 1
        if best:
            progress.best_step, progress.best_score = progress.step, result.score
            self.save_model(self.optimizer.weights())
        elif 0 < patience <= progress.since_best and not (progress.decay_start or self.at_the_end):
            self.end_early()
        progress.finished |= self.at_the_end
        found = {result.score_name: round(result.score, 3)}
        self.write_line({"valid_loss": round(result.loss, 5), **result.others, **found})
        self.reporter.validation(progress, result, best=best)
        return result

    def save_model(self, weights: Mapping[str, Tensor]) -> None:
        """Make these weights the run's model."""
        self.put_down(lambda: save_tensors(weights, self.folder.model), n_bytes_of(weights))

    def measured(self, weights: Mapping[str, Tensor], by: Callable[[nn.Module], Result]) -> Result:
        """What `by` finds of these weights in the float32 model."""
        load_weights(self.eval_model, weights)
        with torch.inference_mode():
            return by(self.eval_model)

    def end_early(self) -> None:
        """Patience ran out: stop, or first bring a rate that is to decay down to its end."""
        progress = self.progress
        if self.settings.schedule not in DECAYING:
            progress.finished = True
            return
        progress.decay_start = progress.step
        self.reporter.say(
            f"no better score in {progress.since_best} validations: the rate comes down and "
            f"training ends at step {self.last_step:,}"
        )

    # -- checkpoints --------------------------------------------------------------------------

    def save(self) -> None:
        """A checkpoint that `resume` can go on from; older ones that nobody needs go."""
        self.finite_sums()
        position, random, _ = self.moment()
        groups = {
            "random": random,
            "adam": self.optimizer.state_dict(),
            "position": position.tensors,
        }
        tensors = {f"{group}.{name}": t for group, of in groups.items() for name, t in of.items()}
        state = {"progress": asdict(self.progress), "position": position.countable}
        for callback in self.callbacks:
            state |= callback.state_dict(self)
        weights = self.optimizer.weights()
        self.write(Checkpoint(self.progress.step, weights, tensors, state))

    def write(self, saved: Checkpoint) -> None:
        """Put down a checkpoint; older ones that nobody needs go."""

        def write() -> None:
            self.folder.keep_log()
            checkpoint.write(self.folder.checkpoints, *saved)

        self.put_down(write, n_bytes_of(saved.weights) + n_bytes_of(saved.resume))
        self.tidy()

    def tidy(self) -> None:
        """Remove the checkpoints that nobody needs any more, and what a killed process left."""
        folder, progress = self.folder.checkpoints, self.progress
        saved = checkpoint.resumable(folder)
        # One of a stop in between is there until the next that is due: then all is as without it.
        recent = [step for step in saved if step in progress.validated][-2:] + saved[-1:]
        n_last = len(progress.validated) if self.settings.keep_all else self.settings.average
        window = self.averaged() + progress.validated[-n_last:] + self.initial_steps
        checkpoint.keep_only(folder, to_resume=recent, weights=window)

    def resume(self) -> bool:
        """Be as at the newest whole checkpoint; False when there is none.

        Raises RunError when there are some, but none that can be gone on from.
        """
        folder = self.folder
        saved = read_newest(folder.checkpoints, self.reporter.say)
        if saved is None:
            folder.cut_log(-1)
            return False
        try:
            self.load_checkpoint(saved)
        except (*MALFORMED, UserError) as error:
            place = checkpoint.folder_of(folder.checkpoints, saved.step)
            refuse_out_of_reach(place, error)
            raise RunError(
                f"{place} cannot be gone on from: {str(error).removesuffix('.')}. Delete it to "
                "go on from the one before, or take the run from a copy."
            ) from error
        folder.cut_log(saved.step)
        self.tidy()
        return True

    def load_checkpoint(self, saved: Checkpoint) -> None:
        """Be as it was when a checkpoint was written."""
        groups: dict[str, dict[str, Tensor]] = {"random": {}, "adam": {}, "position": {}}
        for name, tensor in saved.resume.items():
            group, _, own_name = name.partition(".")
            groups[group][own_name] = tensor
        self.optimizer.load_state_dict(saved.weights, groups["adam"])
        for callback in self.callbacks:
            callback.load_state_dict(self, saved.state)
        self.progress = Progress(**saved.state["progress"])
        self.losses.clear()
        position = TaskState(saved.state["position"], groups["position"])
        self.return_to(LoopState(position, groups["random"], {}))

    def moment(self) -> LoopState:
        """As it is now."""
        random = {"cpu": torch.get_rng_state()}
        if self.device.type == "cuda":
            random["cuda"] = torch.cuda.get_rng_state(self.device)
        position, buffers = self.task.state_dict(), self.optimizer.buffers
        carried = {name: tensor.clone() for name, tensor in position.tensors.items()}
        kept = {name: buffer.clone() for name, buffer in buffers.items()}
        return LoopState(position._replace(tensors=carried), random, kept)

    def return_to(self, moment: LoopState) -> None:
        """Have it as it was; buffers that it does not name stay as they are."""
        self.task.load_state_dict(moment.position)
        torch.set_rng_state(moment.random["cpu"])
        if self.device.type == "cuda" and "cuda" in moment.random:
            torch.cuda.set_rng_state(moment.random["cuda"], self.device)
        for name, buffer in moment.buffers.items():
            self.optimizer.buffers[name].copy_(buffer)

    # -- the end ------------------------------------------------------------------------------

    def averaged(self) -> list[int]:
        """The steps whose weights the average at the end is over: the last ones up to the best."""
        progress = self.progress
        up_to_best = [step for step in progress.validated if step <= progress.best_step]
        return up_to_best[-self.settings.average :]

    @property
    def initial_steps(self) -> list[int]:
        """Step 0, if these weights are another run's, and good for something by themselves."""
        return [step for step in self.progress.validated[:1] if not step]

    def choose(self, measure: Measure, others: Others = lambda best: {}) -> str:
        """Leave the weights that score best in the run, and say which they are.

        In the running are the best and the last checkpoint, the average up to the best and the
        average of the last ones, and `others`: names of averages, given the step of the best.
        `measure` sees each in the float32 model; it may cost more than a validation, and be closer
        to how the model will be used.
        """
        return self.tried(lambda: self._chosen(measure, others), RunError)

    def _chosen(self, measure: Measure, others: Others) -> str:
        progress, folder = self.progress, self.folder
        last, up_to_best = progress.validated[-self.settings.average :], self.averaged()
        best = progress.best_step or last[-1]
        names = {
            **others(best),
            tuple(last): f"the average of the last {len(last)} checkpoints",
            tuple(up_to_best): f"the average of {len(up_to_best)} checkpoints up to the best",
            (last[-1],): f"the last checkpoint, step {last[-1]}",
            (best,): f"the best checkpoint, step {best}",
            **others(best),
        }
        if len(names) == 1:
            return names[(best,)]
        # None from `folder.model`: that is the choice already if a kill came right after this.
        weights = partial(checkpoint.average, folder.checkpoints)
        found = {steps: self.measured(weights(steps), measure) for steps in names}
        highest = max(map(rank_of, found.values()))
        level = [steps for steps, one in found.items() if rank_of(one) + one.noise >= highest]
        chosen = min(level, key=lambda steps: found[steps].loss)
        self.save_model(weights(chosen))
        told = ", ".join(f"{names[steps]} {one.score:.2f}" for steps, one in found.items())
        tie = "; so near, the lower loss decides" * (rank_of(found[chosen]) < highest)
        return f"{names[chosen]} ({told}{tie})"
