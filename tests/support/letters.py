"""A task in one file, as docs/architecture.md says how: which letter comes next in a text.

Two models: one learns by gradient, a row for each letter; the other counts.
"""

import itertools
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from headway.core.batching import BatchStream, TokenBatches, pad
from headway.core.checkpoint import save_tensors
from headway.core.config import Sections
from headway.core.disk import checksum, write_text
from headway.core.errors import ConfigError, DataError
from headway.core.lines import read_lines
from headway.core.run_folder import RunFolder
from headway.core.runtime import Runtime
from headway.core.settings import Settings
from headway.core.training_interfaces import Batch, Position, Validation
from headway.corpora.cached_store import cached_store
from headway.corpora.store import SideEncoder, Store
from headway.runs.gradient import GRADIENT
from headway.runs.task_spec import CardWords, Kind, Learned, Learner, Opening, Run, Say, Sizes

# -- settings and data ------------------------------------------------------------------------


@dataclass(frozen=True)
class LettersData:
    """Section [data]."""

    corpus: Path | None = None


@dataclass(frozen=True)
class Letters:
    """The vocabulary: id 0 is padding, 1 the begin and end of a text."""

    known: str

    def encode(self, text: str) -> list[int]:
        return [2 + self.known.index(letter) for letter in text if letter in self.known]

    def __len__(self) -> int:
        return 2 + len(self.known)


@dataclass(frozen=True)
class Texts:
    """What was read."""

    vocabulary: Letters
    train: Store
    valid: Store
    checksums: dict[str, str]

    def record(self) -> dict[str, Any]:
        return {"train": {"kept": len(self.train)}, "valid": {"kept": len(self.valid)}}

    def save_vocabulary(self, folder: RunFolder) -> None:
        write_text(folder.path / "letters.json", json.dumps(self.vocabulary.known))


def read(settings: Settings, letters: Letters | None, say: Say) -> Texts:
    path = settings.data.corpus
    if path is None:
        raise ConfigError("letters are learned from a text; none is named. Give --data.corpus F.")
    lines = [line for line in read_lines(path) if line]
    if len(lines) < 20:
        raise DataError(f"at least 20 lines are needed; {path} has {len(lines)}. Give more.")
    letters = letters or Letters("".join(sorted(set("".join(lines)))))
    say(f"read {len(lines)} lines of {len(letters)} letters")
    encoder = {"text": SideEncoder(lambda texts: [letters.encode(t) for t in texts], len(letters))}
    parts = {"train": [x for i, x in enumerate(lines) if i % 10], "valid": lines[::10]}
    sum_ = checksum(path)
    stores = {
        part: cached_store(
            lambda some=some: ((text,) for text in some),  # type: ignore[misc]
            encoder,
            {"task": "letters", "file": sum_, "part": part, "letters": letters.known},
        )
        for part, some in parts.items()
    }
    return Texts(letters, stores["train"], stores["valid"], {str(path): sum_})


def open_letters(run: Path) -> Letters:
    return Letters(json.loads((run / "letters.json").read_text(encoding="utf-8")))


# -- models -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class TableConfig:
    """Section [model] of both types."""


class Table(nn.Module):
    """A row of logits for each letter: those of the letter after it."""

    def __init__(self, config: TableConfig, *, n_letters: int) -> None:
        super().__init__()
        self.rows = nn.Embedding(n_letters, n_letters, sparse=True)
        nn.init.zeros_(self.rows.weight)

    def forward(self, fed: Tensor) -> Tensor:
        return self.rows(fed)


def build(settings: Settings, letters: Letters) -> nn.Module:
    _, model = KIND.models[settings.model_type]
    return model(settings.model, n_letters=len(letters))


# -- learning ---------------------------------------------------------------------------------


class LettersTask:
    """What the training loop asks for."""

    unit = "letters"
    counted = ("letters",)

    def __init__(self, settings: Settings, data: Texts, device: torch.device) -> None:
        self.train, self.valid, self.device = data.train, data.valid, device
        tokens, seed = settings.training.batch_tokens, settings.runtime.seed
        lengths = [data.train.lengths["text"]]
        self.stream = BatchStream(TokenBatches(lengths, batch_tokens=tokens, seed=seed))

    def batch(self, store: Store, rows: Sequence[int]) -> Batch:
        texts = [store["text"][int(i)] for i in rows]
        n_letters = sum(len(text) + 1 for text in texts)
        return Batch(pad(texts, 0, begin=1, end=1), n_letters, {"letters": n_letters})

    def next_batch(self) -> Batch:
        return self.batch(self.train, self.stream.next())

    def loss(self, model: nn.Module, batch: Batch) -> Tensor:
        ids = torch.from_numpy(batch.rows).to(self.device)
        logits = model(ids[:, :-1])
        return F.cross_entropy(
            logits.flatten(0, 1), ids[:, 1:].flatten(), ignore_index=0, reduction="sum"
        )

    def split_batch(self, batch: Batch) -> list[Batch]:
        halves = [rows for rows in np.array_split(batch.rows, 2) if len(rows)]
        n_letters = [int((rows[:, 1:] != 0).sum()) for rows in halves]
        return [Batch(rows, n, {"letters": n}) for rows, n in zip(halves, n_letters, strict=True)]

    def validate(self, model: nn.Module) -> Validation:
        batch = self.batch(self.valid, range(len(self.valid)))
        nats = self.loss(model, batch).item() / batch.units
        return Validation(nats, -nats, "log_prob")

    def position(self) -> Position:
        return Position(self.stream.state(), {})

    def go_to(self, position: Position) -> None:
        self.stream.restore(position.countable)


def count(run: Run, resume: bool) -> Learned:
    """Add-one counts of pairs of letters, as logits."""
    counts = torch.ones(len(run.data.vocabulary), len(run.data.vocabulary))
    for text in run.data.train["text"]:
        ids = [1, *text.tolist(), 1]
        for one, other in itertools.pairwise(ids):
            counts[one, other] += 1
    save_tensors({"rows.weight": counts.log()}, run.folder.model)
    return Learned("counts of pairs, one added to each", "Every line was counted once.")


def nothing_open(settings: Settings, opening: Opening) -> Settings:
    return settings


def card(run: Run) -> CardWords:
    model = build(run.settings, run.data.vocabulary)
    from headway.runs.loading import open_run

    model = open_run(KIND, run.folder.path).model
    task = LettersTask(run.settings, run.data, torch.device("cpu"))
    loss = task.validate(model).loss
    run.say(f"validation: {loss:.3f} nats a letter")
    return CardWords(
        title="letters",
        vocabulary=f"{len(run.data.vocabulary)} letters",
        scores=f"{loss:.4f} nats a letter",
        data=f"{len(run.data.train)} lines",
        next_commands=[],
    )


def absolute(data: LettersData) -> dict[str, Any]:
    return {"corpus": data.corpus and str(data.corpus.absolute())}


def complete(given: Sections, settings: Settings, data: Texts) -> Sections:
    return {"data": absolute(settings.data)}


def sizes(data: Texts) -> Sizes:
    n_letters = int(data.train.lengths["text"].sum()) + len(data.train)
    return Sizes(n_letters, n_letters)


def task(settings: Settings, data: Texts, runtime: Runtime) -> LettersTask:
    return LettersTask(settings, data, runtime.device)


KIND = Kind(
    name="letters",
    sections={"data": LettersData},
    models={"table": (TableConfig, Table), "counts": (TableConfig, Table)},
    default_model="table",
    read=read,
    complete=complete,
    absolute=absolute,
    sizes=sizes,
    vocabulary=open_letters,
    build=build,
    task=task,
    learner=lambda settings: (
        Learner(nothing_open, count) if settings.model_type == "counts" else GRADIENT
    ),
    card=card,
    counted=("counts",),
)
