"""One training from files to a finished run folder: read, fit, train, choose, write the card."""

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch

import headway
from headway import runtime as machine_runtime
from headway.config import Sections, merge
from headway.data.prepared import Prepared, prepare_corpus
from headway.decoding.settings import DecodingSettings
from headway.errors import ConfigError, DataError
from headway.metrics.statistics import SentenceStatistics
from headway.metrics.translation import difference
from headway.runtime import Runtime
from headway.tasks import model_card, tuning
from headway.tasks.building import build_trainer
from headway.tasks.fitted_settings import fit
from headway.tasks.mixture import mixture, shares, valid_files
from headway.tasks.presets import preset
from headway.tasks.settings import Settings
from headway.tasks.translation import TranslationTask
from headway.text.cleaning import refuse_unusable
from headway.text.mixing import parse_pairs_file
from headway.text.subwords import Subwords
from headway.training.console import ConsoleReporter
from headway.training.loop import Trainer
from headway.training.run_folder import RunFolder
from headway.training.stopping import StoppedError, stop_on_signal
from headway.training.transfer import Parent

LEAST_PAIRS = 20
"""Fewer than this teach nothing and leave nothing to validate on."""

LENGTH_PENALTIES = (0.6, 1.0, 1.4)
"""Tried at the end of a training."""
SIGNIFICANT = 0.05 / (len(LENGTH_PENALTIES) - 1)
"""A difference in BLEU with a p-value below this is not put down to chance: the usual 0.05, shared
among those that are tried against the usual length penalty (Bonferroni)."""

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
    request = replace(request, sections=found_from_anywhere(request.sections))
    folder = RunFolder(request.out)
    if request.resume and folder.config.exists():
        stored = folder.settings()
        refuse_changes(request, stored)
        settings = Settings.of(stored)
        if folder.card.exists():
            say(f"{request.out} is finished; nothing to resume.")
            return folder
        prepared = prepare(settings, say, Subwords.load(folder.tokenizer))
        refuse_changed_data(folder, prepared)
        runtime = machine_runtime.start(settings.runtime)
        return run(folder, settings, prepared, runtime, say, resume=True)
    RunFolder.refuse_taken(request.out)
    parent = parent_of(request)
    if parent:
        request = replace(request, sections=tuning.inherited(parent, request.sections))
    sections = merge(preset(request.preset) if request.preset else {}, request.sections)
    settings = Settings.of(sections)  # wrong settings are found before an hour of reading
    runtime = machine_runtime.start(settings.runtime)
    say(f"runs on {runtime.describe()}")
    if parent:
        say(f"begins with {parent.folder.path}: its weights, sub-words and shape")
        say(f"peak of the learning rate: {settings.training.learning_rate:.2g}")
    subwords = Subwords.load(parent.folder.tokenizer) if parent else None
    prepared = prepare(settings, say, subwords)
    settings = fit(request.sections, request.preset, prepared, runtime, say, started)
    folder = RunFolder.create(request.out)
    prepared.subwords.save(folder.tokenizer)
    write_data_record(folder, prepared, parent)
    folder.write_settings(settings.sections())
    return run(folder, settings, prepared, runtime, say, resume=False)


def found_from_anywhere(given: Sections) -> Sections:
    """The same settings, with the run to begin with named so that any folder will do."""
    parent = given.get("training", {}).get("init_from")
    if not parent:
        return given
    return merge(given, {"training": {"init_from": str(Path(parent).absolute())}})


def parent_of(request: Request) -> Parent | None:
    """The run to begin with, if there is to be one.

    Raises:
        ConfigError: a preset is named as well.
        RunError: it is none, not finished, or damaged.
    """
    run = request.sections.get("training", {}).get("init_from")
    if not run:
        return None
    if request.preset:
        raise ConfigError(
            f"a run that begins with another's weights has its sizes as well; got --preset "
            f"{request.preset} and --init-from {run}. Leave one of them out."
        )
    return Parent.open(Path(run))


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
    lines = mixture(prepared)
    where = f", from {', '.join(valid_files(prepared))}" if lines else ""
    say(f"{len(prepared.valid_texts):,} pairs for validation{where}")
    for line in lines:
        say(f"  of what is seen in a pass: {line}")
    return prepared


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
        if settings.training.init_from and not trainer.progress.validated:
            before = trainer.begin_with(parent_of_record(folder).weights())
            say(f"before: {before.score_name.upper()} {before.score:.2f} on validation sentences")
        with stop_on_signal(reporter.say) as stop_asked:
            progress = trainer.train(stop_asked)
            if not progress.finished:
                raise StoppedError(
                    f"stopped at step {progress.step:,} of {settings.training.max_steps:,}, saved. "
                    f"Go on with: headway train --out {folder.path} --resume"
                )
    chosen = trainer.choose(lambda model: trainer.task.bleu(model, settings.decoding).score())
    say(f"the model is {chosen}")
    if settings.training.init_from:
        before, now = folder.read_log()[0]["bleu"], progress.best_score
        say(f"BLEU by greedy search: {before:.2f} before, {now:.2f} at the best checkpoint")
    if settings.training.tune_length_penalty:
        settings = tune_length_penalty(folder, settings, trainer, say)
    model_card.write(folder, settings, prepared, trainer, chosen=chosen, runtime=runtime, say=say)
    return folder


def tune_length_penalty(
    folder: RunFolder, settings: Settings, trainer: Trainer[TranslationTask], say: Say
) -> Settings:
    """Search the validation sentences with each of `LENGTH_PENALTIES`; store and say the choice."""
    bleu = {}
    trainer.load(folder.model)
    with torch.inference_mode():
        for penalty in LENGTH_PENALTIES:
            wanted = replace(settings.decoding, length_penalty=penalty)
            bleu[penalty] = trainer.task.bleu(trainer.twin, wanted)
    best, why = choose_length_penalty(bleu)
    say(f"length penalty {best}: {why}")
    settings = replace(settings, decoding=replace(settings.decoding, length_penalty=best))
    folder.write_settings(settings.sections())
    return settings


def choose_length_penalty(bleu: Mapping[float, SentenceStatistics]) -> tuple[float, str]:
    """The best length penalty and why, given counts of the same sentences under each.

    The usual one stays unless another is significantly better: validation references that happen to
    be long ask for a larger one, and the next text would pay for it.
    """
    usual = DecodingSettings().length_penalty
    best = max(bleu, key=lambda penalty: bleu[penalty].score())
    why = ", ".join(f"{one.score():.2f} with {penalty}" for penalty, one in bleu.items())
    if best != usual:
        p_value = difference(bleu[usual], bleu[best]).p_value
        why += f" (p = {p_value:.3f})"
        if p_value >= SIGNIFICANT:
            best = usual
    return best, f"validation BLEU {why}"


def write_data_record(folder: RunFolder, prepared: Prepared, parent: Parent | None) -> None:
    """data.json: what was read, with checksums, and by which versions."""
    record = {
        "sha256": {str(Path(name).absolute()): sum_ for name, sum_ in prepared.checksums.items()},
        "train": prepared.report.as_dict(),
        "valid": prepared.valid_report.as_dict(),
        "mixture": [share.as_dict() for share in shares(prepared)],
        "parent": parent and {"run": str(parent.folder.path), "sha256": parent.sha256},
        "versions": {
            "headway": headway.__version__,
            **{name: version(name) for name in ("torch", "tokenizers", "sacrebleu", "numpy")},
        },
        "machine": machine_runtime.machine(),
    }
    body = json.dumps(record, indent=1, ensure_ascii=False)
    folder.data.write_text(body, encoding="utf-8")


def parent_of_record(folder: RunFolder) -> Parent:
    """The run that this one began with, as it was then.

    Raises:
        RunError: it is gone, or its weights have changed.
    """
    stored = json.loads(folder.data.read_text(encoding="utf-8"))["parent"]
    return Parent(RunFolder.open(Path(stored["run"])), stored["sha256"])


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
    refuse_changed_uses(request.sections.get("data", {}), stored["data"])
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


def refuse_changed_uses(given: Mapping[str, Any], stored: Mapping[str, Any]) -> None:
    """Raise ConfigError when a resumed run is given other weights, tags or languages of files."""
    for key in ("pairs", "valid_pairs"):
        if key not in given:
            continue
        had = [parse_pairs_file(text)[1] for text in stored[key]]
        uses = [parse_pairs_file(text)[1] for text in given[key]]
        if uses != had:
            raise ConfigError(
                "A resumed run keeps the weights, tags and languages of its files; "
                f"--{key.replace('_', '-')} is {' '.join(stored[key])}, got "
                f"{' '.join(given[key])}. Leave it out, or start a new run."
            )
