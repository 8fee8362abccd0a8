"""Runs from BERT- and RoBERTa-shaped models: they tell hidden words, embed, and others begin with
them."""

from functools import partial
from pathlib import Path

import torch

from headway.core.errors import ConfigError
from headway.exchange.bert import BERT, ROBERTA, BertCheckpoint, BertFamily
from headway.exchange.pretrained_tokenizers import read_pretrained
from headway.masked_language_models.model import MaskedLanguageModel
from headway.masked_language_models.spec import SPEC, next_commands
from headway.nn.encoder import EncoderConfig
from headway.operations.locks import Say
from headway.runs.imported import ImportedRun, write_imported

PEAK = 1.5e-4
"""A run which goes on from it has a third of that: 5e-5, as Devlin et al. 2019 (A.3) tune it."""
SHOWN = 4
"""Names of what is left out that are said."""


def read(family: BertFamily, model: Path, place: Path, say: Say) -> ImportedRun:
    """A folder with a model of this family; see `headway.runs.imported.write_imported`."""
    found = BertCheckpoint(model, family)
    config, (tokens, files) = found.config, read_pretrained(model, say)
    refuse_unlike(found, len(tokens), tokens.special.padding)
    weights = found.weights(len(tokens))
    if not found.has_head:
        head = drawn_head(config, len(tokens))
        weights |= {f"head.{name}": tensor for name, tensor in head.items()}
        say(
            "its weights have no head for hidden words: one was drawn, which knows nothing. "
            "predict needs one that was trained; embed and --init-from do not"
        )
    if n_left := len(found.left_out):
        names = ", ".join(found.left_out[:SHOWN]) + (", .." if n_left > SHOWN else "")
        say(f"{n_left} tensors left out, which a masked language model has not: {names}")
    if n_rows := found.told.vocab_size - len(tokens):
        say(f"{n_rows} rows of weights left out, for which the vocabulary has no piece")
    return ImportedRun(
        family.model_type,
        SPEC,
        tokens,
        [found.path, *found.stored.files, *files],
        {
            "text": {"unit": "subwords", "vocabulary_size": len(tokens), "segmenter": "none"},
            "model": {"type": "transformer", **vars(config)},
            "training": {"learning_rate": PEAK, "window": config.max_length},
        },
        weights,
        f"Masked language model, imported from {family.model_type}",
        next_commands(place),
    )


import_bert, import_roberta = (
    partial(write_imported, partial(read, family)) for family in (BERT, ROBERTA)
)


def refuse_unlike(found: BertCheckpoint, n_tokens: int, padding: int) -> None:
    """Raise ConfigError where config.json and a vocabulary are of two models, or RoBERTa's head,
    which has gelu always, has another activation than its layers."""
    told, path = found.told, found.path
    if told.vocab_size < n_tokens:
        raise ConfigError(
            f"each piece has a row of weights; {path} has vocab_size {told.vocab_size}, the "
            f"vocabulary beside it {n_tokens} pieces. Put the files of one model together."
        )
    if found.family is ROBERTA and told.pad_token_id != padding:
        raise ConfigError(
            f"a RoBERTa counts positions from behind its padding; {path} has pad_token_id "
            f"{told.pad_token_id}, the vocabulary beside it {padding}. Put the files of one model "
            "together."
        )
    if found.family is ROBERTA and found.has_head and found.config.activation != "gelu":
        raise ConfigError(
            f"a RoBERTa's head has gelu; {path} has hidden_act {told.hidden_act!r}, and layers and "
            "head have one activation here. Take another, or its weights without lm_head."
        )


def drawn_head(config: EncoderConfig, n_tokens: int) -> dict[str, torch.Tensor]:
    """The weights of a head that has learned nothing, the same for every import."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        one_layer = MaskedLanguageModel(config, vocabulary_size=1).head
    found = {name: weight.detach() for name, weight in one_layer.named_parameters()}
    return found | {"output_bias": torch.zeros(n_tokens)}
