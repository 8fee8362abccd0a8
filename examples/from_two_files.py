"""From two text files to translations, with the bricks of headway.core alone.

    python examples/from_two_files.py train.en train.zh [UPDATES]

`headway.core.train.train` does the same with checkpoints, averaging and a run folder.
"""

import sys
from pathlib import Path

import torch

from headway.core.batching import TokenBatches
from headway.core.bleu import bleu_statistics
from headway.core.dataset import PairsSettings, prepare_in_memory
from headway.core.hypothesis import DecodingSettings, SearchRequest
from headway.core.loss import projected_label_smoothed
from headway.core.rows import EncodedPairs, pad
from headway.core.schedules import linear_rate
from headway.core.search import decode_all
from headway.core.subwords import TextSettings
from headway.core.transformer import Transformer, TransformerConfig


def main(source: str, target: str, updates: int = 1000) -> None:
    """Learn, translate the pairs that were held out, and score that."""
    torch.manual_seed(1)
    files = PairsSettings(source=(Path(source),), target=(Path(target),))
    data = prepare_in_memory(files, TextSettings(), say=print)
    special = data.subwords.special

    config = TransformerConfig(
        encoder_layers=2, decoder_layers=2, d_model=128, d_ff=256, heads=4, norm="pre"
    )
    model = Transformer(config, vocabulary_size=len(data.subwords), padding=special.padding)
    adam = torch.optim.Adam(model.parameters(), betas=(0.9, 0.98), eps=1e-9)
    batches = TokenBatches(list(data.train.lengths.values()), batch_tokens=2048, seed=1)

    def tensors(pairs: EncodedPairs, rows: list[int]) -> list[torch.Tensor]:
        sources, targets = ([pairs[side][row] for row in rows] for side in ("source", "target"))
        arrays = (
            pad(sources, special.padding, end=special.end),
            pad(targets, special.padding, begin=special.begin),  # what the decoder reads
            pad(targets, special.padding, end=special.end),  # what it is to write
        )
        return [torch.from_numpy(array) for array in arrays]

    order = (rows for epoch in range(updates) for rows in batches.epoch(epoch))
    for step, rows in zip(range(1, updates + 1), order, strict=False):
        sources, fed, expected = tensors(data.train, rows.tolist())
        features, weight = model.features(sources, fed), model.output_weight
        found = projected_label_smoothed(
            features, weight, expected, smoothing=0.1, padding=special.padding
        )
        (found.smoothed / (expected != special.padding).sum()).backward()
        rate = linear_rate(step, peak=2e-3, warmup_steps=updates // 8, max_steps=updates)
        adam.param_groups[0]["lr"] = rate
        adam.step()
        adam.zero_grad()
        if step % 100 == 0:
            nats = found.nll.item() / (expected != special.padding).sum().item()
            print(f"update {step}: {nats:.3f} nats a target token")

    model.eval()
    sources = [data.valid["source"][row] for row in range(len(data.valid))]
    request = SearchRequest(special, DecodingSettings(beam=4), torch.device("cpu"))
    with torch.inference_mode():
        hypotheses = decode_all(model, sources, request)
    written = data.subwords.decode_batch([best.ids for best, *_ in hypotheses])
    for (text, _), translation in list(zip(data.valid_texts, written, strict=True))[:5]:
        print(f"{text}\n  {translation}")
    references, language = [text for _, text in data.valid_texts], Path(target).suffix[1:]
    print(f"BLEU {bleu_statistics(written, references, target_language=language).score():.1f}")


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(*sys.argv[1:3], *map(int, sys.argv[3:4]))
