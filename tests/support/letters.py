"""A task in one file, as CONTRIBUTING.md says how: which letter comes next in a text."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from headway.core.batching import BatchStream, TokenBatches
from headway.core.disk import checksum
from headway.core.errors import ConfigError
from headway.core.lines import read_lines
from headway.core.rows import pad
from headway.core.training_interfaces import Batch, TaskState, Validation
from headway.operations.time_budget import PlannedTraining
from headway.runs.loading import open_run
from headway.runs.settings import Settings
from headway.runs.task_spec import Say, Sizes, TaskData, TaskSpec, built_from
from headway.tokenizers.words import Words

VERBS = {"train": "letters:SPEC", "evaluate": "letters:evaluate"}


@dataclass(frozen=True)
class LettersData:
    """Section [data]."""

    corpus: Path | None = None


def read(settings: Settings, letters: Words | None, say: Say) -> TaskData:
    if (path := settings.data.corpus) is None:
        raise ConfigError("letters are learned from a text; none is named. Give --data.corpus F.")
    lines = [line for line in read_lines(path) if line]
    letters = letters or Words.learned(Counter("".join(lines)), "characters")
    rows = [np.array(ids) for ids in letters.encode_batch(lines)]
    train, valid = [row for i, row in enumerate(rows) if i % 10], rows[::10]
    return TaskData(letters, train, valid, {str(path): checksum(path)})


@dataclass(frozen=True)
class TableConfig:
    """Section [model]."""


class Table(nn.Module):
    """A row of logits for each letter: those of the letter after it."""

    def __init__(self, _: TableConfig, *, vocabulary_size: int, padding: int) -> None:
        super().__init__()
        self.rows = nn.Embedding(vocabulary_size, vocabulary_size)
        nn.init.zeros_(self.rows.weight)

    def forward(self, fed: Tensor) -> Tensor:
        return self.rows(fed)


class LettersTask:
    """What the training loop asks for."""

    unit, counted = "letters", ("letters",)

    def __init__(self, settings: Settings, data: TaskData, runtime: Any) -> None:
        self.data, self.device = data, runtime.device
        lengths = [np.array([len(row) for row in data.train], np.int32)]
        tokens, seed = settings.training.batch_tokens, settings.runtime.seed
        self.stream = BatchStream(TokenBatches(lengths, batch_tokens=tokens, seed=seed))

    def batch(self, rows: Sequence[Any]) -> Batch:
        n_letters = sum(len(row) + 1 for row in rows)
        return Batch(rows, n_letters, {"letters": n_letters})

    def next_batch(self) -> Batch:
        return self.batch([self.data.train[int(i)] for i in self.stream.next()])

    def loss(self, model: nn.Module, batch: Batch) -> Tensor:
        ids = torch.from_numpy(pad(batch.rows, 0, begin=2, end=3)).to(self.device)
        logits, following = model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten()
        return nn.functional.cross_entropy(logits, following, ignore_index=0, reduction="sum")

    def split_batch(self, batch: Batch, n: int) -> list[Batch]:
        parts = np.array_split(np.arange(len(batch.rows)), n)
        return [self.batch([batch.rows[i] for i in part]) for part in parts if len(part)]

    def validate(self, model: nn.Module) -> Validation:
        batch = self.batch(self.data.valid)
        nats = self.loss(model, batch).item() / batch.units
        return Validation(nats, -nats, "log_prob")

    def state_dict(self) -> TaskState:
        return TaskState(self.stream.state_dict(), {})

    def load_state_dict(self, state: TaskState) -> None:
        self.stream.load_state_dict(state.countable)


def sizes(data: TaskData) -> Sizes:
    return Sizes(*[sum(len(row) + 1 for row in data.train)] * 2)


MODELS = {"table": (TableConfig, Table)}
SPEC = TaskSpec(
    name="letters", sections={"data": LettersData, "training": PlannedTraining}, models=MODELS,
    default_model="table", read=read, sizes=sizes, build=built_from(MODELS), task=LettersTask,
)  # fmt: skip


def evaluate(runs: Sequence[Path], told: Any) -> None:
    for run in runs:
        opened = open_run(SPEC, run)
        asked = replace(opened.settings, data=LettersData(told.corpus[0]))
        data = read(asked, opened.vocabulary, say=lambda _: None)
        loss = LettersTask(asked, data, opened).validate(opened.model).loss
        print(f"{run}: {loss:.4f} nats a letter")
