"""The texts that a run learned from, read again where they are still there: what scores its
translations, what a quicker way to translate costs, and what its training held."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import torch

from headway.core.disk import write_text
from headway.core.errors import DataError, HeadwayError
from headway.core.hypothesis import Decode, SearchRequest
from headway.core.interfaces import StepDecoder
from headway.core.rows import Indices
from headway.core.run_folder import RunFolder, write_json
from headway.core.search import decode_all
from headway.corpora.cache import made_once, read_sealed, sealed_folder
from headway.corpora.cache_place import cache_root, silent
from headway.operations.shipped import SHIPPED, only_writer_of_run, open_folder
from headway.runs.loading import open_run
from headway.runs.quality_gate import QualityGate, measured
from headway.runs.resuming import refuse_changed_data, why_not_read
from headway.runs.settings import Settings
from headway.runs.task_spec import Say
from headway.tasks import task_spec
from headway.translation.corpus_task import CorpusTask
from headway.translation.decoding import decode_anew
from headway.translation.measuring import Measured, measure
from headway.translation.pairs import Pairs, TranslationData
from headway.translation.portions import uncut


def settings_of(folder: RunFolder) -> Settings:
    """The settings of a run; the texts of the one that comes with headway are written once more."""
    settings = Settings.of_run(folder, task_spec("translation"))
    if folder.path != SHIPPED:
        return settings
    from headway.demo import DEMO_SEED, DEMO_SIZES, generate, split  # a grammar that few need

    place = cache_root() / f"demo-texts-{DEMO_SEED}-of-2026-11-24"

    def make(_work: Path) -> None:
        _, n_valid, n_test = DEMO_SIZES
        written = split(generate(sum(DEMO_SIZES), DEMO_SEED), n_valid=n_valid, n_test=n_test)
        with sealed_folder(place) as (part, _):
            for name, found in (("train", written.train), ("valid", written.valid)):
                for side, texts in zip(("en", "zh"), zip(*found, strict=True), strict=True):
                    write_text(part / f"{name}.{side}", "".join(f"{text}\n" for text in texts))

    made_once(place, lambda: read_sealed(place), make, silent)
    files = {
        f"{prefix}{side}": (place / f"{name}.{suffix}",)
        for prefix, name in (("", "train"), ("valid_", "valid"))
        for side, suffix in (("source", "en"), ("target", "zh"))
    }
    return replace(settings, data=replace(settings.data, **files))


def missing(folder: RunFolder) -> str:
    """Why what a run learned from cannot be read again, in words; nothing if it can."""
    if not folder.config.exists():
        return f"{folder.path} is gone"
    try:
        settings = settings_of(folder)
    except HeadwayError as error:
        return str(error)
    files = list(_files(settings.data))
    if not files:
        return f"{folder.path} was imported, and does not say what it learned from"
    if folder.path != SHIPPED and (why := why_not_read(folder, files)):
        return why
    return missing(RunFolder(Path(settings.data.old_run))) if settings.data.old_run else ""


def _files(data: TranslationData) -> Iterator[Path]:
    if data.prepared:
        yield data.prepared / "prepared.json"
    for corpus in (data.corpus(), data.validation()):
        yield from corpus.files if corpus else ()


def pairs_of(run: Path, vocabulary: Any) -> Pairs:
    """What a run learned from, as it read it; raises DataError where that is gone."""
    folder = RunFolder(run)
    if why := missing(folder):
        raise DataError(
            f"a run that was tuned beside its parent's data needs them to go on; {why}. Put it "
            "back, or start a new run."
        )
    found = cast(Pairs, task_spec("translation").read(settings_of(folder), vocabulary, silent))
    if folder.data.exists():
        refuse_changed_data(folder, found)
    return found


# -- its validation pairs ----------------------------------------------------------------------


def scored_rows(found: Pairs, settings: Settings) -> Indices:
    """The validation pairs that a run is scored on: where its parent's are among them, all."""
    n = None if settings.data.old_run else settings.training.valid_sentences
    return found.valid_rows()[:n]


def scored_task(
    found: Pairs, settings: Settings, device: torch.device, decode: Decode = decode_all
) -> CorpusTask:
    """The validation pairs of a run that are scored, as a task of its own."""
    return CorpusTask(
        found.prepared,
        settings.training,
        valid_rows=scored_rows(found, settings),
        seed=settings.runtime.seed,
        device=device,
        decode=decode,
    )


@torch.inference_mode()
def gate_of(
    found: Pairs,
    settings: Settings,
    device: torch.device,
    ways: Sequence[tuple[StepDecoder, Decode]],
) -> QualityGate:
    """What the scored pairs say of two ways to translate them whole: the usual and the quicker."""
    task = scored_task(found, settings, device)
    task.portions = uncut(found.prepared, task.valid_rows)
    sources = [ids.tolist() for ids in task.sources]
    request = SearchRequest(task.special, settings.decoding, device, want_scores=False)
    usual, quick = (task.written(search(model, sources, request)) for model, search in ways)
    return measured(usual, quick, task.valid_texts, settings.data.target_language)


def measure_run(run: Path, say: Say) -> Measured:
    """Read the run's corpus again, translate its validation sentences, and write checks.json.

    Raises:
        ConfigError, DataError: a file of the corpus is gone or cannot be used.
        RunError: there is no trained translator.
    """
    open_folder(run)
    with only_writer_of_run(run, say) as folder:
        found = measured_again(run, say)
        write_json(folder.checks, found.as_dict())
        folder.write_settings(folder.settings(), [folder.checks])
    say(found.trust.words())
    return found


def measured_again(run: Path, say: Say) -> Measured:
    """The same, with nothing written."""
    spec = task_spec("translation")
    opened = open_run(spec, run)
    settings = opened.settings
    data = cast(Pairs, spec.read(settings, opened.vocabulary, say))
    task = scored_task(data, settings, opened.device, decode=decode_anew())
    say(f"translating {len(task.valid_rows):,} validation sentences")
    with torch.inference_mode():
        found = task.search(opened.model, settings.decoding, evidence=True)
    readings = task.readings(found)
    languages = settings.data.source_language, settings.data.target_language
    tags = settings.data.tags
    return measure(data, languages, task.valid_rows, readings, task.written(found), tags=tags)
