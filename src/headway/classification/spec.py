"""What the task of text classification brings: files, models, criterion."""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from torch import nn

from headway.classification.criterion import LabelCriterion
from headway.classification.reading import LabelledText, read_labelled
from headway.core.errors import ConfigError, DataError
from headway.core.runtime import Runtime
from headway.labelling.data import (
    LabelledData,
    LabelledFiles,
    checksums_of,
    held_out,
    sizes,
    tokens_of,
)
from headway.labelling.encoders import ENCODERS
from headway.labelling.labeller import Labeller
from headway.labelling.pooling import Pooling, PoolingHead
from headway.labelling.task import Example, ExamplesTask
from headway.labelling.vocabulary import LabelledVocabulary, load_vocabulary
from headway.language_models.units import LanguageText
from headway.operations.time_budget import PlannedTraining
from headway.runs.settings import Settings
from headway.runs.task_spec import Say, TaskSpec


@dataclass(frozen=True)
class ClassificationTraining(PlannedTraining):
    """Section [training]."""

    label_smoothing: float = 0.0
    pooling: Pooling = "mean"


def read(settings: Settings, known: LabelledVocabulary | Any | None, say: Say) -> LabelledData:
    """Files to examples; `known` is the vocabulary of a run that this one begins with."""
    files: LabelledFiles = settings.data
    if not files.corpus:
        raise ConfigError("labels are learned from texts; none is named. Give --corpus F.")
    rows, valid = read_labelled(files.corpus), read_labelled(files.valid_corpus)
    if not valid:
        rows, valid = held_out(rows, settings.runtime.seed, "labelled texts")
    labels = tuple(sorted({label for row in rows for label in row.labels}))
    if len(labels) < 2:
        raise DataError(f"there are two labels or more; all texts have {labels}. Add others.")
    facts: Any = {}
    tokens: Any = getattr(known, "tokens", known)
    if tokens is None:
        texts = [row.text for row in rows]
        tokens, facts = tokens_of(
            settings.text, settings.model_type, texts, settings.runtime.seed, say
        )
    vocabulary = LabelledVocabulary(tokens, labels, facts)
    examples = partial(_examples, vocabulary=vocabulary, longest=files.max_length)
    counts = {"train": {"kept": len(rows)}, "valid": {"kept": len(valid)}}
    return LabelledData(vocabulary, examples(rows), examples(valid), checksums_of(files), counts)


def _examples(
    rows: list[LabelledText], vocabulary: LabelledVocabulary, longest: int
) -> list[Example]:
    places = {label: place for place, label in enumerate(vocabulary.labels)}
    ids = vocabulary.encode_batch([row.text for row in rows], longest)
    return [
        Example(np.array(one, np.int32), places[row.labels[0]])
        for one, row in zip(ids, rows, strict=True)
    ]


def build(settings: Settings, vocabulary: LabelledVocabulary) -> nn.Module:
    """An encoder and a head."""
    _, encoder = ENCODERS[settings.model_type]
    sizes = {"vocabulary_size": len(vocabulary), "padding": vocabulary.special.padding}
    trunk = encoder(settings.model, **sizes)
    dropout, pooling = settings.model.dropout, "mean"
    head = PoolingHead(trunk.d_output, len(vocabulary.labels), pooling=pooling, dropout=dropout)  # type: ignore[arg-type]
    return Labeller(trunk, head)


def task(settings: Settings, data: LabelledData, runtime: Runtime) -> ExamplesTask:
    """What the training loop asks for."""
    criterion = LabelCriterion(data.vocabulary.special.padding, settings.training.label_smoothing)
    return ExamplesTask(
        criterion, data.train, data.valid, settings.training,
        seed=settings.runtime.seed, device=runtime.device,
    )  # fmt: skip


SPEC: TaskSpec = TaskSpec(
    name="classification",
    sections={"text": LanguageText, "data": LabelledFiles, "training": ClassificationTraining},
    models=ENCODERS,
    default_model="transformer",
    read=read,
    sizes=sizes,
    build=build,
    task=task,
    vocabulary=load_vocabulary,
)
"""Everything that text classification brings; see `headway.runs.task_spec.TaskSpec`."""
