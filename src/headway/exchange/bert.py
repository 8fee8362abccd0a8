"""BERT (Devlin et al. 2019) and RoBERTa (Liu et al. 2019) of Hugging Face's `transformers` as an
encoder with a head that tells hidden words.

Two things stand elsewhere here. Texts are single, so the vector of their segment (token type 0) is
added to the positions. RoBERTa's positions are counted from behind its padding's id; the rows
before that are not read.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor

from headway.core.errors import ConfigError
from headway.exchange.checkpoints import (
    ACTIVATIONS,
    CONFIG,
    KNOWN_ACTIVATIONS,
    StoredWeights,
    naming,
    read_config,
    refuse_few,
    refuse_other_shapes,
    refuse_unheld,
    refuse_unlike,
)
from headway.nn.encoder import EncoderConfig

WORDS, PLACES, SEGMENTS = (
    f"embeddings.{kind}_embeddings.weight" for kind in ("word", "position", "token_type")
)
_LAYER = {
    "self_attention.to_query": "attention.self.query",
    "self_attention.to_key": "attention.self.key",
    "self_attention.to_value": "attention.self.value",
    "self_attention.to_output": "attention.output.dense",
    "around_self_attention.norm": "attention.output.LayerNorm",
    "feed_forward.to_inner": "intermediate.dense",
    "feed_forward.to_output": "output.dense",
    "around_feed_forward.norm": "output.LayerNorm",
}
_OLD = {".gamma": ".weight", ".beta": ".bias"}
"""As TensorFlow called what a norm has; the first checkpoints have it so."""


class BertFamily(NamedTuple):
    """What differs of the two: where its head is, above all."""

    model_type: str
    architecture: str
    dense: str
    norm: str
    output: str
    bias: str
    """Of the output; it may stand below `output` as well, and counts more there."""


def _family(name: str, head: str, dense: str, norm: str) -> BertFamily:
    names = (f"{head}.{part}" for part in (dense, norm, "decoder", "bias"))
    return BertFamily(name.lower(), f"{name}ForMaskedLM", *names)


BERT = _family("Bert", "cls.predictions", "transform.dense", "transform.LayerNorm")
ROBERTA = _family("Roberta", "lm_head", "dense", "layer_norm")
_SAME = {
    "d_model": "hidden_size",
    "d_ff": "intermediate_size",
    "heads": "num_attention_heads",
    "layers": "num_hidden_layers",
    "dropout": "hidden_dropout_prob",
    "attention_dropout": "attention_probs_dropout_prob",
    "layer_norm_epsilon": "layer_norm_eps",
    "tied": "tie_word_embeddings",
}
"""Of [model]: what config.json has under another name."""


@dataclass(frozen=True)
class BertConfig:
    """Of a config.json what the model computes with; the defaults are those of `transformers`."""

    vocab_size: int
    hidden_size: int
    num_hidden_layers: int
    num_attention_heads: int
    intermediate_size: int
    max_position_embeddings: int = 512
    type_vocab_size: int = 2
    pad_token_id: int = 1
    """RoBERTa's; BERT's says nothing that the vocabulary does not."""
    hidden_act: str = "gelu"
    hidden_dropout_prob: float = 0.1
    attention_probs_dropout_prob: float = 0.1
    layer_norm_eps: float = 1e-12
    tie_word_embeddings: bool = True
    position_embedding_type: str = "absolute"
    is_decoder: bool = False
    add_cross_attention: bool = False

    def as_encoder(self, path: Path, first: int, *, tied: bool) -> EncoderConfig:
        """The same here. `first` is the row of a text's first position, `path` names the file.

        Raises ConfigError for what cannot be held.
        """
        rules: dict[str, Any] = {
            "position_embedding_type": (["absolute"], "positions are added to embeddings here"),
            "is_decoder": ([False], "it reads to the left alone, and writes"),
            "add_cross_attention": ([False], "it looks at another text"),
            "hidden_act": KNOWN_ACTIVATIONS,
            "type_vocab_size": (range(1 << 16), "it counts segments"),
            "max_position_embeddings": (range(first + 3, 1 << 24), "texts have 3 tokens or more"),
        }
        refuse_unheld(self, path, rules)
        same = {own: getattr(self, name) for own, name in _SAME.items()}
        with naming(path):
            return EncoderConfig(
                **{**same, "tied": tied},
                norm="post",
                positions="learned",
                embedding_norm=True,
                embedding_scale=1.0,
                activation=ACTIVATIONS[self.hidden_act],
                max_length=self.max_position_embeddings - first,
            )


def places(config: EncoderConfig, family: BertFamily, *, has_head: bool) -> dict[str, str]:
    """The name there, without a prefix, of each weight and bias of linear maps and norms here."""
    found = {"encoder.embedding_norm": "embeddings.LayerNorm"}
    for i in range(config.layers):
        for own, theirs in _LAYER.items():
            found[f"encoder.layers.{i}.{own}"] = f"encoder.layer.{i}.{theirs}"
    if has_head:
        found |= {"head.dense": family.dense, "head.norm": family.norm}
    kinds = ("weight", "bias")
    return {f"{own}.{one}": f"{theirs}.{one}" for own, theirs in found.items() for one in kinds}


def shape(own: str, config: EncoderConfig) -> tuple[int, ...]:
    """Of one of these."""
    part, _, kind = own.rpartition(".")
    reads, writes = config.d_model, config.d_model
    if part.endswith("feed_forward.to_inner"):
        writes = config.d_ff
    elif part.endswith("feed_forward.to_output"):
        reads = config.d_ff
    return (writes,) if kind == "bias" or part.endswith("norm") else (writes, reads)


class BertCheckpoint:
    """A folder with such a model; of its weights nothing is read but names and shapes."""

    def __init__(self, folder: Path, family: BertFamily) -> None:
        """Raises:
        DataError: a file is missing or damaged, or they do not go together.
        ConfigError: the model has something that cannot be held.
        """
        self.path, self.family = folder / CONFIG, family
        self.told = read_config(BertConfig, self.path, model_type=family.model_type)
        self.stored = StoredWeights.of_folder(folder, family.architecture)
        self.names: dict[str, str] = {}
        self.left_out: list[str] = []
        for name in self.stored.shapes:
            plain = name.removeprefix(f"{family.model_type}.")
            for old, new in _OLD.items():
                plain = plain.removesuffix(old) + new if plain.endswith(old) else plain
            if plain.startswith(("embeddings.", "encoder.", *family[2:])):
                self.names[plain] = name
            else:  # poolers, heads of other tasks
                self.left_out.append(name)
        # a lone output matrix is the embedding once more
        self.has_head = any(name.startswith((family.dense, family.norm)) for name in self.names)
        self.first = 1 + self.told.pad_token_id if family is ROBERTA else 0
        tied = self.told.tie_word_embeddings or not self.has_head
        self.config = self.told.as_encoder(self.path, self.first, tied=tied)
        self._refuse_others()

    def _refuse_others(self) -> None:
        found = {plain: self.stored.shapes[name] for plain, name in self.names.items()}
        config, told, output = self.config, self.told, self.family.output
        refuse_few(found, config.layers, self.stored.files[0])
        d, vocabulary = config.d_model, told.vocab_size
        wanted: dict[str, tuple[int, ...]] = {
            theirs: shape(own, config)
            for own, theirs in places(config, self.family, has_head=self.has_head).items()
        }
        wanted |= {WORDS: (vocabulary, d), f"{output}.weight": (vocabulary, d)}
        wanted |= {PLACES: (told.max_position_embeddings, d), SEGMENTS: (told.type_vocab_size, d)}
        biases = self.family.bias, f"{output}.bias"
        wanted |= dict.fromkeys(biases, (vocabulary,))
        optional = set() if told.type_vocab_size else {SEGMENTS}
        optional |= {f"{output}.weight"} if config.tied else set()
        if not self.has_head or any(bias in found for bias in biases):
            optional |= {*biases}
        refuse_other_shapes(found, wanted, optional, self.stored.files[0])

    def weights(self, n_tokens: int) -> dict[str, Tensor]:
        """What the model here has, by name; of the encoder alone where there is no head. Rows
        behind the last of `n_tokens` stand for no piece and are left out.

        Raises DataError for an output that config.json says is tied, and is not.
        """
        stored, config, output = self.stored.load(), self.config, self.family.output
        here = {plain: stored[name].float() for plain, name in self.names.items()}
        same = {f"{output}.weight": WORDS} if config.tied and self.has_head else {}
        refuse_unlike(here, same, self.stored.files[0])
        words = here[WORDS]
        matrix = here.get(f"{output}.weight", words)
        known = places(config, self.family, has_head=self.has_head)
        found = {own: here[theirs] for own, theirs in known.items()}
        found["encoder.embedding.weight"] = words[:n_tokens]
        found["encoder.positions.table"] = here[PLACES][self.first :].clone()
        if self.told.type_vocab_size:
            found["encoder.positions.table"] += here[SEGMENTS][0]
        if self.has_head:
            bias = f"{output}.bias" if f"{output}.bias" in here else self.family.bias
            found["head.output_bias"] = here[bias][:n_tokens]
            if not config.tied:
                found["head.output_weight"] = matrix[:n_tokens]
        return {name: tensor.contiguous() for name, tensor in found.items()}


def to_bert(own: Mapping[str, Tensor], config: EncoderConfig) -> dict[str, Tensor]:
    """The other way round, as a BERT with two segments that are alike. What embeddings are scaled
    by is taken up by the table, and out of the norm in front of a tied output."""
    scale = config.embedding_scale or sqrt(config.d_model)
    words = own["encoder.embedding.weight"]
    known = places(config, BERT, has_head=True)
    found = {theirs: own[name] for name, theirs in known.items()}
    found |= {WORDS: words * scale, PLACES: own["encoder.positions.table"]}
    found |= {SEGMENTS: torch.zeros(2, config.d_model), BERT.bias: own["head.output_bias"]}
    if config.tied:
        found |= {
            f"{BERT.norm}.{one}": own[f"head.norm.{one}"] / scale for one in ("weight", "bias")
        }
    else:
        found[f"{BERT.output}.weight"] = own["head.output_weight"]
        found[f"{BERT.output}.bias"] = own["head.output_bias"].clone()
    trunk = ("embeddings.", "encoder.")
    return {f"bert.{n}" if n.startswith(trunk) else n: t.contiguous() for n, t in found.items()}


def bert_config(config: EncoderConfig, n_tokens: int, padding: int) -> dict[str, Any]:
    """What config.json says of a model here.

    Raises ConfigError for what such a model cannot hold.
    """
    theirs = {own: name for name, own in reversed(ACTIVATIONS.items())}
    needed: dict[str, tuple[Any, ...]] = {
        "norm": ("post",),
        "embedding_norm": (True,),
        "positions": ("learned",),
        "activation": (*theirs,),
        **dict.fromkeys(("window", "d_k", "d_v", "causal"), (0,)),
    }
    for name, held in needed.items():
        if (value := getattr(config, name)) not in held:
            flag = f"--model.{name.replace('_', '-')} {str(held[0]).lower()}"
            raise ConfigError(
                f"what BERT has not cannot be held; {name} of this model is {value!r}. Train one "
                f"with {flag}."
            )
    return {
        "model_type": "bert",
        "architectures": [BERT.architecture],
        "dtype": "float32",
        "vocab_size": n_tokens,
        **{name: getattr(config, own) for own, name in _SAME.items()},
        "max_position_embeddings": config.max_length,
        "type_vocab_size": 2,
        "pad_token_id": padding,
        "hidden_act": theirs[config.activation],
    }
