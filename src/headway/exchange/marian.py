"""What translators of Hugging Face's `transformers` are by their config.json, and what of it can be
held here; of them Marian (Junczys-Dowmunt et al. 2018, which is in C++), as OPUS-MT has it."""

from collections.abc import Collection, Container, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

import torch
from torch import Tensor

from headway.core.embedding import sinusoids
from headway.core.errors import DataError
from headway.core.layers import Norm
from headway.core.transformer import Transformer, TransformerConfig
from headway.exchange.checkpoints import (
    ACTIVATIONS,
    KNOWN_ACTIVATIONS,
    Shapes,
    naming,
    read_config,
    refuse_few,
    refuse_other_shapes,
    refuse_unheld,
    refuse_unlike,
)
from headway.exchange.marian_weights import (
    BIAS,
    HEAD,
    POSITIONS,
    SHARED,
    SOURCE,
    TARGET,
    places,
    sines_first,
)
from headway.nn.positioned import PositionedConfig, Positions

_POSITIONS = range(2, (1 << 20) + 1)
_ROUNDED = 2e-3  # sinusoids in float16


@dataclass(frozen=True)
class StoredTranslatorConfig:
    """Of a config.json what a Transformer computes with, whose weights have Marian's names."""

    vocab_size: int
    d_model: int
    encoder_layers: int
    decoder_layers: int
    encoder_attention_heads: int
    decoder_attention_heads: int
    encoder_ffn_dim: int
    decoder_ffn_dim: int
    pad_token_id: int
    eos_token_id: int
    decoder_start_token_id: int
    max_position_embeddings: int = 1024
    activation_function: str = "gelu"
    dropout: float = 0.1
    attention_dropout: float = 0.0
    activation_dropout: float = 0.0
    scale_embedding: bool = False
    tie_word_embeddings: bool = True

    model_type: ClassVar[str]
    norm: ClassVar[Norm] = "post"
    positions: ClassVar[Positions] = "sinusoidal"

    @classmethod
    def read(cls, path: Path) -> Self:
        """Raises what `headway.exchange.checkpoints.read_config` does."""
        return read_config(cls, path, model_type=cls.model_type)

    @property
    def all_one(self) -> bool:
        """Whether the embeddings of both sides and the output's are one."""
        return self.tie_word_embeddings

    @property
    def tied(self) -> bool:
        """Whether that one matrix stays one: it does not where embeddings are not scaled."""
        return self.all_one and self.scale_embedding

    def rules(self) -> Mapping[str, tuple[Container[Any], str]]:
        """What can be held: see `refuse_unheld`."""
        one_of_both = {
            f"decoder_{name}": ([value], f"encoder_{name} is {value}, and here both are one")
            for name in ("attention_heads", "ffn_dim")
            for value in [getattr(self, f"encoder_{name}")]
        }
        return {**one_of_both, "activation_function": KNOWN_ACTIVATIONS}

    def as_transformer(self, path: Path, *, output_bias: bool = False) -> PositionedConfig:
        """The same here, with a bias of the output or without; `path` names the file in errors.

        Raises:
            ConfigError: the model has something that cannot be held.
        """
        refuse_unheld(self, path, self.rules())
        with naming(path):
            return PositionedConfig(  # which knows what is far too large
                d_model=self.d_model,
                d_ff=self.encoder_ffn_dim,
                heads=self.encoder_attention_heads,
                encoder_layers=self.encoder_layers,
                decoder_layers=self.decoder_layers,
                dropout=self.dropout,
                attention_dropout=self.attention_dropout,
                activation_dropout=self.activation_dropout,
                activation=ACTIVATIONS[self.activation_function],
                norm=self.norm,
                positions=self.positions,
                tied=self.tied,
                output_bias=output_bias,
            )

    def refuse_other_tensors(self, found: Shapes, config: TransformerConfig, path: Path) -> None:
        """Raise DataError where a file has not the tensors of this model, or others."""
        refuse_few(found, config.encoder_layers + config.decoder_layers, path)
        refuse_other_shapes(found, self.shapes(config), self.optional(found), path)

    def shapes(self, config: TransformerConfig) -> dict[str, tuple[int, ...]]:
        """The shape of each tensor that there must or may be."""
        with torch.device("meta"):  # none of it in memory
            model = Transformer(config, vocabulary_size=self.vocab_size)
        own, matrix = dict(model.named_parameters()), (self.vocab_size, self.d_model)
        found = {place.name: tuple(own[name].shape) for name, place in places(config).items()}
        return found | dict.fromkeys((SHARED, SOURCE, TARGET, HEAD), matrix)

    def optional(self, found: Collection[str]) -> set[str]:
        """What a file may leave out: it is another tensor's, or is known."""
        if self.all_one:
            return {SOURCE, TARGET, HEAD}
        return {SHARED} if {SOURCE, TARGET} <= {*found} else {SOURCE, TARGET}

    def same(self) -> dict[str, str]:
        """Which tensors are another one."""
        return dict.fromkeys((SOURCE, TARGET, HEAD), SHARED) if self.all_one else {}


@dataclass(frozen=True)
class MarianConfig(StoredTranslatorConfig):
    """Of a Marian; the defaults are those of `transformers`."""

    decoder_vocab_size: int | None = None
    share_encoder_decoder_embeddings: bool = True
    normalize_before: bool = False
    normalize_embedding: bool = False
    add_final_layer_norm: bool = False
    static_position_embeddings: bool = True

    model_type = "marian"

    @property
    def all_one(self) -> bool:
        """See `StoredTranslatorConfig`."""
        return self.share_encoder_decoder_embeddings and self.tie_word_embeddings

    def rules(self) -> Mapping[str, tuple[Container[Any], str]]:
        """See `StoredTranslatorConfig`."""
        passed_over = ("normalize_before", "normalize_embedding", "add_final_layer_norm")
        return {
            **super().rules(),
            "decoder_vocab_size": (
                (None, self.vocab_size),
                "source and target have vocabularies of their own, and here share one",
            ),
            "max_position_embeddings": (_POSITIONS, "texts have from 2 to 2^20 tokens"),
            "decoder_start_token_id": ([self.pad_token_id], "its decoder is fed padding first"),
            **dict.fromkeys(passed_over, ([False], "`transformers` itself passes over that")),
            "static_position_embeddings": ([True], "Marian's positions are sinusoids"),
        }

    def shapes(self, config: TransformerConfig) -> dict[str, tuple[int, ...]]:
        """See `StoredTranslatorConfig`."""
        table = self.max_position_embeddings, self.d_model
        bias = {BIAS: (1, self.vocab_size)}
        return super().shapes(config) | bias | dict.fromkeys(POSITIONS, table)

    def optional(self, found: Collection[str]) -> set[str]:
        """See `StoredTranslatorConfig`."""
        known = {BIAS, *POSITIONS}
        if self.share_encoder_decoder_embeddings:
            return known | super().optional(found)
        return known | {SHARED} | ({HEAD} if self.tie_word_embeddings else set())

    def same(self) -> dict[str, str]:
        """See `StoredTranslatorConfig`."""
        of_target = self.tie_word_embeddings and not self.all_one
        return {HEAD: TARGET} if of_target else super().same()

    def refuse_other_values(self, tensors: Mapping[str, Tensor], path: Path) -> None:
        """Raise DataError where a weight is not what it must be the same as."""
        refuse_unlike(tensors, self.same(), path)
        order, table = sines_first(self.d_model), self.max_position_embeddings
        for name in POSITIONS:
            if name in tensors:
                expected = sinusoids(table, self.d_model)[:, order]
                if not torch.allclose(tensors[name].float(), expected, rtol=0, atol=_ROUNDED):
                    raise DataError(
                        f"Marian's positions are sinusoids; {name} of {path} has others, which "
                        "headway cannot hold. Take another model."
                    )
