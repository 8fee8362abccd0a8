"""Packed pairs are learned as padded ones are; batches have one shape and hold each pair once."""

from dataclasses import replace

import numpy as np
import pytest
import small_pairs
import torch

from headway.core.errors import ConfigError
from headway.core.training_interfaces import Batch
from headway.core.transformer import Transformer
from headway.corpora.prepared import Prepared
from headway.nn.positioned import PositionedConfig
from headway.runs.settings import Settings
from headway.translation.corpus_task import CorpusTask
from headway.translation.length_limits import refuse_too_long
from headway.translation.packed_task import PackedTask, packed_features
from headway.translation.spec import SPEC, PlannedTranslation, build

TRAINING = PlannedTranslation(batch_tokens=256, pack_length=64)
SIZES = {"encoder_layers": 2, "decoder_layers": 2, "d_model": 16, "d_ff": 32, "heads": 2}


@pytest.fixture(scope="module")
def prepared() -> Prepared:
    return small_pairs.prepared()


def task_of(prepared: Prepared, kind: type[CorpusTask] = PackedTask, **given: int) -> CorpusTask:
    training = replace(TRAINING, **given)
    how = {"valid_rows": np.arange(8), "seed": 1, "device": torch.device("cpu")}
    return kind(prepared, training, **how)


def model_of(prepared: Prepared, **given: object) -> Transformer:
    torch.manual_seed(1)
    config = PositionedConfig(**SIZES, dropout=0.0, **given)  # type: ignore[arg-type]
    return Transformer(config, vocabulary_size=len(prepared.subwords)).train()


def learned(task: CorpusTask, model: Transformer, batches: list[Batch]) -> tuple[float, list]:
    model.zero_grad()
    loss = sum(task.loss(model, batch) for batch in batches)
    loss.backward()
    return loss.item(), [p.grad.clone() for p in model.parameters()]


@pytest.mark.parametrize("norm", ["post", "pre"])
@pytest.mark.parametrize("positions", ["sinusoidal", "learned", "relative", "rotary", "none"])
def test_loss_and_gradients_are_those_of_the_same_pairs_padded(prepared, positions, norm):
    model = model_of(prepared, positions=positions, norm=norm, output_bias=True)
    task, plain = task_of(prepared), task_of(prepared, CorpusTask)
    batch = task.next_batch()
    pairs = batch.rows[1]
    packed, gradients = learned(task, model, [batch])
    padded, others = learned(plain, model, [plain.batch(plain.train, pairs)])
    assert packed == pytest.approx(padded, rel=1e-5)
    assert batch.units == plain.batch(plain.train, pairs).units
    for one, other in zip(gradients, others, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-4)
    assert any(bool(one.any()) for one in gradients)


def test_every_batch_has_one_shape_and_an_epoch_each_pair_once(prepared):
    task = task_of(prepared)
    batches = task.packed.epoch(0)
    assert len(batches) > 2
    assert sorted(np.concatenate(batches).tolist()) == list(range(len(task.train)))
    seen = {
        tuple(part.shape for part in (*source, *fed, expected))
        for source, fed, expected in (task.tensors(*task.next_batch().rows) for _ in batches)
    }
    assert len(seen) == 1
    (shapes,) = seen
    rows, length = shapes[0]
    assert rows * length <= TRAINING.batch_tokens
    again, other = task.packed.epoch(0), task.packed.epoch(1)
    assert all(np.array_equal(*both) for both in zip(batches, again, strict=True))
    assert [*map(list, batches)] != [*map(list, other)]


def test_each_token_stands_in_its_sentence(prepared):
    task = task_of(prepared)
    store, pairs, n_rows = task.next_batch().rows
    source, fed, expected = task.tensors(store, pairs, n_rows)
    special = prepared.subwords.special
    for number, pair in enumerate(pairs, 1):
        ids = store["source"][pair].tolist()
        here = source.sentence == number
        assert source.ids[here].tolist() == [*ids, special.end]
        assert source.place[here].tolist() == list(range(len(ids) + 1))
        ids = store["target"][pair].tolist()
        here = fed.sentence == number
        assert fed.ids[here].tolist() == [special.decoder_begin, *ids]
        assert expected[here].tolist() == [*ids, special.end]
        assert len(here.nonzero()[:, 0].unique()) == 1  # in one row
    assert bool((source.ids[source.sentence == 0] == special.padding).all())
    assert bool((expected[fed.sentence == 0] == special.padding).all())


def test_a_sentence_is_not_changed_by_those_beside_it(prepared):
    model, task = model_of(prepared).eval(), task_of(prepared)
    source, fed, _ = task.tensors(*task.next_batch().rows)
    before = packed_features(model, source, fed)
    first = fed.sentence == 1
    changed = [
        side._replace(ids=torch.where(side.sentence > 1, (side.ids + 7) % 500 + 4, side.ids))
        for side in (source, fed)
    ]
    after = packed_features(model, *changed)
    torch.testing.assert_close(after[first], before[first], rtol=0, atol=1e-6)
    others = fed.sentence > 1
    assert not torch.allclose(after[others], before[others], atol=1e-3)


def test_parts_of_a_batch_add_up_to_it_and_share_a_shape(prepared):
    model, task = model_of(prepared), task_of(prepared)
    batch = task.next_batch()
    for n in (2, 3):
        parts = task.split_batch(batch, n)
        assert len(parts) == n
        assert len({part.rows[2] for part in parts}) == 1
        assert np.array_equal(np.concatenate([part.rows[1] for part in parts]), batch.rows[1])
        whole, gradients = learned(task, model, [batch])
        split, others = learned(task, model, parts)
        assert split == pytest.approx(whole, rel=1e-5)
        for one, other in zip(gradients, others, strict=True):
            torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-4)
    rows = task.split_batch(batch, 100)
    assert 2 < len(rows) <= task.packed.n_rows
    assert {part.rows[2] for part in rows} == {1}


def test_rows_are_full(prepared):
    task = task_of(prepared, pack_length=128, batch_tokens=512)
    *batches, _ = task.packed.epoch(0)
    lengths = [task.train.lengths[side] + 1 for side in ("source", "target")]
    for batch in batches:
        used = max(
            side[batch].sum() / (task.packed.n_rows * length)
            for side, length in zip(lengths, task.packed.row_lengths, strict=True)
        )
        assert used > 0.85


def refuse(prepared: Prepared, model: dict, **training: object) -> None:
    given = {"model": model, "training": {"pack_length": 64, **training}}
    refuse_too_long(Settings.of(given, SPEC), prepared, build)


def test_what_cannot_be_packed_is_refused_before_anything_is_written(prepared):
    refuse(prepared, SIZES)
    with pytest.raises(ConfigError, match="rows of training.pack_length hold any pair; got 8"):
        refuse(prepared, SIZES, pack_length=8)
    with pytest.raises(ConfigError, match="pack_length must be at least 0; got -1"):
        refuse(prepared, SIZES, pack_length=-1)
    with pytest.raises(ConfigError, match="without a window; got --model.type transformer"):
        refuse(prepared, {**SIZES, "window": 4})
    with pytest.raises(ConfigError, match="without a window; got --model.type recurrent"):
        refuse(prepared, {"type": "recurrent"})
    tuned = {"pack_length": 64, "init_from": "runs/old"}
    settings = Settings.of({"training": tuned, "data": {"old_run": "runs/old"}}, SPEC)
    with pytest.raises(ConfigError, match=r"goes on from a run \(runs/old\) with its old pairs"):
        refuse_too_long(settings, prepared, build)
