"""One training from files to a finished run folder: read, fit, train, choose, write the card."""

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch
from torch import nn

import headway
from headway import runtime as machine_runtime
from headway.config import Sections, merge
from headway.data.prepared import Prepared, prepare_corpus
from headway.decoding.settings import DecodingSettings
from headway.errors import ConfigError, DataError
from headway.models import MODELS
from headway.runtime import Runtime
from headway.tasks import fitting, model_card
from headway.tasks.presets import preset
from headway.tasks.settings import Settings, TranslationData
from headway.tasks.translation import TranslationTask
from headway.text.cleaning import refuse_unusable
from headway.text.corpora import languages
from headway.text.subwords import Subwords
from headway.training.console import ConsoleReporter
from headway.training.loop import Reporter, Trainer
from headway.training.run_folder import RunFolder
from headway.training.settings import seconds
from headway.training.stopping import StoppedError, stop_on_signal

LEAST_PAIRS = 20
"""Fewer than this teach nothing and leave nothing to validate on."""
TIMED_UPDATES = 12
"""Updates that the speed of a run is measured on, after three to warm up."""

Say = Callable[[str], None]


@dataclass(frozen=True)
class Request:
    """What the user asked for, before anything was looked at."""

    sections: Sections
    """The TOML file and the flags, merged."""
    out: Path
    preset: str | None = None
    resume: bool = False


def train_translator(request: Request, say: Say) -> RunFolder:
    """Train, or go on training, and leave a finished run folder.

    Raises UserError for what the user can put right, StoppedError after Ctrl-C or SIGTERM.
    """
    started = time.monotonic()
    known = RunFolder(request.out)
    if request.resume and known.config.exists():
        stored = known.settings()
        refuse_changes(request, stored)
        settings = Settings.of(stored)
        if known.card.exists():
            say(f"{request.out} is finished; nothing to resume.")
            return known
        subwords = Subwords.load(known.tokenizer)
        prepared = prepare(settings, say, subwords)
        refuse_changed_data(known, prepared)
        runtime = machine_runtime.start(settings.runtime)
        return run(known, settings, prepared, runtime, say, resume=True)
    RunFolder.refuse_taken(request.out)
    layers = [request.sections]
    if request.preset:
        layers.insert(0, preset(request.preset))
    sections = merge(*layers)
    settings = Settings.of(sections)  # wrong settings are found before an hour of reading
    runtime = machine_runtime.start(settings.runtime)
    say(f"runs on {runtime.describe()}")
    prepared = prepare(settings, say)
    settings = fit(request, settings, prepared, runtime, say, started)
    folder = RunFolder.create(request.out)
    prepared.subwords.save(folder.tokenizer)
    write_data_record(folder, settings, prepared)
    folder.write_settings(settings.sections())
    return run(folder, settings, prepared, runtime, say, resume=False)


def prepare(settings: Settings, say: Say, subwords: Subwords | None = None) -> Prepared:
    """Read, clean and encode the corpus, and say what was dropped and why."""
    data = settings.data
    prepared = prepare_corpus(
        data.corpus(),
        data,
        settings.text,
        subwords=subwords,
        valid=data.validation(),
        hold_out=data.valid_size or None,
        seed=settings.runtime.seed,
        say=say,
    )
    report = prepared.report
    say(f"read {report.read:,} pairs, kept {report.kept:,} for training")
    for reason, n in report.dropped.most_common():
        say(f"  dropped {n:,}: {reason.replace('_', ' ')}")
    refuse_unusable(report, least=LEAST_PAIRS)
    if not prepared.valid_texts:
        raise DataError(
            "validation needs at least one usable pair; none was left. "
            "Give --valid-source and --valid-target, or more text."
        )
    say(f"{len(prepared.valid_texts):,} pairs for validation")
    return prepared


def fit(
    request: Request,
    settings: Settings,
    prepared: Prepared,
    runtime: Runtime,
    say: Say,
    started: float,
) -> Settings:
    """Fill in what the user left open, and say each choice with its reason."""
    data = settings.data
    budget_s = seconds(settings.training.budget)
    corpus = fitting.Corpus(
        n_pairs=len(prepared.train),
        target_tokens=int(prepared.train.target_lengths.sum()) + len(prepared.train),
    )
    sections: Sections = request.sections
    if request.preset:
        sections = merge(preset(request.preset), sections)
    else:
        name, why = fitting.fit_preset(
            corpus, budget_s=budget_s, on_gpu=runtime.device.type == "cuda"
        )
        say(f"preset {name}: {why}")
        sections = merge(preset(name), sections)
        dropout = fitting.fit_dropout(corpus, name)
        if dropout and "dropout" not in request.sections.get("model", {}):
            sections = merge(sections, {"model": {"dropout": dropout[0]}})
            say(f"dropout {dropout[0]}: {dropout[1]}")
    found = languages(data.corpus(), data.source_language, data.target_language)
    sections = merge(
        sections,
        {
            "text": {"vocabulary_size": len(prepared.subwords)},
            "data": absolute(data, *found),
            "runtime": {"threads": runtime.threads},
        },
    )
    settings = Settings.of(sections)
    training = settings.training
    if not training.batch_tokens:
        training = replace(training, batch_tokens=4096)
    if not training.learning_rate and training.schedule != "paper":
        training = replace(training, learning_rate=1e-3)
    settings = replace(settings, training=training)
    if not (training.max_steps and training.checkpoint_every):
        settings = fit_length(settings, prepared, runtime, corpus, say, started)
    if not settings.training.warmup_steps:
        warmup = fitting.fit_warmup(settings.training.max_steps)
        settings = replace(settings, training=replace(settings.training, warmup_steps=warmup))
    model = build_model(settings, prepared.subwords)
    n_parameters = sum(parameter.numel() for parameter in model.parameters())
    say(f"{settings.model_type} of {n_parameters:,} parameters, seed {settings.runtime.seed}")
    return settings


def absolute(
    data: TranslationData, source_language: str | None, target_language: str | None
) -> dict[str, Any]:
    """The data settings as stored: a run can be resumed from any folder."""
    stored = asdict(data)
    for key, value in stored.items():
        if isinstance(value, tuple):
            stored[key] = [Path(path).absolute() for path in value]
    return {**stored, "source_language": source_language, "target_language": target_language}


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
    n_validations = fitting.fit_validations(left_s, validation_s)
    max_steps = training.max_steps
    if not max_steps:
        max_steps, why = fitting.fit_steps(
            corpus,
            tokens_per_step=tokens_per_step,
            step_s=step_s,
            validation_s=validation_s,
            left_s=left_s,
            n_validations=n_validations,
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


def build_model(settings: Settings, subwords: Subwords) -> nn.Module:
    """The model of a run, with weights drawn from the run's seed."""
    torch.manual_seed(settings.runtime.seed)
    _, model = MODELS[settings.model_type]
    return model(settings.model, vocabulary_size=len(subwords), padding=subwords.special.padding)


def build_trainer(
    settings: Settings,
    prepared: Prepared,
    runtime: Runtime,
    folder: RunFolder,
    reporter: Reporter,
) -> Trainer[TranslationTask]:
    """Model, float32 twin, task and optimizer, all from the run's seed."""
    training = settings.training
    n_valid = min(training.valid_sentences, len(prepared.valid_texts))
    task = TranslationTask(
        prepared.train,
        prepared.valid,
        [target for _, target in prepared.valid_texts[:n_valid]],
        prepared.subwords,
        batch_tokens=training.batch_tokens,
        label_smoothing=training.label_smoothing,
        seed=settings.runtime.seed,
        device=runtime.device,
        target_language=settings.data.target_language,
    )
    twin = build_model(settings, prepared.subwords).to(runtime.device)
    model = build_model(settings, prepared.subwords).to(runtime.device)
    return Trainer(
        model,
        twin,
        task,
        folder,
        training,
        dtype=runtime.dtype,
        d_model=getattr(settings.model, "d_model", 512),
        reporter=reporter,
    )


def run(
    folder: RunFolder,
    settings: Settings,
    prepared: Prepared,
    runtime: Runtime,
    say: Say,
    *,
    resume: bool,
) -> RunFolder:
    """Train to the end, choose the weights, score them and write the model card."""
    with ConsoleReporter(settings.training.max_steps) as reporter:
        trainer = build_trainer(settings, prepared, runtime, folder, reporter)
        if resume:
            found = trainer.resume()
            say(
                f"goes on from step {trainer.progress.step:,}"
                if found
                else "no checkpoint yet: starts at step 0"
            )
        with stop_on_signal(reporter.say) as stop_asked:
            progress = trainer.train(stop_asked)
            if not progress.finished:
                raise StoppedError(
                    f"stopped at step {progress.step:,} of {settings.training.max_steps:,}, saved. "
                    f"Go on with: headway train --out {folder.path} --resume"
                )
    chosen = trainer.choose()
    say(f"the model is {chosen}")
    model_card.write(folder, settings, prepared, trainer, chosen=chosen, runtime=runtime, say=say)
    return folder


class Silent:
    """A reporter that tells nobody, for updates that are only timed."""

    def step(self, *_: Any, **__: Any) -> None:
        """Nothing."""

    validation = step
    say = step


def write_data_record(folder: RunFolder, settings: Settings, prepared: Prepared) -> None:
    """data.json: what was read, with checksums, and by which versions."""
    record = {
        "sha256": {str(Path(name).absolute()): sum_ for name, sum_ in prepared.checksums.items()},
        "train": prepared.report.as_dict(),
        "valid": prepared.valid_report.as_dict(),
        "versions": {
            "headway": headway.__version__,
            **{name: version(name) for name in ("torch", "tokenizers", "sacrebleu", "numpy")},
        },
        "machine": machine_runtime.machine(),
    }
    body = json.dumps(record, indent=1, ensure_ascii=False)
    folder.data.write_text(body, encoding="utf-8")


def refuse_changed_data(folder: RunFolder, prepared: Prepared) -> None:
    """Raise DataError when a file is no longer what the run began with."""
    record = json.loads(folder.data.read_text(encoding="utf-8"))["sha256"]
    for name, found in prepared.checksums.items():
        if record.get(str(Path(name).absolute()), found) != found:
            raise DataError(
                f"A run goes on with the files that it began with; {name} has changed since. "
                "Put it back, or start a new run."
            )


def refuse_changes(request: Request, stored: Mapping[str, Mapping[str, Any]]) -> None:
    """Raise ConfigError when a resumed run is given other settings than it has."""
    base = preset(request.preset) if request.preset else {}
    wanted = merge(stored, base, request.sections)
    changed = Settings.of(wanted)
    before = Settings.of(stored)
    now = replace(changed, data=before.data)  # files are compared by their checksums
    for section, values in now.sections().items():
        for key, value in values.items():
            had = before.sections()[section][key]
            if value != had:
                raise ConfigError(
                    f"A resumed run keeps its settings; [{section}] {key} is {had!r}, "
                    f"got {value!r}. Leave it out, or start a new run."
                )
