"""The training loop: batches in, weights out. It knows losses and scores, not tasks or texts."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Generic, NamedTuple, TypeVar, get_type_hints

import torch
from pydantic import TypeAdapter
from torch import Tensor, nn

from headway.disk import DiskError, refuse_full
from headway.errors import RunError
from headway.nn.dropout import soften
from headway.schedules import DECAYING
from headway.training import checkpoint, earlier, going_on, pace, trouble
from headway.training.frozen import freeze
from headway.training.interfaces import Batch, Position, Reporter, Task, Validation
from headway.training.parameters import FlatAdam, load_weights
from headway.training.run_folder import RunFolder
from headway.training.settings import TrainingSettings
from headway.training.tensor_files import save_tensors

AnyTask = TypeVar("AnyTask", bound=Task)
Result = TypeVar("Result")

NOTHING_BETTER = "as nothing better was found"
BEYOND = 3.4e38  # stands for a norm that float32 cannot hold: JSON has no infinity
MARGIN_BYTES = 1 << 20
"""Free space that must be left beside what is written: small files, a file system's own needs."""


@dataclass
class Progress:
    """Everything countable about a training; lives in each checkpoint's state.json."""

    step: int = 0
    """Optimizer updates made."""
    time_s: float = 0.0
    counts: dict[str, int] = field(default_factory=dict)
    """The sums of `Batch.counts`."""
    validated: list[int] = field(default_factory=list)
    best_step: int = 0
    best_score: float = float("-inf")
    best_rank: float = float("-inf")
    """The highest score so far, or what the task ranks by."""
    lowest_loss: float = float("inf")
    """Of a validation."""
    since_best: int = 0
    """Validations since the best one."""
    sums: dict[str, float] = field(default_factory=lambda: {"loss": 0.0, "units": 0, "time_s": 0})
    """Since the last line of metrics.jsonl."""
    landing: int = 0
    """The step at which patience ran out and the rate began to come down; 0 = not yet."""
    finished: bool = False
    parts: int = 1
    """In how many each batch is learned, as it did not fit into memory: a power of two."""
    rate_share: float = 1.0
    """Of the learning rate; less since a loss was not finite."""
    planned_s: float = 0.0
    """`time_s` when the last of `TrainingSettings.plans` was made."""

    def refuse_unsound(self, step: int, counted: Iterable[str]) -> None:
        """Raise ValueError where this is no progress up to a step: its file may be anybody's."""
        for name, kind in get_type_hints(Progress).items():
            TypeAdapter(kind).validate_python(getattr(self, name), strict=True)
        if not (
            self.step == step
            and self.validated == sorted({*self.validated})
            and all(0 <= n <= step for n in (self.landing, *self.validated))
            and self.best_step in (0, *self.validated)
            and self.since_best >= 0
            and 0 <= self.planned_s <= self.time_s < float("inf")
            and self.sums.keys() == Progress().sums.keys()
            and self.counts.keys() == set(counted)
        ):
            raise ValueError(f"{checkpoint.STATE} contradicts itself")


class Moment(NamedTuple):
    """What an update changes besides the weights that it learns."""

    position: Position
    random: dict[str, Tensor]
    buffers: dict[str, Tensor]


def rank_of(result: Validation) -> float:
    """What it is chosen by, give or take its noise."""
    return result.score if result.rank is None else result.rank


def n_bytes_of(tensors: Mapping[str, Tensor]) -> int:
    """What they take on the disk."""
    return sum(tensor.nbytes for tensor in tensors.values())


class Trainer(Generic[AnyTask]):
    """Updates a model until its steps are done, its score no longer rises, or it is asked to stop.

    `model` computes in `dtype` and is changed in place; `twin` is the same model in float32, which
    is what gets validated and saved: it takes the masters' values.
    """

    def __init__(
        self,
        model: nn.Module,
        twin: nn.Module,
        task: AnyTask,
        folder: RunFolder,
        settings: TrainingSettings,
        *,
        dtype: torch.dtype,
        reporter: Reporter,
    ) -> None:
        self.model, self.twin, self.task = model.train(), twin.eval(), task
        self.folder, self.settings, self.reporter = folder, settings, reporter
        self.frozen = freeze(model, settings.freeze) if settings.freeze else []
        betas = settings.adam_beta1, settings.adam_beta2
        self.optimizer = FlatAdam(model, dtype, betas=betas, epsilon=settings.adam_epsilon)
        self.device = self.optimizer.masters.device
        self.progress = Progress(counts=dict.fromkeys(task.counted, 0))
        self.clock = time.monotonic()
        self.losses: list[Tensor] = []  # on the device, since the last line of metrics.jsonl
        self.gradient_norm = torch.zeros(())  # of the last update, before clipping
        self.beginning = self.moment()
        self.stop_asked: Callable[[], bool] = lambda: False

    def train(self, stop_asked: Callable[[], bool]) -> Progress:
        """Run to the end, or until `stop_asked`; either way a checkpoint is on the disk."""
        self.clock, self.stop_asked, stop = time.monotonic(), stop_asked, False
        while not (self.progress.finished or stop):
            try:
                stop = self.advance()
            except trouble.NotFiniteError as error:
                trouble.go_back(self, error)
        return self.progress

    def advance(self) -> bool:
        """An update and what is due after it; returns whether to stop, which was asked for."""
        self.losses.append(self.update())
        self.progress.sums["time_s"] += self.count_time()
        step = self.progress.step
        due = step % self.settings.checkpoint_every == 0 or self.at_the_end
        if due or step % self.settings.log_interval == 0:
            self.log()
        if due:
            self.validate()
            self.count_time()
            if self.settings.within_s and not (self.progress.finished or self.progress.landing):
                pace.plan_anew(self)
        stop = self.stop_asked()
        if due or stop:
            self.save()
        return stop

    def update(self) -> Tensor:
        """One optimizer update; returns its summed loss, still on the device."""
        progress, settings = self.progress, self.settings
        soften(self.model, settings.dropout_share(progress.step))
        batches = [self.task.next_batch() for _ in range(settings.accumulate)]
        before, losses = self.moment(), list[Tensor]()
        while not losses:
            try:
                losses = self.add_gradients(batches)
            except (MemoryError, RuntimeError) as error:
                trouble.halve(self, batches, before, error)
        for batch in batches:
            progress.sums["units"] += batch.units
            for name, n in batch.counts.items():
                progress.counts[name] += n
        progress.step += 1
        self.gradient_norm = self.optimizer.step(self.learning_rate, settings.clip_norm)
        return torch.stack(losses).sum()

    def add_gradients(self, batches: Sequence[Batch]) -> list[Tensor]:
        """The summed losses of batches; the gradients of their mean are added up in the model."""
        n_units, n_parts = sum(batch.units for batch in batches), self.progress.parts
        losses: list[Tensor] = []
        for batch in batches if n_parts == 1 else trouble.in_parts(self.task, batches, n_parts):
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
        return self.settings.rate(progress.step, progress.landing) * progress.rate_share

    def count_time(self) -> float:
        """Add the seconds since this was last called to the time of the training; they return."""
        now = time.monotonic()
        spent, self.clock = now - self.clock, now
        self.progress.time_s += spent
        return spent

    @property
    def last_step(self) -> int:
        """The last update, as it is planned now."""
        return self.settings.last_step(self.progress.landing)

    @property
    def at_the_end(self) -> bool:
        """Whether all updates are made."""
        return self.progress.step >= self.last_step

    # -- what is told -------------------------------------------------------------------------

    def log(self) -> None:
        """One line of metrics.jsonl, over the updates since the last."""
        progress, sums = self.progress, self.finite_sums()
        loss = sums["loss"] / sums["units"]
        rate, norm = self.learning_rate, round(min(self.gradient_norm.item(), BEYOND), 5)
        self.write_line({"loss": round(loss, 5), "learning_rate": rate, "gradient_norm": norm})
        self.reporter.step(
            progress,
            loss=loss,
            speed=sums["units"] / max(sums["time_s"], 1e-9),
            unit=self.task.unit,
            last_step=self.last_step,
        )
        progress.sums = Progress().sums

    def finite_sums(self) -> dict[str, float]:
        """`Progress.sums`, with the losses that were still on the device.

        Raises NotFiniteError where they, or the weights after them, are not finite.
        """
        sums = self.progress.sums
        sums["loss"] += sum(loss.item() for loss in self.losses)
        self.losses.clear()
        if not (sums["loss"] < float("inf") and self.optimizer.finite()):
            raise trouble.NotFiniteError(self.progress.step, sums["loss"])
        return sums

    def write_line(self, found: Mapping[str, int | float]) -> None:
        """Step, time, counts and what was found, in metrics.jsonl."""
        progress = self.progress
        known = {"step": progress.step, "time_s": round(progress.time_s, 3), **progress.counts}
        self.put_down(lambda: self.folder.log({**known, **found}), 1000)

    def put_down(self, write: Callable[[], None], n_bytes: int) -> None:
        """Write to the run folder; where the disk has no room for it, training pauses."""
        try:
            refuse_full(self.folder.path, n_bytes + MARGIN_BYTES)
            write()
        except DiskError as error:
            trouble.wait_for_room(self, write, n_bytes + MARGIN_BYTES, error)

    # -- validation ---------------------------------------------------------------------------

    def validate(self) -> Validation:
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
        elif 0 < patience <= progress.since_best and not (progress.landing or self.at_the_end):
            self.end_early()
        if self.at_the_end:
            progress.finished = True
        found = {result.score_name: round(result.score, 3)}
        self.write_line({"valid_loss": round(result.loss, 5), **result.others, **found})
        self.reporter.validation(progress, result, best=best)
        return result

    def save_model(self, weights: Mapping[str, Tensor]) -> None:
        """Make these weights the run's model."""
        self.put_down(lambda: save_tensors(weights, self.folder.model), n_bytes_of(weights))

    def measured(self, weights: Mapping[str, Tensor], by: Callable[[nn.Module], Result]) -> Result:
        """What `by` finds of these weights in the float32 twin."""
        load_weights(self.twin, weights)
        with torch.inference_mode():
            return by(self.twin)

    def end_early(self) -> None:
        """Patience ran out: stop, or first bring a rate that is to decay down to its end."""
        progress = self.progress
        if self.settings.schedule not in DECAYING:
            progress.finished = True
            return
        progress.landing = progress.step
        self.reporter.say(
            f"no better score in {progress.since_best} validations: the rate comes down and "
            f"training ends at step {self.last_step:,}"
        )

    # -- checkpoints --------------------------------------------------------------------------

    def begin_with(self, weights: Mapping[str, Tensor]) -> Validation:
        """Take these weights for step 0: measured, saved, and kept if training finds none better.

        Raises RunError when they are another model's.
        """
        self.clock = time.monotonic()
        self.optimizer.take(weights)
        result = self.validate()
        self.count_time()
        self.save()
        return result

    def save(self) -> None:
        """A checkpoint that `resume` can go on from; older ones that nobody needs go."""
        self.finite_sums()
        position, random, _ = self.moment()
        groups = {"random": random, "adam": self.optimizer.state(), "position": position.tensors}
        tensors = {f"{group}.{name}": t for group, of in groups.items() for name, t in of.items()}
        folder, progress, weights = self.folder.checkpoints, self.progress, self.optimizer.weights()
        plans = self.settings.plans
        state = {"progress": asdict(progress), "position": position.countable, "plans": plans}

        def write() -> None:
            self.folder.keep_log()
            checkpoint.write(folder, progress.step, weights, tensors, state)

        self.put_down(write, n_bytes_of(weights) + n_bytes_of(tensors))
        self.tidy()

    def tidy(self) -> None:
        """Remove the checkpoints that nobody needs any more, and what a killed process left."""
        folder, progress = self.folder.checkpoints, self.progress
        saved = checkpoint.resumable(folder)
        # One of a stop in between is there until the next that is due: then all is as without it.
        recent = [step for step in saved if step in progress.validated][-2:] + saved[-1:]
        n_last = len(progress.validated) if self.settings.keep_all else self.settings.average
        window = self.averaged() + progress.validated[-n_last:] + self.begun_with
        checkpoint.keep_only(folder, to_resume=recent, weights=window)

    def resume(self) -> bool:
        """Go back to the newest whole checkpoint; False when there is none."""
        return going_on.resume(self)

    def go_on_from(self, saved: going_on.Checkpoint) -> None:
        """Be as it was when a checkpoint was written."""
        groups: dict[str, dict[str, Tensor]] = {"random": {}, "adam": {}, "position": {}}
        for name, tensor in saved.resume.items():
            group, _, own_name = name.partition(".")
            groups[group][own_name] = tensor
        self.optimizer.restore(saved.weights, groups["adam"])
        self.progress = Progress(**earlier.upgraded(saved.state["progress"]))
        self.progress.refuse_unsound(saved.step, self.task.counted)
        plans = tuple((at, end) for at, end in saved.state.get("plans", self.settings.plans))
        self.settings = replace(self.settings, plans=plans)
        self.losses.clear()
        position = Position(saved.state["position"], groups["position"])
        self.return_to(Moment(position, groups["random"], {}))

    def moment(self) -> Moment:
        """As it is now."""
        random = {"cpu": torch.get_rng_state()}
        if self.device.type == "cuda":
            random["cuda"] = torch.cuda.get_rng_state(self.device)
        position, buffers = self.task.position(), self.optimizer.buffers
        carried = {name: tensor.clone() for name, tensor in position.tensors.items()}
        kept = {name: buffer.clone() for name, buffer in buffers.items()}
        return Moment(position._replace(tensors=carried), random, kept)

    def return_to(self, moment: Moment) -> None:
        """Have it as it was; buffers that it does not name stay as they are."""
        self.task.go_to(moment.position)
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
    def begun_with(self) -> list[int]:
        """Step 0, if these weights are another run's, and good for something by themselves."""
        return [step for step in self.progress.validated[:1] if not step]

    def choose(self, measure: Callable[[nn.Module], Validation]) -> str:
        """Leave the weights that score best in the run, and say which they are.

        In the running are the best and the last checkpoint, the average up to the best and the
        average of the last ones; of a run that began with another's weights also these, and what
        lies between (Wortsman et al. 2022). `measure` sees each in the float32 twin; it may cost
        more than a validation, and be closer to how the model will be used.

        A checkpoint that is missing or damaged is left out, and that is said.
        """
        progress, folder = self.progress, self.folder
        last = progress.validated[-self.settings.average :]
        up_to_best, begun_with = self.averaged(), self.begun_with
        best = progress.best_step or last[-1]
        others: dict[tuple[int, ...], str] = {}
        if begun_with:
            others[0,] = "the checkpoint that training began with"
            others[0, best] = f"halfway from there to step {best}"
            others[0, best, best, best] = f"three quarters of the way to step {best}"
        names = {
            **others,
            tuple(last): f"the average of the last {len(last)} checkpoints",
            tuple(up_to_best): f"the average of {len(up_to_best)} checkpoints up to the best",
            (last[-1],): f"the last checkpoint, step {last[-1]}",
            (best,): f"the best checkpoint, step {best}",
            **others,
        }
        if len(names) == 1:
            return names[(best,)]
        # None from `folder.model`: that is the choice already if a kill came right after this.
        try:
            found = {
                steps: self.measured(checkpoint.average(folder.checkpoints, steps), measure)
                for steps in names
            }
            highest = max(map(rank_of, found.values()))
            level = [steps for steps, one in found.items() if rank_of(one) + one.noise >= highest]
            chosen = min(level, key=lambda steps: found[steps].loss)
            self.save_model(checkpoint.average(folder.checkpoints, chosen))
        except RunError as error:
            trouble.leave_out_damaged(self, error)
            return self.choose(measure)
        told = ", ".join(f"{names[steps]} {one.score:.2f}" for steps, one in found.items())
        nothing = f", {NOTHING_BETTER}" if chosen == (0,) else ""
        return f"{names[chosen]}{nothing} ({told})"
