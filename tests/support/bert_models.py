"""Small BERTs and RoBERTas with random weights, and vocabularies of their own."""

import json
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from transformers import BertConfig, BertForMaskedLM, RobertaConfig, RobertaForMaskedLM

MARKERS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
PIECES = [
    *MARKERS,
    *(f"{joint}{letter}" for letter in "abcdefghijklmnopqrstuvwxyzéñ3145," for joint in ("", "##")),
    *("the", "world", "hello", "##ing", "##llo", "word", "##word", "naive", "##ive", "don", "'"),
    *(
        "中",
        "文",
        "##文",
        "日",
        "本",
        "語",
        "한국어",
        ".",
        "!",
        "—",
        "[",
        "]",
        "$",
        "%",
        "<",
        ">",
        "/",
    ),
]
BYTE_TEXT = [
    "the world says hello to the world, and the word is hello",
    "don't ask the naive world what it is; it is what it is",
]
SIZES: dict[str, Any] = {
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 24,
    "max_position_embeddings": 20,
    "initializer_range": 0.5,
    "hidden_dropout_prob": 0.1,
}


def write_pieces(folder: Path, pieces: list[str] = PIECES, **options: Any) -> None:
    """vocab.txt, and tokenizer_config.json where there are options."""
    folder.mkdir(exist_ok=True)
    (folder / "vocab.txt").write_text("\n".join(pieces) + "\n", encoding="utf-8")
    if options:
        text = json.dumps({"tokenizer_class": "BertTokenizer", **options})
        (folder / "tokenizer_config.json").write_text(text, encoding="utf-8")


def write_byte_level(folder: Path, **options: Any) -> int:
    """vocab.json and merges.txt of a RoBERTa, tokenizer_config.json where there are options."""
    folder.mkdir(exist_ok=True)
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=300,
        special_tokens=["<s>", "<pad>", "</s>", "<unk>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(BYTE_TEXT, trainer)
    model = json.loads(tokenizer.to_str())["model"]
    ids = {**model["vocab"], "<mask>": len(model["vocab"])}
    (folder / "vocab.json").write_text(json.dumps(ids), encoding="utf-8")
    merges = "".join(f"{one} {other}\n" for one, other in model["merges"])
    (folder / "merges.txt").write_text(f"#version: 0.2\n{merges}", encoding="utf-8")
    if options:
        text = json.dumps({"tokenizer_class": "RobertaTokenizer", **options})
        (folder / "tokenizer_config.json").write_text(text, encoding="utf-8")
    return len(ids)


def drawn(model: Any) -> Any:
    """The same with every weight drawn, biases and norms too."""
    torch.manual_seed(5)
    with torch.no_grad():
        for weight in model.parameters():
            weight.add_(torch.randn_like(weight), alpha=0.2)
    return model.eval()


def write_bert(folder: Path, **options: Any) -> Any:
    """A BERT with its files; what it is."""
    write_pieces(folder)
    config = BertConfig(**{"vocab_size": len(PIECES), **SIZES, **options})
    model = drawn(BertForMaskedLM(config))
    model.save_pretrained(folder)
    return model


def write_roberta(folder: Path, **options: Any) -> Any:
    """A RoBERTa with its files; what it is."""
    n_ids = write_byte_level(folder)
    told = {"type_vocab_size": 1, "pad_token_id": 1, "layer_norm_eps": 1e-5}
    model = drawn(
        RobertaForMaskedLM(RobertaConfig(**{"vocab_size": n_ids, **SIZES, **told, **options}))
    )
    model.save_pretrained(folder)
    return model
