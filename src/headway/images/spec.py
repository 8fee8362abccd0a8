"""What the task of pictures brings: files, models, criterion."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import numpy as np
import torch
from torch import nn

from headway.classification.criterion import LabelCriterion
from headway.core import setting_errors as refused
from headway.core.config import Sections
from headway.core.errors import ConfigError, DataError, command, refuse_below, refuse_beyond
from headway.core.runtime import Runtime
from headway.core.training_interfaces import Validation
from headway.images.augmentation import PictureTraining
from headway.images.classes import Classes, statistics
from headway.images.encoders import PICTURE_ENCODERS
from headway.images.reading import (
    PictureSource,
    checksum_of,
    examples,
    fitted_shape,
    label_order,
    labelled_source,
)
from headway.labelling.data import (
    LabelledData,
    LabelledPlaces,
    held_out,
    say_few,
    say_repeated,
    sizes,
)
from headway.labelling.labeller import Labeller
from headway.labelling.pooling import PoolingHead
from headway.labelling.task import Example, ExamplesTask, Tensors
from headway.operations.shipped import refuse_undecodable
from headway.runs.loading import Undrawn
from headway.runs.settings import Settings, absolute_files
from headway.runs.task_spec import CardWords, Run, Say, TaskSpec, validated

BATCH = 64
"""Pictures of an update, where nothing is said."""
TUNED = 1 / 3
"""Of the usual length, for a model that begins with another run's weights."""
LEAST_PASSES, MOST_PASSES = 10, 200
PEAK = 2e-3
"""Of the learning rate, where none is given."""


@dataclass(frozen=True)
class PictureFiles(LabelledPlaces):
    """Section [data]: folders with a folder for each class, or idx files."""

    size: int = 0
    """Side that pictures are scaled to; 0: their own if it is one and at most 64, else their middle
    size, at most 64; both are rounded to a multiple of 4."""
    only: tuple[str, ...] = ()
    """Classes to keep; all where none is named."""

    def __post_init__(self) -> None:
        super().__post_init__()
        refuse_below(self, {"size": 0})
        refuse_beyond(self, {"size": 1 << 12})


def read(settings: Settings, known: Classes | Any | None, say: Say) -> LabelledData:
    """Files to examples; `known` is the vocabulary of a run that this one begins with, whose
    pictures' size and normalization stay."""
    files: PictureFiles = settings.data
    if not files.corpus:
        raise ConfigError("classes are learned from pictures; none are named. Give --corpus DIR.")
    refuse_undecodable(*(place.absolute() for place in (*files.corpus, *files.valid_corpus)))
    sources, beside = (
        [labelled_source(place, say) for place in some]
        for some in (files.corpus, files.valid_corpus)
    )
    labels, parent = classes_of(sources, files.only), known if hasattr(known, "mean") else None
    if parent and files.size and (files.size, files.size) != parent.shape[:2]:
        raise ConfigError(
            "a run that begins with another's weights reads pictures of its size, "
            f"{parent.shape.height} x {parent.shape.width}; got --data.size {files.size}. Leave it "
            "out, or train without --init-from."
        )
    own = [one for source in sources for one in source.shapes]
    shape = parent.shape if parent else fitted_shape(own, files.size)
    n_sizes, colour = len({one[:2] for one in own}), "grey" if shape.channels == 1 else "in colour"
    several = f"; {n_sizes:,} sizes are stretched to that" if n_sizes > 1 else ""
    say(f"pictures are {shape.height} x {shape.width}, {colour}{several}")
    rows, valid = (examples(some, files.only, labels, shape, say) for some in (sources, beside))
    if files.valid_corpus and not valid:
        raise DataError(
            f"pictures to validate on are of the classes {', '.join(labels)}; "
            f"{', '.join(map(str, files.valid_corpus))} has none. Name others, or leave "
            "--valid-corpus out to have some of the corpus held out."
        )
    if not files.valid_corpus:
        rows, valid = held_out(rows, settings.runtime.seed, "pictures", pixels_of(rows))
        say(f"{len(valid):,} of {len(rows) + len(valid):,} pictures are held out to validate on")
    say_repeated("pictures", say, pixels_of(rows), pixels_of(valid))
    say_few(len(valid), "pictures", say)
    mean, deviation = (parent.mean, parent.deviation) if parent else statistics(rows)
    return LabelledData(
        Classes(labels, tuple(shape), mean, deviation),
        rows,
        valid,
        {str(place): checksum_of(place) for place in (*files.corpus, *files.valid_corpus)},
        {name: counted(some, labels) for name, some in (("train", rows), ("valid", valid))},
    )


def pixels_of(pictures: Sequence[Example]) -> list[bytes]:
    """A digest of each as it is read."""
    return [sha256(one.input.tobytes()).digest() for one in pictures]


def classes_of(sources: Sequence[PictureSource], only: Sequence[str]) -> tuple[str, ...]:
    """The names of the classes, in order.

    Raises ConfigError for one that is asked for and not there, DataError where there is but one.
    """
    there = {label for source in sources for label in source.labels}
    for label in only:
        if label not in there:
            raise refused.unknown_name("--data.only", label, sorted(there, key=label_order))
    labels = tuple(sorted({*only} or there, key=label_order))
    if len(labels) < 2:
        raise DataError(
            f"a picture is told from those of other classes; all are {labels[0]!r}. Put pictures "
            "of another class into a folder beside it."
        )
    return labels


def counted(rows: Sequence[Example], labels: Sequence[str]) -> dict[str, Any]:
    """How many there are, and of each class."""
    n = np.bincount([one.target for one in rows], minlength=len(labels)).tolist()
    return {"kept": len(rows), "labels": dict(zip(labels, n, strict=True))}


def complete(given: Sections, settings: Settings, data: LabelledData) -> Sections:
    """Batches of `BATCH` pictures, and where neither a length nor a budget was set one that follows
    from how many pictures there are, and how many make an update."""
    with torch.device("meta"), Undrawn():
        build(settings, data.vocabulary)  # raises what it would later, while there is no run yet
    training, fitted = settings.training, dict[str, Any]()
    if not training.learning_rate:
        fitted["learning_rate"] = PEAK
    if not training.batch_tokens:
        fitted["batch_tokens"] = BATCH * data.vocabulary.shape.height
    if not training.budget and not training.max_steps:
        n, seen = len(data.train), settings.model.seen * (TUNED if training.init_from else 1)
        passes = min(max(seen / n, LEAST_PASSES), MOST_PASSES)
        size = training.batch_tokens or fitted["batch_tokens"]
        pictures = size / data.vocabulary.shape.height * training.accumulate
        fitted["max_steps"] = math.ceil(passes * n / pictures)
    return {"data": absolute_files(settings.data), "training": fitted}


class PictureCriterion(LabelCriterion):
    """One class of each picture, which is a little changed each time it is seen."""

    def __init__(self, classes: Classes, training: PictureTraining) -> None:
        self.classes, self.training = classes, training
        self.several, self.smoothing = False, training.label_smoothing

    def tensors(
        self, examples: Sequence[Example], random: np.random.Generator | None = None
    ) -> Tensors:
        """Pictures `[examples, channels, height, width]` and classes `[examples]`."""
        pixels = [one.input for one in examples]
        pictures = self.classes.normalized(pixels, self.training, random)
        return pictures, torch.tensor([one.target for one in examples])


def build(settings: Settings, classes: Classes) -> nn.Module:
    """An encoder and a head."""
    _, encoder = PICTURE_ENCODERS[settings.model_type]
    trunk: Any = encoder(settings.model, classes.shape)
    pooling, dropout = settings.model.pooling, settings.model.dropout
    return Labeller(
        trunk, PoolingHead(trunk.d_output, len(classes), pooling=pooling, dropout=dropout)
    )


def task(settings: Settings, data: LabelledData, runtime: Runtime) -> ExamplesTask:
    """What the training loop asks for."""
    criterion = PictureCriterion(data.vocabulary, settings.training)
    return ExamplesTask(criterion, data.train, data.valid, settings, runtime.device)


def card(run: Run) -> CardWords:
    """Accuracy on what was validated on."""
    found: Validation = validated(run.trainer.task, run.trainer.eval_model)
    data, classes = run.data, run.data.vocabulary
    scores = f"accuracy {found.score:.2f} % on {len(data.valid):,} pictures that were validated on"
    run.say(f"validation: {scores}")
    size = f"{classes.shape.height} x {classes.shape.width}"
    commands = (("predict", "PICTURE"), ("evaluate", "--corpus", "DIR"), ("inspect", "PICTURE"))
    return CardWords(
        f"{len(classes):,} classes of pictures",
        f"{len(classes):,} classes: {', '.join(classes.labels[:20])}",
        f"{scores}, {found.loss:.4f} nats. The checkpoint was chosen by them.",
        f"{len(data.train):,} pictures learned from, scaled to {size}.",
        [command(verb, run.folder.path, *words) for verb, *words in commands],
    )


SPEC: TaskSpec = TaskSpec(
    name="images",
    sections={"data": PictureFiles, "training": PictureTraining},
    models=PICTURE_ENCODERS,
    default_model="transformer",
    read=read,
    sizes=sizes,
    build=build,
    task=task,
    complete=complete,
    vocabulary=Classes.load,
    card=card,
)
"""Everything that pictures bring; see `headway.runs.task_spec.TaskSpec`."""
