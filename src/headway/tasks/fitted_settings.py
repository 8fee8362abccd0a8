"""A run's settings with everything filled in that the user left open, each with its reason."""

import time
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import torch

from headway import runtime as machine_runtime
from headway.config import Sections, merge
from headway.data.prepared import Prepared
from headway.decoding.settings import DecodingSettings
from headway.errors import ConfigError
from headway.runtime import Runtime
from headway.tasks import fitting
from headway.tasks.building import build_model, build_trainer
from headway.tasks.mixture import tags_seen
from headway.tasks.presets import preset
from headway.tasks.settings import Settings, TranslationData
from headway.text.corpora import languages
from headway.text.mixing import absolute_pairs_files
from headway.training.run_folder import RunFolder
from headway.training.settings import seconds

Say = Callable[[str], None]

TIMED_UPDATES = 24
"""Updates that the speed of a run is measured on, after three to warm up."""


def fit(
    given: Sections,
    named_preset: str | None,
    prepared: Prepared,
    runtime: Runtime,
    say: Say,
    started: float,
) -> Settings:
    """Fill in what the user left open, and say each choice with its reason.

    `given` is what the user set, `started` when the command began (`time.monotonic`).
    """
    asked = Settings.of(given)
    data, tuned = asked.data, bool(asked.training.init_from)
    corpus = fitting.Corpus(
        distinct_tokens=int(prepared.train.lengths["target"].sum()) + len(prepared.train),
        target_tokens=pass_tokens(prepared),
    )
    sections = given
    fitted_preset = ""
    if named_preset:
        sections = merge(preset(named_preset), sections)
    elif not tuned:
        fitted_preset, why = fitting.fit_preset(
            corpus,
            budget_s=seconds(asked.training.budget),
            on_gpu=runtime.device.type == "cuda",
        )
        say(f"preset {fitted_preset}: {why}")
        sections = merge(preset(fitted_preset), sections)
    found = languages(data.corpus(), data.source_language, data.target_language)
    sections = merge(
        sections,
        {
            "text": {"vocabulary_size": len(prepared.subwords), "codes": prepared.codes},
            "data": absolute(data, *found) | {"tags": tags_seen(prepared, data.tags)},
            "runtime": {"threads": runtime.threads},
        },
    )
    settings = Settings.of(sections)
    training = settings.training
    if "length_penalty" in sections.get("decoding", {}):
        training = replace(training, tune_length_penalty=False)
    if not training.batch_tokens:
        training = replace(training, batch_tokens=4096)
    if not training.learning_rate and training.schedule != "paper":
        training = replace(training, learning_rate=1e-3)
    settings = replace(settings, training=training)
    if not (training.max_steps and training.checkpoint_every):
        settings = fit_length(settings, prepared, runtime, corpus, say, started)
    if not settings.training.warmup_steps:
        warmup = fitting.fit_warmup(settings.training.max_steps, tuned=tuned)
        settings = replace(settings, training=replace(settings.training, warmup_steps=warmup))
    if fitted_preset in ("tiny", "small"):
        settings = fit_dropout(settings, given, corpus, say)
    model = build_model(settings, prepared.subwords)
    n_parameters = sum(parameter.numel() for parameter in model.parameters())
    say(f"{settings.model_type} of {n_parameters:,} parameters, seed {settings.runtime.seed}")
    return settings


def fit_dropout(settings: Settings, given: Sections, corpus: fitting.Corpus, say: Say) -> Settings:
    """More dropout the more often the same text will be seen, growing while the rate warms up."""
    training = settings.training
    passes = training.max_steps * training.batch_tokens / corpus.target_tokens
    dropout, why = fitting.fit_dropout(passes)
    if "dropout" not in given.get("model", {}):
        say(f"dropout {dropout}: {why}")
        settings = replace(settings, model=replace(settings.model, dropout=dropout))
    if "dropout_warmup" not in given.get("training", {}):
        training = replace(training, dropout_warmup=training.warmup_steps)
    return replace(settings, training=training)


def absolute(
    data: TranslationData, source_language: str | None, target_language: str | None
) -> dict[str, Any]:
    """The data settings as stored: a run can be resumed from any folder."""
    stored = asdict(data)
    for key in ("source", "target", "valid_source", "valid_target"):
        stored[key] = [Path(path).absolute() for path in stored[key]]
    return {
        **stored,
        "pairs": absolute_pairs_files(data.pairs),
        "valid_pairs": absolute_pairs_files(data.valid_pairs),
        "source_language": source_language,
        "target_language": target_language,
    }


def pass_tokens(prepared: Prepared) -> int:
    """Target tokens of one pass, end markers included, each pair as often as it weighs."""
    lengths = prepared.train.lengths["target"] + 1
    return round(float(lengths.sum() if prepared.weights is None else lengths @ prepared.weights))


def fit_length(
    settings: Settings,
    prepared: Prepared,
    runtime: Runtime,
    corpus: fitting.Corpus,
    say: Say,
    started: float,
) -> Settings:
    """How many updates, and how many between validations, from the speed measured here."""
    training = settings.training
    budget_s = seconds(training.budget)
    measuring = replace(training, max_steps=training.max_steps or 10**6, warmup_steps=10**6)
    trainer = build_trainer(
        replace(settings, training=measuring), prepared, runtime, RunFolder(Path()), Silent()
    )
    for _ in range(3):
        trainer.update()
    counted = trainer.progress.target_tokens
    clock = time.monotonic()
    for _ in range(TIMED_UPDATES):
        trainer.update()
    machine_runtime.synchronize(runtime)
    step_s = (time.monotonic() - clock) / TIMED_UPDATES
    tokens_per_step = (trainer.progress.target_tokens - counted) / TIMED_UPDATES
    clock = time.monotonic()
    with torch.inference_mode():  # as many steps as the sources are long: about what will come
        short = DecodingSettings(method="greedy", max_extra_length=0)
        trainer.task.translate(trainer.twin, short)
    validation_s = time.monotonic() - clock
    left_s = None if budget_s is None else budget_s - (time.monotonic() - started)
    if left_s is not None and left_s < 5 * step_s + 4 * validation_s:
        raise ConfigError(
            f"A budget must leave time to learn; after {time.monotonic() - started:.0f} s of "
            f"preparation {max(left_s, 0):.0f} s of {training.budget} are left, and an update "
            f"takes {step_s:.2f} s. Give a longer --budget or a smaller --preset."
        )
    tuned = bool(training.init_from)
    n_validations = fitting.fit_validations(left_s, validation_s, tuned=tuned)
    max_steps = training.max_steps
    if not max_steps:
        max_steps, why = fitting.fit_steps(
            corpus,
            tokens_per_step=tokens_per_step,
            step_s=step_s,
            validation_s=validation_s,
            left_s=left_s,
            n_validations=n_validations,
            tuned=tuned,
        )
        epochs = max_steps * tokens_per_step / corpus.target_tokens
        say(
            f"{max_steps:,} updates of {tokens_per_step:,.0f} target tokens ({epochs:.1f} times "
            f"through the corpus): {why}; at {tokens_per_step / step_s:,.0f} target tokens/s that "
            f"takes about {(max_steps * step_s + n_validations * validation_s) / 60:.0f} min"
        )
    every = training.checkpoint_every or max(1, max_steps // n_validations)
    return replace(
        settings, training=replace(training, max_steps=max_steps, checkpoint_every=every)
    )


class Silent:
    """A reporter that tells nobody, for updates that are only timed."""

    def step(self, *_: Any, **__: Any) -> None:
        """Nothing."""

    validation = step
    say = step
