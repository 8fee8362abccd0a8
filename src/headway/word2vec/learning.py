"""Learning word vectors: what `headway.runs.task_spec.Learner` is for them.

Stretches of the corpus go to `headway.word2vec.updates` in the order of the text, each to whichever
thread is free; the rate falls in a line from the first to the last. One thread gives the same bits,
stopped or not. Several change the same vectors without locks (Recht et al. 2011): as good, but no
two trainings are alike.
"""

import math
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, replace
from itertools import takewhile
from typing import Any, cast

import numpy as np
import torch

from headway.core import checkpoint
from headway.core.errors import ConfigError, HeadwayError, StoppedError, command
from headway.core.learning import clock, drawn
from headway.core.tensor_files import save_tensors
from headway.core.training_interfaces import Progress, Reporter
from headway.language_models.counting import refuse_unused
from headway.operations.time_budget import seconds
from headway.runs.console import ConsoleReporter, stop_on_signal
from headway.runs.fitting import time_to_learn
from headway.runs.parent import Parent
from headway.runs.settings import Settings
from headway.runs.task_spec import Learned, Learner, Run
from headway.word2vec.corpus import VectorCorpus
from headway.word2vec.kernel import kernel_library
from headway.word2vec.model import Word2Vec
from headway.word2vec.objective import Counted, Objective
from headway.word2vec.settings import VectorTraining
from headway.word2vec.updates import updates

RATES = {"cbow": 0.05, "skip-gram": 0.025}
"""Where none is set: word2vec's own."""
SEEN, LEAST_PASSES, MOST_PASSES = 20_000_000, 5, 50
"""Words to train on where no length is set: vectors of a small corpus need more passes."""
MOST_LINES = 500
"""In metrics.jsonl."""
CHECKPOINT_S = 300.0
"""Between checkpoints where no number of stretches is set: they change nothing that is learned."""
SHOWN_S = 0.5
"""Between two moves of the bar."""
REHEARSED_S = 2.0
"""How long the speed is measured, of a budget a tenth at most."""


class VectorTrainer:
    """Makes the updates of a run, saves where it is, and tells how it goes."""

    def __init__(self, run: Run, reporter: Reporter) -> None:
        self.run, self.reporter, self.folder = run, reporter, run.folder
        self.corpus: VectorCorpus = run.data
        self.settings: VectorTraining = run.settings.training
        seed, self.threads = run.settings.runtime.seed, run.runtime.threads
        model = drawn(lambda: run.spec.build(run.settings, run.data.vocabulary), seed, CPU)
        self.model = cast(Word2Vec, model).requires_grad_(False)
        self.model.counts.copy_(torch.from_numpy(self.corpus.counts))
        config = run.settings.model
        objective = Objective(
            direction=self.model.direction,
            window=config.window,
            negatives=config.negatives,
            hierarchical=config.objective == "hierarchical-softmax",
            thin=self.settings.thin,
        )
        self.updates = updates(
            self.model.vectors.numpy(), self.model.outputs.numpy(), self.corpus.counts, objective,
            seed=seed, threads=self.threads,
        )  # fmt: skip
        self.progress = Progress(counts={"words": 0})
        self.last_step = self.settings.last_step(len(self.corpus))
        self.interval = -(-self.last_step // MOST_LINES)
        self.before = np.concatenate([[0], np.cumsum(self.corpus.n_ids)])
        self.clock = self.saved = self.shown = time.monotonic()
        self.since_shown = 0
        self.free = [*range(self.threads)]

    def rate(self, step: int) -> float:
        """The learning rate when so many stretches are learned."""
        first, last = self.settings.learning_rate, self.settings.last_rate
        return first + (last - first) * self.n_ids(step) / self.n_ids(self.last_step)

    def n_ids(self, step: int) -> int:
        """Ids in so many stretches."""
        passes, rest = divmod(step, len(self.corpus))
        return passes * int(self.before[-1]) + int(self.before[rest])

    def learn_stretch(self, step: int) -> Counted:
        """The update after so many others, on a thread that is free."""
        stretch = self.corpus.stretch(step % len(self.corpus))
        rates = self.rate(step), self.rate(step + 1)
        thread = self.free.pop()  # as many as there are workers, so one is left
        counted = self.updates.update(*stretch, *rates, thread=thread)
        self.free.append(thread)
        return counted

    def learned(self, steps: Iterator[int]) -> Iterator[Counted]:
        """Some stretches, on all threads; what each has counted, in order.

        What is under way when the iterator is closed is still learned, and not told.
        """
        with ThreadPoolExecutor(self.threads) as pool:
            waiting = deque[Future[Counted]]()
            for step in steps:
                waiting.append(pool.submit(self.learn_stretch, step))
                if len(waiting) > self.threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()

    def train(self, stop_asked: Callable[[], bool]) -> None:
        """Learn to the end, or until `stop_asked`; either way a checkpoint is on the disk."""
        self.clock = self.saved = self.shown = time.monotonic()
        stop = False
        while not (self.progress.finished or stop):
            stop = self.advance(stop_asked)
            self.save()

    def advance(self, stop_asked: Callable[[], bool]) -> bool:
        """Learn until a checkpoint is due; whether to stop, which was asked for."""
        stop = due = False
        every, begun = self.settings.checkpoint_every, self.progress.step
        limit = min(self.last_step, (begun // every + 1) * every) if every else self.last_step
        steps = takewhile(lambda _: not (stop or due), range(begun, limit))
        for counted in self.learned(steps):
            self.take_in(counted)
            stop = stop or stop_asked()
            due = due or (not every and time.monotonic() - self.saved > CHECKPOINT_S)
        self.progress.finished = self.progress.step >= self.last_step
        return stop and not self.progress.finished

    def take_in(self, counted: Counted) -> None:
        """Count a stretch that was learned, and tell of it where that is due."""
        progress = self.progress
        progress.step += 1
        progress.counts["words"] += counted.n_words
        progress.sums["loss"] += counted.nats
        progress.sums["units"] += counted.n_pairs
        self.since_shown += counted.n_words
        now = time.monotonic()
        progress.time_s, self.clock = progress.time_s + now - self.clock, now
        if now - self.shown >= SHOWN_S or progress.step == self.last_step:
            speed = self.since_shown / max(now - self.shown, 1e-9)
            self.reporter.step(
                progress, loss=self.loss(), speed=speed, unit="words", last_step=self.last_step
            )
            self.shown, self.since_shown = now, 0
        if progress.step % self.interval == 0 or progress.step == self.last_step:
            self.log()

    def loss(self) -> float:
        """Nats per pair since the last line of metrics.jsonl.

        Raises HeadwayError where it is no finite number.
        """
        sums = self.progress.sums
        loss = sums["loss"] / max(sums["units"], 1)
        if not math.isfinite(loss):
            raise HeadwayError(
                f"The loss must stay finite; it is {loss} at step {self.progress.step}. Lower "
                "--training.learning-rate; the last checkpoint is whole."
            )
        return loss

    def log(self) -> None:
        """One line of metrics.jsonl."""
        progress = self.progress
        known = {"step": progress.step, "time_s": round(progress.time_s, 3), **progress.counts}
        found = {"loss": round(self.loss(), 5), "learning_rate": self.rate(progress.step)}
        self.folder.log({**known, **found})
        progress.sums = Progress().sums

    # -- checkpoints ------------------------------------------------------------------------------

    def save(self) -> None:
        """A checkpoint that `resume` can go on from; of older ones the last is kept."""
        self.loss()
        progress, weights = self.progress, dict(self.model.state_dict())
        random = torch.from_numpy(self.updates.states.all().view(np.int64))
        state = {"progress": asdict(progress)}
        self.folder.keep_log()
        folder = self.folder.checkpoints
        checkpoint.write(folder, progress.step, weights, {"random": random}, state)
        recent = checkpoint.resumable(folder)[-2:]
        checkpoint.keep_only(folder, to_resume=recent, weights=())
        self.saved = time.monotonic()

    def resume(self) -> bool:
        """Be as at the newest whole checkpoint; False when there is none."""
        saved = checkpoint.read_newest(self.folder.checkpoints, self.reporter.say)
        self.folder.cut_log(saved.step if saved else -1)
        if saved is None:
            return False
        self.take(saved.weights)
        self.updates.states.set(saved.resume["random"].numpy().view(np.uint64))
        self.progress = Progress(**saved.state["progress"])
        return True

    def take(self, weights: dict[str, torch.Tensor]) -> None:
        """Begin with these vectors."""
        for name in ("vectors", "outputs"):
            getattr(self.model, name).copy_(weights[name])


CPU = torch.device("cpu")


def fit(run: Run) -> Settings:
    """The run's settings with rate and length, where they were left open."""
    refuse_unused(run.settings.runtime, "word vectors are learned by a program of their own")
    training: VectorTraining = run.settings.training
    rate = training.learning_rate or RATES[run.settings.model_type]
    if rate < training.last_rate:
        raise ConfigError(
            f"the learning rate falls: training.last_rate {training.last_rate:g} must be at most "
            f"training.learning_rate {rate:g}. Leave one of them out."
        )
    training = replace(training, learning_rate=rate)
    if training.budget and not (training.max_steps or training.epochs):
        return replace(run.settings, training=within_budget(run, training))
    if training.budget:
        run.say(f"a length was asked for: the budget of {training.budget} does not shorten it")
    if not (training.max_steps or training.epochs):
        n_ids = run.spec.sizes(run.data).per_pass
        epochs = min(max(-(-SEEN // n_ids), LEAST_PASSES), MOST_PASSES)
        run.say(f"{epochs} times through the corpus of {n_ids:,} words, ends of lines included")
        training = replace(training, epochs=epochs)
    return replace(run.settings, training=training)


def within_budget(run: Run, training: VectorTraining) -> VectorTraining:
    """As many stretches as the time allows, at the speed that is measured on the first ones."""
    corpus: VectorCorpus = run.data
    budget_s = cast(float, seconds(training.budget))
    settings = replace(run.settings, training=replace(training, max_steps=10**9))
    trainer = VectorTrainer(replace(run, settings=settings), cast(Any, None))
    begun, for_s = time.monotonic(), min(REHEARSED_S, budget_s / 10)
    steps = iter(lambda: time.monotonic() - begun > for_s, True)  # until it is over
    n_timed = sum(1 for _ in trainer.learned(n for n, _ in enumerate(steps)))
    step_s = (time.monotonic() - begun) / n_timed
    left_s = time_to_learn(budget_s - (time.monotonic() - run.started), 0.0)
    most = MOST_PASSES * len(corpus)
    n_steps = min(max(1, math.floor(left_s / step_s)), most)
    passes = n_steps / len(corpus)
    speed = corpus.n_ids.mean() / step_s
    why = f"at {speed:,.0f} words/s that takes about {clock(n_steps * step_s)}"
    if n_steps == most:
        why += f"; no more than {MOST_PASSES} times"
    run.say(f"{n_steps:,} stretches ({passes:.1f} times through the corpus): {why}")
    if passes < 1:
        run.say("WARNING: the budget ends before the corpus does: only its beginning is read")
    elif n_steps < most and (seen := n_steps * corpus.n_ids.mean()) < SEEN / 2:
        minutes = math.ceil(SEEN / corpus.n_ids.mean() * step_s / 60)
        run.say(
            f"WARNING: {seen:,.0f} words teach little, and then all words are near each other: "
            f"--budget {minutes}m is enough for {SEEN:,}"
        )
    return replace(training, max_steps=n_steps)


def learn(run: Run, resume: bool) -> Learned:
    """Learn to the end and leave the model.

    Raises StoppedError after Ctrl-C, SIGTERM or SIGHUP, with everything saved.
    """
    reporter = ConsoleReporter(run.settings.training.last_step(len(run.data)))
    if run.runtime.device != CPU:
        run.say("word vectors are learned on the processor")
    if run.runtime.threads > 1:
        run.say(
            f"{run.runtime.threads} threads change the same vectors without locks: no two "
            "trainings are alike. --runtime.threads 1 repeats to the bit"
        )
    if isinstance(why := kernel_library(), str):
        run.say(f"learns by torch, which is slower than the compiled kernel: {why}")
    with reporter.bar:
        trainer = VectorTrainer(run, reporter)
        if resume and trainer.resume():
            run.say(f"goes on from step {trainer.progress.step:,}")
        elif resume:
            run.say("no checkpoint yet: starts at step 0")
        if not trainer.progress.step and run.settings.training.init_from:
            trainer.take(Parent.of_record(run.folder).weights())
        with stop_on_signal(reporter.say) as stop_asked:
            trainer.train(stop_asked)
    progress, folder = trainer.progress, run.folder
    if not progress.finished:
        raise StoppedError(
            f"stopped at step {progress.step:,} of {trainer.last_step:,}, saved. "
            f"Go on with: {command('train', '--out', folder.path, '--resume')}"
        )
    save_tensors(dict(trainer.model.state_dict()), folder.model)
    n_words, passes = progress.counts["words"], progress.step / len(run.data)
    per_s = n_words / max(progress.time_s, 1e-9)
    return Learned(
        "as they were at the end",
        f"{n_words:,} words, {passes:.4g} times through the corpus, {clock(progress.time_s)}\n"
        f"({per_s:,.0f} words/s), seed {run.settings.runtime.seed}, on "
        f"{run.runtime.threads} CPU thread{'s'[: run.runtime.threads > 1]}.",
    )


LEARNER = Learner(fit, learn)
"""One of the ways to learn: see `headway.runs.gradient.GRADIENT`."""
