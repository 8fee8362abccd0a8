"""`headway check RUN --measure`: what training held, for a run that does not say it."""

from pathlib import Path

import torch

from headway.operations.shipped import only_writer_of_run, open_folder
from headway.runs.loading import open_run
from headway.runs.task_spec import Say
from headway.translation.corpus_task import CorpusTask
from headway.translation.decoding import decode_anew
from headway.translation.measuring import Measured, measure
from headway.translation.spec import SPEC, read
from headway.translation.tuning_data import scored_rows


def measure_run(run: Path, say: Say) -> Measured:
    """Read the run's corpus again, translate its validation sentences, and write checks.json.

    Raises:
        ConfigError, DataError: a file of the corpus is gone or cannot be used.
        RunError: there is no trained translator.
    """
    open_folder(run)
    with only_writer_of_run(run, say) as folder:
        measured = measured_again(run, say)
        folder.write_checks(measured.as_dict())
        folder.write_settings(folder.settings(), [folder.checks])
    say(measured.trust.words())
    return measured


def measured_again(run: Path, say: Say) -> Measured:
    """The same, with nothing written."""
    opened = open_run(SPEC, run)
    settings = opened.settings
    data = read(settings, opened.vocabulary, say)
    rows = scored_rows(data, settings)
    task = CorpusTask(
        data.prepared,
        settings.training,
        valid_rows=rows,
        seed=settings.runtime.seed,
        device=opened.device,
        decode=decode_anew(),
    )
    say(f"translating {len(rows):,} validation sentences")
    with torch.inference_mode():
        found = task.search(opened.model, settings.decoding, evidence=True)
    readings = task.readings(found)
    languages = settings.data.source_language, settings.data.target_language
    tags = settings.data.tags
    return measure(data, languages, rows, readings, task.written(found), tags=tags)
