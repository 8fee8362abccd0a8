"""The training loop: batches in, weights out. It knows losses and scores, not tasks or texts."""

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Generic, NamedTuple, Protocol, TypeVar, runtime_checkable

import torch
from torch import Tensor, nn

from headway.errors import HeadwayError
from headway.nn.dropout import soften
from headway.schedules import DECAYING, SCHEDULES
from headway.training import checkpoint
from headway.training.frozen import freeze
from headway.training.parameters import FlatAdam, load_weights
from headway.training.run_folder import RunFolder
from headway.training.settings import TrainingSettings
from headway.training.tensor_files import load_tensors, save_tensors


class Batch(NamedTuple):
    """What one loss is over; only its task knows the rows."""

    rows: Any
    units: int
    """What the loss is a mean over: how many target tokens, examples, .. are in it."""
    counts: Mapping[str, int]
    """What metrics.jsonl adds up, such as {"source_tokens": 310, "target_tokens": 290}."""


class Position(NamedTuple):
    """Where in the data the next batch begins, and what is carried there from the ones before."""

    countable: dict[str, Any]
    """Ready for JSON."""
    tensors: dict[str, Tensor]
    """Such as the state that a recurrent model carries from batch to batch."""


class Validation(NamedTuple):
    """How good the weights are now."""

    loss: float
    """Nats per unit, not smoothed."""
    score: float
    """What the best checkpoint is chosen by; higher is better."""
    score_name: str


@runtime_checkable
class Task(Protocol):
    """What the loop asks of a task."""

    unit: str
    """What losses are means over, in words: "target tokens"."""
    counted: tuple[str, ...]
    """The names of `Batch.counts`."""

    def next_batch(self) -> Batch:
        """Take the next batch."""
        ...

    def loss(self, model: nn.Module, batch: Batch) -> Tensor:
        """What is to be minimized, summed over the batch's units; carries the gradient."""
        ...

    def validate(self, model: nn.Module) -> Validation:
        """Measure on held-out data."""
        ...

    def position(self) -> Position:
        """Where the next batch begins."""
        ...

    def go_to(self, position: Position) -> None:
        """Continue there."""
        ...


@runtime_checkable
class Reporter(Protocol):
    """Who is told how it goes."""

    def step(
        self, progress: "Progress", *, loss: float, speed: float, unit: str, last_step: int
    ) -> None:
        """Some updates were made, at `speed` units a second."""
        ...

    def validation(self, progress: "Progress", result: Validation, *, best: bool) -> None:
        """The weights were validated and saved."""
        ...

    def say(self, message: str) -> None:
        """Anything else worth a line."""
        ...


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
    since_best: int = 0
    """Validations since the best one."""
    sums: dict[str, float] = field(default_factory=lambda: {"loss": 0.0, "units": 0, "time_s": 0})
    """Since the last line of metrics.jsonl."""
    landing: int = 0
    """The step at which patience ran out and the rate began to come down; 0 = not yet."""
    finished: bool = False

    @classmethod
    def of(cls, stored: Mapping[str, Any]) -> "Progress":
        """As state.json has it; the first version counted two kinds of token by fixed names."""
        known = dict(stored)
        if "counts" not in known:
            known["counts"] = {name: known.pop(name) for name in ("source_tokens", "target_tokens")}
            known["sums"] = {**known["sums"], "units": known["sums"]["tokens"]}
            del known["sums"]["tokens"]
        return cls(**known)


def last_step(landing: int, settings: TrainingSettings) -> int:
    """The last update: `max_steps`, or a tenth of it after `landing`, where there is one."""
    end = landing + max(1, settings.max_steps // 10) if landing else settings.max_steps
    return min(end, settings.max_steps)


def rate(step: int, settings: TrainingSettings, landing: int = 0) -> float:
    """The learning rate of update `step` (from 1) under the chosen schedule.

    After `landing` (a step; 0 = none) it falls in a straight line to a hundredth at `last_step`.
    """
    if landing and step > landing:
        done = (step - landing) / (last_step(landing, settings) - landing)
        return rate(landing, settings) * (1 - 0.99 * done)
    return SCHEDULES[settings.schedule](
        step,
        peak=settings.learning_rate,
        warmup_steps=settings.warmup_steps,
        max_steps=settings.max_steps,
    )


def dropout_share(step: int, settings: TrainingSettings) -> float:
    """How much of the dropout the update after `step` others is made with."""
    return min(1.0, step / settings.dropout_warmup) if settings.dropout_warmup else 1.0


AnyTask = TypeVar("AnyTask", bound=Task)
Result = TypeVar("Result")


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
        self.optimizer = FlatAdam(
            model,
            dtype,
            beta1=settings.adam_beta1,
            beta2=settings.adam_beta2,
            epsilon=settings.adam_epsilon,
        )
        self.device = self.optimizer.masters.device
        self.progress = Progress(counts=dict.fromkeys(task.counted, 0))

    def begin_with(self, weights: Mapping[str, Tensor]) -> Validation:
        """Take these weights for step 0: measured, saved, and kept if training finds none better.

        Raises:
            RunError: they are another model's.
        """
        clock = time.monotonic()
        self.optimizer.take(weights)
        result = self.validate()
        self.progress.time_s += time.monotonic() - clock
        self.save()
        return result

    def train(self, stop_asked: Callable[[], bool]) -> Progress:
        """Run to the end, or until `stop_asked`; either way a checkpoint is on the disk."""
        progress, settings = self.progress, self.settings
        clock = time.monotonic()
        losses: list[Tensor] = []
        while not progress.finished:
            losses.append(self.update())
            now = time.monotonic()
            progress.time_s += now - clock
            progress.sums["time_s"] += now - clock
            clock = now
            if progress.step % settings.log_every == 0 or self.validation_is_due():
                self.log(losses)
                losses.clear()
            if self.validation_is_due():
                self.validate()
                progress.time_s += time.monotonic() - clock
                clock = time.monotonic()
                self.save()
            elif stop_asked():
                progress.sums["loss"] += sum(loss.item() for loss in losses)
                self.save()
                break
            if stop_asked():
                break
        return progress

    def update(self) -> Tensor:
        """One optimizer update; returns its summed loss, still on the device."""
        progress, settings = self.progress, self.settings
        soften(self.model, dropout_share(progress.step, settings))
        batches = [self.task.next_batch() for _ in range(settings.accumulate)]
        n_units = sum(batch.units for batch in batches)
        losses = []
        for batch in batches:
            loss = self.task.loss(self.model, batch)
            (loss / n_units).backward()
            losses.append(loss.detach())
            for name, n in batch.counts.items():
                progress.counts[name] += n
        progress.step += 1
        self.optimizer.step(rate(progress.step, settings, progress.landing), settings.clip_norm)
        progress.sums["units"] += n_units
        return torch.stack(losses).sum()

    def validation_is_due(self) -> bool:
        """At every `checkpoint_every`-th update and at the last one."""
        step = self.progress.step
        end = last_step(self.progress.landing, self.settings)
        return step % self.settings.checkpoint_every == 0 or step == end

    def log(self, losses: list[Tensor]) -> None:
        """One line of metrics.jsonl, over the updates since the last."""
        progress, sums = self.progress, self.progress.sums
        loss = (sums["loss"] + sum(loss.item() for loss in losses)) / sums["units"]
        if not loss < float("inf"):
            raise HeadwayError(
                f"The loss must stay finite; it is {loss} at step {progress.step}. Lower "
                "--training.learning-rate or raise --training.warmup-steps; the last checkpoint "
                "is whole."
            )
        self.folder.log(
            {
                **self.counts(),
                "loss": round(loss, 5),
                "learning_rate": rate(progress.step, self.settings, progress.landing),
            }
        )
        speed = sums["units"] / max(sums["time_s"], 1e-9)
        end = last_step(progress.landing, self.settings)
        unit = self.task.unit
        self.reporter.step(progress, loss=loss, speed=speed, unit=unit, last_step=end)
        progress.sums = Progress().sums

    def counts(self) -> dict[str, Any]:
        """What every line of metrics.jsonl begins with."""
        progress = self.progress
        return {
            "step": progress.step,
            "time_s": round(progress.time_s, 3),
            **progress.counts,
        }

    def validate(self) -> Validation:
        """Score the float32 weights; the best so far become the run's model at once."""
        progress, settings = self.progress, self.settings
        random_state = torch.get_rng_state()
        result = self.measured(self.optimizer.weights(), self.task.validate)
        torch.set_rng_state(random_state)
        progress.validated.append(progress.step)
        best = result.score > progress.best_score
        if best:
            progress.best_step, progress.best_score = progress.step, result.score
            save_tensors(self.optimizer.weights(), self.folder.model)
        progress.since_best = 0 if best else progress.since_best + 1
        if 0 < settings.patience <= progress.since_best and not progress.landing:
            self.end_early()
        if progress.step >= last_step(progress.landing, settings):
            progress.finished = True
        self.folder.log(
            {
                **self.counts(),
                "valid_loss": round(result.loss, 5),
                result.score_name: round(result.score, 3),
            }
        )
        self.reporter.validation(progress, result, best=best)
        return result

    def end_early(self) -> None:
        """Patience ran out: stop, or first bring a rate that is to decay down to its end."""
        progress = self.progress
        if self.settings.schedule not in DECAYING:
            progress.finished = True
            return
        progress.landing = progress.step
        self.reporter.say(
            f"no better score in {progress.since_best} validations: the rate comes down and "
            f"training ends at step {last_step(progress.landing, self.settings):,}"
        )

    def save(self) -> None:
        """A checkpoint that `resume` can go on from; older ones that nobody needs go."""
        random_state = {"cpu": torch.get_rng_state()}
        if self.device.type == "cuda":
            random_state["cuda"] = torch.cuda.get_rng_state(self.device)
        tensors = {f"random.{name}": state for name, state in random_state.items()}
        tensors |= {f"adam.{name}": tensor for name, tensor in self.optimizer.state().items()}
        position = self.task.position()
        tensors |= {f"position.{name}": tensor for name, tensor in position.tensors.items()}
        state = {"progress": asdict(self.progress), "position": position.countable}
        folder, progress = self.folder.checkpoints, self.progress
        self.folder.keep_log()
        checkpoint.write(folder, progress.step, self.optimizer.weights(), tensors, state)
        recent = checkpoint.resumable(folder)[-2:]
        window = self.averaged() + progress.validated[-self.settings.average :]
        checkpoint.keep_only(folder, to_resume=recent, weights=window)

    def averaged(self) -> list[int]:
        """The steps whose weights the average at the end is over: the last ones up to the best."""
        progress = self.progress
        up_to_best = [step for step in progress.validated if step <= progress.best_step]
        return up_to_best[-self.settings.average :]

    def resume(self) -> bool:
        """Go back to the newest whole checkpoint; False when there is none."""
        saved = checkpoint.read_newest(self.folder.checkpoints, self.reporter.say)
        self.folder.cut_log(-1 if saved is None else saved.step)
        if saved is None:
            return False
        self.optimizer.restore(saved.weights, below("adam.", saved.resume))
        torch.set_rng_state(saved.resume["random.cpu"])
        if self.device.type == "cuda" and "random.cuda" in saved.resume:
            torch.cuda.set_rng_state(saved.resume["random.cuda"], self.device)
        self.progress = Progress.of(saved.state["progress"])
        self.task.go_to(Position(saved.state["position"], below("position.", saved.resume)))
        return True

    def load(self, path: Path) -> None:
        """Put saved weights into the float32 twin."""
        load_weights(self.twin, load_tensors(path))

    def choose(self, score: Callable[[nn.Module], float]) -> str:
        """Leave the weights that score best in the run, and say which they are.

        In the running are the best and the last checkpoint, the average up to the best and the
        average of the last ones. `score` sees each in the float32 twin, and higher is better; it
        may cost more than a validation, and be closer to how the model will be used.
        """
        progress, folder = self.progress, self.folder
        if not progress.best_step:
            return "the checkpoint that training began with, as nothing better was found"
        last = progress.validated[-self.settings.average :]
        up_to_best = self.averaged()
        names = {
            tuple(last): f"the average of the last {len(last)} checkpoints",
            tuple(up_to_best): f"the average of {len(up_to_best)} checkpoints up to the best",
            (last[-1],): f"the last checkpoint, step {last[-1]}",
            (progress.best_step,): f"the best checkpoint, step {progress.best_step}",
        }
        if len(names) == 1:
            return names[(progress.best_step,)]
        # None from `folder.model`: that is the choice already if a kill came right after this.
        scores = {
            steps: self.measured(checkpoint.average(folder.checkpoints, steps), score)
            for steps in names
        }
        chosen = max(scores, key=scores.__getitem__)
        save_tensors(checkpoint.average(folder.checkpoints, chosen), folder.model)
        others = ", ".join(f"{names[steps]} {value:.2f}" for steps, value in scores.items())
        return f"{names[chosen]} ({others})"

    def measured(self, weights: Mapping[str, Tensor], by: Callable[[nn.Module], Result]) -> Result:
        """What `by` finds of these weights in the float32 twin."""
        load_weights(self.twin, weights)
        with torch.inference_mode():
            return by(self.twin)


def below(prefix: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Those whose names begin so, without it."""
    return {
        name.removeprefix(prefix): tensor
        for name, tensor in tensors.items()
        if name.startswith(prefix)
    }
