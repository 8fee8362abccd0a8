"""Label smoothing 0 against 0.1 (section 5.4): better BLEU, and at what cost in perplexity?

For each seed two trainings on Multi30k en-de that differ in nothing else: the same sub-words, the
same batches in the same order, the same number of updates (the first run turns the budget into
updates, all others make as many; none stops early). Each leaves its best or averaged weights, as
`headway train` does. Reported: BLEU on test_2016_flickr with beam 5, and perplexity per sub-word on
the validation pairs, against the truth alone (not smoothed).
Run: python benchmarks/label_smoothing.py --data DIR --budget 20m --seeds 1 2 --out DIR
"""

import argparse
import math
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
import record
import runs
import torch

from headway import Translator
from headway.core.batching import TokenBatches, pad
from headway.core.cleaning import clean
from headway.core.errors import HeadwayError
from headway.core.loss import projected_label_smoothed

CORPUS, TEST = runs.CORPORA["multi30k-en-de"], "test_2016_flickr"
SMOOTHINGS = (0.1, 0.0)


@torch.inference_mode()
def unsmoothed_perplexity(translator: Translator, pairs: tuple[list[str], list[str]]) -> float:
    """Per target sub-word, end markers included, by teacher forcing."""
    special = translator.subwords.special
    sources, targets = (
        [
            np.array(ids, np.int64)
            for ids in translator.subwords.encode_batch(list(map(clean, side)))
        ]
        for side in pairs
    )
    lengths = [np.array([len(ids) for ids in side], np.int32) for side in (sources, targets)]
    nats = 0.0
    for batch in TokenBatches(lengths, batch_tokens=4096, seed=1).epoch(0):
        rows = [targets[i] for i in batch]
        source, fed, expected = (
            torch.from_numpy(ids).to(translator.device)
            for ids in (
                pad([sources[i] for i in batch], special.padding, end=special.end),
                pad(rows, special.padding, begin=special.decoder_begin),
                pad(rows, special.padding, end=special.end),
            )
        )
        model = translator.model
        loss = projected_label_smoothed(
            model.features(source, fed),
            model.output_weight,
            expected,
            smoothing=0.0,
            padding=special.padding,
        )
        nats += loss.likelihood.item()
    return math.exp(nats / (int(lengths[1].sum()) + len(targets)))


def measure(run: Path, data: Path) -> dict[str, Any]:
    """Scores of one finished run."""
    translator = Translator.load(run)
    sources, references = CORPUS.lines(data, TEST)
    search = runs.decodings(translator.settings.decoding)["beam 5"]
    output = runs.translate(translator, sources, search)
    scores = runs.score(CORPUS, TEST, references, output, "beam 5")
    return {
        "smoothing": translator.settings.training.label_smoothing,
        "subwords": translator.subwords.fingerprint(),
        "valid_perplexity": unsmoothed_perplexity(translator, CORPUS.lines(data, CORPUS.valid)),
        "bleu": scores.bleu,
        "moses_bleu": scores.moses_bleu,
        **runs.facts(run),
    }


def train_all(asked: argparse.Namespace) -> list[Path]:
    """The run folders, trained in turn."""
    length = ["--budget", asked.budget] if asked.budget else []
    length = length or ["--training.max-steps", str(asked.max_steps)]
    fitted: list[str] = []  # what the first run chose and all others take
    folders: list[Path] = []
    for seed in asked.seeds:
        for smoothing in SMOOTHINGS:
            folder = asked.out / f"seed{seed}-smoothing{smoothing}"
            its_own = ["--seed", str(seed), "--training.label-smoothing", str(smoothing)]
            print(f"\n# seed {seed}, label smoothing {smoothing}", flush=True)
            flags = [*length, "--training.patience", "0", *its_own, *fitted]
            runs.train(CORPUS, asked.data, folder, flags)
            folders.append(folder)
            if not fitted:
                first = runs.facts(folder)
                fitted = ["--training.max-steps", str(first["max_steps"])]
                fitted += ["--training.checkpoint-every", str(first["checkpoint_every"])]
    return folders


def summary(rows: list[dict[str, Any]]) -> str:
    """One line a run, then the means."""
    cells: list[list[Any]] = [
        [
            row["seed"],
            row["smoothing"],
            f"{row['updates']:,}",
            f"{row['bleu']['score']:.2f} ({row['bleu']['low']:.2f} to {row['bleu']['high']:.2f})",
            f"{row['moses_bleu']:.2f}",
            f"{row['valid_perplexity']:.3f}",
        ]
        for row in rows
    ]
    for smoothing in SMOOTHINGS:
        same = [row for row in rows if row["smoothing"] == smoothing]
        bleu = f"{mean(row['bleu']['score'] for row in same):.2f}"
        moses = f"{mean(row['moses_bleu'] for row in same):.2f}"
        nats = f"{mean(row['valid_perplexity'] for row in same):.3f}"
        cells.append(["mean", smoothing, "", bleu, moses, nats])
    header = ["seed", "label smoothing", "updates", f"BLEU, {TEST} (95 % interval)"]
    return record.table([*header, "lower-cased Moses BLEU", "validation perplexity"], cells)


def main() -> int:
    """Train two runs a seed, score them, print, record."""
    parser = record.parser(__doc__)
    record.add_data_option(parser)
    length = parser.add_mutually_exclusive_group(required=True)
    length.add_argument("--budget", help="time for each training, such as 20m")
    length.add_argument("--max-steps", type=int, metavar="N", help="updates of each training")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--out", type=Path, metavar="DIR", required=True, help="for the runs")
    record.add_record_option(parser)
    asked = parser.parse_args()
    rows = [measure(folder, asked.data) for folder in train_all(asked)]
    for row in rows:
        twin = next(other for other in rows if other["seed"] == row["seed"])
        if row["subwords"] != twin["subwords"] or row["updates"] != rows[0]["updates"]:
            raise HeadwayError(
                "Runs are compared over the same sub-words and updates; those of seed "
                f"{row['seed']} differ. Start again with an empty --out."
            )
    print(f"\n{summary(rows)}\n")
    record.write(asked.record, "label_smoothing", seeds=asked.seeds, figures={"runs": rows})
    return 0


if __name__ == "__main__":
    raise SystemExit(record.exit_status(main))
