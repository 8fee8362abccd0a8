"""Small Marian models: random ones by `transformers`, with SentencePiece models of real words."""

import io
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from sentencepiece import SentencePieceProcessor, SentencePieceTrainer

from headway.demo import generate

os.environ["HF_HUB_OFFLINE"] = "1"
N_PIECES = 450
CODES = (">>zho<<", ">>cmn_Hans<<")


def processor(lines: list[str], kind: str) -> bytes:
    """A model of SentencePiece, trained on some lines."""
    written = io.BytesIO()
    SentencePieceTrainer.train(
        sentence_iterator=iter(lines),
        model_writer=written,
        vocab_size=N_PIECES,
        model_type=kind,
        hard_vocab_limit=False,
        character_coverage=1.0,
        minloglevel=2,
    )
    return written.getvalue()


def write_sub_words(folder: Path, kind: str = "unigram", codes: Sequence[str] = CODES) -> int:
    """source.spm, target.spm and vocab.json; how many pieces there are.

    Some of the source's pieces are left out of the list, as Marian leaves out what its training
    never saw.
    """
    sides = list(zip(*generate(300, 5), strict=True))
    models = [processor(list(side), kind) for side in sides]
    for name, model in zip(("source", "target"), models, strict=True):
        (folder / f"{name}.spm").write_bytes(model)
    pieces = dict.fromkeys(["</s>", "<unk>", *codes])
    for model in models:
        known = SentencePieceProcessor(model_proto=model)
        names = [known.id_to_piece(i) for i in range(3, known.get_piece_size())]
        pieces.update(dict.fromkeys(names[:-4]))
    listed = {piece: i for i, piece in enumerate([*pieces, "<pad>"])}
    (folder / "vocab.json").write_text(json.dumps(listed, ensure_ascii=False), encoding="utf-8")
    return len(listed)


def write_model(folder: Path, codes: Sequence[str] = (), **options: Any) -> Any:
    """A whole folder, and the model in it, with weights so large that any mistake shows."""
    from transformers import MarianConfig, MarianMTModel

    folder.mkdir(parents=True, exist_ok=True)
    n_tokens = write_sub_words(folder, codes=codes)
    shape = {
        "d_model": 16, "encoder_layers": 2, "decoder_layers": 1,
        "encoder_attention_heads": 2, "decoder_attention_heads": 2,
        "encoder_ffn_dim": 24, "decoder_ffn_dim": 24, "max_position_embeddings": 64,
        "activation_function": "swish", "scale_embedding": True,
    }  # fmt: skip
    markers = {"pad_token_id": n_tokens - 1, "decoder_start_token_id": n_tokens - 1}
    ends = {"eos_token_id": 0, "forced_eos_token_id": 0}
    model = MarianMTModel(
        MarianConfig(vocab_size=n_tokens, **{**shape, **markers, **ends, **options})
    ).eval()
    torch.manual_seed(7)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "embed_positions" not in name:
                parameter.add_(0.3 * torch.randn_like(parameter))
        model.final_logits_bias += 0.5 * torch.randn_like(model.final_logits_bias)
        for embedding in (model.get_encoder().embed_tokens, model.get_decoder().embed_tokens):
            embedding.weight[-1] = 0
    model.save_pretrained(folder)
    (folder / "tokenizer_config.json").write_text('{"source_lang": "en", "target_lang": "zh"}')
    return model
