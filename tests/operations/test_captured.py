"""Updates that a GPU replays are, bit for bit, those that are asked for one by one."""

import numpy as np
import pytest
import small_pairs
import torch

from headway.core.dropout import set_dropout
from headway.core.optimizer import FlatAdam
from headway.core.transformer import Transformer, TransformerConfig
from headway.operations.acceleration import replay, strengths_in_tensors
from headway.translation.packed_task import PackedTask
from headway.translation.spec import PlannedTranslation

SIZES = {"encoder_layers": 1, "decoder_layers": 1, "d_model": 32, "d_ff": 64, "heads": 2}
N_UPDATES = 8

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")


def learned(replayed: bool, dtype: torch.dtype, *, n_rows: int = 0) -> tuple[list[float], list]:
    """Losses and weights; a batch of `n_rows` comes in between, which has another shape."""
    gpu, prepared = torch.device("cuda"), small_pairs.prepared()
    torch.manual_seed(1)
    training = PlannedTranslation(batch_tokens=512, pack_length=64)
    task = PackedTask(prepared, training, valid_rows=np.arange(4), seed=1, device=gpu)
    config = TransformerConfig(**SIZES, dropout=0.4)
    model = Transformer(config, vocabulary_size=len(prepared.subwords)).to(gpu).train()
    if replayed:
        replay(model, task)
    else:
        strengths_in_tensors(model)
    adam, losses = FlatAdam(model, dtype, betas=(0.9, 0.98), epsilon=1e-9), []
    for n in range(N_UPDATES):
        set_dropout(model, n / N_UPDATES)
        batch = task.next_batch()
        if n_rows and n == N_UPDATES // 2:
            batch = task.rows_of(*batch.rows[:2], batch.rows[2] + n_rows)
        loss = task.loss(model, batch)
        (loss / batch.units).backward()
        adam.step(1e-3, clip_norm=1.0)
        losses.append(loss.item())
    return losses, [weight.clone() for weight in adam.weights().values()]


@pytest.mark.parametrize("n_rows", [0, 1])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_losses_and_weights_are_the_same_while_dropout_grows(dtype, n_rows):
    losses, weights = learned(True, dtype, n_rows=n_rows)
    others, other_weights = learned(False, dtype, n_rows=n_rows)
    assert losses == others
    assert len({*losses}) == N_UPDATES
    assert all(torch.equal(*both) for both in zip(weights, other_weights, strict=True))


def test_dropout_falls_anew_in_each_replay():
    gpu = torch.device("cuda")
    task = PackedTask(
        small_pairs.prepared(),
        PlannedTranslation(batch_tokens=512, pack_length=64),
        valid_rows=np.arange(4), seed=1, device=gpu,
    )  # fmt: skip
    config = TransformerConfig(**SIZES, dropout=0.4)
    model = Transformer(config, vocabulary_size=len(task.subwords)).to(gpu).train()
    FlatAdam(model, torch.float32, betas=(0.9, 0.98), epsilon=1e-9)
    replay(model, task)
    batch = task.next_batch()
    assert task.loss(model, batch).item() != task.loss(model, batch).item()
    set_dropout(model, 0.0)
    assert task.loss(model, batch).item() == task.loss(model, batch).item()
