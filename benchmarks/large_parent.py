"""Does a model of the size of M2M-100 (418M) fit a small machine: imported, tuned with adapters?

Makes a random one (12 + 12 layers of 1,024 and 4,096, 128,112 sub-words, float32), has `headway
import m2m100` make a run of it, and `headway train --training.lora-rank` go on from it with a few
hundred made-up pairs. Each command runs in a process of its own, which is looked at 20 times a
second: all that is resident, and what of it is its own (the rest is pages of files, which the
system takes back where another needs the room).

Run: python benchmarks/large_parent.py [--layers 12] [--rank 8] [--pairs 300] [--steps 4]
     [--batch-tokens 256] [--limit-mb 4096] [--folder DIR] [--record FILE]
Needs 25 GB of disk in --folder, the extra `sentencepiece`. Linux only: it reads /proc.
"""

import io
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
import record
import torch
from safetensors.torch import save_file
from sentencepiece import SentencePieceProcessor, SentencePieceTrainer

from headway.core.transformer import TransformerConfig
from headway.demo import generate
from headway.exchange.m2m100 import LANGUAGE_CODES
from headway.exchange.marian_weights import SHARED, places
from headway.nn.multilingual import MultilingualTransformer

N_LISTED, N_TOKENS = 128_004, 128_112
D_MODEL, D_FF, HEADS = 1024, 4096, 16


class Peak(NamedTuple):
    """What a command used."""

    own_mb: float
    """Resident, without pages of files."""
    resident_mb: float
    seconds: float
    said: str


def write_model(folder: Path, layers: int) -> int:
    """A random model in a folder; how many numbers it has."""
    config = TransformerConfig(
        d_model=D_MODEL, d_ff=D_FF, heads=HEADS, encoder_layers=layers, decoder_layers=layers,
        norm="pre", positions="learned",
    )  # fmt: skip
    with torch.device("meta"):
        model = MultilingualTransformer(config, vocabulary_size=N_TOKENS)
    own, rng = dict(model.named_parameters()), torch.Generator().manual_seed(1)

    def drawn(name: str, shape: torch.Size) -> torch.Tensor:
        if name.endswith("norm.weight"):
            return torch.ones(shape)
        return 0.02 * torch.randn(shape, generator=rng) if len(shape) > 1 else torch.zeros(shape)

    tensors = {p.name: drawn(p.name, own[n].shape) for n, p in places(config).items()}
    tensors[SHARED] = drawn(SHARED, torch.Size((N_TOKENS, D_MODEL)))
    save_file(tensors, folder / "model.safetensors", {"format": "pt"})
    described = {
        "model_type": "m2m_100", "vocab_size": N_TOKENS, "d_model": D_MODEL,
        "encoder_layers": layers, "decoder_layers": layers,
    }  # fmt: skip
    (folder / "config.json").write_text(json.dumps(described))
    return sum(tensor.numel() for tensor in tensors.values())


def write_vocabulary(folder: Path, lines: list[str]) -> None:
    """Sub-words of these lines, and as many others as M2M-100 has."""
    written = io.BytesIO()
    SentencePieceTrainer.train(
        sentence_iterator=iter(lines), model_writer=written, vocab_size=2000,
        hard_vocab_limit=False, character_coverage=1.0, minloglevel=2,
    )  # fmt: skip
    (folder / "sentencepiece.bpe.model").write_bytes(written.getvalue())
    learned = SentencePieceProcessor()
    learned.LoadFromSerializedProto(written.getvalue())
    pieces = [learned.id_to_piece(i) for i in range(3, learned.get_piece_size())]
    listed = ["<s>", "<pad>", "</s>", "<unk>", *pieces]
    listed += [f"▁other{i}" for i in range(N_LISTED - len(listed))]
    (folder / "vocab.json").write_text(json.dumps({piece: i for i, piece in enumerate(listed)}))
    (folder / "tokenizer_config.json").write_text(
        json.dumps({"language_codes": next(iter(LANGUAGE_CODES))})
    )


def resident_mb(pid: int) -> tuple[float, float]:
    """Of a process, now: its own, and all."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0.0, 0.0
    rows = [line.split() for line in status.splitlines() if line.endswith("kB")]
    found = {row[0]: int(row[1]) / 1024 for row in rows}
    return found.get("RssAnon:", 0.0) + found.get("RssShmem:", 0.0), found.get("VmRSS:", 0.0)


def measured(log: Path, *words: str) -> Peak:
    """A command of headway's, looked on."""
    begun, own, resident = time.monotonic(), 0.0, 0.0
    environment = os.environ | {"HEADWAY_CACHE": str(log.with_suffix(".cache"))}
    with log.open("w") as said:
        process = subprocess.Popen(
            [sys.executable, "-m", "headway", *words], stderr=said, stdout=said, env=environment
        )
        while process.poll() is None:
            now = resident_mb(process.pid)
            own, resident = max(own, now[0]), max(resident, now[1])
            time.sleep(0.05)
    if process.returncode:
        raise SystemExit(log.read_text())
    return Peak(own, resident, time.monotonic() - begun, log.read_text())


def main() -> int:
    """Print a row a command; exit status 1 where one needs more than is allowed."""
    options = record.parser(__doc__)
    options.add_argument("--layers", type=int, default=12, help="of encoder and of decoder")
    options.add_argument("--rank", type=int, default=8)
    options.add_argument("--pairs", type=int, default=300)
    options.add_argument("--steps", type=int, default=4)
    options.add_argument("--batch-tokens", type=int, default=256)
    options.add_argument("--limit-mb", type=float, default=4096, help="of what is its own")
    options.add_argument("--folder", type=Path, default=None, help="where files are written")
    record.add_record_option(options)
    told = options.parse_args()
    with tempfile.TemporaryDirectory(dir=told.folder) as temporary:
        folder = Path(temporary)
        (model := folder / "model").mkdir()
        pairs = generate(told.pairs, 1)
        sides = [*zip(*pairs, strict=True)]
        for side, language in zip(sides, ("en", "zh"), strict=True):
            (folder / f"mine.{language}").write_text("\n".join(side) + "\n", encoding="utf-8")
        write_vocabulary(model, [line for side in sides for line in side])
        n_numbers = write_model(model, told.layers)
        print(f"{n_numbers:,} numbers, {4 * n_numbers / 2**20:,.0f} MB", flush=True)
        languages = "--source-language=en", "--target-language=zh"
        run, tuned = str(folder / "run"), str(folder / "tuned")
        commands = {
            "import": ("import", "m2m100", str(model), "--out", run, *languages),
            "train": (
                "train", "--init-from", run, "--training.lora-rank", str(told.rank), "--out", tuned,
                "--source", str(folder / "mine.en"), "--target", str(folder / "mine.zh"),
                "--training.max-steps", str(told.steps), "--training.checkpoint-every",
                str(max(1, told.steps // 2)), "--training.batch-tokens", str(told.batch_tokens),
                "--training.valid-sentences", "4", "--decoding.max-extra-length", "4",
                "--decoding.method", "greedy", "--training.tune-length-penalty", "false",
            ),
        }  # fmt: skip
        peaks = {}
        print("| command | its own, MB | resident, MB | seconds |\n|---|---|---|---|")
        for name, words in commands.items():
            peaks[name] = peak = measured(folder / f"{name}.log", *words)
            row = f"{peak.own_mb:,.0f} | {peak.resident_mb:,.0f} | {peak.seconds:,.0f}"
            print(f"{peak.said}\n| {name} | {row} |", flush=True)
    figures = {
        name: {"own_mb": p.own_mb, "resident_mb": p.resident_mb, "seconds": p.seconds}
        for name, p in peaks.items()
    }
    record.write(told.record, "large_parent", seeds=[1], figures={"numbers": n_numbers, **figures})
    return int(np.max([peak.own_mb for peak in peaks.values()]) > told.limit_mb)


if __name__ == "__main__":
    sys.exit(main())
