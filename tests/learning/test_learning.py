"""A model must learn something: strings of symbols it never saw, copied and reversed."""

import pytest
import torch
from torch import Tensor

from headway.data.batching import pad
from headway.decoding.search import search
from headway.decoding.settings import DecodingSettings
from headway.models import Transformer, TransformerConfig
from headway.objectives import projected_label_smoothed
from headway.schedules import cosine_rate
from headway.training.parameters import FlatAdam

PADDING, BEGIN, END = 0, 2, 3
SYMBOLS = range(4, 14)
LONGEST, N_UPDATES, ROWS = 8, 500, 32


def strings(n: int, seed: int) -> list[Tensor]:
    """Random strings of 1 to 8 symbols."""
    generator = torch.Generator().manual_seed(seed)
    lengths = torch.randint(1, LONGEST + 1, (n,), generator=generator).tolist()
    low, high = SYMBOLS.start, SYMBOLS.stop
    return [torch.randint(low, high, (length,), generator=generator) for length in lengths]


def padded(rows: list[Tensor], **markers: int) -> Tensor:
    return torch.from_numpy(pad([row.numpy() for row in rows], PADDING, **markers))


@pytest.mark.parametrize("task", ["copy", "reverse"])
def test_the_paper_model_learns_to(task):
    held_out = strings(500, seed=1)
    known = {tuple(row.tolist()) for row in held_out if len(row) > 2}  # all of 1 and 2 are known
    config = TransformerConfig(
        encoder_layers=1, decoder_layers=1, d_model=64, d_ff=128, heads=4, dropout=0.0
    )
    torch.manual_seed(1)
    model = Transformer(config, vocabulary_size=SYMBOLS.stop)
    optimizer = FlatAdam(model, torch.float32, betas=(0.9, 0.98), epsilon=1e-9)

    def wanted(rows: list[Tensor]) -> list[Tensor]:
        return rows if task == "copy" else [row.flip(0) for row in rows]

    for step in range(1, N_UPDATES + 1):
        rows = [row for row in strings(ROWS, seed=1000 + step) if tuple(row.tolist()) not in known]
        target = wanted(rows)
        features = model.features(padded(rows, end=END), padded(target, begin=BEGIN))
        loss = projected_label_smoothed(
            features, model.output_weight, padded(target, end=END), smoothing=0.0, padding=PADDING
        )
        (loss.smoothed / sum(len(row) + 1 for row in target)).backward()
        rate = cosine_rate(step, peak=4e-3, warmup_steps=100, max_steps=N_UPDATES)
        optimizer.step(rate, clip_norm=1.0)

    with torch.inference_mode():
        model.eval()
        found = search(
            model,
            model.start(padded(held_out, end=END)),
            torch.full((len(held_out),), BEGIN),
            DecodingSettings(method="greedy"),
            end=END,
            max_lengths=torch.full((len(held_out),), 2 * LONGEST),
        )
    right = [
        hypotheses[0].ids == row.tolist()
        for hypotheses, row in zip(found, wanted(held_out), strict=True)
    ]
    assert sum(right) / len(right) > 0.99
