"""What `equal_time.py` runs in the environments of other toolkits; headway is not imported here.

Run: python benchmarks/equal_time_peers.py prepare|marian|generate JOB.json
A job has the `files` of a corpus, the `folder` of a cell, a `recipe`. `marian` is a plain loop
around Hugging Face's model, as its run_translation_no_trainer.py has one, and faster than that:
batches by tokens, sorted by length, and a rate that comes down to nothing as the time does.
"""

import gzip
import json
import random
import sys
import time
from pathlib import Path
from typing import Any

LONGEST = 256
"""Pieces of a sentence to learn from: headway's own limit. Pairs with a longer side are left out,
and no translation is longer."""
PLACES = 1024
"""Pieces of a sentence to translate that Hugging Face's model may read."""
CHECKPOINTS = 20
FEW = 100
"""Pairs that JoeyNMT validates on: it translates them every time, slowly, and chooses by their
perplexity."""
Job = dict[str, Any]
Pair = list[list[int]]


def prepare(job: Job) -> None:
    """One sentencepiece model for both languages, and each toolkit's view of texts and pieces.

    Numbers are as Marian has them: 0 </s>, 1 <unk>, .., and <pad> last.
    """
    import sentencepiece

    folder = Path(job["folder"])
    text: dict[str, list[list[str]]] = {}
    for split, paths in job["files"].items():
        text[split] = []
        for path in paths:
            opened = gzip.open if path.endswith(".gz") else open
            with opened(path, "rt", encoding="utf-8", newline="\n") as file:
                lines = file.read().removesuffix("\n").split("\n")
            text[split].append([" ".join(line.split()) for line in lines])
    write(folder / "both.txt", [line for side in text["train"] for line in side])
    sentencepiece.SentencePieceTrainer.train(
        input=str(folder / "both.txt"), model_prefix=str(folder / "joint"), model_type="bpe",
        vocab_size=job["recipe"]["vocabulary"] - 1, character_coverage=job["coverage"],
        eos_id=0, unk_id=1, bos_id=-1, pad_id=-1, num_threads=2, minloglevel=2,
    )  # fmt: skip
    model = sentencepiece.SentencePieceProcessor(model_file=str(folder / "joint.model"))
    pieces = [model.id_to_piece(i) for i in range(2, model.get_piece_size())]
    write(folder / "vocabulary.eole", pieces)
    write(folder / "vocabulary.joeynmt", ["<unk>", "<pad>", "<s>", "</s>", *pieces])
    text["few"] = [side[:: max(1, len(side) // FEW)] for side in text["valid"]]
    for split, sides in text.items():
        pairs = list(zip(*sides, *(model.encode_as_pieces(side) for side in sides), strict=True))
        if len(sides) == 2:
            pairs = [row for row in pairs if all(0 < len(side) < LONGEST for side in row[2:])]
        for i, side in enumerate(("source", "target")[: len(sides)]):
            write(folder / f"{split}.{side}", [row[i] for row in pairs])
            pieced = [" ".join(row[i + len(sides)]) for row in pairs]
            write(folder / f"{split}.pieces.{side}", pieced)


def write(path: Path, lines: list[str]) -> None:
    """A text file, one line each."""
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")


def numbers(folder: Path, name: str) -> list[list[int]]:
    """Numbers of the pieces of each line of a file, with the end."""
    import sentencepiece

    model = sentencepiece.SentencePieceProcessor(model_file=str(folder / "joint.model"))
    lines = (folder / name).read_text(encoding="utf-8").split("\n")[:-1]
    return [[*line, 0] for line in model.encode(lines)]


def batches(pairs: list[Pair], tokens: int, draw: random.Random) -> list[list[Pair]]:
    """Pairs of like lengths together, at most so many padded tokens a side, in random order."""
    found: list[list[Pair]] = [[]]
    width = 0
    for pair in sorted(pairs, key=lambda pair: (len(pair[1]), len(pair[0]), draw.random())):
        width = max(width, *map(len, pair))
        if found[-1] and width * (len(found[-1]) + 1) > tokens:
            found.append([])
            width = max(map(len, pair))
        found[-1].append(pair)
    draw.shuffle(found)
    return found


def padded(lines: list[list[int]], padding: int) -> Any:
    """[batch, longest] from lists of numbers."""
    import torch

    rows = [torch.tensor(line) for line in lines]
    return torch.nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=padding)


def new_marian(recipe: dict[str, Any]) -> Any:
    """Hugging Face's model of this shape: post-norm, sinusoids, all embeddings tied."""
    from transformers import MarianConfig, MarianMTModel

    padding = recipe["vocabulary"] - 1
    names = {"layers": "layers", "ffn_dim": "d_ff", "attention_heads": "heads"}
    stacks = {
        f"{stack}_{name}": recipe[ours]
        for stack in ("encoder", "decoder")
        for name, ours in names.items()
    }
    return MarianMTModel(
        MarianConfig(
            vocab_size=recipe["vocabulary"], d_model=recipe["d_model"], **stacks,
            dropout=recipe["dropout"], attention_dropout=0.0, activation_function="relu",
            scale_embedding=True, share_encoder_decoder_embeddings=True, tie_word_embeddings=True,
            pad_token_id=padding, eos_token_id=0, bos_token_id=0, decoder_start_token_id=padding,
            forced_eos_token_id=0, max_position_embeddings=PLACES,
        )
    )  # fmt: skip


def marian(job: Job) -> None:
    """Learn until `seconds` of this process are over: up for an eighth of them, then down."""
    began = time.perf_counter()
    import torch
    from torch.nn.functional import cross_entropy

    recipe, folder = job["recipe"], Path(job["folder"])
    torch.manual_seed(job["seed"])
    draw = random.Random(job["seed"])
    sides = [numbers(folder, f"train.{side}") for side in ("source", "target")]
    pairs = [list(pair) for pair in zip(*sides, strict=True)]
    model, padding = new_marian(recipe), recipe["vocabulary"] - 1
    rate = recipe["rate"]
    optimizer = torch.optim.AdamW(model.parameters(), rate, (0.9, 0.98), 1e-9, weight_decay=0.0)
    step, waiting = 0, list[list[Pair]]()
    while (done := (time.perf_counter() - began) / job["seconds"]) < 1:
        waiting = waiting or batches(pairs, recipe["batch"], draw)
        source, target = (padded(list(side), padding) for side in zip(*waiting.pop(), strict=True))
        fed = torch.cat([torch.full_like(target[:, :1], padding), target[:, :-1]], 1)
        mask = (source != padding).long()
        output = model(source, attention_mask=mask, decoder_input_ids=fed, use_cache=False)
        loss = cross_entropy(
            output.logits.flatten(0, 1), target.flatten(),
            ignore_index=padding, label_smoothing=recipe["smoothing"],
        )  # fmt: skip
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.param_groups[0]["lr"] = rate * min(8 * done, 8 / 7 * (1 - done))
        optimizer.step()
        optimizer.zero_grad()
        step += 1
        if step % 5 == 0:
            print(f"Step {step}, loss {loss.item():.3f}", flush=True)
    model.save_pretrained(folder / "marian")


def generate(job: Job) -> None:
    """Hugging Face's beam search over the source of a split."""
    import sentencepiece
    import torch
    from transformers import MarianMTModel

    folder, padding = Path(job["folder"]), job["recipe"]["vocabulary"] - 1
    model = MarianMTModel.from_pretrained(folder / "marian").eval()
    pieces = sentencepiece.SentencePieceProcessor(model_file=str(folder / "joint.model"))
    lines = numbers(folder, f"{job['split']}.source")
    order = sorted(range(len(lines)), key=lambda i: len(lines[i]))
    said = [""] * len(lines)
    for at in range(0, len(order), 32):
        places = order[at : at + 32]
        source = padded([lines[i][-PLACES:] for i in places], padding)
        with torch.inference_mode():
            found = model.generate(
                input_ids=source, attention_mask=(source != padding).long(), do_sample=False,
                num_beams=5, max_new_tokens=LONGEST, bad_words_ids=[[padding]],
            )  # fmt: skip
        for i, line in zip(places, found.tolist(), strict=True):
            said[i] = pieces.decode([piece for piece in line if 0 < piece < padding])
    write(Path(job["output"]), said)


def training(toolkit: str, job: Job, name: str) -> list[str]:
    """What follows `python` where JoeyNMT or Eole is to train; writes the file of its settings."""
    folder, updates = Path(job["folder"]), job["updates"]
    every, warmup = max(2, updates // CHECKPOINTS // 5) * 5, max(1, updates // 8)
    make, start = {
        "joeynmt": (joeynmt_settings, ["-m", "joeynmt", "train", "-t"]),
        "eole": (eole_settings, ["-m", "eole.bin.main", "train", "-config"]),
    }[toolkit]
    settings = make(job["recipe"], folder, folder / name, job["seed"], every, warmup)
    file = folder / f"{name}.{toolkit}.yaml"
    file.write_text(json.dumps(settings, indent=1, ensure_ascii=False), encoding="utf-8")
    return [*start, str(file)]


def joeynmt_settings(
    recipe: Job, folder: Path, model: Path, seed: int, every: int, warmup: int
) -> dict[str, Any]:
    """As its configs/transformer_iwslt14_deen_sp.yaml, but for shape, batch and rate."""
    side = {
        "lang": "source", "max_length": LONGEST, "level": "bpe", "tokenizer_type": "sentencepiece",
        "voc_file": str(folder / "vocabulary.joeynmt"),
        "tokenizer_cfg": {"model_file": str(folder / "joint.model")},
    }  # fmt: skip
    stack = {
        "type": "transformer", "num_layers": recipe["layers"], "num_heads": recipe["heads"],
        "embeddings": {"embedding_dim": recipe["d_model"], "scale": True, "dropout": 0.0},
        "hidden_size": recipe["d_model"], "ff_size": recipe["d_ff"], "dropout": recipe["dropout"],
        "layer_norm": "pre",
    }  # fmt: skip
    return {
        "name": "equal_time", "joeynmt_version": "2.3.0", "model_dir": str(model),
        "use_cuda": False, "fp16": False, "random_seed": seed,
        "data": {
            "train": str(folder / "train"), "dev": str(folder / "few"), "dataset_type": "plain",
            "src": side, "trg": {**side, "lang": "target"},
        },
        "testing": {
            "beam_size": 5, "beam_alpha": 1.0, "batch_size": FEW, "batch_type": "sentence",
            "max_output_length": 50, "eval_metrics": [],
        },
        "training": {
            "optimizer": "adam", "adam_betas": [0.9, 0.98], "normalization": "tokens",
            "learning_rate": recipe["rate"], "scheduling": "warmupinversesquareroot",
            "learning_rate_warmup": warmup, "loss": "crossentropy",
            "label_smoothing": recipe["smoothing"], "clip_grad_norm": 1.0,
            "batch_size": recipe["batch"], "batch_type": "token", "epochs": 10**6,
            "validation_freq": every, "logging_freq": 5, "early_stopping_metric": "ppl",
            "keep_best_ckpts": 5, "overwrite": True, "shuffle": True, "print_valid_sents": [],
        },
        "model": {
            "initializer": "xavier_uniform", "embed_initializer": "xavier_uniform",
            "tied_embeddings": True, "tied_softmax": True, "encoder": stack, "decoder": stack,
        },
    }  # fmt: skip


def eole_settings(
    recipe: Job, folder: Path, model: Path, seed: int, every: int, warmup: int
) -> dict[str, Any]:
    """As its recipes/wmt17 (noam, adamw, averaged weights), but for shape, batch and rate."""
    vocabulary, factor = str(folder / "vocabulary.eole"), (recipe["d_model"] * warmup) ** 0.5
    size = recipe["vocabulary"] + 2
    pairs = (folder / "train.source").read_bytes().count(b"\n")  # more would be read again
    return {
        "seed": seed, "share_vocab": True, "src_vocab": vocabulary, "tgt_vocab": vocabulary,
        "src_vocab_size": size, "tgt_vocab_size": size, "overwrite": True, "report_every": 5,
        "n_sample": 0,
        "data": {
            "corpus_1": {
                "path_src": str(folder / "train.pieces.source"),
                "path_tgt": str(folder / "train.pieces.target"), "transforms": [],
            }
        },
        "training": {
            "model_path": str(model), "world_size": 0, "gpu_ranks": [], "num_workers": 0,
            "compute_dtype": recipe["precision"],
            "batch_type": "tokens", "batch_size": recipe["batch"], "batch_size_multiple": 1,
            "normalization": "tokens", "accum_count": [1], "bucket_size": pairs,
            "prefetch_factor": 40, "train_steps": 10**6, "valid_steps": 10**6,
            "save_checkpoint_steps": every, "keep_checkpoint": 2, "optim": "adamw",
            "adam_beta2": 0.998, "learning_rate": recipe["rate"] * factor, "decay_method": "noam",
            "warmup_steps": warmup, "max_grad_norm": 1.0, "dropout": [recipe["dropout"]],
            "attention_dropout": [0.0], "label_smoothing": recipe["smoothing"],
            "average_decay": 1e-4, "param_init_method": "xavier_uniform",
        },
        "model": {
            "architecture": "transformer", "hidden_size": recipe["d_model"],
            "layers": recipe["layers"], "heads": recipe["heads"],
            "transformer_ff": recipe["d_ff"], "share_decoder_embeddings": True,
            "share_embeddings": True, "add_qkvbias": True, "add_final_linear_bias": True,
            "add_ffnbias": True, "mlp_activation_fn": "relu", "layer_norm": "standard",
            "embeddings": {
                "word_vec_size": recipe["d_model"],
                "position_encoding_type": "SinusoidalInterleaved",
            },
        },
    }  # fmt: skip


if __name__ == "__main__":
    {one.__name__: one for one in (prepare, marian, generate)}[sys.argv[1]](
        json.loads(Path(sys.argv[2]).read_text(encoding="utf-8"))
    )
