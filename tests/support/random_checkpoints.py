"""Small GPT-2, M2M-100 and NLLB models: random ones by `transformers`, with tokenizers that learned
from real words."""

import json
import os
from pathlib import Path
from typing import Any

import torch
from marian_models import processor

os.environ["HF_HUB_OFFLINE"] = "1"
LINES = [
    "The dog sees a cat, and she reads 12 books.",
    "Where is the red ball?",
    "你好，世界！今天天气很好。",
    "Привет, мир! Как дела?",
    "Où est l'été ? Le chien voit un chat.",
    "नमस्ते दुनिया, हम 3 लोग हैं",
]
"""What the tokenizers learn from."""
TEXTS = [
    *LINES,
    " two  spaces and a trail ",
    "naïve café №5 ½ ｆｕｌｌ ﬁ 👍🏽",
    "don't we'll I'M 10,000.50 x_y\tz",
    "مرحبا بالعالم",
]
"""Texts in NFC that are parted."""


def write_gpt2(folder: Path, *, unused: int = 0, one_file: bool = False, **options: Any) -> Any:
    """A GPT-2 in a folder, whose tokenizer stands in two files or in one; the model comes back, in
    evaluation. `unused` rows of weights have no piece."""
    from tokenizers import ByteLevelBPETokenizer
    from transformers import GPT2Config, GPT2LMHeadModel, GPT2Tokenizer

    folder.mkdir(exist_ok=True)
    learned = ByteLevelBPETokenizer()
    learned.train_from_iterator(
        LINES * 5, vocab_size=420, special_tokens=["<|endoftext|>"], show_progress=False
    )
    learned.save_model(str(folder))
    tokenizer = gpt2_tokenizer(folder)
    if one_file:
        GPT2Tokenizer.save_pretrained(tokenizer, folder)
        for name in ("vocab.json", "merges.txt"):
            (folder / name).unlink(missing_ok=True)
    end = tokenizer.eos_token_id
    sizes = {"n_positions": 40, "n_embd": 16, "n_layer": 2, "n_head": 4}
    config = GPT2Config(
        vocab_size=len(tokenizer) + unused, bos_token_id=end, eos_token_id=end, **sizes | options
    )
    return saved(GPT2LMHeadModel(config), folder)


def gpt2_tokenizer(folder: Path) -> Any:
    """That of `transformers`."""
    from transformers import GPT2Tokenizer

    return GPT2Tokenizer(str(folder / "vocab.json"), str(folder / "merges.txt"))


def write_m2m100(folder: Path, **options: Any) -> Any:
    """An M2M-100 in a folder; the model comes back, in evaluation."""
    from sentencepiece import SentencePieceProcessor

    folder.mkdir(exist_ok=True)
    content = processor(LINES * 20, "bpe")
    (folder / "sentencepiece.bpe.model").write_bytes(content)
    learned = SentencePieceProcessor()
    learned.LoadFromSerializedProto(content)
    pieces = [learned.id_to_piece(i) for i in range(3, learned.get_piece_size())]
    ids = {piece: i for i, piece in enumerate(["<s>", "<pad>", "</s>", "<unk>", *pieces])}
    (folder / "vocab.json").write_text(json.dumps(ids), encoding="utf-8")
    m2m100_tokenizer(folder).save_pretrained(folder)
    return _model(folder, len(ids) + 108, options)


def m2m100_tokenizer(folder: Path) -> Any:
    """That of `transformers`, from English into French."""
    from transformers import M2M100Tokenizer

    files = str(folder / "vocab.json"), str(folder / "sentencepiece.bpe.model")
    return M2M100Tokenizer(*files, src_lang="en", tgt_lang="fr")


def write_nllb(folder: Path, **options: Any) -> Any:
    """An NLLB in a folder; the model comes back, in evaluation."""
    folder.mkdir(exist_ok=True)
    (folder / "sentencepiece.bpe.model").write_bytes(processor(LINES * 20, "bpe"))
    tokenizer = nllb_tokenizer(folder)
    tokenizer.save_pretrained(folder)
    (folder / "sentencepiece.bpe.model").unlink()
    return _model(folder, len(tokenizer) + 2, options)


def nllb_tokenizer(folder: Path) -> Any:
    """That of `transformers`, from English into French."""
    from transformers import NllbTokenizer
    from transformers.models.nllb.tokenization_nllb import FAIRSEQ_LANGUAGE_CODES

    return NllbTokenizer.from_pretrained(
        folder,
        src_lang="eng_Latn",
        tgt_lang="fra_Latn",
        extra_special_tokens=FAIRSEQ_LANGUAGE_CODES,
        local_files_only=True,
    )


def _model(folder: Path, vocab_size: int, options: dict[str, Any]) -> Any:
    from transformers import M2M100Config, M2M100ForConditionalGeneration

    sizes = {
        "d_model": 16, "encoder_layers": 2, "decoder_layers": 2, "max_position_embeddings": 60,
        "encoder_attention_heads": 4, "decoder_attention_heads": 4,
        "encoder_ffn_dim": 24, "decoder_ffn_dim": 24,
    }  # fmt: skip
    config = M2M100Config(vocab_size=vocab_size, **sizes | options)
    return saved(M2M100ForConditionalGeneration(config), folder)


def saved(model: Any, folder: Path) -> Any:
    """With random weights that make a difference: large ones, and no bias zero."""
    generator = torch.Generator().manual_seed(5)
    with torch.no_grad():
        for parameter in model.parameters():
            size = 0.3 if parameter.ndim > 1 else 0.1
            parameter.add_(size * torch.randn(parameter.shape, generator=generator))
    model.save_pretrained(folder)
    return model.eval()
