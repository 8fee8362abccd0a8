"""Training speed of the recurrent translator beside JoeyNMT's: target tokens a second, in one run.

Takes the peers' scripts (--peers DIR: their Multi30k sub-words, ids and timer) and trains on two
threads, A B A B: a two-way GRU encoder and a GRU decoder with additive attention and input feeding,
embeddings of 128, states of 256 (in the encoder 128 each way), both embeddings tied, dropout 0.2,
label smoothing 0.1, at most 4,096 padded tokens a batch. headway sorts by length as its trainer
does; JoeyNMT makes its own batches. JoeyNMT's output matrix is its own, for states of 256;
headway's is that of the embeddings, for outputs of 128. A figure is the median over updates; real
tokens only.
Run: python benchmarks/recurrent_speed.py --peers DIR --rounds 3 --steps 30
"""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from typing import Any

import record
import torch
import training_speed

from headway.core import runtime
from headway.core.errors import HeadwayError
from headway.core.loss import projected_label_smoothed
from headway.core.optimizer import FlatAdam
from headway.earlier_translators.recurrent import RecurrentTranslator, RecurrentTranslatorConfig

D_EMBEDDING, D_MODEL, DROPOUT, BATCH_TOKENS = 128, 256, 0.2, 4096


def headway_side(asked: argparse.Namespace) -> int:
    """Train headway's model on the peers' ids; print its report as one JSON line."""
    common = training_speed.peers_common(asked.peers)
    runtime.start(runtime.RuntimeSettings(device="cpu", precision="fp32", threads=asked.threads))
    config = RecurrentTranslatorConfig(
        d_embedding=D_EMBEDDING, d_model=D_MODEL, dropout=DROPOUT, attention=asked.attention
    )
    model = RecurrentTranslator(config, vocabulary_size=common.V, padding=common.PAD).train()
    optimizer = FlatAdam(model, torch.float32, betas=(0.9, 0.98), epsilon=1e-9)
    stream = common.stream(common.load_ids(), BATCH_TOKENS)
    spent, n_tokens = [], []
    for _ in range(asked.steps):
        clock = time.perf_counter()
        source, expected, _, n_target = next(stream)
        fed = torch.cat([torch.full_like(expected[:, :1], common.EOS), expected[:, :-1]], 1)
        loss = projected_label_smoothed(
            model.features(source, fed),
            model.output_weight,
            expected,
            output_bias=model.output_bias,
            smoothing=0.1,
            padding=common.PAD,
        )
        (loss.smoothed / n_target).backward()
        optimizer.step(5e-4, 1.0)
        spent.append(time.perf_counter() - clock)
        n_tokens.append(n_target)
    print(json.dumps(report(spent[asked.warm :], n_tokens[asked.warm :], model_size(model))))
    return 0


def model_size(model: torch.nn.Module) -> int:
    """Its parameters."""
    return sum(parameter.numel() for parameter in model.parameters())


def report(spent: list[float], n_tokens: list[int], parameters: int = 0) -> dict[str, Any]:
    """Target tokens a second: the median over updates."""
    speed = median(n / s for n, s in zip(n_tokens, spent, strict=True))
    return {"tokens_s": round(speed), "updates": len(spent), "parameters": parameters}


def settings_of_joeynmt(data: Path, out: Path, asked: argparse.Namespace) -> dict[str, Any]:
    """The same model and batches, as its own settings name them."""

    def side(language: str) -> dict[str, Any]:
        return {
            "lang": language,
            "max_length": 100,
            "lowercase": False,
            "level": "bpe",
            "voc_file": str(data / "vocab.joey"),
            "tokenizer_type": "sentencepiece",
            "tokenizer_cfg": {"model_file": str(data / "joint.model")},
        }

    def part(**more: Any) -> dict[str, Any]:
        embeddings = {"embedding_dim": D_EMBEDDING, "scale": False, "dropout": DROPOUT}
        common = {"type": "recurrent", "rnn_type": "gru", "num_layers": 1, "dropout": DROPOUT}
        return {**common, "embeddings": embeddings, "freeze": False, **more}

    attention = {"additive": "bahdanau", "dot": "luong"}[asked.attention]
    return {
        "name": "recurrent",
        "joeynmt_version": "2.3.0",
        "model_dir": str(out / "joeynmt-recurrent"),
        "use_cuda": False,
        "fp16": False,
        "random_seed": 1,
        "num_workers": 0,
        "data": {
            "train": str(data / "train"),
            "dev": str(data / "val"),
            "test": str(data / "test_2016_flickr"),
            "dataset_type": "plain",
            "src": side("en"),
            "trg": side("de"),
        },
        "testing": {"beam_size": 1, "batch_size": 4096, "batch_type": "token",
                    "max_output_length": 100, "eval_metrics": ["bleu"]},
        "training": {
            "optimizer": "adam",
            "adam_betas": [0.9, 0.98],
            "normalization": "tokens",
            "learning_rate": 0.0005,
            "scheduling": "warmupinversesquareroot",
            "learning_rate_warmup": 200,
            "loss": "crossentropy",
            "label_smoothing": 0.1,
            "clip_grad_norm": 1.0,
            "batch_size": BATCH_TOKENS,
            "batch_type": "token",
            "epochs": 100,
            "updates": asked.steps,
            "max_updates": asked.steps,
            "validation_freq": 100_000,
            "logging_freq": 10,
            "early_stopping_metric": "ppl",
            "keep_best_ckpts": 1,
            "overwrite": True,
            "shuffle": True,
            "print_valid_sents": [0],
        },
        "model": {
            "initializer": "xavier_uniform",
            "embed_initializer": "xavier_uniform",
            "tied_embeddings": True,
            "tied_softmax": False,
            "encoder": part(hidden_size=D_MODEL // 2, bidirectional=True),
            "decoder": part(hidden_size=D_MODEL, hidden_dropout=DROPOUT, attention=attention,
                            input_feeding=True, init_hidden="bridge"),
        },
    }  # fmt: skip


def joeynmt_side(asked: argparse.Namespace) -> dict[str, Any]:
    """One process of JoeyNMT's own trainer, timed by the peers' timer."""
    home = training_speed.peers_home()
    models = home / "models"
    models.mkdir(parents=True, exist_ok=True)
    settings, timed = models / "recurrent.yaml", models / "recurrent.json"
    found = settings_of_joeynmt(home / "data", models, asked)
    settings.write_text(json.dumps(found, indent=1), encoding="utf-8")  # JSON is YAML
    timed.unlink(missing_ok=True)
    python = home / "venv" / "joeynmt" / "bin" / "python"
    command = [str(python), str(asked.peers / "steptime.py"), str(timed), "joeynmt", "train"]
    done = subprocess.run(
        [*command, str(settings), "-t"],
        env={**os.environ, "PEERS_HOME": str(home),
             "PEERS_PATCH": str(asked.peers / "joey_patch.py")},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if not timed.exists():
        raise HeadwayError(f"JoeyNMT gave no times:\n{(done.stdout + done.stderr)[-3000:]}")
    found = json.loads(timed.read_text(encoding="utf-8"))
    spent = [b - a for a, b in zip(found["t"], found["t"][1:], strict=False)]
    n_tokens = [tokens for _, tokens in found["tok"][1:]]
    if len(spent) <= asked.warm:
        raise HeadwayError(f"JoeyNMT made {len(spent)} updates:\n{done.stderr[-3000:]}")
    n_timed = min(len(spent), len(n_tokens))
    return report(spent[asked.warm : n_timed], n_tokens[asked.warm : n_timed])


def main() -> int:
    """Time both in turn, print, record."""
    parser = record.parser(__doc__)
    parser.add_argument("--peers", type=Path, metavar="DIR", required=True, help="their scripts")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=30, help="updates a process makes")
    parser.add_argument("--warm", type=int, default=5, help="of these, the first do not count")
    parser.add_argument("--threads", type=int, default=2, help="the peers' timer takes two")
    parser.add_argument("--attention", choices=("additive", "dot"), default="additive")
    record.add_record_option(parser)
    parser.add_argument("--side", choices=("headway",), help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.rounds < 1 or asked.steps < asked.warm + 2:
        parser.error("--rounds must be at least 1, and --steps two more than --warm")
    if asked.side:
        return headway_side(asked)
    own = [sys.executable, __file__, "--side", "headway", *sys.argv[1:]]
    rows = []
    for n in range(asked.rounds):
        done = subprocess.run(own, capture_output=True, text=True, check=False)
        if done.returncode:
            raise HeadwayError(f"headway gave no times:\n{done.stderr[-3000:]}")
        ours, theirs = json.loads(done.stdout.splitlines()[-1]), joeynmt_side(asked)
        rows.append((ours["tokens_s"], theirs["tokens_s"], ours["tokens_s"] / theirs["tokens_s"]))
        print(f"round {n + 1}: headway {rows[-1][0]:,}, JoeyNMT {rows[-1][1]:,}", flush=True)
    cells = [(f"{a:,}", f"{b:,}", f"{by:.2f}") for a, b, by in rows]
    print(record.table(["headway, target tokens/s", "JoeyNMT 2.3.0", "ratio"], cells))
    print(f"median ratio {median(by for _, _, by in rows):.2f}")
    record.write(asked.record, "recurrent_speed", seeds=[1], figures={"rounds": rows})
    return 0


if __name__ == "__main__":
    raise SystemExit(record.exit_status(main))
