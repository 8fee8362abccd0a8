"""How well a run tells hidden places of some files."""

from collections.abc import Sequence
from pathlib import Path

import torch

from headway.core.errors import DataError
from headway.labelling.scores import LabelScores, share
from headway.labelling.task import sums
from headway.language_models.evaluation import ids_of
from headway.language_models.texts import ReadingReport
from headway.language_models.units import TokenUnit
from headway.masked_language_models.data import Windows
from headway.masked_language_models.spec import SPEC, criterion
from headway.runs.loading import open_run

ROWS = 32
"""Windows that are read together."""


@torch.inference_mode()
def evaluated(run: Path, files: Sequence[Path]) -> LabelScores:
    """Of all text of some files, whose places the run's seed hides.

    Raises DataError where there is nothing to be told.
    """
    settings, tokens, model, device = open_run(SPEC, run)
    reading = ReadingReport(files, TokenUnit(settings.text.unit, settings.text.segmenter).cut)
    ids, asked = ids_of(reading, tokens), criterion(settings, tokens)
    windows = Windows(ids, tokens.special, settings.training.window)
    rows = [*windows]
    batches = [asked.tensors(rows[i : i + ROWS]) for i in range(0, len(rows), ROWS)]
    n = sum(int((wanted != asked.padding).sum()) for _, wanted in batches)
    if not n:
        raise DataError(
            "accuracy is of hidden places, and nothing can be hidden in a text that is empty, or "
            f"unknown to the model; got {', '.join(map(str, files))}. Give another text."
        )
    placed = (tuple(tensor.to(device) for tensor in batch) for batch in batches)
    found = asked.validation(sums(asked.count(model, tensors) for tensors in placed))
    perplexity = found.others["perplexity"]
    return LabelScores(
        {"accuracy": share(round(found.score * n / 100), n)},
        labels=(),
        n=n,
        unit=f"hidden places of {len(ids):,} tokens",
        notes=(f"perplexity {perplexity:.3f} ({found.loss:.4f} nats) at hidden places",),
    )
