"""From two text files to a run folder that translates: the whole job on one page.

`headway train` is made of the same parts, with what hangs on them.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, get_type_hints

import numpy as np
import torch
from torch import nn

from headway.core import runtime as machine
from headway.core.cleaning import refuse_unusable
from headway.core.config import Sections, build, merge
from headway.core.dataset import Dataset, PairsSettings, prepare_in_memory
from headway.core.disk import checksum
from headway.core.errors import ConfigError, DataError, StoppedError, command
from headway.core.hypothesis import DecodingSettings
from headway.core.optimizer import FlatAdam, load_weights
from headway.core.presets import PRESETS
from headway.core.run_folder import TRANSLATION, RunFolder
from headway.core.schedules import paper_peak
from headway.core.setting_errors import unknown_name
from headway.core.subwords import TextSettings
from headway.core.tensor_files import load_tensors
from headway.core.trainer import Trainer
from headway.core.training_interfaces import Callback, Progress, Reporter, Task, Validation
from headway.core.training_settings import TrainingSettings
from headway.core.transformer import Transformer, TransformerConfig
from headway.core.translation_task import TranslationTask, TranslationTraining

AnyTask = TypeVar("AnyTask", bound=Task)
Say = Callable[[str], None]
PASSES, VALIDATIONS = 10, 20
"""Through the corpus, and in all, where the length of a training was left open."""


class TranslationSettings(NamedTuple):
    """One dataclass a section of config.toml."""

    text: TextSettings
    data: PairsSettings
    model: TransformerConfig
    training: TranslationTraining
    decoding: DecodingSettings
    runtime: machine.RuntimeSettings

    @classmethod
    def of(cls, given: Mapping[str, Mapping[str, Any]]) -> "TranslationSettings":
        """Check every section; raises ConfigError for what is unknown or does not fit."""
        sections, kinds = merge({"model": {}}, given), get_type_hints(cls)
        if others := sections.keys() - kinds.keys() - {"run"}:
            raise ConfigError(f"there are the sections {', '.join(kinds)}; got {min(others)}.")
        if (kind := sections["model"].pop("type", "transformer")) != "transformer":
            raise ConfigError(f"headway.core trains a transformer; got {kind}. See headway.train.")
        built = {
            name: build(of, sections.get(name, {}), section=name) for name, of in kinds.items()
        }
        return cls(**built)

    def sections(self) -> Sections:
        """As written to config.toml."""
        own = {name: asdict(section) for name, section in self._asdict().items()}
        typed = {"type": "transformer", **own["model"]}
        return {"run": {"task": TRANSLATION}, **own, "model": typed}


def train(
    source: str | Path,
    target: str | Path,
    out: str | Path,
    *,
    preset: str = "tiny",
    sections: Mapping[str, Mapping[str, Any]] | None = None,
    resume: bool = False,
    say: Say = print,
) -> RunFolder:
    """Learn to translate the lines of `source` into those of `target`; `out` becomes a run folder.

    `sections` go on top of the preset: `{"training": {"max_steps": 1000}}`. With `resume`, a run
    that was stopped or killed goes on, bit for bit as if it had not been.

    Raises UserError where a file, a setting or a folder cannot be used.
    """
    folder = RunFolder(Path(out))
    again = resume and folder.config.exists()
    if again:
        settings = TranslationSettings.of(folder.settings())
        if folder.finished:
            say(f"{out} is finished; nothing to resume.")
            return folder
    else:
        folder.refuse_taken()
        files = {"source": [str(Path(source).absolute())], "target": [str(Path(target).absolute())]}
        if preset not in PRESETS:
            raise unknown_name("preset", preset, PRESETS)
        settings = TranslationSettings.of(merge(PRESETS[preset], {"data": files}, sections or {}))
    runtime = machine.start(settings.runtime)
    data = prepare_in_memory(settings.data, settings.text, seed=settings.runtime.seed, say=say)
    refuse_unusable(data.report)
    sums = {str(path): checksum(path) for pair in settings.data.files() for path in pair}
    if again:
        refuse_changed(folder, sums)
    else:
        settings = filled_in(settings, data)
        record = {"train": data.report.as_dict(), "valid": data.valid_report.as_dict()}
        folder.write_data({"sha256": sums, **record, "versions": {"headway": "core"}})
        data.subwords.save(folder.tokenizer)
        folder.write_settings(settings.sections())
    trainer = translation_trainer(settings, data, runtime, folder, say)
    learn(trainer, say, resume=again)
    task = trainer.task
    chosen = trainer.choose(lambda model: task.measured(model, settings.decoding))
    load_weights(trainer.eval_model, load_tensors(folder.model))
    folder.write_card(card(settings, task, trainer.eval_model, f"The weights are {chosen}."))
    folder.finish(settings.sections())
    return folder


def translation_trainer(
    settings: TranslationSettings,
    data: Dataset,
    runtime: machine.Runtime,
    folder: RunFolder,
    say: Say,
) -> Trainer[TranslationTask]:
    """Transformer, task and optimizer of a run, all from its seed."""
    training, seed = settings.training, settings.runtime.seed
    sizes = {"vocabulary_size": len(data.subwords), "padding": data.subwords.special.padding}
    built = partial(Transformer, settings.model, **sizes)
    task = TranslationTask(
        data,
        training,
        valid_rows=np.arange(len(data.valid))[: training.valid_sentences],
        seed=seed,
        device=runtime.device,
        language=settings.data.target_language,
    )
    eval_model, model = (drawn(built, seed, runtime.device) for _ in range(2))
    lines, dtype = ValidationLines(say), runtime.dtype
    return trainer_of(model, eval_model, task, folder, training, dtype=dtype, reporter=lines)


def filled_in(settings: TranslationSettings, data: Dataset) -> TranslationSettings:
    """What was left open, by rules of thumb; `headway train` measures the machine instead."""
    training = usual(settings.training)
    tokens = int(data.train.lengths["target"].sum()) + len(data.train)
    steps = training.max_steps or math.ceil(PASSES * tokens / training.batch_tokens)
    every = training.checkpoint_every or math.ceil(steps / VALIDATIONS)
    training = replace(training, max_steps=steps, checkpoint_every=every)
    training = replace(training, warmup_steps=training.warmup_steps or fitted_warmup(steps))
    if training.schedule == "paper":
        peak = paper_peak(settings.model.d_model, training.warmup_steps)
        training = replace(training, learning_rate=peak)
    text = replace(settings.text, vocabulary_size=len(data.subwords))
    return settings._replace(training=training, text=text)


def usual(training: TrainingSettings) -> Any:
    """Batches of 4,096 tokens and a peak rate of 0.001, where these were left open."""
    rate = 0.0 if training.schedule == "paper" else 1e-3
    rate, size = training.learning_rate or rate, training.batch_tokens or 4096
    return replace(training, learning_rate=rate, batch_tokens=size)


def fitted_warmup(max_steps: int, *, tuned: bool = False) -> int:
    """An eighth of the updates, at most the paper's 4000.

    A twentieth for a model that begins with another run's weights: only the optimizer is new.
    """
    return min(4000, max(1, max_steps // (20 if tuned else 8)))


def refuse_changed(folder: RunFolder, sums: Mapping[str, str]) -> None:
    """Raise DataError where a file is no longer what the run began with."""
    record = folder.record()["sha256"]
    for name, found in sums.items():
        if record.get(name) != found:
            raise DataError(
                f"A run goes on with the files that it began with; {name} has changed since. "
                "Put it back, or start a new run."
            )


# -- the parts that `headway train` is made of, too -----------------------------------------------


def clock(seconds: float) -> str:
    """Seconds as 1:02:03 or 02:03."""
    minutes, rest = divmod(max(round(seconds), 0), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes:02}:{rest:02}"


class ValidationLines:
    """A line for each validation; a `headway.core.training_interfaces.Reporter`."""

    def __init__(self, say: Say) -> None:
        self.say = say

    def step(
        self, progress: Progress, *, loss: float, speed: float, unit: str, last_step: int
    ) -> None:
        """Nothing is said."""

    def validation(self, progress: Progress, result: Validation, *, best: bool) -> None:
        """Step, time, loss and score."""
        others = "".join(
            f"  {name.replace('_', ' ')} {value:.2f}" for name, value in result.others.items()
        )
        self.say(
            f"step {progress.step:,}  {clock(progress.time_s)}  validation loss {result.loss:.3f}  "
            f"{result.score_name.upper()} {result.score:.2f}{others}"
            f"{'  best so far' if best else ''}"
        )


def drawn(build: Callable[[], nn.Module], seed: int, device: torch.device) -> nn.Module:
    """A model with weights drawn from a seed."""
    torch.manual_seed(seed)
    return build().to(device)


def trainer_of(
    model: nn.Module,
    eval_model: nn.Module,
    task: AnyTask,
    folder: RunFolder,
    settings: TrainingSettings,
    *,
    dtype: torch.dtype,
    reporter: Reporter,
    callbacks: Sequence[Callback] = (),
) -> Trainer[AnyTask]:
    """Adam for a model, and its trainer; parameters that need no gradient stay as they are."""
    betas, epsilon = (settings.adam_beta1, settings.adam_beta2), settings.adam_epsilon
    optimizer = FlatAdam(model, dtype, betas=betas, epsilon=epsilon)
    return Trainer(
        model, eval_model, optimizer, task, folder, settings, reporter=reporter, callbacks=callbacks
    )


def learn(
    trainer: Trainer[AnyTask],
    say: Say,
    *,
    resume: bool,
    begin: Callable[[Trainer[AnyTask]], object] = lambda trainer: None,
    stop_asked: Callable[[], bool] = lambda: False,
) -> None:
    """Make the updates that are left; `begin` comes before the first.

    Raises StoppedError where `stop_asked` said so, with everything saved.
    """
    if resume and trainer.resume():
        say(f"goes on from step {trainer.progress.step:,}")
    elif resume:
        say("no checkpoint yet: starts at step 0")
    begin(trainer)
    progress = trainer.train(stop_asked)
    if not progress.finished:
        raise StoppedError(
            f"stopped at step {progress.step:,} of {trainer.last_step:,}, saved. "
            f"Go on with: {command('train', '--out', trainer.folder.path, '--resume')}"
        )


def card(
    settings: TranslationSettings, task: TranslationTask, model: nn.Module, weights: str
) -> str:
    """README.md of a run: what it is, and its scores on the validation sentences."""
    with torch.inference_mode():
        loss = task.validation_loss(model)
        bleu = task.bleu(model, settings.decoding)
    languages = settings.data.source_language or "source", settings.data.target_language or "target"
    return f"""# {languages[0]} -> {languages[1]}, trained with headway.core

{weights} Every setting is in `config.toml`.

On {len(bleu.counts):,} validation sentences, by which the weights were chosen: scores on other text
will be lower. BLEU is {bleu.score():.2f}, its standard error {bleu.noise():.2f}
(`{bleu.signature()}`), cross-entropy {loss:.4f} nats per target token.
"""
