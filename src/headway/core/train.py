"""From two text files to a run folder that translates: the whole job on one page.

`headway train` is made of the same parts, with what hangs on them.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, get_type_hints

import numpy as np
import torch
from torch import nn

from headway.core import runtime as machine
from headway.core.cleaning import refuse_unusable, refuse_unvalidated
from headway.core.config import Sections, build, merge
from headway.core.dataset import Dataset, PairsSettings, prepare_in_memory
from headway.core.disk import checksum
from headway.core.errors import ConfigError, DataError
from headway.core.hypothesis import DecodingSettings
from headway.core.learning import Say, ValidationLines, drawn, learn, trainer_of
from headway.core.optimizer import load_weights
from headway.core.presets import PRESETS
from headway.core.run_folder import TRANSLATION, RunFolder
from headway.core.schedules import paper_peak
from headway.core.setting_errors import unknown_name
from headway.core.subwords import TextSettings
from headway.core.tensor_files import load_tensors
from headway.core.trainer import Trainer
from headway.core.training_settings import fitted_warmup, usual
from headway.core.transformer import Transformer, TransformerConfig
from headway.core.translation_task import TranslationTask, TranslationTraining

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
    preset: str | None = None,
    sections: Mapping[str, Mapping[str, Any]] | None = None,
    resume: bool = False,
    say: Say = print,
) -> RunFolder:
    """Learn to translate the lines of `source` into those of `target`; `out` becomes a run folder.

    `sections` go on top of the preset, which is `tiny` if left out: `{"training": {"max_steps":
    1000}}`. With `resume`, a run that was stopped or killed goes on, bit for bit as if it had not
    been; what is given then is what it began with, or has, or is left out.

    Raises UserError where a file, a setting or a folder cannot be used.
    """
    folder = RunFolder(Path(out))
    again = resume and folder.config.exists()
    if preset not in (None, *PRESETS):
        raise unknown_name("preset", str(preset), PRESETS)
    files = {"source": [str(Path(source).absolute())], "target": [str(Path(target).absolute())]}
    given = merge(PRESETS[preset] if preset else {}, {"data": files}, sections or {})
    if again:
        settings = TranslationSettings.of(folder.settings())
        refuse_other_settings(folder, settings, given)
        if folder.finished:
            say(f"{out} is finished; nothing to resume.")
            return folder
    else:
        folder.refuse_taken()
        settings = TranslationSettings.of(merge(PRESETS["tiny"] if preset is None else {}, given))
    runtime = machine.start(settings.runtime)
    data = prepare_in_memory(settings.data, settings.text, seed=settings.runtime.seed, say=say)
    refuse_unusable(data.report)
    refuse_unvalidated(data.valid_report, len(data.valid))
    sums = {str(path): checksum(path) for pair in settings.data.files() for path in pair}
    if again:
        refuse_changed(folder, sums)
    else:
        asked = {"sections": given_of(settings, given)}
        settings = filled_in(settings, data)
        record = {"train": data.report.as_dict(), "valid": data.valid_report.as_dict()}
        record = {"sha256": sums, "asked": asked, **record}
        folder.write_data({**record, "versions": {"headway": "core"}})
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
    size = training.batch_tokens * training.accumulate
    steps = training.max_steps or math.ceil(PASSES * tokens / size)
    every = training.checkpoint_every or math.ceil(steps / VALIDATIONS)
    training = replace(training, max_steps=steps, checkpoint_every=every)
    training = replace(training, warmup_steps=training.warmup_steps or fitted_warmup(steps))
    if training.schedule == "paper":
        peak = paper_peak(settings.model.d_model, training.warmup_steps)
        training = replace(training, learning_rate=peak)
    text = replace(settings.text, vocabulary_size=len(data.subwords))
    return settings._replace(training=training, text=text)


def given_of(settings: TranslationSettings, given: Sections) -> Sections:
    """Of these settings those that were given, as JSON has them."""
    whole = settings.sections()
    asked = {
        section: {key: value for key, value in whole[section].items() if key in keys}
        for section, keys in given.items()
    }
    return json.loads(json.dumps(asked, default=str))


def refuse_other_settings(
    folder: RunFolder, settings: TranslationSettings, given: Sections
) -> None:
    """Raise ConfigError where a run that goes on is given what it neither has nor was asked for."""
    asked = given_of(TranslationSettings.of(merge(settings.sections(), given)), given)
    had, once = given_of(settings, given), folder.record().get("asked", {}).get("sections", {})
    for section, keys in asked.items():
        for key, got in keys.items():
            stored = had[section][key]
            if got not in (stored, once.get(section, {}).get(key, stored)):
                raise ConfigError(
                    f"A resumed run keeps its settings and its files; [{section}] {key} is "
                    f"{stored!r}, got {got!r}. Leave it out, or start a new run."
                )


def refuse_changed(folder: RunFolder, sums: Mapping[str, str]) -> None:
    """Raise DataError where a file is no longer what the run began with."""
    record = folder.record()["sha256"]
    for name, found in sums.items():
        if record.get(name) != found:
            raise DataError(
                f"A run goes on with the files that it began with; {name} has changed since. "
                "Put it back, or start a new run."
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
