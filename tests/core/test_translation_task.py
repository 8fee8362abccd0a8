"""Translation as a task: what is fed, what is expected, what is counted."""

import numpy as np
import pytest
import torch
from smoothed_loss import label_smoothed

from headway.core.cleaning import Pair, Report
from headway.core.rows import encoded
from headway.core.subwords import Subwords
from headway.core.training_interfaces import Validation
from headway.core.transformer import Transformer, TransformerConfig
from headway.core.translation_task import TranslationTraining
from headway.corpora.corpus import Corpus
from headway.corpora.in_memory import RowsInMemory
from headway.corpora.mixing import Use
from headway.corpora.prepared import Prepared
from headway.demo import generate
from headway.translation.corpus_task import CorpusTask

PAIRS = [Pair(source, target, "pairs.tsv", 1) for source, target in generate(40, seed=1)]
CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def subwords() -> Subwords:
    return Subwords.train((text for pair in PAIRS for text in pair[:2]), vocabulary_size=600)


@pytest.fixture(scope="module")
def store(subwords: Subwords) -> RowsInMemory:
    rows, places = encoded(PAIRS, subwords, 0, Report())
    return RowsInMemory(rows, ["pairs.tsv"] * len(places), ["pairs.tsv"])


@pytest.fixture
def task(store: RowsInMemory, subwords: Subwords) -> CorpusTask:
    prepared = Prepared(
        corpus=Corpus(), train=store, valid=store, valid_texts=[pair[:2] for pair in PAIRS],
        valid_uses=[Use(target_language="zh")] * len(PAIRS), subwords=subwords, report=Report(),
        valid_report=Report(), checksums={}, weights=None, codes="keep",
    )  # fmt: skip
    training = TranslationTraining(batch_tokens=200, label_smoothing=0.1)
    return CorpusTask(prepared, training, valid_rows=np.arange(8), seed=1, device=CPU)


@pytest.fixture
def model(subwords: Subwords) -> Transformer:
    config = TransformerConfig(
        encoder_layers=1, decoder_layers=1, d_model=16, d_ff=16, heads=2, dropout=0.0
    )
    return Transformer(config, vocabulary_size=len(subwords)).eval()


def test_teacher_forcing_feeds_begin_and_the_truth_and_expects_the_truth_and_end(
    task, store, subwords
):
    special = subwords.special
    indices = np.array([3, 0, 7])
    source, fed, expected = task.tensors(store, indices)
    for row, i in enumerate(indices.tolist()):
        target = subwords.encode(PAIRS[i].target)
        padding = [special.padding] * (fed.shape[1] - len(target) - 1)
        assert fed[row].tolist() == [special.begin, *target, *padding]
        assert expected[row].tolist() == [*target, special.end, *padding]
        ids = source[row].tolist()
        assert [token for token in ids if token != special.padding] == [
            *subwords.encode(PAIRS[i].source), special.end,
        ]  # fmt: skip


def test_the_loss_is_the_sum_over_real_tokens_pair_by_pair(task, store, model):
    indices = np.array([3, 0, 7])
    batch = task.batch(store, indices)
    together = task.cross_entropy(model, batch, 0.1)
    smoothed = nll = n_tokens = 0.0
    for i in indices:
        source, fed, expected = task.tensors(store, np.array([i]))
        loss = label_smoothed(model(source, fed), expected, smoothing=0.1, padding=0)
        smoothed += loss.smoothed.item()
        nll += loss.nll.item()
        n_tokens += expected.numel()
    assert together.smoothed.item() == pytest.approx(smoothed, rel=1e-5)
    assert together.nll.item() == pytest.approx(nll, rel=1e-5)
    assert task.loss(model, batch).item() == together.smoothed.item()
    n_source = int((task.tensors(store, indices)[0] != 0).sum())
    assert batch.units == n_tokens
    assert batch.counts == {"source_tokens": n_source, "target_tokens": n_tokens}


def test_halves_have_the_same_rows_in_the_same_order_and_the_same_loss(task, store, model):
    batch = task.batch(store, np.array([3, 0, 7, 9, 4]))
    halves = task.split_batch(batch, 2)
    assert [half.rows[1].tolist() for half in halves] == [[3, 0, 7], [9, 4]]
    assert sum(half.units for half in halves) == batch.units
    for name, n in batch.counts.items():
        assert sum(half.counts[name] for half in halves) == n
    loss = sum(task.loss(model, half).item() for half in halves)
    assert loss == pytest.approx(task.loss(model, batch).item(), rel=1e-5)
    [row] = task.split_batch(task.batch(store, np.array([3])), 2)
    assert row.rows[1].tolist() == [3]


def test_batches_go_on_where_they_were(task, store, subwords, model):
    for _ in range(5):
        task.next_batch()
    position = task.state_dict()
    later = [task.loss(model, task.next_batch()).item() for _ in range(8)]
    task.load_state_dict(position)
    assert [task.loss(model, task.next_batch()).item() for _ in range(8)] == later


def test_validation_is_over_the_chosen_sentences_and_not_smoothed(task, store, model):
    with torch.inference_mode():
        result = task.validate(model)
        batches = [task.batch(store, np.array([i])) for i in range(8)]
        losses = [task.cross_entropy(model, batch, 0.0) for batch in batches]
    assert isinstance(result, Validation)
    nats = sum(loss.nll.item() for loss in losses)
    assert result.loss == pytest.approx(nats / sum(batch.units for batch in batches), rel=1e-5)
    assert result.score_name == "bleu"


def test_perfect_translations_score_a_hundred(task, model, monkeypatch):
    monkeypatch.setattr(
        CorpusTask, "translate", lambda *_, first=None: [pair.target for pair in PAIRS[:8]]
    )
    with torch.inference_mode():
        assert task.validate(model).score == pytest.approx(100)
