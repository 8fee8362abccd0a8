"""What the task of pictures brings: files, models, criterion."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from torch import nn

from headway.core import setting_errors as refused
from headway.core.config import Sections
from headway.core.errors import ConfigError, DataError, command, refuse_below, refuse_beyond
from headway.core.lines import shown
from headway.core.run_folder import RunFolder
from headway.core.runtime import Runtime
from headway.core.training_interfaces import Validation
from headway.images.augmentation import PictureTraining
from headway.images.criterion import PictureCriterion
from headway.images.decoding import PictureShape
from headway.images.encoders import PICTURE_ENCODERS
from headway.images.reading import (
    PictureSource,
    checksum_of,
    fitted_shape,
    kept,
    label_order,
    labelled_source,
)
from headway.labelling.data import held_out
from headway.labelling.labeller import Labeller
from headway.labelling.pooling import PoolingHead
from headway.labelling.task import Example, ExamplesTask
from headway.labelling.vocabulary import load_labels, save_labels
from headway.runs.settings import Settings, absolute_files
from headway.runs.task_spec import CardWords, Run, Say, Sizes, TaskSpec, validated


BATCH = 64
"""Pictures of an update, where nothing is said."""
SEEN, TUNING_SEEN = 540_000, 180_000
"""Pictures to train on, each as often as it is seen, where no length is given; the second is for a
model that begins with another run's weights."""
LEAST_PASSES, MOST_PASSES = 10, 200


@dataclass(frozen=True)
class PictureFiles:
    """Section [data]."""

    corpus: tuple[Path, ...] = ()
    """Folders with a folder for each class, or idx files, to learn from."""
    valid_corpus: tuple[Path, ...] = ()
    """The same to validate on; held out of the corpus where there are none."""
    size: int = 0
    """Side that pictures are scaled to; 0: their own if it is one and at most 64, else their middle
    size, at most 64."""
    only: tuple[str, ...] = ()
    """Classes to keep; all where none is named."""

    def __post_init__(self) -> None:
        refuse_below(self, {"size": 0})
        refuse_beyond(self, {"size": 1 << 12})
        for path in self.corpus:
            if path in self.valid_corpus:
                raise ConfigError(
                    "what is validated on must not be learned from; got "
                    f"{shown(path)} for both. Leave --valid-corpus out to have some held out."
                )


@dataclass(frozen=True)
class Classes:
    """What stands behind a picture's numbers: names of classes, and how pictures become numbers."""

    labels: tuple[str, ...]
    """In the order of their numbers."""
    facts: Mapping[str, Any]
    """`size` (height, width, channels), `mean` and `deviation` of each channel, shares of 255."""

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def shape(self) -> PictureShape:
        """What pictures are scaled to."""
        return PictureShape(*self.facts["size"])


@dataclass(frozen=True)
class PictureData:
    """Pictures to learn from and to validate on: a `headway.runs.task_spec.Data`."""

    vocabulary: Classes
    train: Sequence[Example]
    valid: Sequence[Example]
    checksums: Mapping[str, str]
    counts: Mapping[str, Any] = field(default_factory=dict)

    def record(self) -> dict[str, Any]:
        """How many there are of each class."""
        return dict(self.counts)

    def save_vocabulary(self, folder: RunFolder) -> None:
        """labels.json."""
        save_labels(folder.path, self.vocabulary.labels, self.vocabulary.facts)


def load_classes(folder: Path) -> Classes:
    """What `PictureData.save_vocabulary` wrote.

    Raises DataError where it is damaged.
    """
    labels, facts = load_labels(folder)
    numbers = [facts.get(key) for key in ("mean", "deviation")]
    try:
        shape = PictureShape(*facts["size"])
        sound = all(1 <= side <= 1 << 12 for side in shape)
        sound = sound and all(len(one) == shape.channels for one in numbers)  # type: ignore[arg-type]
        sound = sound and all(float(one) == one for row in numbers for one in row)  # type: ignore[union-attr]
    except (KeyError, TypeError, ValueError):
        sound = False
    if not sound:
        raise DataError(
            "labels.json of a run of pictures has their size, and a mean and a deviation of each "
            f"channel; that of {folder} has not. Take it from a copy of the run."
        )
    return Classes(labels, facts)


# -- reading ----------------------------------------------------------------------------------


def read(settings: Settings, known: Classes | Any | None, say: Say) -> PictureData:
    """Files to examples; `known` is the vocabulary of a run that this one begins with, whose
    pictures' size and normalization stay."""
    files: PictureFiles = settings.data
    if not files.corpus:
        raise ConfigError("classes are learned from pictures; none are named. Give --corpus DIR.")
    sources = [labelled_source(place, say) for place in files.corpus]
    beside = [labelled_source(place, say) for place in files.valid_corpus]
    facts = dict(getattr(known, "facts", {}))
    shape = PictureShape(*facts["size"]) if "size" in facts else None
    if shape is None:
        own = [one for source in sources for one in source.shapes]
        shape = fitted_shape(own, files.size)
        n_sizes = len({one[:2] for one in own})
        colour = "grey" if shape.channels == 1 else "in colour"
        say(
            f"pictures are {shape.height} x {shape.width}, {colour}"
            + (f"; {n_sizes:,} sizes are stretched to that" if n_sizes > 1 else "")
        )
    labels = classes_of(sources, files.only)
    rows, valid = (examples(some, files.only, labels, shape) for some in (sources, beside))
    if not valid:
        rows, valid = held_out(rows, settings.runtime.seed, "pictures")
    if "mean" not in facts:
        facts = {"size": list(shape), **statistics(rows)}
    counts = {name: counted(some, labels) for name, some in (("train", rows), ("valid", valid))}
    sums = {str(place): checksum_of(place) for place in (*files.corpus, *files.valid_corpus)}
    return PictureData(Classes(labels, facts), rows, valid, sums, counts)


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


def examples(
    sources: Sequence[PictureSource],
    only: Sequence[str],
    labels: Sequence[str],
    shape: PictureShape,
) -> list[Example]:
    """Pictures scaled, with the numbers of their classes.

    Raises DataError for one that is in none of them.
    """
    numbers, found = {label: number for number, label in enumerate(labels)}, []
    for source in sources:
        for i in kept(source, only):
            if source.labels[i] not in numbers:
                raise DataError(
                    f"the classes are {', '.join(labels)}; {source.names[i]} is of "
                    f"{source.labels[i]!r}. Take it out, or name classes: --data.only"
                )
            found.append(Example(source.decoded(i, shape), numbers[source.labels[i]]))
    return found


def statistics(rows: Sequence[Example]) -> dict[str, list[float]]:
    """Mean and deviation of each channel over all pictures, as shares of 255."""
    sums = np.zeros((2, rows[0].input.shape[2]))
    for one in rows:
        pixels = one.input.reshape(-1, one.input.shape[2]) / 255
        sums += np.stack([pixels.mean(0), (pixels**2).mean(0)]) / len(rows)
    deviation = np.sqrt(np.maximum(sums[1] - sums[0] ** 2, 1e-6))
    return {"mean": sums[0].tolist(), "deviation": deviation.tolist()}


def counted(rows: Sequence[Example], labels: Sequence[str]) -> dict[str, Any]:
    """How many there are, and of each class."""
    n = np.bincount([one.target for one in rows], minlength=len(labels)).tolist()
    return {"kept": len(rows), "labels": dict(zip(labels, n, strict=True))}


# -- what training asks for -------------------------------------------------------------------


def build(settings: Settings, vocabulary: Classes) -> nn.Module:
    """An encoder and a head."""
    _, encoder = PICTURE_ENCODERS[settings.model_type]
    trunk, model = encoder(settings.model, vocabulary.shape), settings.model
    head = PoolingHead(
        trunk.d_output, len(vocabulary), pooling=model.pools, dropout=model.dropout
    )
    return Labeller(trunk, head)


def task(settings: Settings, data: PictureData, runtime: Runtime) -> ExamplesTask:
    """What the training loop asks for."""
    return ExamplesTask(
        PictureCriterion(data.vocabulary.facts, settings.training),
        data.train, data.valid, settings.training,
        seed=settings.runtime.seed, device=runtime.device,
    )  # fmt: skip


def complete(given: Sections, settings: Settings, data: PictureData) -> Sections:
    """Files by absolute paths; batches of `BATCH` pictures, and a length that follows from how many
    there are, where neither a length nor a budget was set."""
    training: PictureTraining = settings.training
    found = {"data": absolute_files(settings.data)}
    if "batch_tokens" not in given.get("training", {}):
        found["training"] = {"batch_tokens": BATCH * data.vocabulary.shape.height}
    if not training.budget and not training.max_steps:
        seen, n = TUNING_SEEN if training.init_from else SEEN, len(data.train)
        passes = min(max(seen / n, LEAST_PASSES), MOST_PASSES)
        steps = math.ceil(passes * n / BATCH)
        found["training"] = found.get("training", {}) | {"max_steps": steps}
    return found


def sizes(data: PictureData) -> Sizes:
    """Pictures."""
    return Sizes(len(data.train), len(data.train))


def card(run: Run) -> CardWords:
    """Accuracy on what was validated on."""
    found: Validation = validated(run.trainer.task, run.trainer.eval_model)
    data: PictureData = run.data
    n, classes = len(data.valid), data.vocabulary
    scores = f"accuracy {found.score:.2f} % on {n:,} pictures that were validated on"
    run.say(f"validation: {scores}")
    return CardWords(
        f"pictures of {len(classes):,} classes",
        f"{len(classes):,} classes ({', '.join(classes.labels[:20])})",
        f"{scores}, {found.loss:.4f} nats.",
        f"{len(data.train):,} pictures learned from, scaled to {' x '.join(map(str, classes.shape[:2]))}.",
        [
            command("predict", run.folder.path, "PICTURE"),
            command("evaluate", run.folder.path, "--corpus", "DIR"),
        ],
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
    vocabulary=load_classes,
    card=card,
)
"""Everything that pictures bring; see `headway.runs.task_spec.TaskSpec`."""
