"""A model must learn something: strings of symbols it never saw, copied and reversed."""

import torch
from torch import Tensor, nn

from headway.core.hypothesis import DecodingSettings, Rules
from headway.core.loss import projected_label_smoothed
from headway.core.optimizer import FlatAdam
from headway.core.rows import pad
from headway.core.schedules import cosine_rate
from headway.core.search import search
from headway.core.transformer import Transformer, TransformerConfig
from headway.earlier_translators.bytenet import ByteNet, ByteNetConfig
from headway.earlier_translators.convolutional import Convolutional, ConvolutionalConfig

PADDING, BEGIN, END = 0, 2, 3
SYMBOLS = range(4, 10)
LONGEST, ROWS = 5, 32


def strings(n: int, seed: int) -> list[Tensor]:
    """Random strings of 1 to 5 symbols."""
    generator = torch.Generator().manual_seed(seed)
    lengths = torch.randint(1, LONGEST + 1, (n,), generator=generator).tolist()
    low, high = SYMBOLS.start, SYMBOLS.stop
    return [torch.randint(low, high, (length,), generator=generator) for length in lengths]


def padded(rows: list[Tensor], **markers: int) -> Tensor:
    return torch.from_numpy(pad([row.numpy() for row in rows], PADDING, **markers))


def wanted(task: str, rows: list[Tensor]) -> list[Tensor]:
    return rows if task == "copy" else [row.flip(0) for row in rows]


def share_right_after(model: nn.Module, task: str, *, n_updates: int, peak: float) -> float:
    """Train it; then the share of strings that it never saw and gets right to the last symbol."""
    held_out = strings(500, seed=1)
    known = {tuple(row.tolist()) for row in held_out if len(row) > 2}  # all of 1 and 2 are known
    optimizer = FlatAdam(model, torch.float32, betas=(0.9, 0.98), epsilon=1e-9)
    for step in range(1, n_updates + 1):
        rows = [row for row in strings(ROWS, seed=1000 + step) if tuple(row.tolist()) not in known]
        target = wanted(task, rows)
        loss = projected_label_smoothed(
            model.features(padded(rows, end=END), padded(target, begin=BEGIN)),
            model.output_weight,
            padded(target, end=END),
            output_bias=model.output_bias,
            smoothing=0.0,
            padding=PADDING,
        )
        (loss.smoothed / sum(len(row) + 1 for row in target)).backward()
        rate = cosine_rate(step, peak=peak, warmup_steps=n_updates // 5, max_steps=n_updates)
        optimizer.step(rate, clip_norm=1.0)

    with torch.inference_mode():
        model.eval()
        found = search(
            model,
            model.start(padded(held_out, end=END)),
            torch.full((len(held_out),), BEGIN),
            Rules(
                DecodingSettings(method="greedy"), END, torch.full((len(held_out),), 2 * LONGEST)
            ),
        )
    right = [
        hypotheses[0].ids == row.tolist()
        for hypotheses, row in zip(found, wanted(task, held_out), strict=True)
    ]
    return sum(right) / len(right)


def test_the_paper_model_learns_to_reverse():
    config = TransformerConfig(
        encoder_layers=1, decoder_layers=1, d_model=64, d_ff=128, heads=4, dropout=0.0
    )
    torch.manual_seed(1)
    model = Transformer(config, vocabulary_size=SYMBOLS.stop)
    assert share_right_after(model, "reverse", n_updates=400, peak=4e-3) > 0.99


def test_gated_convolutions_with_attention_learn_to_copy():
    config = ConvolutionalConfig(
        encoder_layers=2, decoder_layers=2, d_model=64, dropout=0.0, max_length=32
    )
    torch.manual_seed(1)
    model = Convolutional(config, vocabulary_size=SYMBOLS.stop)
    assert share_right_after(model, "copy", n_updates=100, peak=2e-3) > 0.95


def test_dilated_convolutions_learn_to_copy():
    config = ByteNetConfig(
        encoder_layers=2, decoder_layers=2, d_model=64, dropout=0.0, max_dilation=8
    )
    torch.manual_seed(1)
    model = ByteNet(config, vocabulary_size=SYMBOLS.stop)
    assert share_right_after(model, "copy", n_updates=80, peak=2e-3) > 0.95
