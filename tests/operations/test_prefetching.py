"""Batches that are made ahead are those that would be made then, and so is what comes after."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import small_pairs
import torch
from regression import Listener, everything, never, stop_after

from headway.classification.spec import SPEC as CLASSIFICATION
from headway.core.dropout import set_dropout
from headway.core.run_folder import RunFolder
from headway.core.subwords import SpecialIds
from headway.core.trainer import Trainer
from headway.core.training_interfaces import Validation, World
from headway.core.transformer import Transformer, TransformerConfig
from headway.corpora.prepared import Prepared
from headway.corpora.store import Store
from headway.labelling.task import Example, ExamplesTask, padded
from headway.language_models.task import LanguageTask, LanguageTraining
from headway.operations.prefetching import prefetch
from headway.runs.gradient import trainer_of
from headway.runs.settings import Settings
from headway.translation.corpus_task import CorpusTask
from headway.translation.packed_task import PackedTask
from headway.translation.spec import PlannedTranslation

CPU = torch.device("cpu")
TRAINING = PlannedTranslation(
    batch_tokens=256, pack_length=64, max_steps=8, checkpoint_every=4, log_every=2,
    warmup_steps=4, learning_rate=0.01, average=2, accumulate=2,
)  # fmt: skip


@pytest.fixture(scope="module")
def prepared() -> Prepared:
    return small_pairs.prepared()


def pairs_task(prepared: Prepared, kind: type[CorpusTask]) -> CorpusTask:
    return kind(prepared, TRAINING, valid_rows=np.arange(2), seed=1, device=CPU)  # type: ignore[arg-type]


class Shifted:
    """Something is drawn anew each time that an example is seen."""

    unit = "examples"

    def tensors(self, examples: Any, random: Any = None) -> tuple[torch.Tensor, ...]:
        ids = padded(examples, 0)
        return ids + int(random.integers(100)), ids

    def units(self, tensors: tuple[torch.Tensor, ...]) -> int:
        return len(tensors[0])

    def loss(self, model: Any, tensors: Any) -> torch.Tensor:
        raise AssertionError

    def count(self, model: Any, tensors: Any) -> list[float]:
        raise AssertionError

    def validation(self, counted: Any) -> Validation:
        raise AssertionError


def examples_task() -> ExamplesTask:
    random = np.random.default_rng(1)
    examples = [Example(random.integers(4, 30, n), None) for n in random.integers(2, 20, 40)]
    given = {"run": {"task": CLASSIFICATION.name}, "training": {"batch_tokens": 64}}
    settings = Settings.of(given, CLASSIFICATION)
    return ExamplesTask(Shifted(), examples, examples[:5], settings, CPU)


class Text(Store):
    def __init__(self) -> None:
        ids = np.arange(2000, dtype=np.int32) % 20 + 4
        self._sides = {"text": SimpleNamespace(ids=ids)}  # type: ignore[assignment]


def language_task(*, carries: bool) -> LanguageTask:
    training = LanguageTraining(window=8, batch_tokens=64)
    return LanguageTask(Text(), Text(), SpecialIds(), training, carries=carries, seed=1, device=CPU)


def task_of(kind: str, prepared: Prepared) -> Any:
    if kind == "padded":
        return pairs_task(prepared, CorpusTask)
    if kind == "packed":
        return pairs_task(prepared, PackedTask)
    return examples_task() if kind == "examples" else language_task(carries=kind == "carried text")


def flat(value: Any) -> list[Any]:
    """Everything in some tuples, tensors as lists."""
    if isinstance(value, tuple):
        return [one for part in value for one in flat(part)]
    return [value.tolist() if hasattr(value, "tolist") else value]


def seen(task: Any, n: int) -> list[Any]:
    """All of some batches, and what a checkpoint would say behind each."""
    found = []
    for _ in range(n):
        batch = task.next_batch()
        tensors = task.tensors(*batch.rows) if hasattr(task, "tensors") else batch.rows
        rows = batch.rows[1:] if hasattr(task, "tensors") else batch.rows
        state = task.state_dict()
        found.append([flat(rows), flat(tensors), batch.units, dict(batch.counts), state.countable])
    return found


@pytest.mark.parametrize("kind", ["padded", "packed", "examples", "text", "carried text"])
def test_batches_and_positions_are_those_of_a_task_that_makes_none_ahead(kind, prepared):
    plain, ahead = task_of(kind, prepared), task_of(kind, prepared)
    prefetch(ahead)
    assert ahead.state_dict().countable == plain.state_dict().countable
    n = 2 * len(plain.stream.batches.epoch(0)) + 3  # into the third epoch
    expected = seen(plain, n)
    assert seen(ahead, n) == expected
    for back in (5, 0, n - 2):  # to where a checkpoint was written
        state = plain.state_dict()._replace(countable=expected[back][-1])
        ahead.load_state_dict(state)
        assert ahead.state_dict().countable == state.countable
        assert seen(ahead, 2) == expected[back + 1 :][:2] or back == n - 2


@pytest.mark.parametrize("kind", ["padded", "packed"])
@pytest.mark.parametrize("rank", [0, 1, 2])
def test_each_of_several_processes_finds_its_share_made(kind, rank, prepared):
    plain, ahead = task_of(kind, prepared), task_of(kind, prepared)
    prefetch(ahead)
    world = World()
    world.rank, world.size = rank, 3
    plain.world = ahead.world = world
    for _ in range(6):
        batches = plain.next_batch(), ahead.next_batch()
        own, same = (
            task.split_batch(batch, 3)[rank]
            for task, batch in zip((plain, ahead), batches, strict=True)
        )
        assert np.array_equal(own.rows[1], same.rows[1])
        assert len(ahead.stream.ready) == 1
        assert flat(ahead.tensors(*same.rows)) == flat(plain.tensors(*own.rows))
        assert not ahead.stream.ready
        assert not ahead.stream.shares


def test_a_batch_that_must_be_cut_leaves_nothing_behind(prepared):
    task = task_of("packed", prepared)
    prefetch(task)
    batch = task.next_batch()
    parts = task.split_batch(batch, 2)
    assert [len(task.tensors(*part.rows)) for part in parts] == [3, 3]
    assert not task.stream.ready


def trained(path: Path, task: Any, vocabulary: int, *, stop: int = 0) -> Trainer[Any]:
    config = TransformerConfig(
        encoder_layers=1, decoder_layers=1, d_model=16, d_ff=16, heads=2, dropout=0.1
    )

    def model() -> Transformer:
        torch.manual_seed(1)
        return Transformer(config, vocabulary_size=vocabulary)

    path.mkdir(exist_ok=True)
    own, twin = model(), model()
    set_dropout(own, 1.0)
    trainer = trainer_of(
        own, twin, task, RunFolder(path), TRAINING, dtype=torch.float32, reporter=Listener()
    )
    trainer.resume()
    trainer.train(stop_after(stop, trainer) if stop else never)
    return trainer


@pytest.mark.parametrize("kind", ["padded", "packed"])
def test_a_run_that_is_stopped_and_resumed_is_one_that_made_none_ahead(kind, prepared, tmp_path):
    n_words = len(prepared.subwords)
    trained(tmp_path / "plain", task_of(kind, prepared), n_words)
    for stop in (5, 0):
        task = task_of(kind, prepared)
        prefetch(task)
        trained(tmp_path / "ahead", task, n_words, stop=stop)
    assert everything(tmp_path / "ahead") == everything(tmp_path / "plain")


def test_what_goes_wrong_in_the_thread_is_told(prepared):
    task = task_of("padded", prepared)
    prefetch(task)
    task.stream.maker.train = None
    with pytest.raises(TypeError):
        task.next_batch()
